package when

import (
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// Shifted returns the same schedule with every instant, and its bounds, later by d of elapsed time.
// It spreads tasks that would otherwise all start at once. Kind, Text and Canonical stay as they
// are.
func (s *Schedule) Shifted(d time.Duration) *Schedule {
	c := *s
	if c.rule == nil {
		c.At = c.At.Add(d)
		return &c
	}
	if !c.start.IsZero() {
		c.start = c.start.Add(d)
	}
	if !c.end.IsZero() {
		c.end = c.end.Add(d)
	}
	c.rule = recur.Delayed{Rule: s.rule, By: d}
	return &c
}
