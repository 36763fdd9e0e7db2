package tasks

import (
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// firstDue returns the first instant of the schedule of a task at now. It refuses a schedule that
// never comes and an interval that is too short.
func firstDue(sched *when.Schedule, now time.Time) (time.Time, error) {
	due, ok := sched.Next(now)
	if !ok && sched.Kind == when.Once && !sched.At.Before(now) {
		due, ok = sched.At, true // "now"
	}
	if !ok {
		return due, problem.New(problem.Never, problem.T("%s never comes", plain.Quote(sched.Text)), problem.T("ask %s", problem.To("when", sched.Text)))
	}
	if sched.Every > 0 && sched.Every < leastInterval {
		return due, problem.New(problem.Limit, problem.T("an interval of %s is too short for a task", sched.Every),
			problem.T("give 1s or more; to wait here for less: %s", problem.To("wait", sched.Canonical)))
	}
	return due, nil
}

// Timing returns what a task keeps of its time: all that is needed to read it in the same way
// again. due is its first instant, which includes the delay of the jitter.
func Timing(sched *when.Schedule, o when.Options, due time.Time, jitter, delay time.Duration) state.Timing {
	t := state.Timing{
		Text: sched.Text, Form: string(o.Form), Kind: string(sched.Kind), Zone: o.Zone.String(),
		Start: o.Start, Given: !o.Start.IsZero(), End: o.End, Count: o.Count,
	}
	if !t.Given {
		t.Start = o.Now
	}
	if text := sched.Unforced(o.Form); text != "" {
		t.Text, t.Form = text, ""
	}
	if jitter > 0 {
		t.Jitter, t.Delay = jitter.String(), delay.String()
	}
	if sched.Kind == when.Once && sched.Delay == 0 && !sched.Fixed {
		// A wall time, perhaps in a zone that the text names.
		t.Zone, t.Wall = sched.Zone.String(), due.In(sched.Zone).Format(state.WallForm)
	}
	return t
}

// leastInterval is the shortest interval of a task. Below it, claiming and starting take longer
// than the pause.
const leastInterval = time.Second

// Bounds reads the bounds of a recurrence into the options.
func (s Spec) Bounds(o *when.Options) (err error) {
	if s.Start != nil {
		if o.Start, err = Moment("start", *s.Start, *o); err != nil {
			return err
		}
	}
	if s.End != nil {
		if o.End, err = Moment("end", *s.End, *o); err != nil {
			return err
		}
	}
	if s.Count != nil {
		if o.Count = *s.Count; o.Count < 1 {
			return problem.Of(problem.T("%s must be 1 or more", problem.Option("count")), problem.T("leave it out for no bound"))
		}
	}
	return nil
}

// Moment reads an option whose value is one instant. An instant in RFC 3339 may lie in the past;
// words mean the future.
func Moment(name problem.Option, text string, o when.Options) (time.Time, error) {
	if name == "start" {
		t, err := when.Instant(text, o)
		if err != nil {
			return time.Time{}, about(name, err)
		}
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, strings.TrimSpace(text)); err == nil {
		return t.In(o.Zone), nil
	}
	o.Form, o.OnceOnly, o.Start, o.End, o.Count, o.Except = when.Any, true, time.Time{}, time.Time{}, 0, nil
	sched, err := when.Parse(text, o)
	if err != nil {
		return time.Time{}, about(name, err)
	}
	return sched.At, nil
}
