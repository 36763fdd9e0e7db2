package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Signalled is the end of a command by a signal. It is no error of ours: the shell is told by dying of it.
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

// WithSignals returns a context that INT, TERM, QUIT and HUP cancel, with the signal as its cause. Those that heed takes cancel nothing.
func WithSignals(parent context.Context, heed func(os.Signal) bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	c := make(chan os.Signal, 2)
	for _, sig := range Endings {
		// One that our parent had us ignore, as a shell does with INT for a command it starts with &, stays ignored.
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
	return ctx, func() { signal.Stop(c); cancel(nil) }
}

// Caught returns the signal that cancelled the context, or nil.
func Caught(ctx context.Context) error {
	var sig *Signalled
	if errors.As(context.Cause(ctx), &sig) {
		return sig
	}
	return nil
}
