package cmd

import (
	"time"

	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// share is one task's part of a span that many are dealt out over: every instant of it comes later by the delay. It is kept
// with the task as a jitter is, so that the tasks stay apart when they recur.
type share struct{ span, delay time.Duration }

// shareOf is the i-th of n equal steps over the span, to the millisecond.
func shareOf(span time.Duration, i, n int) *share {
	step := float64(span) / float64(n) * float64(i)
	return &share{span, min(time.Duration(step), span).Truncate(time.Millisecond)}
}

func (h *share) of(sched *when.Schedule) (span, delay time.Duration, err error) {
	if sched.Every > 0 && h.span > sched.Every {
		return 0, 0, problem.Of(problem.T("a spread over %s is longer than the interval of %s", h.span, sched.Every), problem.T("give %s or less", problem.Set("spread", sched.Every.String())))
	}
	return h.span, h.delay, nil
}
