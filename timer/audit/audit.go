// Package audit holds a ledger against the schedules that it tells of. It reads lines, and what is
// known of the tasks as they stand, and has its own reading of both: it shares no rule with the
// stores and the runner that it audits. It reads no clock and no file.
//
// A ledger is read once, from its beginning, and of a task no more is kept than what its later
// lines are held against. So the memory that an audit takes does not grow with the lines.
package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// The kinds of a Finding.
const (
	None        = "none"        // instants that should have an outcome and have none
	Twice       = "twice"       // an instant with more than one
	Unscheduled = "unscheduled" // an outcome of an instant that the schedule did not have
	Count       = "count"       // a line that stands for another number of instants than it says
	Outcome     = "outcome"     // an outcome that is none
	Number      = "number"      // a number that was given to another occurrence, too
	// numbers that were given, and no line has; First and Last are the instants of their neighbours
	Lacking  = "lacking"
	Unmade   = "unmade"   // a task whose making the ledger lacks
	Removed  = "removed"  // something began after its task was removed
	Finished = "finished" // something began after the stop condition of its task was met
	Paused   = "paused"   // something began while its task was paused
	Edited   = "edited"   // something began, after an edit, that was planned before it
)

// Finding is something that does not balance in a task's books.
type Finding struct {
	Kind        string
	TaskID      string
	First, Last time.Time // the instants it is about
	Count       int
	Number      int // of the line that is odd; 0 for none
}

// Result is what an audit has found.
type Result struct {
	Known    time.Time // when the ledger begins: of what was before, nothing can be said
	Tasks    int       // with an instant in the period
	Instants int       // with an outcome or an open claim, in the period
	Open     int       // of them, those whose claim is open
	// those claims, of their tasks the IDs alone; whether anybody runs them, the audit does not
	// know
	Claims []state.Record
	// tasks of which the ledger has outcomes, and no longer the schedule that they were of
	Unknown  []string
	Findings []Finding // in order of task and instant, at most findingsMost
	More     int       // further findings
}

// findingsMost bounds the findings that are kept: a ledger in which nothing balances must not take
// any amount of memory.
const findingsMost = 10_000

// Options say what an audit is about. The zero value is a whole ledger.
type Options struct {
	Since time.Time // it is about the instants from here on; zero: about all
	// Dropped says that the ledger no longer has its beginning, and Until, unless it is zero, when
	// the last of it was written. Else what it does not have was taken out of it.
	Dropped bool
	Until   time.Time
}

// Auditor audits a ledger: each instant that a schedule had from the making of its task on, and
// that has passed for it, has exactly one outcome; none runs twice, also after the clock was put
// back; each number that was given has its line, and no other; nothing begins after its task was
// removed or finished, or while it was paused, and after an edit nothing of before it.
//
// First Expect is told of the tasks, when the ledger has lost its beginning; then Add of the lines,
// the oldest first; then Stand of the tasks, and then Add of the lines that have come meanwhile.
type Auditor struct {
	Options
	result Result
	peak   time.Time // the latest that a line says it was written
	back   bool      // the one that is taken was written by a clock that has shown more

	accounts map[string]*account // that are in use, or have no place on the shelf
	// of them, those that have changed since it was looked which may go there
	recent   []*account
	shelf    shelf // the others
	plans    map[string]plan
	standing map[string]state.Entry // of tasks whose books did not balance when they were read
	rhythms  rhythms
}

// plan is the rhythm of a task, and the revision that it is of.
type plan struct {
	rhythm
	revision int64
}

// New begins an audit.
func New(o Options) *Auditor {
	return &Auditor{Options: o, accounts: map[string]*account{}, plans: map[string]plan{}, standing: map[string]state.Entry{}}
}

// Expect is told of a task whose making may be in the part of the ledger that is no more.
func (a *Auditor) Expect(e state.Entry) {
	if a.Dropped && e.Task.Recurring() {
		if r, ok := a.rhythms.of(&e.Task.When); ok {
			a.plans[e.Task.ID] = plan{r, e.Task.Revision}
		}
	}
}

// Add takes the next line.
func (a *Auditor) Add(l state.Line) {
	a.back = l.At.Before(a.peak.Add(-lateMost))
	a.peak = later(a.peak, l.At)
	if a.result.Known.IsZero() {
		a.result.Known = l.At
	}
	if l.Type != state.LineTask && l.Type != state.LineOccurrence && l.Type != state.LineManual {
		return
	}
	b := a.account(l.TaskID)
	if b == nil {
		b = newBook(a, l.TaskID)
		a.accounts[l.TaskID] = b
		if b.made = l.Event == state.EventCreated; !b.made {
			b.lacksHead(l)
		}
	}
	if l.Type == state.LineTask {
		b.change(l)
	} else {
		b.occurrence(l)
	}
	a.used(b)
}

// recentMost is how many books are in use before it is looked which of them may go on the shelf.
var recentMost = 1024

// used notes that a book has changed, and puts books on the shelf when many have.
func (a *Auditor) used(b *account) {
	if b.recent {
		return
	}
	b.recent = true
	if a.recent = append(a.recent, b); len(a.recent) < recentMost {
		return
	}
	for _, b := range a.recent {
		b.recent = false
		if a.shelf.put(b) {
			delete(a.accounts, b.id)
		}
	}
	clear(a.recent)
	a.recent = a.recent[:0]
}

// account finds the book of a task, if there is one, and takes it from the shelf.
func (a *Auditor) account(id string) *account {
	b := a.accounts[id]
	if b == nil {
		if b = a.shelf.take(a, id); b != nil {
			a.accounts[id] = b
		}
	}
	return b
}

// Stand is told how a task stands. What the lines that were added do not account for, those that
// follow may.
func (a *Auditor) Stand(e state.Entry) {
	id := e.Task.ID
	b := a.account(id)
	made := b != nil
	if !made {
		b = newBook(a, id)
	}
	if len(e.Open) == 0 && len(b.close(&e)) == 0 {
		b.stood, b.limit = true, max(b.limit, e.Tally.Number)
		delete(a.standing, id)
	} else {
		a.standing[id] = lean(e)
	}
	if made {
		a.used(b)
	}
}

// lean is what an audit needs of an entry.
func lean(e state.Entry) state.Entry {
	t := e.Task
	e.Task = state.Task{ID: t.ID, Created: t.Created, Revision: t.Revision, When: t.When}
	e.Open = slices.Clone(e.Open)
	for i := range e.Open {
		e.Open[i].Task = state.Task{ID: t.ID, Revision: e.Open[i].Task.Revision}
	}
	return e
}

// Result ends the audit.
func (a *Auditor) Result() Result {
	for _, id := range slices.Collect(maps.Keys(a.standing)) {
		e, b := a.standing[id], a.account(id)
		if b == nil {
			b = newBook(a, id)
			a.accounts[id] = b
		}
		b.claims(e.Open)
	}
	for id, b := range a.accounts {
		var e *state.Entry
		if stand, ok := a.standing[id]; ok {
			e = &stand
		}
		for _, f := range b.close(e) {
			b.find(f)
		}
	}
	r := a.result
	slices.Sort(r.Unknown)
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.TaskID, b.TaskID), a.First.Compare(b.First))
	})
	return r
}

// horizon is the instant up to which an outcome may have been in what was dropped.
func (a *Auditor) horizon() time.Time { return later(a.result.Known, a.Until) }

// counts reports whether an instant lies in the period.
func (a *Auditor) counts(at time.Time) bool { return !at.Before(a.Since) }
