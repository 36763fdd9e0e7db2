package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Granted is how long the call may block, as --max or OURO_MAX says.
func Granted(s *Call) string { return OrElse(s.Opt.Text("max"), s.Getenv("OURO_MAX")) }

// Longest is how long the call may block, by --max or OURO_MAX. It is 0 when neither says.
func Longest(s *Call) (time.Duration, error) {
	text, name, without := s.Getenv("OURO_MAX"), problem.T("OURO_MAX"), "unset it"
	if s.Opt.Has("max") {
		text, name, without = s.Opt.Text("max"), problem.T("%s", problem.Option("max")), "leave it out"
	} else if text == "" {
		return 0, nil
	}
	d, err := when.Duration(text)
	if err == nil && d <= 0 || strings.TrimSpace(text) == "0" {
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

// ErrBound is the cause of the end of a context of Within: its time is over.
var ErrBound = errors.New("the time is over")

// Within returns a context that ends with ctx, or after bound.
func Within(ctx context.Context, c clock.Clock, bound time.Duration) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancelCause(ctx)
	go func() {
		if c.For(limited, bound) == nil {
			cancel(ErrBound)
		}
	}()
	return limited, func() { cancel(nil) }
}

// ErrUnread is the cause of the end of a context of WhileRead: nobody can read what is written.
var ErrUnread = errors.New("nobody reads the answer")

// WhileRead returns a context that ends with ctx, or when nobody can read what is written to w.
func WhileRead(ctx context.Context, w io.Writer) (context.Context, context.CancelFunc) {
	reading, cancel := context.WithCancelCause(ctx)
	gone := ReaderGone(w)
	go func() {
		select {
		case <-gone:
			cancel(ErrUnread)
		case <-reading.Done():
		}
	}()
	return reading, func() { cancel(nil) }
}
