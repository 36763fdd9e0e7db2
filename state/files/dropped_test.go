package files

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestDropped counts what Prune forgets of the inbox, over several prunes; what was acknowledged is not among it.
func TestDropped(t *testing.T) {
	s := open(t, t.TempDir())
	if d, err := s.Dropped(ctx); err != nil || d != (state.Dropped{}) {
		t.Errorf("before all: %v %v", d, err)
	}
	fill := func(n int) (ids []string) {
		for i := range n {
			e := must[state.Entry](t)(s.Add(ctx, once(fmt.Sprint(i)), day0))
			r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, time.Time{}, state.Ident{}, day0))
			if err := s.End(ctx, r, state.Line{At: day0, Outcome: state.OK, Inbox: state.ItemMessage}); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, state.OccurrenceID(e.Task.ID, r.Number))
		}
		return ids
	}
	prune := func(now time.Time, items int, want state.Dropped) {
		t.Helper()
		if p, err := s.Prune(ctx, state.Keep{Inbox: 2}, now); err != nil || p.Items != items {
			t.Errorf("prune: %v %v", p, err)
		}
		if d, err := s.Dropped(ctx); err != nil || d != want {
			t.Errorf("dropped: %v %v, want %v", d, err, want)
		}
	}
	fill(5)
	prune(day1, 3, state.Dropped{Items: 3, Since: day1.UTC(), Last: day1.UTC()})
	prune(day2, 0, state.Dropped{Items: 3, Since: day1.UTC(), Last: day1.UTC()})
	ids := fill(2)
	for _, err := range s.Ack(ctx, ids[:1]) {
		if err != nil {
			t.Error(err)
		}
	}
	prune(day2, 1, state.Dropped{Items: 4, Since: day1.UTC(), Last: day2.UTC()})

	if err := os.WriteFile(s.path(droppedFile), []byte("items = x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Dropped(ctx); err == nil {
		t.Error("a file that cannot be read is said to be none")
	}
	fill(1)
	prune(day2, 1, state.Dropped{Items: 1, Since: day2.UTC(), Last: day2.UTC()})
}
