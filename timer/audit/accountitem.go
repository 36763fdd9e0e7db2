package audit

import (
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// item is an outcome or an open claim.
type item struct {
	number, count int
	due, last     time.Time
	begun         bool // something has begun for it, or was about to
	line          state.Line
}

// occurrence records the end of an occurrence, or of a run by hand.
func (b *account) occurrence(l state.Line) {
	i := item{number: l.Number, count: max(l.Count, 1), line: l, begun: l.Started != nil || l.Outcome != state.Missed && l.Outcome != state.Skipped}
	if l.Due != nil {
		i.due, i.last = l.Due.UTC(), l.Due.UTC()
	}
	if l.DueLast != nil {
		i.last = l.DueLast.UTC()
	}
	if !slices.Contains(outcomes, l.Outcome) {
		b.find(i.finding(Outcome))
	}
	manual := l.Type == state.LineManual
	if !manual && (l.Outcome.Ran() || l.Started != nil) {
		b.fired++
	}
	if again := b.take(i, manual); again {
		b.find(i.finding(Number))
	}
	b.dropEras()
}

// claims records the open claims, which have no line.
func (b *account) claims(open []state.Record) {
	for _, r := range open {
		if b.nums.has(r.Number) {
			continue // it has ended since the tasks were read
		}
		due := r.Due.UTC()
		i := item{number: r.Number, count: 1, due: due, last: due, begun: true}
		i.line.Revision = r.Task.Revision
		instants := b.a.result.Instants
		b.take(i, r.Manual)
		if !r.Manual && b.a.counts(due) && b.a.result.Instants > instants {
			b.a.result.Open++
			b.a.result.Claims = append(b.a.result.Claims, r)
		}
	}
}

// take compares an item with what is known. It reports whether another occurrence has its number.
func (b *account) take(i item, manual bool) (again bool) {
	at := b.eraOf(i)
	// claimed before the ledger begins: what held then is unknown
	if i.number > 0 && i.number < b.nums.least {
		if !manual && at >= 0 {
			b.place(at, i, true)
		}
		return false
	}
	late := ""
	if i.number > 0 {
		if again = b.nums.add(numberRange{i.number, i.number + i.count - 1, i.due, manual, i.last}); !again && at >= 0 {
			late = b.late(at, i, manual)
		}
	}
	if late != "" {
		b.find(i.finding(late))
	}
	if manual {
		return again
	}
	// An instant with two outcomes has its number twice as well, and is reported once.
	return b.place(at, i, late != "") != Twice && again
}

// eraOf returns the era in which the number of an item was given, or -1.
func (b *account) eraOf(i item) int {
	at := len(b.eras) - 1
	if i.number <= 0 {
		return at
	}
	for at > 0 && b.eras[at].after >= i.number {
		at--
	}
	for is := at; is > 0 && b.eras[is].vague; is-- { // it may have been claimed before
		if t := b.eras[is].term; t != nil && t.has(i.due) {
			return is
		}
		if t := b.eras[is-1].term; t != nil && t.has(i.due) {
			return is - 1
		}
	}
	return at
}

// maxStartDelay is how long after its claim a command begins at the latest, when its gate takes its
// whole minute.
const maxStartDelay = 2 * time.Minute

// late returns the change after which an item began although the change forbade it, or "".
func (b *account) late(at int, i item, manual bool) string {
	e := b.eras[at]
	if !e.vague {
		switch {
		case e.ban == Removed, e.ban == Finished && !manual, e.ban == Paused && !manual && i.begun:
			return e.ban
		case i.begun && i.line.Revision > 0 && i.line.Revision < e.revision:
			return Edited
		}
	}
	// What was claimed before a change begins within the time of its gate or not at all, except for
	// further attempts and messages.
	l := i.line
	if manual || l.Started == nil || l.Attempts > 1 || l.ExitCode == nil && l.Signal == "" {
		return ""
	}
	for j := at; j < len(b.eras); j++ {
		c := b.eras[j]
		if c.back || j == at && (!c.vague || c.ban == "") || c.ban == "" && c.event != state.EventEdited || !l.Started.After(c.at.Add(maxStartDelay)) {
			continue
		}
		if c.ban == "" {
			return Edited
		}
		if !slices.ContainsFunc(b.eras[j+1:], func(o era) bool { return o.ban == "" && !o.at.After(*l.Started) }) {
			return c.ban
		}
	}
	return ""
}

// place assigns the outcome of an item to its instants and returns the kind of problem that it
// found. With quiet, another problem was found before, and this one is not reported.
func (b *account) place(at int, i item, quiet bool) (kind string) {
	find := func(what string) string {
		if !quiet {
			b.find(i.finding(what))
		}
		return what
	}
	if at < 0 {
		b.unknown()
		return ""
	}
	e := b.eras[at]
	t, before := e.term, i.number > 0 && i.number <= b.back // given before the clock was put back
	ended := func() {
		if before {
			b.again = later(b.again, i.last)
		} else {
			b.high = later(b.high, i.last)
		}
	}
	defer ended()
	ran := i.line.Outcome.Ran() || i.line.Started != nil || i.line.Outcome == ""
	second := !before && !i.due.After(b.again) && !(ran && b.run(i.due))
	if !ran {
		b.leave(gap{i.due, i.last})
	}
	if b.first.IsZero() {
		b.first = i.due
	}
	switch {
	case t == nil && e.ban != "" && e.ban != Paused:
		if !i.due.After(b.high) {
			return find(Twice)
		}
		if e.vague {
			return find(Unscheduled)
		}
		return ""
	case t == nil && !quiet:
		b.unknown()
		return ""
	case t == nil:
		return ""
	case second && ran, !second && !i.due.After(t.floor):
		if kind = find(Twice); t.spent || !t.has(i.due) {
			return kind
		}
	case !t.has(i.due):
		if e.old != nil && i.begun && e.old.has(i.due) {
			return find(Edited)
		}
		return find(Unscheduled)
	}
	again := t.cover(i.due, i.last)
	for j := at + 1; j < len(b.eras) && !(before && b.eras[j].after >= b.back); j++ {
		if o := b.eras[j].term; o != nil && o != t {
			again = again || o.covers(i.due)
			o.floor = later(o.floor, i.last)
		}
	}
	if again && kind == "" {
		kind = find(Twice)
	}
	n, last := t.span(i.due, i.last)
	if n != i.count || !last.Equal(i.last) {
		f := i.finding(Count)
		f.Count = n
		b.find(f)
	}
	if b.a.counts(i.last) {
		b.see()
		b.a.result.Instants += n
	}
	return kind
}
