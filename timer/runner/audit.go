package runner

import (
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// The kinds of a Finding.
const (
	FoundNone        = "none"        // instants that should have an outcome and have none
	FoundTwice       = "twice"       // an instant with more than one
	FoundUnscheduled = "unscheduled" // an outcome of an instant that the schedule did not have
	FoundCount       = "count"       // a line that stands for another number of instants than it says
	FoundOutcome     = "outcome"     // an outcome that is none
	FoundLacking     = "lacking"     // numbers that were given out, and no line has; First and Last are those of their neighbours
	FoundUnmade      = "unmade"      // a task whose making the ledger lacks
)

// Finding is something that does not balance in a task's books.
type Finding struct {
	Kind        string
	TaskID      string
	First, Last time.Time // the instants it is about
	Count       int
	Number      int // of the line that is odd; 0 for none
}

// Audited is the result of an audit.
type Audited struct {
	Known    time.Time      // when the ledger begins: of what was before, nothing can be said
	Tasks    int            // with an instant in the period
	Instants int            // with an outcome or an open claim, in the period
	Open     int            // of them, those whose claim is open
	Claims   []state.Record // those claims; whether anybody runs them, the audit does not know
	Unknown  []string       // tasks of which the ledger has outcomes, and no longer the schedule that they were of
	Findings []Finding      // in order of task and instant
}

// Auditor holds a ledger against the schedules that it tells of: each instant that a schedule had from the making of its task
// on, and that has passed for it, has exactly one outcome; each number that was given out has its line.
type Auditor struct {
	// Whole says that no older part of the ledger was pruned: what it does not have was taken out of it.
	Whole bool

	known   time.Time
	tasks   map[string][]entryOf
	numbers map[string][]numbered
}

// entryOf is what an audit needs of a ledger line.
type entryOf struct {
	at        time.Time
	event     string // empty for an occurrence
	due, last time.Time
	count     int
	number    int
	timing    *state.Timing
}

// Add takes a line. Lines come newest first, as Store.Log has them.
func (a *Auditor) Add(l state.Line) {
	a.known = l.At
	e := entryOf{at: l.At, event: l.Event, count: max(l.Count, 1), number: l.Number, timing: l.Schedule}
	if l.Due != nil {
		e.due, e.last = *l.Due, *l.Due
	}
	if l.DueLast != nil {
		e.last = *l.DueLast
	}
	if l.Type == state.LineOccurrence || l.Type == state.LineManual {
		if a.numbers == nil {
			a.numbers = map[string][]numbered{}
		}
		a.numbers[l.TaskID] = append(a.numbers[l.TaskID], numbered{l.Number, e.count, e.due, e.last, l.Type == state.LineManual,
			!slices.Contains(outcomes, l.Outcome), l.Type == state.LineOccurrence && (l.Outcome.Ran() || l.Started != nil)})
	}
	switch l.Type {
	case state.LineOccurrence:
		e.event = ""
	case state.LineTask:
		if e.event == state.EventPaused || e.event == state.EventResumed || e.event == "" {
			return // what passed in a pause has its lines when it ends
		}
	default:
		return
	}
	if a.tasks == nil {
		a.tasks = map[string][]entryOf{}
	}
	a.tasks[l.TaskID] = append(a.tasks[l.TaskID], e)
}

// Result audits what was added, with where the tasks stood before the ledger was read. It is about the instants from since on;
// the zero since is the ledger's beginning.
func (a *Auditor) Result(entries []state.Entry, since time.Time) (r Audited) {
	r.Known = a.known
	stand := map[string]state.Entry{}
	for _, e := range entries {
		stand[e.Task.ID] = e
	}
	ids := map[string]bool{}
	for id := range a.tasks {
		ids[id] = true
	}
	for id := range a.numbers {
		ids[id] = true
	}
	for id := range stand {
		ids[id] = true
	}
	for id := range ids {
		lines := a.tasks[id]
		slices.Reverse(lines)
		e, ok := stand[id]
		var entry *state.Entry
		if ok {
			entry = &e
		}
		b := book{id: id, since: since, result: &r}
		made := slices.ContainsFunc(lines, func(l entryOf) bool { return l.event == state.EventCreated })
		if len(lines) > 0 {
			b.audit(lines, entry)
		}
		b.making(made, a, entry)
		b.numbers(slices.Clone(a.numbers[id]), made, a, entry)
		slices.Reverse(lines)
		if b.seen {
			r.Tasks++
		}
	}
	slices.Sort(r.Unknown)
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		if c := strings.Compare(a.TaskID, b.TaskID); c != 0 {
			return c
		}
		return a.First.Compare(b.First)
	})
	return r
}

// book is the audit of one task.
type book struct {
	id     string
	since  time.Time
	result *Audited
	seen   bool
	none   []Finding // those of instants without an outcome, also those before the period
	terms  []*term
}

// term is a stretch of a task's life with one schedule. Its instants are first, and those of the schedule after it.
type term struct {
	sched *when.Schedule // nil: first alone
	first time.Time
	until time.Time // from here on nothing is owed, if bound
	bound bool      // until is known; else what comes after the last outcome was taken away by a change
	whole bool      // all is owed, up to the schedule's end
	items []entryOf
}

