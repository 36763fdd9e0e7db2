package rules

import (
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// GoesOn says whether a task has to be moved back for a clock that shows now and is believed, and
// to which instant: the first that is after since. One that was made, or last edited, by a clock
// that showed more begins there as well; not if it was told when to begin, or how often to come
// from its beginning on.
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
		return t, to, false // it is not ahead
	}
	to, ok = sched.Next(since)
	return t, to, ok
}

// repeated is the last of a task's instants from first to latest that have come for the second time
// and are not to be claimed; there may be none. Where the clock has passed all that comes again, it
// is the last of those: each of them has its outcome from the first time, and what is to be caught
// up with lies behind them.
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
