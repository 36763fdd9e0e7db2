package audit

import (
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// account is the audit of one task.
type account struct {
	a    *Auditor
	id   string
	made bool // the ledger has the line that made the task
	nums numbers
	eras []era // in order; earlier eras stay while one of their numbers is still to come

	high time.Time // the latest instant that has ended since the clock was last put back by hours
	// the latest instant that had ended before that: instants up to it may be missed again, but not
	// run again
	again time.Time
	unrun []gap     // except for these, which had ended without a run
	first time.Time // the first instant that has ended: nothing ran before it
	back  int       // the numbers that had been given when the clock was put back

	fired int // how often it ran, as a tally counts it
	// instants without an outcome that were found on the way, even before the period
	none []Finding
	seen bool // it is counted in Result.Tasks

	recent bool // it is in Auditor.recent

	// Its state when it was read: the account balanced, and numbers up to limit had been given.
	stood bool
	limit int
}

func newBook(a *Auditor, id string) *account { return &account{a: a, id: id, nums: numbers{least: 1}} }

// era is what holds for the numbers between one change of the task and the next.
type era struct {
	after int // the numbers after this one
	// A version that did not say made the change: claims that were open then may have later
	// numbers.
	vague bool
	event string // the change
	at    time.Time
	// The clock that made the change had shown more: what began before it may have a later time.
	back     bool
	revision int64
	ban      string // Removed, Finished or Paused, when nothing may begin; otherwise empty
	term     *term  // nil when there is none or its schedule is unknown
	old      *term  // of an edit: the term before it
}

// lacksHead begins the account of a task whose first line is not the one that made it.
func (b *account) lacksHead(l state.Line) {
	b.eras = []era{{}} // what came before
	if !b.a.Dropped {
		return // the line that made it was removed from the ledger
	}
	if b.nums.least = max(l.Number, 0); l.Given != nil {
		b.nums.least = *l.Given + 1
	}
	p, known := b.a.plans[b.id]
	switch {
	case l.Event == state.EventEdited:
		return // it had another schedule
	case l.Schedule != nil:
		p.scheduleKey, known = b.a.keys.of(l.Schedule)
	case p.revision != max(l.Revision, 1):
		return
	}
	if known {
		if t := b.a.beginOf(p.scheduleKey, time.Time{}); t != nil {
			t.open = true
			b.eras[0].term = t
		}
	}
}

// change records a change of the task.
func (b *account) change(l state.Line) {
	e := era{event: l.Event, at: l.At, back: b.a.back, revision: l.Revision, after: b.nums.max(), vague: l.Given == nil}
	var was era
	if n := len(b.eras); n > 0 {
		was = b.eras[n-1]
		e.after = max(e.after, was.after)
	}
	if !e.vague {
		e.after = max(*l.Given, was.after)
	}
	due := time.Time{}
	if l.Due != nil {
		due = l.Due.UTC()
	}
	e.term = was.term
	switch l.Event {
	case state.EventCreated, state.EventRestored, state.EventEdited, state.EventMoved, state.EventClock:
		if l.Event == state.EventCreated {
			e.after, e.vague = was.after, false
		}
		if was.ban == Paused && l.Event == state.EventEdited {
			e.ban = Paused
		}
		if l.Event == state.EventEdited {
			e.old = was.term
		}
		if l.Event == state.EventClock {
			b.again, b.back, b.high = later(b.again, b.high), e.after, time.Time{}
			if !due.IsZero() && due.Before(b.first) {
				b.leave(gap{due, b.first.Add(-1)})
				b.first = due
			}
		}
		e.term = nil
		if l.Schedule != nil && !due.IsZero() {
			if e.term = b.a.begin(l.Schedule, due); e.term != nil {
				e.term.floor = b.high
			}
		}
	case state.EventPaused:
		e.ban = Paused
	case state.EventResumed:
	case state.EventRemoved:
		e.ban = Removed
		was.close(due)
		e.term = nil
	case state.EventFinished:
		e.ban = Finished
		was.close(due)
		e.term = nil
	case state.EventQuarantined: // when the file is repaired, the task goes on without a line
		was.close(due)
		if e.term = nil; was.term != nil {
			if e.term = b.a.beginOf(was.term.scheduleKey, time.Time{}); e.term != nil {
				e.term.open, e.term.floor = true, b.high
			}
		}
	default:
		return
	}
	b.eras = append(b.eras, e)
	b.dropEras()
}

// close ends the schedule of the era at an instant: it has no instants from then on.
func (e era) close(until time.Time) {
	if e.term != nil {
		e.term.until = until
	}
}

// outcomes are all outcomes of a line.
var outcomes = []state.Outcome{state.OK, state.Failed, state.TimedOut, state.Interrupted, state.Missed, state.Skipped, state.Cancelled}

// item is an outcome or an open claim.
type item struct {
	number, count int
	due, last     time.Time
	begun         bool // something has begun for it, or was about to
	line          state.Line
}

func (i item) finding(kind string) Finding {
	return Finding{Kind: kind, First: i.due, Last: i.last, Count: i.count, Number: i.number}
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

// gap is a range of instants, both ends included.
type gap struct{ from, to time.Time }

// maxGaps is how many gaps are kept for a task: more than the runner itself remembers, which
// alone may use them.
const maxGaps = 32

func (b *account) leave(g gap) {
	b.unrun = append(slices.Clip(b.unrun), g)
	b.unrun = b.unrun[max(len(b.unrun)-maxGaps, 0):]
}

// run reports whether an instant has ended before without a run, and removes it from the gaps.
func (b *account) run(at time.Time) bool {
	for k, g := range b.unrun {
		if at.Before(g.from) || at.After(g.to) {
			continue
		}
		b.unrun = slices.Clone(b.unrun)
		if b.unrun[k].from = at.Add(1); b.unrun[k].from.After(g.to) {
			b.unrun = slices.Delete(b.unrun, k, k+1)
		}
		return true
	}
	return false
}

// see counts the task among those of the period.
func (b *account) see() {
	if !b.seen {
		b.seen = true
		b.a.result.Tasks++
	}
}

// find records a problem.
func (b *account) find(f Finding) {
	if f.TaskID = b.id; f.Kind == None {
		b.none = append(b.none, f)
	}
	if !b.a.counts(f.Last) {
		return
	}
	b.see()
	if r := &b.a.result; len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, f)
	} else {
		r.More++
	}
}

