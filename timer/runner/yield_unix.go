//go:build unix

package runner

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/ouro-timer/ouro-timer/state"
)

// yield is the signal that asks a runner to step down. A Go program that does not listen for it
// ignores it.
const yield = syscall.SIGUSR1

// AskToYield asks a runner to give up the lock, and only to see its own runs to their end.
func AskToYield(i state.Ident) error { return Signal(i, yield) }

// Yielding returns a channel that is closed when this process is asked to step down, and a function
// that stops listening.
func Yielding() (<-chan struct{}, func()) {
	asked, quit := make(chan struct{}), make(chan struct{})
	c := make(chan os.Signal, 1)
	signal.Notify(c, yield)
	go func() {
		select {
		case <-c:
			close(asked)
		case <-quit:
		}
	}()
	return asked, func() { signal.Stop(c); close(quit) }
}

// Continue resumes a process that was stopped.
func Continue(i state.Ident) error { return Signal(i, syscall.SIGCONT) }
