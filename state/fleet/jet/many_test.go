package jet_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
)

// TestMoreThanAPage: a listing, a reading backwards and a reading of many keys are whole when they
// are more than one page of the servers, and a listing can end anywhere.
func TestMoreThanAPage(t *testing.T) {
	const n = 2600
	ctx, kv := t.Context(), open(t, natstest.Start(t, 1), "many", 1)
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("d.%d", i))
	}
	for some := range slices.Chunk(keys, 100) {
		var ops []fleet.Op
		for _, key := range some {
			ops = append(ops, fleet.Op{Cell: fleet.Cell{Key: key, Data: []byte(key)}})
		}
		if err := kv.Commit(ctx, ops); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	collect := func(c fleet.Cell) bool {
		if string(c.Data) != c.Key {
			t.Errorf("%s has %q", c.Key, c.Data)
		}
		got = append(got, c.Key)
		return true
	}
	is := func(what string, want []string, err error) {
		t.Helper()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d keys, not %d, %v", what, len(got), len(want), err)
		}
		got = nil
	}
	last, err := kv.Prefix(ctx, "d.", 0, collect)
	is("all", keys, err)
	_, err = kv.Prefix(ctx, "d.", last-1500, collect)
	is("the last 1500", keys[n-1500:], err)
	_, err = kv.Prefix(ctx, "d.", last, collect)
	is("what is new", nil, err)
	for _, most := range []int{1, 999, 1000, 1001, 2001} {
		_, err = kv.Prefix(ctx, "d.", 0, func(c fleet.Cell) bool { return collect(c) && len(got) < most })
		is(fmt.Sprint("the first ", most), keys[:most], err)
	}
	_, err = kv.Backward(ctx, "d.", "d.", collect)
	slices.Reverse(got)
	is("backwards", keys, err)
	list, err := kv.Peek(ctx, keys...)
	for _, c := range list {
		collect(c)
	}
	slices.Sort(got)
	is("by their names", slices.Sorted(slices.Values(keys)), err)
}
