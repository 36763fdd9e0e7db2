//go:build dragonfly || freebsd || netbsd || openbsd

package proc

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// rssUnit: ru_maxrss is in KiB here.
const rssUnit = 1024

// On these systems only its number identifies a process.
func here() (boot, pidns string) { return "", "" }

func identify(pid int) Identity { return Identity{PID: pid} }

func identifySelf() (Identity, error) { return identify(os.Getpid()), nil }

func (id Identity) alive() bool {
	err := unix.Kill(id.PID, 0)
	return err == nil || err == unix.EPERM
}

func awaitGone(context.Context, Identity) error { return errors.ErrUnsupported }

// leftBehind cannot be known here without a race. What a stopped child leaves in its group is
// killed when the child ends.
func (p *Process) leftBehind() bool { return false }
