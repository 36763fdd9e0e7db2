package cmd

import (
	"context"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// wrongBy is how far the clock of a call is off, by OURO_TEST_CLOCK: only the program of the tests reads it.
func wrongBy() clock.Clock {
	if d, err := time.ParseDuration(os.Getenv("OURO_TEST_CLOCK")); err == nil {
		return wrongClock{clock.System, d}
	}
	return clock.System
}

// wrongClock is a clock that is ahead of another one.
type wrongClock struct {
	clock.Steady
	ahead time.Duration
}

func (c wrongClock) Now() time.Time { return c.Steady.Now().Add(c.ahead) }

func (c wrongClock) Until(ctx context.Context, t time.Time) error {
	return c.Steady.Until(ctx, t.Add(-c.ahead))
}
