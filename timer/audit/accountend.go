package audit

import (
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

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
