package when

import "time"

// Shifted is the same schedule with every instant, its bounds included, later by d of elapsed time: what spreads tasks that
// would otherwise all start at once. It is a recurrence of the same kind; Text and Canonical stay those of the unshifted.
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
	c.rule = shifted{s.rule, d}
	return &c
}

// shifted is a rule whose instants come later.
type shifted struct {
	rule
	by time.Duration
}

func (r shifted) next(t time.Time) (time.Time, bool) {
	next, ok := r.rule.next(t.Add(-r.by))
	return next.Add(r.by), ok
}
