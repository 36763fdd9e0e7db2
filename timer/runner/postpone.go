package runner

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

const (
	// delayLeast is the first pause after a start was put off. Each further pause is twice as long.
	delayLeast = 100 * time.Millisecond
	// shortMost is the longest pause if nothing at all can be started, and delayMost if a reason of
	// the task's own is in the way.
	shortMost = time.Second
	delayMost = time.Minute
	// delayTold is how long a start is put off before others are told.
	delayTold = time.Second
	// delaysTold is the most tasks of which others are told.
	delaysTold = 100
)

// delay is a task whose start is put off for a reason that passes by itself.
type delay struct {
	since time.Time // when it was first put off
	until time.Time // when it is tried again
	pause time.Duration
	why   string
}

// postpone tries a start again later that failed for a reason that passes by itself. The occurrence
// does not end. If the shortage concerns all tasks, the task keeps its claim and its place, so that
// no more are claimed than could run. If the reason is the task's own, the claim is given back and
// the task is pending: it may be edited, paused and removed, and its window applies. A further
// attempt waits like one after a failure.
func (g *engine) postpone(ctx context.Context, n *run, why error, now time.Time) {
	id, short := n.r.Task.ID, proc.Short(why)
	d := g.delays[id]
	most := delayMost
	if short {
		most = shortMost
	}
	d.pause = min(max(2*d.pause, delayLeast), most)
	d.until = now.Add(d.pause)
	if d.since.IsZero() {
		d.since = now
	}
	if text := why.Error(); text != d.why {
		d.why = text
		g.warn("%s could not be started yet, and is tried again: %s", occurrence(n.r), text)
	}
	g.delays[id] = d

	n.r.Starting, n.r.Started, n.r.Child = time.Time{}, time.Time{}, state.Ident{}
	switch {
	case n.r.Attempt > 1:
		n.r.Attempt--
		n.r.Retry = d.until
		if err := g.Store.Note(ctx, n.r); err != nil {
			g.warn("%s: that its attempt is put off could not be noted: %v", occurrence(n.r), err)
		}
	case !short && !n.r.Manual:
		err := g.Store.Release(ctx, n.r)
		if err == nil || errors.Is(err, state.ErrEnded) {
			g.dropClaim(n.r)
			if err == nil {
				g.agenda.put(state.Slot{ID: id, Due: n.r.Due})
				g.agenda.at(id, d.until)
			}
			return
		}
		fallthrough // --overlap queue holds it, or the task was changed meanwhile
	default:
		n.delayed = true
	}
	n.resting, n.keeps = true, short
	g.host.Rest(n.r, d.pause)
}

// startDelayed makes a first attempt that was put off, unless its task was removed, paused or
// edited meanwhile. If the store does not answer, it is put off again.
func (g *engine) startDelayed(ctx context.Context, n *run, now time.Time) {
	n.delayed, n.keeps, n.resting = false, false, false
	if !n.r.Manual && n.r.Attempt <= 1 {
		wanted, err := g.wanted(ctx, n.r)
		switch {
		case err != nil:
			g.postpone(ctx, n, err, now)
			return
		case !wanted:
			n.over = true
			g.ends = append(g.ends, state.Ending{Record: n.r, Line: rules.PutOff(n.r, g.delays[n.r.Task.ID].why)})
			delete(g.delays, n.r.Task.ID)
			return
		}
	}
	g.host.Start(n.r, n.last)
}

// postponed returns the tasks whose start is put off, for others to see, those that wait longest
// first. It forgets tasks that are not tried again because they were removed.
func (g *engine) postponed(now time.Time) (list []state.Delay) {
	for id, d := range g.delays {
		if now.Sub(d.until) > 2*delayMost && !g.running(id) {
			delete(g.delays, id)
		} else if now.Sub(d.since) >= delayTold {
			list = append(list, state.Delay{TaskID: id, Since: d.since, Why: plain.Cut(d.why, whyMost)})
		}
	}
	slices.SortFunc(list, func(a, b state.Delay) int {
		return cmp.Or(a.Since.Compare(b.Since), state.CompareIDs(a.TaskID, b.TaskID))
	})
	return list[:min(len(list), delaysTold)]
}

// whyMost is the most characters that others are told of a delay's reason.
const whyMost = 300
