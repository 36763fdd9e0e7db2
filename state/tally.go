package state

import "time"

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
