package audit

import (
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// term is the time in which a task has one schedule. Its instants are first and those of the
// schedule after it. It knows up to which instant all have outcomes, and which ones after that have
// one.
type term struct {
	a *Auditor
	scheduleKey
	first time.Time // zero when it is not known yet: then it is the first instant with an outcome
	// there may be instants before first, because the ledger lacks the beginning of the term
	open  bool
	spent bool      // only first is known to be an instant, and it was the last
	cur   time.Time // the next instant that needs an outcome
	done  bool      // there is no such instant
	above []covered // instants after cur that have an outcome, in order
	floor time.Time // instants up to here ended before the term began
	// nothing needs an outcome from here on; zero when the instants after the last outcome are not
	// known, or a change removed them
	until time.Time
}

// covered are instants with an outcome, from first to last, without a hole.
type covered struct{ first, last time.Time }

// begin makes a term. It is nil when the schedule cannot be read.
func (a *Auditor) begin(timing *state.Timing, first time.Time) *term {
	r, ok := a.keys.of(timing)
	if !ok {
		return nil
	}
	return a.beginOf(r, first)
}

func (a *Auditor) beginOf(r scheduleKey, first time.Time) *term {
	if r.words == 0 && first.IsZero() {
		return nil
	}
	return &term{a: a, scheduleKey: r, first: first, cur: first}
}

// once reports whether first is the only instant of the term.
func (t *term) once() bool { return t.words == 0 }

func (t *term) schedule() *when.Schedule {
	s, _ := t.a.keys.schedule(t.scheduleKey)
	return s
}

// has reports whether at is an instant of the term.
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

// maxCounted is how many instants are counted: those of a schedule of seconds after years of
// absence.
const maxCounted = 10_000_000

// span counts the instants of the term from a, which is one, to z, and returns the last.
func (t *term) span(a, z time.Time) (n int, last time.Time) {
	if t.once() || !z.After(a) {
		return 1, a
	}
	sched := t.schedule()
	if last, ok := sched.Latest(a, z); ok {
		return 1 + sched.Count(a, z, maxCounted), last
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

// cover records the outcome of the instants from first, which is one, to last. It reports whether
// one of them had an outcome.
func (t *term) cover(first, last time.Time) (again bool) {
	if t.first.IsZero() {
		t.first, t.cur = first, first
	}
	if first.Before(t.first) { // from before the beginning of the ledger
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

// advance moves cur past an instant.
func (t *term) advance(last time.Time) {
	next, ok := t.next(last)
	if t.done = !ok; ok {
		t.cur = next
	}
}

// holes returns the instants without an outcome: those before until; with whole, all of the
// schedule; with neither, those before others that have one.
func (t *term) holes(until time.Time, whole bool) (list []Finding) {
	cur, ok := t.cur, !t.done && !t.first.IsZero()
	known := func() { // nothing is known about what was dropped
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
		for at, more := t.next(cur); more && n < maxCounted; at, more = t.next(at) {
			last = at
			n++
		}
		list = append(list, Finding{Kind: None, First: cur, Last: last, Count: n})
	}
	return list
}
