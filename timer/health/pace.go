package health

import "time"

const (
	eager    = 100 * time.Millisecond // between the starts of attempts, early on
	eagerFor = 10 * time.Second
	growth   = 1.5
	// part of a pause that chance may take off, so that many waiters do not knock together
	jitter = 0.25
)

// pace decides how long to rest between attempts.
type pace struct {
	longest time.Duration // upper bound of a pause
	random  func() float64
	gap     time.Duration // the last one, before jitter; 0 while eager
	quick   int           // so many attempts come faster still
}

// news begins anew: something has moved. A socket, for one, is there a moment before somebody
// listens on it.
func (p *pace) news() { p.gap, p.quick = 0, 3 }

// after returns the rest due after an attempt that was to start at age (since the first one) and
// ended that long after. Gaps count from start to start; an attempt that outlasted its gap still
// earns the peer half a gap of peace.
func (p *pace) after(age, took time.Duration) time.Duration {
	gap := min(eager, p.longest)
	if p.quick > 0 {
		p.quick--
		gap = min(leastCalm, gap)
	}
	if age >= eagerFor {
		if p.gap == 0 {
			p.gap = gap
		}
		p.gap = min(time.Duration(float64(p.gap)*growth), p.longest)
		gap = p.gap - time.Duration(float64(p.gap)*jitter*p.random())
	}
	return max(gap-took, gap/2)
}
