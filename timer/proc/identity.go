package proc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"time"
)

// Identity recognises a process even after its number was given to another one. It can be saved.
// All identities of one process are equal.
type Identity struct {
	PID int `toml:"pid" json:"pid"`

	// Start is when it started, in units of the system (Linux: clock ticks since boot), or 0 if
	// that is not known.
	Start uint64 `toml:"start" json:"start"`

	// Boot names this boot of the machine. It is empty if the system has no such name.
	Boot string `toml:"boot" json:"boot"`

	// PIDNS is the pid namespace on Linux, outside which PID has no meaning.
	PIDNS string `toml:"pid_ns" json:"pid_ns"`
}

// Self is the identity of this process. The error says that it would not tell it from another one.
func Self() (Identity, error) {
	id := identify(os.Getpid())
	switch runtime.GOOS {
	case "linux":
		if id.Start == 0 || id.Boot == "" {
			return id, errors.New("this process cannot be told from another: check that /proc is mounted")
		}
	case "darwin", "windows":
		if id.Start == 0 {
			return id, errors.New("this process cannot be told from another: the system does not say when it started")
		}
	}
	return id, nil
}

// Identify returns the identity of the process that has the number pid now. It need not be our
// child. The error says that no process has the number; a zombie does not count. Start is 0 if the
// system does not show it (on Linux with hidepid, and on Windows for processes of other users).
func Identify(pid int) (Identity, error) {
	if pid > 0 && pid <= math.MaxInt32 { // some systems would truncate a larger number
		if id := identify(pid); id.Alive() {
			return id, nil
		}
	}
	return Identity{}, fmt.Errorf("no process has the number %d", pid)
}

// Alive reports whether the process runs: in this boot and pid namespace a process that is not a
// zombie has its number and its start. If Start is not known, or the system does not show that of
// the process with the number, the number is enough. The answer may be out of date when it arrives.
func (id Identity) Alive() bool {
	return id.PID > 0 && id.Here() && id.alive()
}

// Here reports whether this process would see the other one if it lives. A process of another boot
// is certainly gone. A process of another pid namespace (a container that shares our files) may
// live although Alive is false.
func (id Identity) Here() bool {
	boot, pidns := here()
	return id.Boot == boot && id.PIDNS == pidns
}

// Age returns how long ago the process started, including time in which the machine slept. Changes
// of the clock do not affect it. It returns false if the system does not tell.
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

// SameBoot reports whether the process belongs to this boot of the machine. If it does and is not
// Here, it may live in a container.
func (id Identity) SameBoot() bool {
	return id.Boot == Boot()
}

// WaitGone returns nil when the process is no longer Alive, or ctx.Err() if ctx ends first. The
// process need not be our child. On Linux it does not poll.
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
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for id.Alive() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-poll.C:
		}
	}
	return nil
}
