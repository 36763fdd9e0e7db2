package audit

import (
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// term is a stretch of a task's life with one schedule. Its instants are first, and those of the
// schedule after it. Of the instants with an outcome it knows up to where there is no hole, and
// what is covered beyond.
type term struct {
	a *Auditor
	rhythm
	first time.Time // zero: not known yet; the first instant with an outcome is
	// there may be instants before first: the ledger does not have the term's beginning
	open  bool
	spent bool      // it is known of no instant but that the last of it was first
	cur   time.Time // the next instant that is owed an outcome
	done  bool      // there is none
	above []covered // instants beyond cur that have one, in order
	floor time.Time // instants up to here ended before the term began
	// from here on nothing is owed; zero: what comes after the last outcome was taken away by a
	// change, or is not known
	until time.Time
}

// covered are instants with an outcome, from first to last, without a hole.
type covered struct{ first, last time.Time }

// begin makes a term; nil when the schedule cannot be read.
func (a *Auditor) begin(timing *state.Timing, first time.Time) *term {
	r, ok := a.rhythms.of(timing)
	if !ok {
		return nil
	}
	return a.beginOf(r, first)
}

func (a *Auditor) beginOf(r rhythm, first time.Time) *term {
	if r.words == 0 && first.IsZero() {
		return nil
	}
	return &term{a: a, rhythm: r, first: first, cur: first}
}

// once reports whether first is the term's only instant.
func (t *term) once() bool { return t.words == 0 }

func (t *term) schedule() *when.Schedule {
	s, _ := t.a.rhythms.schedule(t.rhythm)
	return s
}

// has reports whether at is one of the term's instants.
func (t *term) has(at time.Time) bool {
	switch {
	case t.spent:
		return !at.After(t.first)
	case at.Equal(t.first), !t.done && at.Equal(t.cur):
		return true
	case t.once(), at.Before(t.first) && !t.open:
		return false
	}
	last, ok := t.schedule().Latest(at.Add(-1), at)
	return ok && last.Equal(at)
}

func (t *term) next(at time.Time) (time.Time, bool) {
	if t.once() {
		return time.Time{}, false
	}
	return t.schedule().Next(at)
}

// countMost bounds the counting of instants: a second-by-second schedule after years of absence.
const countMost = 10_000_000

// span counts the term's instants from a, which is one, to z, and says which is the last.
func (t *term) span(a, z time.Time) (n int, last time.Time) {
	if t.once() || !z.After(a) {
		return 1, a
	}
	sched := t.schedule()
	if last, ok := sched.Latest(a, z); ok {
		return 1 + sched.Count(a, z, countMost), last
	}
	return 1, a
}

// covers reports whether an instant has an outcome.
func (t *term) covers(at time.Time) bool {
	if at.Before(t.first) {
		return false
	}
	return t.done || at.Before(t.cur) || slices.ContainsFunc(t.above, func(c covered) bool { return !at.Before(c.first) && !at.After(c.last) })
}

// cover notes the outcome of the instants from first, which is one, to last, and reports whether
// one of them had one.
func (t *term) cover(first, last time.Time) (again bool) {
	if t.first.IsZero() {
		t.first, t.cur = first, first
	}
	if first.Before(t.first) { // of before the beginning of the ledger
		return false
	}
	if again = t.covers(first); t.done {
		return again
	}
	if first.Before(t.cur) {
		if last.Before(t.cur) {
			return again
		}
		first = t.cur
	}
	if len(t.above) == 0 && first.Equal(t.cur) {
		t.advance(last)
		return again
	}
	at, _ := slices.BinarySearchFunc(t.above, first, func(c covered, at time.Time) int { return c.first.Compare(at) })
	t.above = slices.Insert(t.above, at, covered{first, last})
	for i := max(at-1, 0); i+1 < len(t.above) && i <= at; {
		c := &t.above[i]
		if next, ok := t.next(c.last); ok && next.Before(t.above[i+1].first) {
			i++
			continue
		}
		again = again || !t.above[i+1].first.After(c.last)
		c.last = later(c.last, t.above[i+1].last)
		t.above = slices.Delete(t.above, i+1, i+2)
	}
	for !t.done && len(t.above) > 0 && !t.above[0].first.After(t.cur) {
		t.advance(t.above[0].last)
		t.above = slices.Delete(t.above, 0, 1)
	}
	if len(t.above) == 0 {
		t.above = nil
	}
	return again
}

// advance moves what is owed next behind an instant.
func (t *term) advance(last time.Time) {
	next, ok := t.next(last)
	if t.done = !ok; ok {
		t.cur = next
	}
}

// holes are the instants that lack an outcome, of those before until; of all that the schedule has
// when whole; with neither, of those before others that have one.
func (t *term) holes(until time.Time, whole bool) (list []Finding) {
	cur, ok := t.cur, !t.done && !t.first.IsZero()
	known := func() { // of what was dropped nothing is known
		if h := t.a.horizon(); t.open && ok && !cur.After(h) {
			cur, ok = t.next(h)
		}
	}
	owed := func(before time.Time) {
		if known(); ok && cur.Before(before) {
			n, last := t.span(cur, before.Add(-1))
			list = append(list, Finding{Kind: None, First: cur, Last: last, Count: n})
		}
	}
	for _, c := range t.above {
		owed(c.first)
		if next, more := t.next(c.last); !c.last.Before(cur) {
			cur, ok = next, more
		}
	}
	switch {
	case !ok:
	case !until.IsZero():
		owed(until)
	case whole:
		if known(); !ok {
			break
		}
		n, last := 1, cur
		for at, more := t.next(cur); more && n < countMost; at, more = t.next(at) {
			last = at
			n++
		}
		list = append(list, Finding{Kind: None, First: cur, Last: last, Count: n})
	}
	return list
}
