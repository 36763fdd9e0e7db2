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

// Tally is a summary of a task's lines in the ledger, so that lists need not read the ledger. A
// damaged tally is rebuilt from there.
type Tally struct {
	// Number is that of the last occurrence that ended: k7m2/3 is number 3.
	Number int    `toml:"number"`
	Fired  int    `toml:"fired"`          // runs and deliveries so far
	Last   string `toml:"last,omitempty"` // the last outcome
	// LastDue is the latest due instant that has ended. It never goes back (Taken).
	LastDue time.Time `toml:"last_due"`
	LastEnd time.Time `toml:"last_end,omitempty"` // when it ended
	// Busy is the end of the last run that a runner saw end. Instants before it without an outcome
	// came during that run. Runs that caught up with a backlog do not count.
	Busy time.Time `toml:"busy,omitempty"`
	// Stop is the stop condition that was met. The task is about to end.
	Stop string `toml:"stop,omitempty"`
	// Failing says that the last run failed. The first failure in a row is told, and so is the
	// first success after it.
	Failing bool   `toml:"failing,omitempty"`
	Output  string `toml:"output,omitempty"` // StdoutSum of the last ok

	// First is the due instant of occurrence 1. No instant before it was ever claimed.
	First time.Time `toml:"first,omitempty"`
	// Again is set while instants up to LastDue come again because the clock was set back. No
	// instant at or before Again comes any more.
	Again time.Time `toml:"again,omitempty"`
	Unrun []Stretch `toml:"unrun,omitempty"` // stretches of instants that ended without a claim

	// Boot is the boot of the machine in which a task of each boot (KindBoot) last came.
	Boot string `toml:"boot,omitempty"`
}

// Count adds a line of the ledger to its task's tally. A manual run is not an occurrence: only its
// number counts.
func (t *Tally) Count(l Line) {
	if l.Number > 0 {
		t.Number = max(t.Number, l.Number+max(l.Count, 1)-1)
	}
	switch {
	case l.Type == LineTask && l.Event == EventClock:
		t.again(l)
		return
	case l.Type == LineManual:
		return
	}
	if l.Outcome.Ran() || l.Started != nil {
		t.Fired++
	}
	switch t.Last = string(l.Outcome); l.Outcome {
	case OK:
		t.Failing = false
		if l.StdoutSum != "" {
			t.Output = l.StdoutSum
		}
	case Failed, TimedOut, Interrupted:
		t.Failing = true
	}
	t.pass(l)
	end := l.At
	if l.Ended != nil {
		end = *l.Ended
	}
	t.LastEnd = UTC(end)
	if l.Started != nil && l.Ended != nil && !l.Backlog && l.Ended.After(t.Busy) {
		t.Busy = UTC(*l.Ended)
	}
	if l.Stop != "" {
		t.Stop = l.Stop
	}
}
