package jet_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/model"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
)

// TestModelIsTheServers: what the model answers to many requests made at random, servers answer, too, with the same revisions.
func TestModelIsTheServers(t *testing.T) {
	for _, replicas := range []int{1, 3} {
		servers := natstest.Start(t, replicas)
		both := []fleet.KV{model.New(), open(t, servers, "model", replicas)}
		luck := rand.New(rand.NewPCG(1, uint64(replicas)))
		heard := [2]heard{}
		for i, kv := range both {
			if err := kv.Watch(t.Context(), 0, heard[i].hear, "s.", "l.", "p"); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 400 / replicas {
			ask, what := request(luck, replicas == 1)
			want, got := ask(t.Context(), both[0]), ask(t.Context(), both[1])
			if got != want {
				t.Fatalf("%d replicas, request %d, %s: the model answers\n%s\nand the servers\n%s", replicas, n, what, want, got)
			}
		}
		all, _ := listed(t.Context(), both[0], "s.", "l.", "p")
		for i := range both {
			for end := time.Now().Add(time.Minute); !heard[i].has(all) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			}
			if !heard[i].has(all) {
				t.Errorf("%d replicas: who watches %d was told %v, and there is %v", replicas, i, heard[i].list, all)
			}
		}
	}
}

// heard is what who watches was told.
type heard struct {
	mu   sync.Mutex
	list []uint64
}

func (h *heard) hear(c fleet.Cell) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, c.Rev)
}

// has says whether all of these were told, in order, and nothing twice.
func (h *heard) has(revs []uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range revs {
		if !slices.Contains(h.list, r) {
			return false
		}
	}
	return slices.IsSorted(h.list) && len(slices.Compact(slices.Clone(h.list))) == len(h.list)
}

// newest are cells in words but for those of keys that were replaced: a server may still have them, and so may a listing.
func newest(list []fleet.Cell) (revs []uint64, text string) {
	last := map[string]uint64{}
	for _, c := range list {
		last[c.Key] = max(last[c.Key], c.Rev)
	}
	var b strings.Builder
	for _, c := range list {
		if strings.HasPrefix(c.Key, "l.") || c.Rev == last[c.Key] {
			revs = append(revs, c.Rev)
			fmt.Fprintf(&b, "%s@%d %q %s\n", c.Key, c.Rev, c.Data, c.Nonces)
		}
	}
	return revs, b.String()
}

func listed(ctx context.Context, kv fleet.KV, prefixes ...string) (revs []uint64, text string) {
	for _, p := range prefixes {
		var list []fleet.Cell
		last, err := kv.Prefix(ctx, p, 0, func(c fleet.Cell) bool { list = append(list, c); return true })
		more, words := newest(list)
		revs, text = append(revs, more...), fmt.Sprint(text, words, "last ", last, " ", err, "\n")
	}
	slices.Sort(revs)
	return revs, text
}

// request is one, and what it is called. Asked of two that have the same, it asks the same. Of several servers some may be behind: they are read to the
// end, and nothing is purged.
func request(luck *rand.Rand, alone bool) (ask func(context.Context, fleet.KV) string, what string) {
	key := func() string {
		return []string{"s.a.b", "s.a.c", "s.a.b.d", "s.b.a", "l.x", "l.y", "t.x.1", "p", "w"}[luck.IntN(9)]
	}
	prefix := []string{"s.", "s.a.", "s.a.b.", "s.a.b", "l.", "l.x", "t.", "p", "none."}[luck.IntN(9)]
	within := prefix
	if strings.HasPrefix(prefix, "l.") {
		within = "l."
	}
	one, most, after := key(), luck.IntN(20), uint64(luck.IntN(300))
	told := func(list *[]fleet.Cell, most int) func(fleet.Cell) bool {
		return func(c fleet.Cell) bool {
			*list = append(*list, c)
			return len(*list) < most || !alone
		}
	}
	switch luck.IntN(12) {
	case 0:
		return func(ctx context.Context, kv fleet.KV) string {
			c, err := kv.Get(ctx, one)
			c.At = time.Time{} // each has a clock of its own
			return fmt.Sprintf("%v %v", c, err)
		}, "get " + one
	case 1:
		return func(ctx context.Context, kv fleet.KV) string {
			var list []fleet.Cell
			last, err := kv.Prefix(ctx, prefix, after, told(&list, most))
			_, words := newest(list)
			return fmt.Sprint(last, err, words)
		}, fmt.Sprint("prefix ", prefix, " after ", after)
	case 2:
		return func(ctx context.Context, kv fleet.KV) string {
			var list []fleet.Cell
			last, err := kv.Backward(ctx, prefix, within, told(&list, most))
			_, words := newest(list)
			return fmt.Sprint(last, err, words)
		}, fmt.Sprint("backward ", prefix, " within ", within)
	case 3:
		if !alone || luck.IntN(4) > 0 {
			return request(luck, alone)
		}
		return func(ctx context.Context, kv fleet.KV) string { return fmt.Sprint(kv.Purge(ctx, prefix, after)) }, fmt.Sprint("purge ", prefix, " to ", after)
	case 4:
		return func(ctx context.Context, kv fleet.KV) string {
			n, err := kv.Number(ctx, most+1)
			return fmt.Sprint(n, err)
		}, "number"
	}
	if another := key(); alone && luck.IntN(4) == 0 {
		return func(ctx context.Context, kv fleet.KV) string {
			list, err := kv.Peek(ctx, slices.Compact([]string{one, another})...)
			slices.SortFunc(list, func(a, b fleet.Cell) int { return strings.Compare(a.Key, b.Key) })
			for i := range list {
				list[i].At = time.Time{}
			}
			return fmt.Sprint(list, err)
		}, "peek " + one + " " + another
	}
	var ops []fleet.Op
	for range 1 + luck.IntN(4) {
		op := fleet.Op{Cell: fleet.Cell{Key: key(), Data: fmt.Append(nil, luck.IntN(1000)), Nonces: fmt.Sprint("n", luck.IntN(1000))}}
		switch {
		case slices.ContainsFunc(ops, func(o fleet.Op) bool { return o.Key == op.Key }):
			continue
		case strings.HasPrefix(op.Key, "l."):
			op.Append, op.Cell.Rev = true, fleet.Any
		case luck.IntN(4) == 0:
			op.Cell.Rev = fleet.Any
		}
		if luck.IntN(10) == 0 && !op.Append {
			op.Data = nil
		}
		ops = append(ops, op)
	}
	wrong := luck.IntN(5) == 0
	return func(ctx context.Context, kv fleet.KV) string {
		mine := slices.Clone(ops)
		for i, op := range mine {
			if op.Cell.Rev != 0 {
				continue
			}
			c, err := kv.Get(ctx, op.Key)
			c.At = time.Time{}
			if err != nil {
				return err.Error()
			}
			if mine[i].Cell.Rev = c.Rev; wrong {
				mine[i].Cell.Rev++
			}
		}
		err := kv.Commit(ctx, mine)
		_, text := listed(ctx, kv, "s.", "l.", "t.", "p", "w")
		return fmt.Sprint(err, "\n", text)
	}, fmt.Sprintf("commit %v", ops)
}
