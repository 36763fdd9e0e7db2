package cmd

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// signalled is the end of a command by a signal. It is no error of ours: the shell is told by dying of it.
type signalled struct{ signal os.Signal }

func (s *signalled) Error() string { return "ended by " + s.signal.String() }

func (s *signalled) number() syscall.Signal {
	n, ok := s.signal.(syscall.Signal)
	if !ok {
		return 2
	}
	return n
}

// endings are the signals that end a command in good order.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP}

// withSignals returns a context that INT, TERM, QUIT and HUP cancel, with the signal as its cause. Those that heed takes cancel nothing.
func withSignals(parent context.Context, heed func(os.Signal) bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	c := make(chan os.Signal, 2)
	for _, sig := range endings {
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
				cancel(&signalled{sig})
			case <-ctx.Done():
			}
			return
		}
	}()
	return ctx, func() { signal.Stop(c); cancel(nil) }
}

// caught returns the signal that cancelled the context, or nil.
func caught(ctx context.Context) error {
	var sig *signalled
	if errors.As(context.Cause(ctx), &sig) {
		return sig
	}
	return nil
}
