//go:build unix

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// signalGroupOf signals the group a process leads, or the process alone when it leads none.
func signalGroupOf(pid int, sig syscall.Signal) error {
	err := unix.Kill(-pid, sig)
	if err == unix.ESRCH {
		err = unix.Kill(pid, sig)
	}
	return ended(err)
}
