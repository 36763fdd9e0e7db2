package tasks

import (
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Share is the part of one task when many are spread over a duration: every instant of it is later
// by the delay. It is kept with the task as a jitter is, so that the tasks stay apart when they
// recur.
type Share struct{ span, delay time.Duration }

// ShareOf returns the i-th of n equal steps over the duration, to the millisecond.
func ShareOf(span time.Duration, i, n int) *Share {
	step := float64(span) / float64(n) * float64(i)
	return &Share{span, min(time.Duration(step), span).Truncate(time.Millisecond)}
}

// Of returns the share for a schedule. The duration must fit the schedule.
func (h *Share) Of(sched *when.Schedule) (span, delay time.Duration, err error) {
	if sched.Every > 0 && h.span > sched.Every {
		return 0, 0, problem.Of(problem.T("a spread over %s is longer than the interval of %s", briefly(h.span), briefly(sched.Every)), problem.T("give %s or less", problem.Set("spread", briefly(sched.Every))))
	}
	return h.span, h.delay, nil
}

// Duration reads a length of time. 0 needs no unit.
func Duration(text string) (time.Duration, error) {
	if strings.TrimSpace(text) == "0" {
		return 0, nil
	}
	return when.Duration(text)
}

// Span reads the value of an option by which instants are spread: a millisecond or more. like is an
// example.
func Span(name problem.Option, text string, to problem.Text, like string) (time.Duration, error) {
	span, err := Duration(text)
	if err != nil {
		return 0, about(name, err)
	}
	if span < time.Millisecond {
		return 0, problem.Of(problem.T("%s is not a span %s", problem.Set(name, text), to), problem.T("give 1ms or more, such as %s", problem.Set(name, like)))
	}
	return span, nil
}
