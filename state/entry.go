package state

import (
	"cmp"
	"strings"
	"time"
)

// Phase is where a task is in its life.
type Phase string

// The phases. Running is Pending or Ended with an open claim. A recurring task can be pending and
// running at once, and then shows as Running.
const (
	Pending Phase = "pending"
	Running Phase = "running"
	// Paused says that nothing starts until the task is resumed. It shows as Running during a run.
	Paused  Phase = "paused"
	Ended   Phase = "ended"   // its last occurrence was claimed
	Removed Phase = "removed" // by rm; can be restored
)

// Rank orders the phases in lists: first what may start or runs, then what is paused, then what is
// over.
func (p Phase) Rank() int {
	switch p {
	case Paused:
		return 1
	case Ended, Removed:
		return 2
	}
	return 0
}

// Order is what decides an entry's place in lists.
type Order struct {
	Rank int // of the phase
	Due  time.Time
	ID   string
}

// Order returns the entry's order, which can be kept without the entry.
func (e *Entry) Order() Order { return Order{e.Phase.Rank(), e.Due, e.Task.ID} }

// Compare is the order of lists: by the rank of the phase, then the next due first, then by ID.
func (o Order) Compare(p Order) int {
	return cmp.Or(o.Rank-p.Rank, o.Due.Compare(p.Due), strings.Compare(o.ID, p.ID))
}

// Compare orders entries as lists have them.
func Compare(a, b Entry) int { return a.Order().Compare(b.Order()) }

// Entry is a task with its due instant, its phase, its tally and its open claims.
type Entry struct {
	Task Task
	// Due is the next due instant, of an ended task the last one, and of a removed task the one
	// that was next.
	Due   time.Time
	Phase Phase
	// Held says that the task is paused, even if Phase is Running. Resume is when it resumes by
	// itself. If it is zero, only a call resumes it.
	Held   bool
	Resume time.Time
	Tally  Tally
	Open   []Record // its open claims, oldest first
	// Awaited says that somebody waits for this pending task of type wait (Store.Announce).
	Awaited bool
}

// Given is how many numbers the task's occurrences and manual runs have used so far.
func (e Entry) Given() int {
	n := e.Tally.Number
	for _, r := range e.Open {
		n = max(n, r.Number)
		if r.Number == 0 { // a damaged record, which had a number
			n++
		}
	}
	return n
}
