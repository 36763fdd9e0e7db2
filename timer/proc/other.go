//go:build !linux

package proc

import (
	"context"
	"os"
	"time"
)

// Name does nothing here, because a program is shown by the name with which it was started.
func Name(string) {}

// AsInit calls f and returns its result. Only on Linux can an ordinary program be the first
// process.
func AsInit(f func() int) int { return f() }

// Suspended reports whether the process is alive and stopped. Only Linux knows.
func (id Identity) Suspended() bool { return false }

func (Identity) age() (time.Duration, bool) { return 0, false }

// MayHang is false here: on these systems a fork that hangs does not stop the other threads, so
// nothing is done about it.
func (s Spec) MayHang() bool { return false }

func (s Spec) silentPoint() (point, program string) { return "", "" }

// Look is LookPath of the program, unless it may hang.
func (s Spec) Look() (path string, hangs bool, err error) {
	path, err = LookPath(s.Argv[0], pathOf(s.Env), s.Dir)
	return path, false, err
}

func (p *Process) startSlowly(context.Context, Spec, string, [3]*os.File, func() error) error {
	return ErrNoAnswer
}

// AbandonStarts ends what only waits to be able to start something.
func AbandonStarts() {}

// Elsewhere is never ok here.
func Elsewhere([]string, string) (program string, args []string, ok bool) { return "", nil, false }
