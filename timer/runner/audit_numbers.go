package runner

import (
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// numbered is what an audit of numbers needs of a line or of an open claim.
type numbered struct {
	number, count int
	due, last     time.Time
	manual        bool
	odd           bool // its outcome is none
	fired         bool // it counts among Tally.Fired
}

// outcomes are those that a line can have.
var outcomes = []state.Outcome{state.OK, state.Failed, state.TimedOut, state.Interrupted, state.Missed, state.Skipped, state.Cancelled}

// numbers looks for occurrences that the ledger lacks: a store hands the numbers of a task out from 1 on, without a gap, and the tally
// knows the last that ended. A gap right before a manual run is none: while that ran, the claim before it may have been given back;
// unless the tally knows of more that fired than the lines do.
// What an instant without an outcome tells already is not told twice.
func (b *book) numbers(list []numbered, made bool, a *Auditor, e *state.Entry) {
	limit := 0 // what was given out since the tasks were read may still be open
	if e != nil {
		limit = e.Tally.Number
		for _, r := range e.Open {
			limit = max(limit, r.Number)
			list = append(list, numbered{r.Number, 1, r.Due, r.Due, r.Manual, false, false})
		}
	}
	list = slices.DeleteFunc(list, func(l numbered) bool { return l.number <= 0 })
	slices.SortFunc(list, func(a, b numbered) int { return a.number - b.number })
	fired := 0
	for _, l := range list {
		if l.fired {
			fired++
		}
	}
	lost := e != nil && (made || a.Whole) && e.Tally.Fired > fired
	next := 1
	if len(list) > 0 && !made && !a.Whole {
		next = list[0].number
	}
	var below time.Time
	for _, l := range list {
		if l.odd {
			b.find(Finding{Kind: FoundOutcome, First: l.due, Last: l.last, Count: l.count, Number: l.number})
		}
		if l.number > next && (lost || !l.manual) && (limit == 0 || l.number <= limit) {
			b.lacks(next, l.number-1, below, l.due, l.due)
		}
		next = max(next, l.number+l.count)
		if l.last.After(below) {
			below = l.last
		}
	}
	if e == nil || e.Tally.Number < next {
		return
	}
	ended := e.Tally.LastEnd
	if len(list) == 0 && !made && !a.Whole {
		if a.known.IsZero() || !ended.After(a.known) {
			return // it ended before the ledger begins
		}
		next = e.Tally.Number
	}
	last := e.Tally.LastDue
	if ended.After(last) {
		last = ended
	}
	b.lacks(next, e.Tally.Number, below, time.Time{}, last)
}

// lacks finds that the numbers from first to last are nowhere, between the instants after and before; a zero before is none.
func (b *book) lacks(first, last int, after, before, at time.Time) {
	told := 0
	for _, f := range b.none {
		if f.First.After(after) && (before.IsZero() || f.First.Before(before)) {
			told += f.Count
		}
	}
	if count := last - first + 1; told < count {
		if after.IsZero() || after.After(at) {
			after = at
		}
		b.find(Finding{Kind: FoundLacking, First: after, Last: at, Count: count, Number: first})
	}
}

// making looks for a task whose making the ledger must have, and has not.
func (b *book) making(made bool, a *Auditor, e *state.Entry) {
	if e == nil || made {
		return
	}
	// A line may have been written a moment after the instant that it tells of.
	if at := e.Task.Created; a.Whole || !a.known.IsZero() && at.After(a.known.Add(time.Second)) {
		b.find(Finding{Kind: FoundUnmade, First: at, Last: at, Count: 1})
	}
}
