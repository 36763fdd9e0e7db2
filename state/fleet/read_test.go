package fleet_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/model"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// created adds tasks and returns their IDs.
func created(ctx context.Context, s *fleet.Store, n int) (ids []string) {
	for i := range n {
		t := state.Task{Created: start.Add(time.Duration(i) * time.Minute), Run: state.Job{Argv: []string{"true"}, Dir: "/", Umask: 0o22},
			When: state.Timing{Text: "in 1h", Kind: "once", Zone: "UTC", Start: start}}
		ids = append(ids, must(s.Add(ctx, t, late)).Task.ID)
	}
	return ids
}

// TestSlowReaders: who reads the ledger line by line may take longer for all of it than servers may take for an answer. Each line comes once, also when the
// servers stop in between.
func TestSlowReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := model.New()
		s := fleet.New(kv, fleet.Options{Local: memory.New()})
		want := created(t.Context(), s, 20)
		var got []string
		broken := false
		slowly := func(l state.Line) bool {
			time.Sleep(2 * time.Second)
			got = append(got, l.TaskID)
			return true
		}
		kv.Fate = func(what string) model.Fate {
			if what == "backward" || what == "prefix" {
				if broken = !broken; broken {
					return model.Unasked
				}
			}
			return model.Fine
		}
		if _, problems, err := s.After(t.Context(), "", state.Place{}, slowly); err != nil || len(problems) > 0 || !slices.Equal(got, want) {
			t.Errorf("%d lines of %d, the oldest first: %v %v", len(got), len(want), problems, err)
		}
		got = nil
		slices.Reverse(want)
		if _, problems, err := s.Log(t.Context(), "", slowly); err != nil || len(problems) > 0 || !slices.Equal(got, want) {
			t.Errorf("%d lines of %d, the newest first: %v %v", len(got), len(want), problems, err)
		}
	})
}

// sluggish are servers that take a second for each cell, and that stop after some of them.
type sluggish struct {
	fleet.KV
	stops []int // after how many cells; the last one counts for all further readings
}

func (s *sluggish) slowly(ctx context.Context, yield func(fleet.Cell) bool, read func(func(fleet.Cell) bool) (uint64, error)) (uint64, error) {
	most := s.stops[0]
	s.stops = s.stops[min(1, len(s.stops)-1):]
	n := 0
	last, err := read(func(c fleet.Cell) bool {
		if n == most || ctx.Err() != nil {
			return false
		}
		n++
		time.Sleep(time.Second)
		return yield(c)
	})
	if n == most && err == nil {
		err = errCut
	}
	return last, errors.Join(err, ctx.Err())
}

func (s *sluggish) Prefix(ctx context.Context, prefix string, after uint64, yield func(fleet.Cell) bool) (uint64, error) {
	return s.slowly(ctx, yield, func(yield func(fleet.Cell) bool) (uint64, error) { return s.KV.Prefix(ctx, prefix, after, yield) })
}

func (s *sluggish) Backward(ctx context.Context, prefix, within string, yield func(fleet.Cell) bool) (uint64, error) {
	return s.slowly(ctx, yield, func(yield func(fleet.Cell) bool) (uint64, error) { return s.KV.Backward(ctx, prefix, within, yield) })
}

// TestSlowServers: what takes long is read to its end, also when it is begun again, as long as something new comes.
func TestSlowServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, kv := t.Context(), model.New()
		want := created(ctx, fleet.New(kv, fleet.Options{Local: memory.New()}), 20)
		slices.Sort(want)
		for _, c := range []struct {
			stops []int
			err   error
		}{
			{[]int{-1}, nil},
			{[]int{12, -1}, nil},
			{[]int{8, 15, -1}, nil},
			{[]int{12, 12}, state.ErrUnusable},
		} {
			for what, read := range map[string]func(s *fleet.Store) (got []string, err error){
				"tasks": func(s *fleet.Store) (got []string, err error) {
					entries, _, err := state.All(ctx, s)
					for _, e := range entries {
						got = append(got, e.Task.ID)
					}
					return got, err
				},
				"lines": func(s *fleet.Store) (got []string, err error) {
					_, _, err = s.Log(ctx, "", func(l state.Line) bool { got = append(got, l.TaskID); return true })
					return got, err
				},
			} {
				begun := time.Now()
				got, err := read(fleet.New(&sluggish{kv, slices.Clone(c.stops)}, fleet.Options{Local: memory.New()}))
				if slices.Sort(got); !errors.Is(err, c.err) || c.err == nil && !slices.Equal(got, want) {
					t.Errorf("%s, stopped after %v: %d of %d, %v", what, c.stops, len(got), len(want), err)
				}
				if took := time.Since(begun); took > 3*time.Minute {
					t.Errorf("%s, stopped after %v: it takes %v", what, c.stops, took)
				}
			}
		}
	})
}

