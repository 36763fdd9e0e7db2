//go:build dragonfly || freebsd || netbsd || openbsd

package proc

import "golang.org/x/sys/unix"

// here is empty: on these systems a process is identified by its number only.
func here() (boot, pidns string) { return "", "" }

func identify(pid int) Identity { return Identity{PID: pid} }

func (id Identity) alive() bool {
	err := unix.Kill(id.PID, 0)
	return err == nil || err == unix.EPERM
}

// leftBehind is false, because this cannot be known here without a race. So what a stopped child
// leaves in its group is killed when the child ends.
func (p *Process) leftBehind() bool { return false }
