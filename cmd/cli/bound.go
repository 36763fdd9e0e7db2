package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// BoundText is how long the call may block, as --max or OURO_MAX has it.
func BoundText(s *Call) string { return cmp.Or(s.Opt.Text("max"), s.Getenv("OURO_MAX")) }

// Bound is how long the call may block, by --max or else OURO_MAX. It is 0 when neither is given.
func Bound(s *Call) (time.Duration, error) {
	text, name, without := s.Getenv("OURO_MAX"), problem.T("OURO_MAX"), "unset it"
	if s.Opt.Has("max") {
		text, name, without = s.Opt.Text("max"), problem.T("%s", problem.Option("max")), "leave it out"
	} else if text == "" {
		return 0, nil
	}
	d, err := tasks.Duration(text)
	if err == nil && d <= 0 {
		return 0, problem.Of(problem.T("%s must be more than 0", name),
			problem.T("write it as 30s or 2m, or %s for no bound", without))
	}
	if err != nil {
		return 0, problem.Of(problem.T("%s is %s, not a duration", name, Quote(text)),
			problem.T("write it as 30s or 2m"))
	}
	return d, nil
}

// StopWait is how long stop waits without a bound: for TERM, 10 s, KILL and the end.
const StopWait = 15 * time.Second

// ErrBoundReached is the cause when WithBound cancelled the context because the bound was reached.
var ErrBoundReached = errors.New("the bound was reached")

// WithBound returns a context that ends with ctx, or after bound; 0 is no bound.
func WithBound(ctx context.Context, c clock.Clock, bound time.Duration) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancelCause(ctx)
	if bound != 0 {
		go func() {
			if c.For(limited, bound) == nil {
				cancel(ErrBoundReached)
			}
		}()
	}
	return limited, func() { cancel(nil) }
}

// ErrReaderGone is the cause when WithReader cancelled the context because the reader is gone.
var ErrReaderGone = errors.New("nobody reads the answer")

// WithReader returns a context that ends with ctx, or when nobody is left to read what is written
// to w.
func WithReader(ctx context.Context, w io.Writer) (context.Context, context.CancelFunc) {
	reading, cancel := context.WithCancelCause(ctx)
	gone := ReaderGone(w)
	go func() {
		select {
		case <-gone:
			cancel(ErrReaderGone)
		case <-reading.Done():
		}
	}()
	return reading, func() { cancel(nil) }
}
