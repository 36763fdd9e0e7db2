package state

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Doc is all that a store keeps of one task, except its lines in the ledger. Only the rules (Rule)
// decide how a Doc may change: a store reads a Doc, lets a rule make the next one, and stores that
// together with the rule's lines.
type Doc struct {
	Task Task
	// Due is the next due instant, of an ended task the last one, and of a removed task the one
	// that was next.
	Due       time.Time
	Phase     Phase     // Pending, Paused, Ended or Removed; Running follows from Open
	Resume    time.Time // when a paused task resumes by itself, or zero
	RemovedAt time.Time // when a removed task was removed, or zero if that is not known
	Tally     Tally
	Open      []Record // its open claims, in any order; each has its own due instant
}

// Shown is the phase that users see: Running as long as a claim is open, except for a removed task.
func (d Doc) Shown() Phase {
	if d.Phase != Removed && len(d.Open) > 0 {
		return Running
	}
	return d.Phase
}

// Waits reports whether the task has another occurrence. The task may be paused.
func (d Doc) Waits() bool { return d.Phase == Pending || d.Phase == Paused }

// Over reports whether the task has no further occurrence and no open claim.
func (d Doc) Over() bool { return !d.Waits() && len(d.Open) == 0 }

// OverSince is when a task that is over ended or was removed. If that is not known, it is when the
// task was due.
func (d Doc) OverSince() time.Time {
	at := d.RemovedAt
	if d.Phase == Ended {
		at = d.Tally.LastEnd
	}
	if at.IsZero() {
		return d.Due
	}
	return at
}

// Lives reports whether the task keeps its key. A task that has ended keeps it while its last
// occurrence runs, but not while it is run by hand.
func (d Doc) Lives() bool {
	switch d.Phase {
	case Pending, Paused:
		return true
	case Ended:
		return slices.ContainsFunc(d.Open, func(r Record) bool { return !r.Manual })
	}
	return false
}

// Wake is when a runner has to look at the task: when it is due or, if it is paused, when it
// resumes. Zero means never.
func (d Doc) Wake() time.Time {
	switch d.Phase {
	case Pending:
		return d.Due
	case Paused:
		return d.Resume
	}
	return time.Time{}
}

// Slot is the task's place in the queue. A task without a place has Gone set and no due instant.
func (d Doc) Slot() Slot {
	if d.Wake().IsZero() {
		return Slot{ID: d.Task.ID, Gone: true}
	}
	return Slot{ID: d.Task.ID, Due: d.Due, Resume: d.Resume}
}

// Entry is the task as callers of a store see it. It shares no memory with the Doc.
func (d Doc) Entry() Entry {
	e := Entry{Task: d.Task.Clone(), Due: d.Due, Phase: d.Shown(), Held: d.Phase == Paused, Resume: d.Resume, Tally: d.Tally}
	for _, r := range d.Open {
		e.Open = append(e.Open, r.Clone())
	}
	slices.SortFunc(e.Open, CompareClaims)
	return e
}

// Claim returns the index in Open of the claim with this due instant, or -1.
func (d Doc) Claim(due time.Time) int {
	return slices.IndexFunc(d.Open, func(r Record) bool { return r.Due.Equal(due) })
}

// next is the number of the task's next occurrence. It follows the last one that ended and all open
// ones.
func (d Doc) next() int { return d.Entry().Given() + 1 }

// CompareClaims orders claims, the oldest first.
func CompareClaims(a, b Record) int {
	return cmp.Or(a.Claimed.Compare(b.Claimed), a.Due.Compare(b.Due), strings.Compare(a.Task.ID, b.Task.ID))
}
