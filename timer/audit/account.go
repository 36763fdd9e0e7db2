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
	// run again, except for those in unrun
	again time.Time
	unrun []gap     // instants that have ended without a run
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

func newAccount(a *Auditor, id string) *account {
	return &account{a: a, id: id, nums: numbers{least: 1}}
}

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

func (i item) finding(kind string) Finding {
	return Finding{Kind: kind, First: i.due, Last: i.last, Count: i.count, Number: i.number}
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
