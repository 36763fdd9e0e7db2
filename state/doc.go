package state

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Doc is all that a store keeps of one task, but for its lines in the ledger. What may follow what is decided by the rules (Rule) alone:
// a store reads a Doc, has a rule make the next one, and puts that in its place together with the rule's lines.
type Doc struct {
	Task   Task
	Due    time.Time // the next due instant; of an ended task the last one, of a removed one the one that it had
	Phase  Phase     // Pending, Paused, Ended or Removed; Running follows from Open
	Resume time.Time // of a paused task: when it goes on by itself; zero: when told
	Gone   time.Time // of a removed task: when it was; zero where that is not known
	Tally  Tally
	Open   []Record // its open claims, in any order; no two have the same due instant
}

// Shown is the phase that users see: Running as long as a claim is open, but for a removed task.
func (d Doc) Shown() Phase {
	if d.Phase != Removed && len(d.Open) > 0 {
		return Running
	}
	return d.Phase
}

// Waits reports whether the task has an occurrence to come, be it paused or not.
func (d Doc) Waits() bool { return d.Phase == Pending || d.Phase == Paused }

// Over reports whether nothing of the task is to come any more, nor runs.
func (d Doc) Over() bool { return !d.Waits() && len(d.Open) == 0 }

// OverSince is when a task that is over ended or was removed: where that is not known, when it was due.
func (d Doc) OverSince() time.Time {
	at := d.Gone
	if d.Phase == Ended {
		at = d.Tally.LastEnd
	}
	if at.IsZero() {
		return d.Due
	}
	return at
}

// Lives reports whether the task keeps its key. One that has ended does while its last occurrence runs, and not while somebody runs it
// by hand.
func (d Doc) Lives() bool {
	switch d.Phase {
	case Pending, Paused:
		return true
	case Ended:
		return slices.ContainsFunc(d.Open, func(r Record) bool { return !r.Manual })
	}
	return false
}

// Wake is when a runner has to look at the task: when it is due or, paused, is to be resumed. Zero: never.
func (d Doc) Wake() time.Time {
	switch d.Phase {
	case Pending:
		return d.Due
	case Paused:
		return d.Resume
	}
	return time.Time{}
}

// Slot is the task's place in the queue; Gone, without a due instant, when it has none.
func (d Doc) Slot() Slot {
	if d.Wake().IsZero() {
		return Slot{ID: d.Task.ID, Gone: true}
	}
	return Slot{ID: d.Task.ID, Due: d.Due, Resume: d.Resume}
}

// Entry is the task as callers of a store see it. It shares nothing with the Doc that could be changed.
func (d Doc) Entry() Entry {
	e := Entry{Task: d.Task.Clone(), Due: d.Due, Phase: d.Shown(), Held: d.Phase == Paused, Resume: d.Resume, Tally: d.Tally}
	for _, r := range d.Open {
		e.Open = append(e.Open, r.Clone())
	}
	slices.SortFunc(e.Open, CompareClaims)
	return e
}

// Claim is the index in Open of the claim with a due instant; -1 when there is none.
func (d Doc) Claim(due time.Time) int {
	return slices.IndexFunc(d.Open, func(r Record) bool { return r.Due.Equal(due) })
}

// next is the number of the task's next occurrence: after the last that ended and after those that are open.
func (d Doc) next() int { return d.Entry().Given() + 1 }

// CompareClaims is the order of claims: the oldest first.
func CompareClaims(a, b Record) int {
	return cmp.Or(a.Claimed.Compare(b.Claimed), a.Due.Compare(b.Due), strings.Compare(a.Task.ID, b.Task.ID))
}
