//go:build unix

package manage

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// signalNamed is the signal of a name such as SIGTERM.
func signalNamed(name string) (syscall.Signal, bool) {
	sig := unix.SignalNum(name)
	return sig, sig != 0
}
