package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Signalled is the end of a command by a signal. It is not an error of ours: the shell is told by
// dying of it.
type Signalled struct{ Signal os.Signal }

func (s *Signalled) Error() string { return "ended by " + s.Signal.String() }

func (s *Signalled) Number() syscall.Signal {
	n, ok := s.Signal.(syscall.Signal)
	if !ok {
		return 2
	}
	return n
}

// Endings are the signals that end a command in good order.
var Endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP}

// WithSignals returns a context that INT, TERM, QUIT and HUP cancel, with the signal as its cause.
// Those that heed takes cancel nothing.
func WithSignals(parent context.Context, heed func(os.Signal) bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	stop := listen(ctx, cancel, heed)
	return ctx, func() { stop(); cancel(nil) }
}

// WithSignalsOnceAwaited is WithSignals from the moment on when somebody waits for the end of the
// context. Until then a signal ends the program: what does not wait would only notice it when it is
// done. To listen is a third of what such a call costs.
func WithSignalsOnceAwaited(parent context.Context, heed func(os.Signal) bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	var once sync.Once
	stop := func() {}
	begin := func() { once.Do(func() { stop = listen(ctx, cancel, heed) }) }
	return awaited{ctx, begin}, func() {
		once.Do(func() {}) // who begins to wait now comes too late
		stop()
		cancel(nil)
	}
}

// awaited is a context that tells when somebody waits for its end.
type awaited struct {
	context.Context
	tell func()
}

func (a awaited) Done() <-chan struct{} {
	a.tell()
	return a.Context.Done()
}

// listen has signals cancel the context, until it is over or stop is called.
func listen(ctx context.Context, cancel context.CancelCauseFunc, heed func(os.Signal) bool) (stop func()) {
	c := make(chan os.Signal, 2)
	for _, sig := range Endings {
		// One that our parent had us ignore, as a shell does with INT for a command it starts with
		// &, stays ignored.
		if !signal.Ignored(sig) {
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
	var sig *Signalled
	if errors.As(context.Cause(ctx), &sig) {
		return sig
	}
	return nil
}
