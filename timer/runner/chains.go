package runner

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// chains are the tasks that wait for the end of others' runs (state.After), or for a boot of the
// machine. How the other tasks stand decides whether that has come. The runner checks this when it
// begins and when one of the others has changed, so nothing is lost if a runner ends in between.
type chains struct {
	waiting map[string]map[string]bool // by the ID of a task, those that wait for it
	awaited map[string][]string        // by the ID of one that waits, those that it waits for
	look    map[string]bool            // those that are to be looked at
	seen    map[string]bool            // those that were, or are to be
}

func newChains() chains {
	return chains{map[string]map[string]bool{}, map[string][]string{}, map[string]bool{}, map[string]bool{}}
}

// watch passes on what the queue tells, and notes which tasks to look at.
func (c chains) watch(slots iter.Seq[state.Slot]) iter.Seq[state.Slot] {
	return func(yield func(state.Slot) bool) {
		for s := range slots {
			if !s.Gone && state.IsUnscheduled(s.Wake()) {
				c.look[s.ID], c.seen[s.ID] = true, true
			}
			c.changed(s.ID)
			if !yield(s) {
				return
			}
		}
	}
}

// changed notes a task of which a run has ended, or that is in another place, so that those that
// wait for it are looked at.
func (c chains) changed(id string) {
	for other := range c.waiting[id] {
		c.look[other] = true
	}
}

// wait notes that a task waits for another.
func (c chains) wait(id, on string) {
	if c.waiting[on] == nil {
		c.waiting[on] = map[string]bool{}
	}
	c.waiting[on][id] = true
	c.awaited[id] = append(c.awaited[id], on)
}

// forget ends the wait of a task.
func (c chains) forget(id string) {
	for _, on := range c.awaited[id] {
		if delete(c.waiting[on], id); len(c.waiting[on]) == 0 {
			delete(c.waiting, on)
		}
	}
	delete(c.awaited, id)
}

// followUp makes tasks due that wait for something that has come, and ends tasks that wait for
// something that never comes. What cannot be found out now is checked in the next pass.
func (g *engine) followUp(ctx context.Context, now time.Time) (again bool) {
	if len(g.chains.look) == 0 || g.closed {
		return false
	}
	var failed []string
	for len(g.chains.look) > 0 { // a task that ends here may end others that wait for it
		find, err := g.Store.Finder(ctx)
		if err != nil {
			g.warn("who waits for others could not be looked at: %v", err)
			return true
		}
		ids := slices.SortedFunc(maps.Keys(g.chains.look), state.CompareIDs)
		clear(g.chains.look)
		for _, id := range ids {
			if err := g.followUpOne(ctx, find, id, now); unlessTaken(err) != nil {
				g.warnOnce("task %s waits for another, which could not be looked at: %v", id, err)
				failed = append(failed, id)
			}
		}
	}
	for _, id := range failed {
		g.chains.look[id] = true
	}
	return len(failed) > 0
}

type finder func(ctx context.Context, id string) ([]state.Entry, error)

func (g *engine) followUpOne(ctx context.Context, find finder, id string, now time.Time) error {
	g.chains.forget(id)
	e, err := g.entry(ctx, find, id)
	switch {
	case err != nil || e.Held || !state.IsUnscheduled(e.Due):
		return err
	case e.Task.When.OfBoots():
		return g.boots(ctx, e, now)
	case len(e.Task.When.After) == 0:
		return nil
	}
	come := true
	for _, a := range e.Task.When.Awaits() {
		w, err := g.awaited(ctx, find, a, e.Task.When.Start)
		if err != nil {
			return err
		}
		became, why := g.core.follow(a, w)
		switch became {
		case rules.NeverComes:
			return g.forgo(ctx, e, a, why, now)
		case rules.StillWaits:
			g.chains.wait(id, a.ID)
			come = false
		}
	}
	if !come {
		return nil
	}
	if err := g.Store.Move(ctx, id, state.Unscheduled, now, now); err != nil {
		return err
	}
	g.Say("task %s is due: what it waited for has come", id)
	g.agenda.put(state.Slot{ID: id, Due: now})
	return nil
}

// boots makes a task of each boot due if it has not come in this one. The claim notes that it has
// come, not this move. If the clock shows earlier instants again, the task is due right after the
// last one that ended.
func (g *engine) boots(ctx context.Context, e state.Entry, now time.Time) error {
	if g.Self.Boot == "" || e.HadBoot(g.Self.Boot) {
		return nil
	}
	due := later(now, e.Tally.Floor().Add(1))
	if err := g.Store.Move(ctx, e.Task.ID, state.Unscheduled, due, now); err != nil {
		return err
	}
	g.Say("task %s is due: the machine has booted", e.Task.ID)
	g.agenda.put(state.Slot{ID: e.Task.ID, Due: due})
	return nil
}

// entry is a task by its ID.
func (g *engine) entry(ctx context.Context, find finder, id string) (state.Entry, error) {
	found, err := find(ctx, id)
	if err == nil && len(found) != 1 {
		err = state.ErrNotFound
	}
	if err != nil {
		return state.Entry{}, err
	}
	return found[0], nil
}

// awaited returns what is known of a task that another one waits for. since is when the wait began,
// which counts if the task recurs. A forgotten task has at least left its lines in the ledger.
func (g *engine) awaited(ctx context.Context, find finder, a state.After, since time.Time) (w rules.Awaited, err error) {
	e, err := g.entry(ctx, find, a.ID)
	switch {
	case errors.Is(err, state.ErrNotFound):
		w.Phase = state.Removed
	case err != nil:
		return w, err
	default:
		w.Phase, w.Open = e.Phase, len(e.Open) > 0
		if e.Tally.Number == 0 || e.Task.Recurring() && e.Tally.LastEnd.Before(since) {
			return w, nil
		}
		if !e.Task.Recurring() {
			since = time.Time{}
		}
	}
	_, _, err = g.Store.Log(ctx, a.ID, func(l state.Line) bool {
		if l.Type == state.LineOccurrence && !l.At.Before(since) {
			w.Ends = append(w.Ends, l)
		}
		return l.Type != state.LineTask || l.Event != state.EventCreated
	})
	slices.Reverse(w.Ends)
	return w, err
}

// forgo ends a task that waits for what never comes.
func (g *engine) forgo(ctx context.Context, e state.Entry, a state.After, why string, now time.Time) error {
	line := state.Line{At: now, Outcome: state.Skipped, Reason: why, Description: e.Task.Summary()}
	c := state.Change{ID: e.Task.ID, Due: e.Due, Now: now, Rule: state.Forgo(line, now)}
	if err := g.Store.Apply(ctx, c)[0].Err; err != nil {
		return err
	}
	g.Say("task %s does not come: it was to run after %s", e.Task.ID, a)
	g.agenda.put(state.Slot{ID: e.Task.ID, Gone: true})
	line = line.Of(e.Task.ID, e.Given()+1, now)
	g.Ended(state.Record{Task: e.Task, Due: now, Number: line.Number}, line)
	g.chains.changed(e.Task.ID)
	return nil
}
