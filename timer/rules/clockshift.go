package rules

import (
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// GoesOn reports whether a task must be moved back for a clock that shows now and is trusted, and
// to which instant: the first one after since. A task that was made or edited by a clock that
// showed more also begins there, unless it has a start or a count of its own.
func GoesOn(e state.Entry, now, since time.Time) (t state.Task, to time.Time, ok bool) {
	t = e.Task
	if !t.Recurring() || t.When.OfBoots() {
		return t, to, false
	}
	if t.When.Start.After(now) && !t.When.Given && t.When.Count == 0 {
		t.When.Start = state.UTC(since)
	}
	sched, err := Schedule(t)
	if err != nil {
		return t, to, false
	}
	if next, ok := sched.Next(now); !ok || !next.Before(e.Due) {
		return t, to, false // it does not lie ahead
	}
	to, ok = sched.Next(since)
	return t, to, ok
}

// repeated returns the last instant of a task, from first to latest, that occurs for the second
// time and must not be claimed; there may be none. When the clock has passed all repeated instants,
// it is the last of them: each has its outcome from the first time, and what must be caught up with
// comes after them.
func repeated(t state.Tally, sched *when.Schedule, first, latest time.Time) (time.Time, bool) {
	switch {
	case t.Again.IsZero() || first.After(t.LastDue):
		return time.Time{}, false
	case latest.After(t.LastDue):
		return sched.Latest(first.Add(-1), t.LastDue)
	case t.Taken(latest):
		return latest, true
	}
	free, _ := t.Unclaimed(latest)
	return sched.Latest(first.Add(-1), free.From.Add(-1))
}
