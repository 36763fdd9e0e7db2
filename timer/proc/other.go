//go:build !linux

package proc

import (
	"context"
	"errors"
	"os"
	"time"
)

// Name does nothing here: ps shows a program by the name with which it was started.
func Name(string) {}

// AsInit calls f and returns its result. Only on Linux an ordinary program can be the first
// process.
func AsInit(f func() int) int { return f() }

// Suspended reports whether the process is alive and stopped. Only Linux knows.
func (id Identity) Suspended() bool { return false }

func awaitGone(context.Context, Identity) error { return errors.ErrUnsupported }

func (Identity) age() (time.Duration, bool) { return 0, false }

// MayHang is false here: on these systems a fork that hangs does not stop the other threads, so it
// needs no starter.
func (s Spec) MayHang() bool { return false }

func (s Spec) riskyMount() string { return "" }

func (p *Process) startByStarter(context.Context, Spec, string, [3]*os.File, func() error) error {
	return ErrNoAnswer
}

// AbandonStarts does nothing here, because there are no starters.
func AbandonStarts() {}

// ViaFinder is never ok here, because no command counts as one that may hang.
func ViaFinder([]string, string) (program string, args []string, ok bool) { return "", nil, false }
