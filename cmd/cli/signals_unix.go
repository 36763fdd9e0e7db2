//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// DeafToPipes makes writing to a pipe without a reader an error, until the function that it returns
// is called. Otherwise it would end the program.
func DeafToPipes() func() {
	c := make(chan os.Signal, 1) // nobody receives from it
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}

// raise restores the default action of the signal and sends it to this process. A shell sees a
// death by the signal, and stops its loop.
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
		// The signal is delivered later. The code below is for callers that block it.
		time.Sleep(time.Second)
	}
}
