package health

import "time"

// proof counts the good answers of a target in a row, and measures for how long there were only
// good ones.
type proof struct {
	successes int           // how many are demanded
	stable    time.Duration // for how long they are demanded
	interval  time.Duration

	streak      int
	first, last time.Time // the first and the last good answer in a row
}

// take adds an answer and reports whether the proof is complete.
func (p *proof) take(good bool, at time.Time) bool {
	if !good {
		p.streak = 0
		return false
	}
	if p.streak == 0 {
		p.first = at
	}
	p.streak++
	p.last = at
	return p.streak >= p.successes && at.Sub(p.first) >= p.stable
}

// pause returns how long to pause after a good answer, when the proof is not complete. late is how
// long ago its attempt was due: as in pace, gaps count from start to start. An attempt is made
// right at the end of stable.
func (p *proof) pause(now time.Time, late time.Duration) time.Duration {
	gap := min(earlyGap, p.interval)
	if p.streak >= p.successes {
		gap = max(earlyGap, min(p.interval, p.stable/4))
	}
	rest := max(gap-late, gap/2)
	if left := p.first.Add(p.stable).Sub(now); left > 0 {
		rest = min(rest, left)
	}
	return rest
}

// soFar returns how much proof there is, or the zero Cause when there is none.
func (p *proof) soFar() Cause {
	switch {
	case p.streak == 0:
		return Cause{}
	case p.streak < p.successes:
		return Cause{Kind: Proving, Number: p.streak, Of: p.successes}
	}
	return Cause{Kind: ProvingFor, Span: p.last.Sub(p.first), Most: p.stable}
}
