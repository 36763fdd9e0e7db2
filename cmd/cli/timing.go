package cli

import (
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// FirstDue is the first instant of a task's schedule, seen from now. A schedule that no task can have is refused: one that
// never comes, an interval that is too short.
func FirstDue(sched *when.Schedule, now time.Time) (time.Time, error) {
	due, ok := sched.Next(now)
	if !ok && sched.Kind == when.Once && !sched.At.Before(now) {
		due, ok = sched.At, true // "now"
	}
	if !ok {
		return due, problem.New(problem.Never, problem.T("%s never comes", Quote(sched.Text)), problem.T("ask %s", problem.To("when", sched.Text)))
	}
	if sched.Every > 0 && sched.Every < leastInterval {
		return due, problem.New(problem.Limit, problem.T("an interval of %s is too short for a task", sched.Every),
			problem.T("give 1s or more; to wait here for less: %s", problem.To("wait", sched.Canonical)))
	}
	return due, nil
}

// Timing is what a task keeps of a time that was read by the options: all it takes to read it again the same way. Due is its
// first instant, which has the delay of the jitter in it.
func Timing(sched *when.Schedule, o when.Options, due time.Time, jitter, delay time.Duration) state.Timing {
	t := state.Timing{
		Text: sched.Text, Form: string(o.Form), Kind: string(sched.Kind), Zone: o.Zone.String(),
		Start: o.Start, Given: !o.Start.IsZero(), End: o.End, Count: o.Count,
	}
	if !t.Given {
		t.Start = o.Now
	}
	if o.Form == when.DelayForm || o.Form == when.EveryForm && sched.Kind == when.Interval {
		// In a form that reads the same without the flag: "every 5m" for --every 5m, "5s" for --delay 5.
		t.Text, t.Form = sched.Canonical, ""
	}
	if jitter > 0 {
		t.Jitter, t.Delay = jitter.String(), delay.String()
	}
	if sched.Kind == when.Once && sched.Delay == 0 && !sched.Fixed {
		// Read off the wall clock, perhaps of a zone that the text named.
		t.Zone, t.Wall = sched.Zone.String(), due.In(sched.Zone).Format(state.WallForm)
	}
	return t
}

// leastInterval is the shortest interval of a task: below it, claiming and starting take longer than the pause.
const leastInterval = time.Second
