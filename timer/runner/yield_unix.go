//go:build unix

package runner

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/ouro-timer/ouro-timer/state"
)

// yield asks a runner to step down. A Go program that does not listen to it ignores it.
const yield = syscall.SIGUSR1

// AskToYield asks a runner to give up the lock and to see only what it runs to the end.
func AskToYield(i state.Ident) error { return Signal(i, yield) }

// Yielding returns a channel that is closed when this process is asked to step down, and what ends the listening.
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

// Continue lets a process go on that was stopped.
func Continue(i state.Ident) error { return Signal(i, syscall.SIGCONT) }
