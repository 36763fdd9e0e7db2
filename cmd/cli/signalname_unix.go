//go:build unix

package cli

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// SignalNamed returns the signal with a name such as SIGTERM.
func SignalNamed(name string) (syscall.Signal, bool) {
	sig := unix.SignalNum(name)
	return sig, sig != 0
}
