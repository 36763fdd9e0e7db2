//go:build !linux

package proc

import (
	"context"
	"os"
)

// MayHang reports whether the start of the program may never come to an end. Where a thread that
// forks does not keep the others from going on, nothing is done about that.
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

// Elsewhere is, of a command that may hang, the one that finds and executes it in the process that
// it is given. None may.
func Elsewhere([]string, string) (program string, args []string, ok bool) { return "", nil, false }
