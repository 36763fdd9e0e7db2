package proc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Identity recognises a process even after its number was given to another one. It can be saved.
// Two identities of the same process are equal.
type Identity struct {
	PID int `toml:"pid" json:"pid"`

	// Start is when it started, in units of the system (Linux: clock ticks since boot). 0: not
	// known.
	Start uint64 `toml:"start" json:"start"`

	// Boot names this boot of the machine. It is empty if the system has no such name.
	Boot string `toml:"boot" json:"boot"`

	// PIDNS is the pid namespace (Linux). PID has no meaning outside it.
	PIDNS string `toml:"pid_ns" json:"pid_ns"`
}

// Self is the identity of this process.
func Self() (Identity, error) { return identifySelf() }

// Identify returns the identity of the process that now has a number, which need not be our child.
// It returns an error if no process has it; a zombie does not count. Start is 0 if the system does
// not show it (Linux: behind hidepid; Windows: of another user).
func Identify(pid int) (Identity, error) {
	if pid > 0 && pid <= math.MaxInt32 { // no system has more, and some would truncate the number
		if id := identify(pid); id.Alive() {
			return id, nil
		}
	}
	return Identity{}, fmt.Errorf("no process has the number %d", pid)
}

// Alive reports whether the process runs: same boot, same namespace, same start, and not a zombie.
// If Start is not known, or the system does not show it for the present owner of the number, only
// the number decides. The answer may be out of date when it arrives.
func (id Identity) Alive() bool {
	return id.PID > 0 && id.Here() && id.alive()
}

// Here reports whether we would see the process if it lives. A process of another boot is certainly
// gone. A process of another pid namespace (a container that shares our files) may live although
// Alive says no.
func (id Identity) Here() bool {
	boot, pidns := here()
	return id.Boot == boot && id.PIDNS == pidns
}

// Age is how long the process has existed, including time in which the machine slept, however its
// clock was set. It is false if the system does not tell.
func (id Identity) Age() (time.Duration, bool) {
	if id.Start == 0 || !id.Here() {
		return 0, false
	}
	return id.age()
}

// Boot is the system's name of this boot of the machine, or empty. In a container it is that of the
// host.
func Boot() string {
	boot, _ := here()
	return boot
}

// SameBoot reports whether it was a process of this boot of the machine. If it is not Here, it may
// then live in a container.
func (id Identity) SameBoot() bool {
	return id.Boot == Boot()
}

// WaitGone returns nil when the process is no longer Alive, or ctx.Err() if ctx ends first. The
// process need not be our child. On Linux nothing polls.
func WaitGone(ctx context.Context, id Identity) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !id.Alive() {
		return nil
	}
	err := awaitGone(ctx, id)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for id.Alive() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
	return nil
}
