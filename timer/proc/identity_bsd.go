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

// On these systems a process is known by its number alone.
func here() (boot, pidns string) { return "", "" }

func identify(pid int) Identity { return Identity{PID: pid} }

func identifySelf() (Identity, error) { return identify(os.Getpid()), nil }

func (id Identity) alive() bool {
	err := unix.Kill(id.PID, 0)
	return err == nil || err == unix.EPERM
}

func awaitGone(context.Context, Identity) error { return errors.ErrUnsupported }

// leftBehind cannot be told here without a race; what a stopped child leaves in its group is killed when it ends.
func (p *Process) leftBehind() bool { return false }
