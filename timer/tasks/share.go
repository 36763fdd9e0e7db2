package tasks

import (
	"time"

	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Share is one task's part of a span that many are dealt out over: every instant of it comes later by the delay. It is kept
// with the task as a jitter is, so that the tasks stay apart when they recur.
type Share struct{ span, delay time.Duration }

// ShareOf is the i-th of n equal steps over the span, to the millisecond.
func ShareOf(span time.Duration, i, n int) *Share {
	step := float64(span) / float64(n) * float64(i)
	return &Share{span, min(time.Duration(step), span).Truncate(time.Millisecond)}
}

// Of is the share for a schedule, which the span has to fit.
func (h *Share) Of(sched *when.Schedule) (span, delay time.Duration, err error) {
	if sched.Every > 0 && h.span > sched.Every {
		return 0, 0, problem.Of(problem.T("a spread over %s is longer than the interval of %s", h.span, sched.Every), problem.T("give %s or less", problem.Set("spread", sched.Every.String())))
	}
	return h.span, h.delay, nil
}

// Span is what was said of an option that many instants are spread by: a millisecond or more, to do something with; like is one.
func Span(name problem.Option, text string, to problem.Text, like string) (time.Duration, error) {
	span, err := when.Duration(text)
	if err != nil {
		return 0, about(name, err)
	}
	if span < time.Millisecond {
		return 0, problem.Of(problem.T("%s is not a span %s", problem.Set(name, text), to), problem.T("give 1ms or more, such as %s", problem.Set(name, like)))
	}
	return span, nil
}
