package health

import "time"

const (
	earlyGap = 100 * time.Millisecond // between the starts of the first attempts
	earlyFor = 10 * time.Second
	growth   = 1.5
	// the part of a pause that chance may take off, so that many waiters do not probe at the same
	// time
	jitter = 0.25
)

// pace decides how long to pause between attempts.
type pace struct {
	longest time.Duration // upper bound of a pause
	random  func() float64
	gap     time.Duration // the last pause, before jitter; 0 in the beginning
}

// after returns the pause after an attempt. The attempt was due at age, counted from the first one,
// and ended took after that. Gaps count from start to start. After an attempt that outlasted its
// gap, the pause is still half a gap.
func (p *pace) after(age, took time.Duration) time.Duration {
	gap := min(earlyGap, p.longest)
	if age >= earlyFor {
		if p.gap == 0 {
			p.gap = gap
		}
		p.gap = min(time.Duration(float64(p.gap)*growth), p.longest)
		gap = p.gap - time.Duration(float64(p.gap)*jitter*p.random())
	}
	return max(gap-took, gap/2)
}
