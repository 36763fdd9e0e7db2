package clocktest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

var start = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// began starts a wait and returns a function that says whether it is over.
func began(wait func() error) func() bool {
	over := make(chan error, 1)
	go func() { over <- wait() }()
	return func() bool {
		synctest.Wait()
		select {
		case err := <-over:
			return err == nil
		default:
			return false
		}
	}
}

func TestManual(t *testing.T) {
	tests := []struct {
		name string
		wait func(ctx context.Context, c clock.Steady) error
		move func(m *clocktest.Manual)
		over bool
	}{
		{"an instant is reached by time passing", until(start.Add(time.Hour)), advance(time.Hour), true},
		{"an instant is not reached a nanosecond before", until(start.Add(time.Hour)), advance(time.Hour - 1), false},
		{"an instant is reached when the clock is set", until(start.Add(time.Hour)), step(2 * time.Hour), true},
		{"a length of time is reached by time passing", span(time.Hour), advance(time.Hour), true},
		{"a length of time is not reached by setting the clock", span(time.Hour), step(2 * time.Hour), false},
		{"a deadline is not reached by setting the clock", deadline(time.Hour), step(2 * time.Hour), false},
		{"a deadline is reached by time passing", deadline(time.Hour), advance(time.Hour), true},
		{"an instant recedes when the clock is set back", until(start.Add(time.Hour)),
			func(m *clocktest.Manual) { m.Step(-time.Hour); m.Advance(time.Hour) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := clocktest.NewManual(start)
				over := began(func() error { return tt.wait(t.Context(), m) })
				if over() {
					t.Fatal("over before the clock moved")
				}
				tt.move(m)
				if got := over(); got != tt.over {
					t.Errorf("over is %v, want %v", got, tt.over)
				}
				for m.Next() {
				}
			})
		})
	}
}

func until(at time.Time) func(context.Context, clock.Steady) error {
	return func(ctx context.Context, c clock.Steady) error { return c.Until(ctx, at) }
}

func span(d time.Duration) func(context.Context, clock.Steady) error {
	return func(ctx context.Context, c clock.Steady) error { return c.For(ctx, d) }
}

func deadline(d time.Duration) func(context.Context, clock.Steady) error {
	return func(ctx context.Context, c clock.Steady) error { return c.UntilBoot(ctx, c.Boot()+d) }
}

func advance(d time.Duration) func(*clocktest.Manual) {
	return func(m *clocktest.Manual) { m.Advance(d) }
}

func step(d time.Duration) func(*clocktest.Manual) {
	return func(m *clocktest.Manual) { m.Step(d) }
}

func TestManualNextTakesTheEarliest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := clocktest.NewManual(start)
		var got []time.Time
		for _, d := range []time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour} {
			go func() {
				m.For(t.Context(), d)
				got = append(got, m.Now())
			}()
		}
		synctest.Wait()
		for i := range 3 {
			if n := m.Waiting(); n != 3-i {
				t.Fatalf("%d callers wait, want %d", n, 3-i)
			}
			if !m.Next() {
				t.Fatal("nobody waits")
			}
			synctest.Wait()
			if want := start.Add(time.Duration(i+1) * time.Hour); !got[i].Equal(want) {
				t.Errorf("waiter %d ended at %v, want %v", i, got[i], want)
			}
		}
		if m.Next() {
			t.Error("Next moved a clock nobody waits on")
		}
	})
}

func TestManualEndsWithItsContext(t *testing.T) {
	m := clocktest.NewManual(start)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error)
	go func() { over <- m.Until(ctx, start.Add(time.Hour)) }()
	if err := m.BlockUntil(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-over; err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if n := m.Waiting(); n != 0 {
		t.Errorf("%d callers wait, want none", n)
	}
	if err := m.BlockUntil(ctx, 1); err != context.Canceled {
		t.Errorf("BlockUntil: got %v, want %v", err, context.Canceled)
	}
}

func TestBubbleFollowsTheBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock.Clock = clocktest.Bubble{}
		before := time.Now()
		if err := c.Until(t.Context(), before.AddDate(1, 0, 0)); err != nil {
			t.Fatal(err)
		}
		if err := c.For(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if want := before.AddDate(1, 0, 0).Add(time.Hour); !time.Now().Equal(want) {
			t.Errorf("the bubble reads %v, want %v", time.Now(), want)
		}
	})
}
