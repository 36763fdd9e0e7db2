//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// DeafToPipes makes writing to a pipe that nobody reads an error, where it is the end of a program
// otherwise, until the function it returns is called.
func DeafToPipes() func() {
	c := make(chan os.Signal, 1) // never read
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}

// raise restores the default action of the signal and sends it to this process, so that a shell
// sees a death by signal and stops its loop.
func raise(sig os.Signal) {
	n, ok := sig.(syscall.Signal)
	if !ok {
		return
	}
	if sig == syscall.SIGQUIT {
		return // its default action in a Go program is pages of goroutines; the exit code says it
	}
	if os.Getpid() == 1 {
		return // on which no signal has its default action
	}
	signal.Reset(sig)
	if syscall.Kill(os.Getpid(), n) == nil {
		// delivery is asynchronous; what follows is for a caller that blocks the signal
		time.Sleep(time.Second)
	}
}
