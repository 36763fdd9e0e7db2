package jet_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
)

// TestStateGoesBack: who changes from a server to one that is cut off, and that still takes itself for the leader, is not told what the state was earlier.
func TestStateGoesBack(t *testing.T) {
	ctx := t.Context()
	commit := func(kv *jet.KV, from, to int) {
		t.Helper()
		for i := range to - from {
			if err := kv.Commit(ctx, []fleet.Op{{Cell: fleet.Cell{Key: fmt.Sprintf("d.%d", from+i), Data: []byte("x")}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	first, cutOff := natstest.Start(t, 1), natstest.Start(t, 1, "server_name: cut")
	one, other := open(t, first, "back", 1), open(t, cutOff, "back", 1)
	commit(one, 0, 10)
	commit(other, 0, 5)
	kv, err := jet.Open(ctx, jet.Options{URL: first.URL() + "," + cutOff.URL() + "/back"})
	if err != nil {
		t.Fatal(err)
	}
	defer kv.Close()
	reads := map[string]func() (uint64, error){
		"get": func() (uint64, error) { c, err := kv.Get(ctx, "d."); return c.Rev, err },
		"prefix": func() (uint64, error) {
			return kv.Prefix(ctx, "d.", 0, func(fleet.Cell) bool { return true })
		},
		"backward": func() (uint64, error) {
			return kv.Backward(ctx, "d.", "d.", func(fleet.Cell) bool { return true })
		},
	}
	has := func(want uint64) {
		t.Helper()
		for what, read := range reads {
			if last, err := read(); last != want || (err == nil) != (want > 0) {
				t.Errorf("%s: the last is %d, not %d: %v", what, last, want, err)
			}
		}
	}
	has(10)
	first.Kill(0)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); { // until the connection has changed
		if list, err := kv.Peek(ctx, "d.1"); err == nil && len(list) == 1 {
			break
		}
	}
	has(0)
	has(0)
	commit(other, 5, 12) // it has what the others have
	has(12)
	if list, err := kv.Peek(ctx, "d.1", "d.11"); err != nil || len(list) != 2 || slices.ContainsFunc(list, func(c fleet.Cell) bool { return c.Rev == 0 }) {
		t.Errorf("%v: %v", list, err)
	}
}
