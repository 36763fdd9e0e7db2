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

// Granted is for how long the call may block, as --max or OURO_MAX says.
func Granted(s *Call) string { return OrElse(s.Opt.Text("max"), s.Getenv("OURO_MAX")) }

// Longest is how long the caller lets us block, by --max or OURO_MAX; 0 when nothing was said.
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

// StopWait is how long stop waits when nobody says how long: TERM, 10 s, KILL, and its end.
const StopWait = 15 * time.Second

// ErrBound is why a context of within has ended: the time was over.
var ErrBound = errors.New("the time is over")

// Within is ctx for at most so long.
func Within(ctx context.Context, c clock.Clock, bound time.Duration) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancelCause(ctx)
	go func() {
		if c.For(limited, bound) == nil {
			cancel(ErrBound)
		}
	}()
	return limited, func() { cancel(nil) }
}

// ErrUnread is why a context of WhileRead has ended: nobody can read any more what is written.
var ErrUnread = errors.New("nobody reads the answer")

// WhileRead is ctx for as long as somebody can read what is written to w.
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
