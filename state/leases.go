package state

import (
	"context"
	"time"
)

// Leases say who runs tasks. One runner at a time holds the runner lock.
type Leases interface {
	// Lead takes the runner lock for this process. It returns ErrLed if another process still has
	// it after LeadWait. Release returns the lock, and so does the end of the process, however it
	// ends.
	Lead(ctx context.Context, r Leader) (Lease, error)

	// LeadNext is Lead, but waits until it has the lock or ctx ends. It does not poll where the
	// system allows that.
	LeadNext(ctx context.Context, r Leader) (Lease, error)

	// Led reports whether a runner holds the lock, and which one. The Leader is zero if that runner
	// has not said who it is. If no runner holds the lock, the Leader is the one that ended without
	// giving it back, as far as that is known. Led never delays a runner that is starting.
	Led(ctx context.Context) (Leader, bool, error)

	// Leased reports whether a runner on the node has a lease. For as long as it has, its claims
	// and those of all processes on its node are theirs to end. A claim of which nothing was begun
	// may be given up sooner than one that was.
	Leased(ctx context.Context, node string, begun bool) (bool, error)

	// Contact says how this process's runner stands with the others that share the state.
	Contact() Contact

	// Trouble is what a runner last had trouble with. It is zero if nothing is known.
	Trouble(ctx context.Context) (Trouble, error)

	// SetTrouble replaces it. It is a hint that does not wait for the disk, and any process may
	// call it.
	SetTrouble(Trouble) error

	// Standby returns the processes of this machine that wait for the runner lock, as far as the
	// system tells.
	Standby(ctx context.Context) []int
}

// Contact is how well a runner reaches the others that share the state. The zero value means that
// there are none, or that all is well.
type Contact struct {
	Silent time.Duration // for how long the others may not have heard of it
	Ahead  time.Duration // how far its clock is ahead of that of the servers
	Twin   bool          // the runner of another machine has the name of this one
}

// What a runner that is cut off does, and what the others do then.
const (
	CutOff    = 20 * time.Second // after this time it starts nothing
	LostAfter = 2 * time.Minute  // after this time the others end what it runs, and start it again
)

// How far a machine's clock may be off from that of the servers.
const (
	ClockOdd   = time.Second     // beyond this there is a warning
	ClockWrong = 5 * time.Second // beyond this its runner claims nothing
)

// LeadWait is how long Lead tries. It is longer than a process takes to check whether a runner
// lives, and than a runner that is about to end takes to look at the queue once more.
const LeadWait = 250 * time.Millisecond

// Lease is the runner lock while it is held.
type Lease interface {
	Release() error
	// Lost reports whether another process could take the lock by now, because its file was removed
	// or replaced, as with the whole folder of the state.
	Lost() bool
	// Delay publishes, for Led, the tasks whose start the leader puts off. It replaces the list
	// before. It is a hint that does not wait for the disk.
	Delay(list []Delay) error
}

// Leader is the runner that holds the runner lock.
type Leader struct {
	Ident   Ident     `toml:"process"`
	Since   time.Time `toml:"since"` // when it got the lock; the store sets it
	Version string    `toml:"version"`
	Mode    string    `toml:"mode"` // foreground, background
	// Yields says that the runner gives up the lock when it is asked to (runner.AskToYield), and
	// then only sees its own runs to the end.
	Yields bool `toml:"yields,omitempty"`
	// Delays are the tasks that it cannot start now, those that wait longest first. There may be
	// more.
	Delays []Delay `toml:"delays,omitempty"`
}

// Trouble is something that a runner failed to do.
type Trouble struct {
	At   time.Time `toml:"at"`
	Text string    `toml:"text"`
}

// Delay is a task whose start is put off for a reason that passes by itself.
type Delay struct {
	TaskID string    `toml:"task"`
	Since  time.Time `toml:"since"`
	Why    string    `toml:"why"`
}

// DelayOf says why the start of a task is put off. It is empty if the start is not put off.
func (l Leader) DelayOf(id string) string {
	for _, d := range l.Delays {
		if d.TaskID == id {
			return d.Why
		}
	}
	return ""
}
