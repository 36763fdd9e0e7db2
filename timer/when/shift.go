package when

import "time"

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
	c.rule = delayed{s.rule, d}
	return &c
}

// delayed is a rule whose instants come later.
type delayed struct {
	rule
	by time.Duration
}

func (r delayed) next(t time.Time) (time.Time, bool) {
	next, ok := r.rule.next(t.Add(-r.by))
	return next.Add(r.by), ok
}
