//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// BrokenPipesAreErrors makes a write to a pipe without a reader fail, until the function that it
// returns is called. Such a write to standard output ends a Go program otherwise.
func BrokenPipesAreErrors() func() {
	c := make(chan os.Signal, 1) // nobody receives from it
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}

// raise restores the default action of the signal and sends it to this process. A shell that sees
// the process die of the signal stops its loop.
func raise(sig os.Signal) {
	n, ok := sig.(syscall.Signal)
	if !ok {
		return
	}
	if sig == syscall.SIGQUIT {
		return // its default action in a Go program is pages of goroutines; the exit code says it
	}
	if os.Getpid() == 1 {
		return // no signal has its default action on process 1
	}
	signal.Reset(sig)
	if syscall.Kill(os.Getpid(), n) == nil {
		// The signal is delivered a little later. Only a process that blocks it goes on from here.
		time.Sleep(time.Second)
	}
}