func (b *account) unknown() {
	if u := &b.a.result.Unknown; !slices.Contains(*u, b.id) {
		*u = append(*u, b.id)
	}
}

// complete reports whether all numbers up to one have their lines.
func (b *account) complete(number int) bool {
	if b.nums.next == 0 {
		return b.nums.least > number
	}
	return b.nums.next > number
}

// dropEras drops the eras that have no number to come. An era that is vague keeps those before it
// for a while.
func (b *account) dropEras() {
	for len(b.eras) > 1 && b.complete(b.eras[1].after) && (!b.eras[1].vague || len(b.eras) > 3) {
		if t := b.eras[0].term; t != nil && t != b.eras[1].term {
			for _, f := range t.holes(t.until, false) {
				b.find(f)
			}
		}
		b.eras = slices.Delete(b.eras, 0, 1)
	}
}

// close returns what is wrong at the end. e is the present state of the task; nil when it is
// unknown, or was used already.
func (b *account) close(e *state.Entry) (list []Finding) {
	for i, era := range b.eras {
		t, last := era.term, i == len(b.eras)-1
		if t == nil || !last && b.eras[i+1].term == t {
			continue
		}
		until, whole := t.until, false
		if last && e != nil {
			switch whole = e.Phase == state.Ended; e.Phase {
			case state.Ended, state.Removed:
			default:
				until = e.Due.UTC()
			}
		}
		list = append(list, t.holes(until, whole)...)
	}
	limit := b.limit
	if e != nil {
		limit = e.Given()
	}
	if limit > 0 { // what was claimed since then may be open
		for open := b.nums.missing(limit); len(list) > 0 && list[len(list)-1].Count <= open; list = list[:len(list)-1] {
			open -= list[len(list)-1].Count
		}
	}
	list = append(list, b.lacking(slices.Concat(b.none, list), limit, e)...)
	// A line may have been written a moment after the instant that it is about.
	if known := b.a.horizon(); e != nil && !b.made && (!b.a.Dropped || !known.IsZero() && e.Task.Created.After(known.Add(time.Second))) {
		at := e.Task.Created
		list = append(list, Finding{Kind: Unmade, First: at, Last: at, Count: 1})
	}
	return list
}

// lacking finds numbers that the ledger lacks. Numbers are given from 1 on without a gap, and a
// tally has the last one that ended. A gap right before a run by hand is none, because the claim
// before it may have been released meanwhile, unless the tally counts more runs than the lines do.
// An instant without an outcome is not reported twice.
func (b *account) lacking(none []Finding, limit int, e *state.Entry) (list []Finding) {
	whole := b.made || !b.a.Dropped
	lost := e != nil && whole && e.Tally.Fired > b.fired
	next, below := b.nums.next, b.nums.below
	empty := next == 0
	if empty {
		next = 1
	}
	dropped := func() bool { // what lies between may have ended before the ledger begins
		return !whole && !empty && !below.After(b.a.horizon())
	}
	for _, s := range b.nums.above {
		if s.first > next && (lost || !s.manual) && (limit == 0 || s.first <= limit) && !dropped() {
			list = append(list, lacks(none, next, s.first-1, below, s.due, s.due)...)
		}
		next, below = s.last+1, later(below, s.top)
	}
	if e == nil || e.Tally.Number < max(next, b.nums.least) || dropped() {
		return list
	}
	ended := e.Tally.LastEnd
	if empty && !whole {
		if known := b.a.horizon(); known.IsZero() || !ended.After(known) {
			return list // it ended before the ledger begins
		}
		next = e.Tally.Number
	}
	return append(list, lacks(none, next, e.Tally.Number, below, time.Time{}, later(e.Tally.LastDue, ended))...)
}

// lacks reports that the numbers from first to last are missing, between the instants after and
// before. A zero before is none.
func lacks(none []Finding, first, last int, after, before, at time.Time) []Finding {
	told := 0
	for _, f := range none {
		if f.First.After(after) && (before.IsZero() || f.First.Before(before)) {
			told += f.Count
		}
	}
	count := last - first + 1
	if told >= count {
		return nil
	}
	if after.IsZero() || after.After(at) {
		after = at
	}
	return []Finding{{Kind: Lacking, First: after, Last: at, Count: count, Number: first}}
}
