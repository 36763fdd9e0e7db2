package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// testPrune: what ended or was removed longer ago than is kept is forgotten, and nothing else.
func testPrune(t *testing.T, b *bench) {
	const kept = 30 * 24 * time.Hour
	late := hour(1000) // of what is still kept
	now := late.Add(kept)
	pruned := func(keep state.Keep, at time.Time) state.Pruned {
		t.Helper()
		p, err := b.a.Prune(b.ctx, keep, at)
		if err != nil {
			t.Fatalf("prune: %v", err)
		}
		return p
	}
	if p := pruned(state.Keep{Ended: kept, Runs: 1, Output: 1}, now); p != (state.Pruned{}) {
		t.Errorf("an empty store: %+v", p)
	}
	ended := func(task state.Task, due, end time.Time) string {
		r := b.claim(b.add(task, due).Task.ID, due, time.Time{})
		l := line(r, state.OK)
		l.At, l.Ended = end, &end
		b.is("end", b.b.End(b.ctx, r, l), nil)
		return r.Task.ID
	}
	removed := func(at time.Time) string {
		e := b.add(daily("n"), hour(2000))
		must[state.Entry](b)(b.b.Remove(b.ctx, e.Task.ID, at))
		return e.Task.ID
	}
	old := []string{ended(keyed(oneShot("n"), "k"), hour(1), hour(2)), ended(daily("n"), hour(1), late.Add(-1)), removed(late.Add(-1)), removed(hour(1))}
	stay := []string{
		ended(oneShot("n"), hour(1), late), // it took long
		removed(late),
		b.add(oneShot("overdue"), hour(1)).Task.ID,
		b.claim(b.add(oneShot("runs"), hour(1)).Task.ID, hour(1), time.Time{}).Task.ID,
		b.claim(b.add(daily("runs"), hour(1)).Task.ID, hour(1), hour(2)).Task.ID,
		b.pause(b.add(daily("paused"), hour(1)).Task.ID, time.Time{}).Task.ID,
	}
	gone := b.claim(b.add(daily("removed, and runs"), hour(1)).Task.ID, hour(1), hour(2))
	must[state.Entry](b)(b.a.Remove(b.ctx, gone.Task.ID, hour(1)))
	fired := ended(oneShot("fired"), hour(1), hour(2))
	byHand := must[state.Record](b)(b.a.Fire(b.ctx, fired, self, hour(5)))
	stay = append(stay, gone.Task.ID, fired)
	ids := func() (list []string) {
		for _, e := range b.list() {
			list = append(list, e.Task.ID)
		}
		slices.Sort(list)
		return list
	}
	all := slices.Concat(old, stay)
	slices.Sort(all)
	slices.Sort(stay)
	if p := pruned(state.Keep{}, now); p.Tasks != 0 || !slices.Equal(ids(), all) {
		t.Errorf("without a bound: %+v", p)
	}
	if p := pruned(state.Keep{Runs: 1, Output: 1}, now); p.Tasks != 0 || !slices.Equal(ids(), all) {
		t.Errorf("with a bound on output only: %+v", p)
	}
	if p := pruned(state.Keep{Ended: kept}, now); p.Tasks != len(old) || !slices.Equal(ids(), stay) {
		t.Errorf("forgotten %d, want %d; left %v, want %v", p.Tasks, len(old), ids(), stay)
	}
	for _, id := range old {
		if _, err := b.b.Find(b.ctx, id); err == nil {
			t.Errorf("%s is found", id)
		}
		_, err := b.b.Restore(b.ctx, id, hour(3000), now)
		b.is("restore", err, state.ErrNotFound)
	}
	if p := pruned(state.Keep{Ended: kept}, now); p.Tasks != 0 {
		t.Errorf("again: %+v", p)
	}
	e := b.add(keyed(oneShot("new"), "k"), hour(3000)) // the key is free
	if slices.Contains(all, e.Task.ID) {
		t.Errorf("%s was given again", e.Task.ID)
	}
	b.end(byHand, state.OK)
	b.end(gone, state.OK)
	if p := pruned(state.Keep{Ended: kept}, now); p.Tasks != 2 {
		t.Errorf("after their runs: %+v", p)
	}
	if _, err := b.a.Restore(b.ctx, stay[slices.IndexFunc(stay, func(id string) bool { return b.phaseOf(id) == state.Removed })], hour(3000), now); err != nil {
		t.Errorf("what was kept cannot be restored: %v", err)
	}
}

// phaseOf is the phase of a task, or empty when there is no such.
func (b *bench) phaseOf(id string) state.Phase {
	l, err := b.b.Find(b.ctx, id)
	if err != nil || len(l) != 1 {
		return ""
	}
	return l[0].Phase
}
