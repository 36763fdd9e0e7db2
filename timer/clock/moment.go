package clock

import "time"

// Moment is one point in time on the wall clock and on the one that nobody sets.
type Moment struct {
	Wall time.Time
	Boot time.Duration // of a clock that is Steady; else 0
}

// Here reads both clocks, the wall first: a length of time that counts from Boot is then never
// early by either.
func Here(c Clock) Moment {
	m := Moment{Wall: c.Now()}
	if steady, ok := c.(Steady); ok {
		m.Boot = steady.Boot()
	}
	return m
}

// Since is how much time has passed, on the clock that nobody sets where there is one.
func (m Moment) Since(c Clock) time.Duration {
	if steady, ok := c.(Steady); ok {
		return steady.Boot() - m.Boot
	}
	return c.Now().Sub(m.Wall)
}
