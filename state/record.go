package state

import "time"

// Ident names a process so that no other process, later or on another machine, is taken for it.
type Ident struct {
	// Node is the machine, the same in all boots. It is empty if the machine has no such name.
	Node  string `toml:"node,omitempty"`
	Boot  string `toml:"boot"` // each boot of the machine has its own name
	NS    string `toml:"pidns"`
	PID   int    `toml:"pid"`
	Start uint64 `toml:"start"` // the kernel's start time of the process, in clock ticks since boot
}

// Record is an open claim. It is durable before the process starts, and gone after the ledger has
// its line.
type Record struct {
	Task    Task      `toml:"task"` // as it was when claimed
	Due     time.Time `toml:"due"`
	Number  int       `toml:"number"`
	Manual  bool      `toml:"manual,omitempty"` // made by fire: not an occurrence of the schedule
	Claimed time.Time `toml:"claimed"`
	Runner  Ident     `toml:"runner"` // the runner that claimed it
	Node    string    `toml:"-"`      // in a fleet, the name of that runner's machine
	// Past: in a fleet, that runner was one of an earlier boot of this machine, and sends no
	// heartbeats any more. Nothing of the claim lives.
	Past bool `toml:"-"`

	// What is noted while the claim's process runs, beside the record. Starting is noted before a
	// process starts. So if a runner was killed on a machine that still runs, a claim without a
	// note has started nothing.
	Starting time.Time `toml:"-"`
	Child    Ident     `toml:"-"` // the command's process once it runs
	Started  time.Time `toml:"-"`
	First    time.Time `toml:"-"` // the start of the first attempt
	Attempt  int       `toml:"-"` // the number of the attempt, from 1; 0 before the first
	Retry    time.Time `toml:"-"` // when the next attempt begins; zero while one runs
	Halt     string    `toml:"-"` // why it is to be ended, or empty
	// Fence grows with each runner that a claim of the task is granted to, where several machines
	// share it; 0 elsewhere.
	Fence uint64 `toml:"-"`
	// Grant tells a claim from all others, where several machines share its task; empty elsewhere.
	Grant string `toml:"-"`
}

// Noted returns the claim with the fields that Started and Note take from r.
func (c Record) Noted(r Record) Record {
	c.Child, c.Started, c.Starting, c.First = r.Child, UTC(r.Started), UTC(r.Starting), UTC(r.First)
	c.Attempt, c.Retry = r.Attempt, UTC(r.Retry)
	return c
}

// Clone returns a copy that shares no memory with the claim.
func (c Record) Clone() Record {
	c.Task = c.Task.Clone()
	return c
}