func (b *book) audit(lines []entryOf, e *state.Entry) {
	var t *term // the one in force
	begin := func(timing *state.Timing, first time.Time) {
		t = nil
		if timing == nil || first.IsZero() {
			return
		}
		sched, err := Schedule(state.Task{When: *timing})
		if err != nil {
			return
		}
		t = &term{sched: sched, first: first}
		b.terms = append(b.terms, t)
	}
	changed := slices.ContainsFunc(lines, func(l entryOf) bool {
		return l.event != "" && l.event != state.EventFinished && l.event != state.EventRemoved
	})
	if lines[0].event != state.EventCreated && !changed && e != nil {
		begin(&e.Task.When, lines[0].due) // the ledger no longer has its making, and it was never changed since
	}
	for _, l := range lines {
		switch l.event {
		case "":
			if !b.put(l) {
				b.unknown()
			}
		case state.EventRemoved, state.EventFinished, state.EventSetAside:
			if t != nil {
				t.until, t.bound = l.due, !l.due.IsZero()
				t = nil
			}
		default:
			begin(l.timing, l.due)
		}
	}
	if t != nil && e != nil {
		switch e.Phase {
		case state.Ended:
			t.whole = true
		case state.Removed:
		default:
			t.until, t.bound = e.Due, true
		}
	}
	if e != nil {
		for _, r := range e.Open {
			ended := slices.ContainsFunc(lines, func(l entryOf) bool { return l.event == "" && l.number == r.Number }) // since the tasks were read
			if !ended && !r.Manual && b.put(entryOf{due: r.Due, last: r.Due, count: 1, number: r.Number, event: "open"}) && b.counts(r.Due) {
				b.result.Open++
				b.result.Claims = append(b.result.Claims, r)
			}
		}
	}
	for _, t := range b.terms {
		b.check(t)
	}
}

func (b *book) unknown() {
	if !slices.Contains(b.result.Unknown, b.id) {
		b.result.Unknown = append(b.result.Unknown, b.id)
	}
}

// put gives an outcome to the latest term that has its instant, or else to the latest.
func (b *book) put(l entryOf) bool {
	if len(b.terms) == 0 {
		return false
	}
	for _, t := range slices.Backward(b.terms) {
		if t.has(l.due) {
			t.items = append(t.items, l)
			return true
		}
	}
	t := b.terms[len(b.terms)-1]
	t.items = append(t.items, l)
	return true
}

// has reports whether at is one of the term's instants.
func (t *term) has(at time.Time) bool {
	if at.Equal(t.first) {
		return true
	}
	if t.sched == nil || at.Before(t.first) {
		return false
	}
	last, ok := t.sched.Latest(at.Add(-1), at)
	return ok && last.Equal(at)
}

func (t *term) next(at time.Time) (time.Time, bool) {
	if t.sched == nil {
		return time.Time{}, false
	}
	return t.sched.Next(at)
}

// span counts the term's instants from a, which is one, to z, and says which is the last.
func (t *term) span(a, z time.Time) (n int, last time.Time) {
	if t.sched == nil || !z.After(a) {
		return 1, a
	}
	if last, ok := t.sched.Latest(a, z); ok {
		return 1 + t.sched.Count(a, z, countMost), last
	}
	return 1, a
}

// counts reports whether an instant lies in the period.
func (b *book) counts(at time.Time) bool { return !at.Before(b.since) }

func (b *book) find(f Finding) {
	if f.Kind == FoundNone {
		b.none = append(b.none, f)
	}
	if f.TaskID = b.id; b.counts(f.Last) {
		b.seen = true
		b.result.Findings = append(b.result.Findings, f)
	}
}

// check walks a term's outcomes in the order of their instants.
func (b *book) check(t *term) {
	slices.SortStableFunc(t.items, func(a, b entryOf) int { return a.due.Compare(b.due) })
	cur, ok := t.first, true // the next instant that is owed an outcome
	owed := func(before time.Time) {
		if n, last := t.span(cur, before.Add(-1)); ok && cur.Before(before) {
			b.find(Finding{Kind: FoundNone, First: cur, Last: last, Count: n})
		}
	}
	for _, l := range t.items {
		switch {
		case !t.has(l.due):
			b.find(Finding{Kind: FoundUnscheduled, First: l.due, Last: l.last, Count: l.count, Number: l.number})
			continue
		case !ok || l.due.Before(cur):
			b.find(Finding{Kind: FoundTwice, First: l.due, Last: l.last, Count: l.count, Number: l.number})
		default:
			owed(l.due)
		}
		n, last := t.span(l.due, l.last)
		if n != l.count || !last.Equal(l.last) {
			b.find(Finding{Kind: FoundCount, First: l.due, Last: l.last, Count: n, Number: l.number})
		}
		if b.counts(l.last) {
			b.seen = true
			b.result.Instants += n
		}
		if next, more := t.next(l.last); !ok || !l.last.Before(cur) {
			cur, ok = next, more
		}
	}
	switch {
	case !ok:
	case t.bound:
		owed(t.until)
	case t.whole:
		n, last := 1, cur
		if t.sched != nil {
			for at, more := t.next(cur); more && n < countMost; at, more = t.next(at) {
				last = at
				n++
			}
		}
		b.find(Finding{Kind: FoundNone, First: cur, Last: last, Count: n})
	}
}
