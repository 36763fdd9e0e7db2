//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// SignalNamed is the signal of a name such as SIGTERM.
func SignalNamed(name string) (syscall.Signal, bool) {
	sig := unix.SignalNum(name)
	return sig, sig != 0
}

// DeafToPipes makes writing to a pipe that nobody reads an error, where it is the end of a program otherwise, until the function it
// returns is called.
func DeafToPipes() func() {
	c := make(chan os.Signal, 1) // never read
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}
