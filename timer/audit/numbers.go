package audit

import (
	"slices"
	"time"
)

// numbers are the numbers of occurrences and runs by hand of a task that the ledger has. A store
// gives them from 1 on without a gap. Claims end in another order, so few numbers are missing at a
// time.
type numbers struct {
	least int           // the first number; 0 when it is the first that comes
	next  int           // all from least up to it, without it, are there; 0 for none yet
	below time.Time     // the latest instant of those
	above []numberRange // those after next, in order
}

// numberRange is a range of numbers without a gap.
type numberRange struct {
	first, last int
	due         time.Time // the instant of the first
	manual      bool      // the first is a run by hand
	top         time.Time // the latest instant
}

// add adds the numbers of a line, and reports whether one of them was there.
func (n *numbers) add(s numberRange) (again bool) {
	if n.next == 0 {
		if n.least == 0 {
			n.least = s.first
		}
		n.next = n.least
	}
	if s.last < n.least {
		return false // from before the beginning of the ledger; it ended late
	}
	if s.first < n.next {
		again = s.first >= n.least
		if s.first = n.next; s.last < n.next {
			return again
		}
	}
	at, found := slices.BinarySearchFunc(n.above, s, func(a, b numberRange) int { return a.first - b.first })
	again = again || found || at > 0 && n.above[at-1].last >= s.first || at < len(n.above) && n.above[at].first <= s.last
	n.above = slices.Insert(n.above, at, s)
	// Neighbouring ranges become one.
	for i := max(at-1, 0); i+1 < len(n.above) && i <= at; {
		a, b := &n.above[i], n.above[i+1]
		if a.last+1 < b.first {
			i++
			continue
		}
		a.last, a.top = max(a.last, b.last), later(a.top, b.top)
		n.above = slices.Delete(n.above, i+1, i+2)
	}
	for len(n.above) > 0 && n.above[0].first <= n.next {
		n.next, n.below = max(n.next, n.above[0].last+1), later(n.below, n.above[0].top)
		n.above = slices.Delete(n.above, 0, 1)
	}
	if len(n.above) == 0 {
		n.above = nil
	}
	return again
}

// max returns the highest number.
func (n *numbers) max() int {
	if len(n.above) > 0 {
		return n.above[len(n.above)-1].last
	}
	return max(n.next-1, 0)
}

// has reports whether a number is there.
func (n *numbers) has(number int) bool {
	return number < n.next || slices.ContainsFunc(n.above, func(s numberRange) bool { return s.first <= number && number <= s.last })
}

// missing counts the numbers above limit that are not there but have others above them.
func (n *numbers) missing(limit int) (count int) {
	next := max(n.next, 1)
	for _, s := range n.above {
		if from := max(next, limit+1); s.first > from {
			count += s.first - from
		}
		next = s.last + 1
	}
	return count
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
