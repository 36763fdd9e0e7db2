package proc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Identity recognises a process, although its number may be given to another one later. It is made to be saved. Two
// identities of the same process are equal.
type Identity struct {
	PID int `toml:"pid" json:"pid"`

	// Start is when it started, in units of the system (Linux: clock ticks since boot); 0 where it cannot be told.
	Start uint64 `toml:"start" json:"start"`

	// Boot names this boot of the machine; empty where the system has no such name.
	Boot string `toml:"boot" json:"boot"`

	// PIDNS is the pid namespace (Linux), in which alone PID means anything.
	PIDNS string `toml:"pid_ns" json:"pid_ns"`
}

// Self is the identity of this process.
func Self() (Identity, error) { return identifySelf() }

// Identify is the identity of the process that has a number now, be it a child of ours or not; an error when none runs,
// and a zombie does not. Start is 0 where the system does not show it (Linux: behind hidepid; Windows: of another user).
func Identify(pid int) (Identity, error) {
	if pid > 0 && pid <= math.MaxInt32 { // more than any system has, and some would cut the number
		if id := identify(pid); id.Alive() {
			return id, nil
		}
	}
	return Identity{}, fmt.Errorf("no process has the number %d", pid)
}

// Alive reports whether the process runs: same boot, same namespace, same start, and not a zombie. Where Start is not
// known, or the system does not show us that of whoever has the number now, the number alone decides. The answer may be
// out of date when it arrives.
func (id Identity) Alive() bool {
	return id.PID > 0 && id.Here() && id.alive()
}

// Here reports whether the process, if it lives, would be visible to us. One of another boot is certainly gone; one of
// another pid namespace (a container that shares our files) may well live although Alive says no.
func (id Identity) Here() bool {
	boot, pidns := here()
	return id.Boot == boot && id.PIDNS == pidns
}

// Age is for how long the process has been there, time in which the machine slept included, whatever its clock was set to; false where
// the system does not tell.
func (id Identity) Age() (time.Duration, bool) {
	if id.Start == 0 || !id.Here() {
		return 0, false
	}
	return id.age()
}

// Boot is the name that the system gives this boot of the machine; empty where it gives none. In a container it is that of the host.
func Boot() string {
	boot, _ := here()
	return boot
}

// SameBoot reports whether it was a process of this boot of the machine: one that is not Here may then live in a container.
func (id Identity) SameBoot() bool {
	return id.Boot == Boot()
}

// WaitGone returns nil when the process is not Alive any more, at once if it is not now; it returns ctx.Err() when ctx
// ends first. The process need not be a child of ours. On Linux nothing polls.
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