// TestReadAgainBesideAnother: a reading of the ledger that has to be tried again tells nothing of what was written after it had begun: who reads on from where
// it ends is told that then, once.
func TestReadAgainBesideAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, kv := t.Context(), model.New()
		s := fleet.New(kv, fleet.Options{Local: memory.New(), Patience: time.Second})
		old := created(ctx, s, 3)
		var later, got []string
		list := func(l state.Line) bool {
			if got = append(got, l.TaskID); len(got) == 2 && later == nil {
				later = created(ctx, s, 1)
				kv.Break = true
			}
			return true
		}
		end, _, err := s.Log(ctx, "", list)
		slices.Reverse(got)
		if err != nil || !slices.Equal(got, old) {
			t.Errorf("%v of %v: %v", got, old, err)
		}
		got = nil
		if _, _, err := s.After(ctx, "", end, list); err != nil || !slices.Equal(got, later) {
			t.Errorf("after that %v of %v: %v", got, later, err)
		}
	})
}

// TestPruneBesideAnother: two runners drop the beginning of the ledger at once, up to other instants. What is dropped is counted, and what is not counted stays.
func TestPruneBesideAnother(t *testing.T) {
	ctx, kv := t.Context(), model.New()
	open := func() *fleet.Store { return fleet.New(kv, fleet.Options{Local: memory.New()}) }
	a, b := open(), open()
	const all = 6
	created(ctx, a, all)
	keep := state.Keep{Ended: time.Hour}
	first := true
	kv.Fate = func(what string) model.Fate {
		if what == "commit" && first {
			first = false
			if _, err := b.Prune(ctx, keep, start.Add(time.Hour+2*time.Minute)); err != nil {
				t.Error(err)
			}
		}
		return model.Fine
	}
	if _, err := a.Prune(ctx, keep, start.Add(time.Hour+4*time.Minute)); err != nil {
		t.Fatal(err)
	}
	gone, _, err := a.Gone(ctx)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	if _, _, err := a.Log(ctx, "", func(state.Line) bool { left++; return true }); err != nil || gone.Lines+left != all || gone.Lines == 0 {
		t.Errorf("%d lines are counted as dropped and %d are left, of %d: %v", gone.Lines, left, all, err)
	}
}

// TestTakeAll: without a limit, Take leases all items, however many one commit can have.
func TestTakeAll(t *testing.T) {
	const all = 450
	ctx := t.Context()
	s := fleet.New(model.New(), fleet.Options{Local: memory.New()})
	id := created(ctx, s, 1)[0]
	for i := range all {
		now := start.Add(time.Duration(i) * time.Millisecond)
		if err := s.End(ctx, must(s.Fire(ctx, id, self, now)), state.Line{At: now, Outcome: state.Failed, Inbox: state.ItemFailure}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ limit, want, more int }{{10, 10, all - 10}, {405, 405, all - 415}, {0, all - 415, 0}, {0, 0, 0}} {
		items, more, _, err := s.Take(ctx, state.Query{Limit: c.limit}, start, start.Add(time.Hour))
		if err != nil || len(items) != c.want || more != c.more {
			t.Errorf("with the limit %d %d were taken, and there are %d more: %v", c.limit, len(items), more, err)
		}
	}
}
