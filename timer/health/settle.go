package health

import "time"

// proof counts the good answers of a target in a row, and how long there was no other.
type proof struct {
	successes int           // asked: so many
	stable    time.Duration // asked: for so long
	interval  time.Duration

	streak      int
	first, last time.Time // good answers of the streak
}

// take notes an answer and reports whether it was the last one needed.
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

// pause is how long to rest after a good answer that was not the last one needed. late is how long
// ago its attempt was to start: as with pace, gaps count from start to start. An attempt is made
// right at the end of stable.
func (p *proof) pause(now time.Time, late time.Duration) time.Duration {
	gap := min(eager, p.interval)
	if p.streak >= p.successes {
		gap = max(eager, min(p.interval, p.stable/4))
	}
	rest := max(gap-late, gap/2)
	if left := p.first.Add(p.stable).Sub(now); left > 0 {
		rest = min(rest, left)
	}
	return rest
}

// soFar is what proof there is so far, and of how much; the zero Cause when there is none.
func (p *proof) soFar() Cause {
	switch {
	case p.streak == 0:
		return Cause{}
	case p.streak < p.successes:
		return Cause{Kind: Proving, Number: p.streak, Of: p.successes}
	}
	return Cause{Kind: ProvingFor, Span: p.last.Sub(p.first), Most: p.stable}
}
