package rules

import (
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Resume returns what resuming a paused task at now means. The instants that came during the pause
// end as skipped, in the one line, and none is made up for. next is the due instant from then on.
// over says that there is none: the task has ended, as a one-shot has whose time has passed.
func Resume(e state.Entry, sched *when.Schedule, now time.Time) (line *state.Line, next time.Time, over bool) {
	if e.Due.After(now) {
		return nil, e.Due, false
	}
	last, next := e.Due, dueAfterOnly(e.Task)
	if sched != nil {
		if t, ok := sched.Latest(e.Due.Add(-1), now); ok {
			last = t
		}
		next, _ = sched.Next(last)
	}
	return RangeLine(e, sched, e.Due, last, state.Skipped, reasonPaused), next, next.IsZero()
}
