package state

import (
	"context"
	"time"
)

// Leases say who runs tasks: one at a time holds the runner lock.
type Leases interface {
	// Lead takes the runner lock for this process; ErrLed when another process has it and keeps it
	// for LeadWait. The lock is given back by Release or by the end of the process, however it
	// ends.
	Lead(ctx context.Context, r Leader) (Lease, error)

	// LeadNext is Lead, but waits until it has the lock, or ctx ends. It does not poll where the
	// system lets it.
	LeadNext(ctx context.Context, r Leader) (Lease, error)

	// Led says whether a runner holds the lock, and which; the zero Leader for one that has not
	// said so. When none does it is the one that has ended without giving the lock back, as far as
	// that is known. It never stands in the way of one that is starting.
	Led(ctx context.Context) (Leader, bool, error)

	// Leased reports whether a runner on the node has a lease. For as long as it has, its claims
	// and those of all processes on its node are theirs to end.
	Leased(ctx context.Context, node string) (bool, error)

	// Trouble is what a runner last had trouble with; the zero value: nothing is known.
	Trouble(ctx context.Context) (Trouble, error)

	// NoteTrouble replaces that. It is a hint, not awaited by the disk, and may be called from
	// anywhere.
	NoteTrouble(Trouble) error

	// Standby are the processes of this machine that wait for the runner lock, as far as the system
	// tells.
	Standby(ctx context.Context) []int
}

// LeadWait is how long Lead tries: longer than anybody looks whether a runner is there, and than a
// runner that is about to end takes to look at the queue once more.
const LeadWait = 250 * time.Millisecond

// Lease is the runner lock while it is held.
type Lease interface {
	Release() error
	// Delay has Led say for what the leader puts off the start of tasks. It replaces what was said
	// before. It is a hint, not awaited by the disk.
	Delay(list []Delay) error
}

// Leader is the runner that holds the runner lock.
type Leader struct {
	Ident   Ident     `toml:"process"`
	Since   time.Time `toml:"since"` // when it got the lock, which stores fill in
	Version string    `toml:"version"`
	Mode    string    `toml:"mode"` // foreground, background
	// Yields says that the runner gives up the lock when it is asked to (runner.AskToYield), and
	// sees only what it runs to the end.
	Yields bool `toml:"yields,omitempty"`
	// Delays are the tasks that it cannot start for now, the longest first. There may be more.
	Delays []Delay `toml:"delays,omitempty"`
}

// Trouble is something that a runner could not do.
type Trouble struct {
	At   time.Time `toml:"at"`
	Text string    `toml:"text"`
}

// Delay is a task whose start is put off, for a reason that passes by itself.
type Delay struct {
	TaskID string    `toml:"task"`
	Since  time.Time `toml:"since"`
	Why    string    `toml:"why"`
}

// DelayOf says why the start of a task is put off; empty: it is not.
func (l Leader) DelayOf(id string) string {
	for _, d := range l.Delays {
		if d.TaskID == id {
			return d.Why
		}
	}
	return ""
}
