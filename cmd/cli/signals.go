package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// Signalled is the error of a command that a signal ended. It is not reported: the process dies of
// the same signal, which tells the shell.
type Signalled struct{ Signal os.Signal }

func (s *Signalled) Error() string { return "ended by " + s.Signal.String() }

// Number is the number of the signal. A signal of another kind than those of the system counts as
// INT.
func (s *Signalled) Number() syscall.Signal {
	n, ok := s.Signal.(syscall.Signal)
	if !ok {
		return 2
	}
	return n
}

// Endings are the signals that end a command after it has cleaned up.
var Endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP}

// WithSignals returns a context that INT, TERM, QUIT and HUP cancel, with the signal as its cause.
// A signal for which heed returns true cancels nothing.
func WithSignals(parent context.Context, heed func(os.Signal) bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	stop := listen(ctx, cancel, heed)
	return ctx, func() { stop(); cancel(nil) }
}

// WithSignalsOnceAwaited is WithSignals from the moment when somebody waits for the end of the
// context. Until then a signal ends the program at once: code that waits for nothing would notice
// the cancellation only when it is done anyway. Listening costs a third of such a short call.
func WithSignalsOnceAwaited(parent context.Context, heed func(os.Signal) bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	var once sync.Once
	stop := func() {}
	begin := func() { once.Do(func() { stop = listen(ctx, cancel, heed) }) }
	return awaited{ctx, begin}, func() {
		once.Do(func() {}) // a wait that begins now is too late
		stop()
		cancel(nil)
	}
}

// awaited is a context that calls begin when somebody waits for its end.
type awaited struct {
	context.Context
	begin func()
}

func (a awaited) Done() <-chan struct{} {
	a.begin()
	return a.Context.Done()
}

// listen cancels the context on a signal, until it is over or stop is called.
func listen(ctx context.Context, cancel context.CancelCauseFunc, heed func(os.Signal) bool) (stop func()) {
	c := make(chan os.Signal, 2)
	for _, sig := range Endings {
		// A signal that the parent process lets this one ignore, as a shell does with INT for a
		// command started with &, stays ignored.
		if !proc.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
	go func() {
		for {
			select {
			case sig := <-c:
				if heed(sig) {
					continue
				}
				cancel(&Signalled{sig})
			case <-ctx.Done():
			}
			return
		}
	}()
	return func() { signal.Stop(c) }
}

// Caught returns the signal that cancelled the context, or nil.
func Caught(ctx context.Context) error {
	if sig, ok := errors.AsType[*Signalled](context.Cause(ctx)); ok {
		return sig
	}
	return nil
}
