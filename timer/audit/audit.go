// Package audit compares a ledger with the schedules in it. It reads lines and the present state of
// the tasks, and interprets both itself: it shares no rule with the stores and the runner that it
// audits. It reads no clock and no file.
//
// A ledger is read once, from its beginning. About a task, only what later lines are compared with
// is kept. So the memory that an audit takes does not grow with the number of lines.
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
	Unscheduled = "unscheduled" // an outcome of an instant that is not in the schedule
	Count       = "count"       // a line that stands for another number of instants than it says
	Outcome     = "outcome"     // an unknown outcome
	Number      = "number"      // a number that another occurrence has as well
	// numbers that were given but have no line; First and Last are the instants of their neighbours
	Lacking  = "lacking"
	Unmade   = "unmade"   // a task without the line that made it
	Removed  = "removed"  // something began after its task was removed
	Finished = "finished" // something began after the stop condition of its task was met
	Paused   = "paused"   // something began while its task was paused
	Edited   = "edited"   // something began, after an edit, that was planned before it
)

// Finding is something wrong in the account of a task.
type Finding struct {
	Kind        string
	TaskID      string
	First, Last time.Time // the instants that it is about
	Count       int
	Number      int // of the line that is wrong; 0 for none
}

// Result is the result of an audit.
type Result struct {
	Known    time.Time // when the ledger begins: nothing can be said about the time before
	Tasks    int       // with an instant in the period
	Instants int       // with an outcome or an open claim, in the period
	Open     int       // those of them whose claim is open
	// these claims, with only the IDs of their tasks; the audit does not know whether anybody runs
	// them
	Claims []state.Record
	// tasks with outcomes in the ledger whose schedule is no longer known
	Unknown  []string
	Findings []Finding // in order of task and instant, at most maxFindings
	More     int       // further findings
}

// maxFindings is how many findings are kept, because a ledger in which everything is wrong must
// not take unlimited memory.
const maxFindings = 10_000

// Options say what an audit covers. The zero value covers a whole ledger.
type Options struct {
	Since time.Time // it covers the instants from here on; zero for all
	// Dropped says that the ledger no longer has its beginning, and Until when the last part of
	// that was written, if it is known. Otherwise, what the ledger lacks was removed from it.
	Dropped bool
	Until   time.Time
}

// Auditor audits a ledger. Each instant that a schedule has from the making of its task on, and
// that has passed, must have exactly one outcome. No instant runs twice, even after the clock was
// put back. Each number that was given has one line. Nothing begins after its task was removed or
// finished, or while it was paused, and after an edit nothing begins that was planned before it.
//
// First, when the ledger has lost its beginning, Expect takes the tasks. Then Add takes the lines,
// oldest first, then Stand the tasks, and then Add the lines that have come meanwhile.
type Auditor struct {
	Options
	result Result
	peak   time.Time // the latest time at which a line says that it was written
	back   bool      // the present line was written by a clock that had shown more

	accounts map[string]*account // those that are in use or cannot be packed
	// those that have changed since the last attempt to pack them
	recent   []*account
	packed   packedStore // the other accounts
	plans    map[string]plan
	standing map[string]state.Entry // the tasks whose accounts did not balance when they were read
	keys     scheduleKeys
}

// plan is the schedule of a task and the revision of the task that has it.
type plan struct {
	scheduleKey
	revision int64
}

// New begins an audit.
func New(o Options) *Auditor {
	return &Auditor{Options: o, accounts: map[string]*account{}, plans: map[string]plan{}, standing: map[string]state.Entry{}}
}

// Expect takes a task that may have been made in the part of the ledger that is dropped.
func (a *Auditor) Expect(e state.Entry) {
	if a.Dropped && e.Task.Recurring() {
		if r, ok := a.keys.of(&e.Task.When); ok {
			a.plans[e.Task.ID] = plan{r, e.Task.Revision}
		}
	}
}

// Add takes the next line.
func (a *Auditor) Add(l state.Line) {
	a.back = l.At.Before(a.peak.Add(-maxStartDelay))
	a.peak = later(a.peak, l.At)
	if a.result.Known.IsZero() {
		a.result.Known = l.At
	}
	if l.Type != state.LineTask && l.Type != state.LineOccurrence && l.Type != state.LineManual {
		return
	}
	b := a.account(l.TaskID)
	if b == nil {
		b = newAccount(a, l.TaskID)
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

// maxRecent is how many accounts are in use before they are packed.
var maxRecent = 1024

// used notes that an account has changed, and packs accounts when many have.
func (a *Auditor) used(b *account) {
	if b.recent {
		return
	}
	b.recent = true
	if a.recent = append(a.recent, b); len(a.recent) < maxRecent {
		return
	}
	for _, b := range a.recent {
		b.recent = false
		if a.packed.put(b) {
			delete(a.accounts, b.id)
		}
	}
	clear(a.recent)
	a.recent = a.recent[:0]
}

// account returns the account of a task, if there is one, and unpacks it.
func (a *Auditor) account(id string) *account {
	b := a.accounts[id]
	if b == nil {
		if b = a.packed.take(a, id); b != nil {
			a.accounts[id] = b
		}
	}
	return b
}

// Stand takes the present state of a task. Lines that follow may explain what those before do not.
func (a *Auditor) Stand(e state.Entry) {
	id := e.Task.ID
	b := a.account(id)
	made := b != nil
	if !made {
		b = newAccount(a, id)
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

// lean returns the parts of an entry that an audit needs.
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
			b = newAccount(a, id)
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

// horizon returns the instant up to which an outcome may be in the dropped part.
func (a *Auditor) horizon() time.Time { return later(a.result.Known, a.Until) }

// counts reports whether an instant is in the period.
func (a *Auditor) counts(at time.Time) bool { return !at.Before(a.Since) }
