package runner

import (
	"context"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// setClock is a clock that tells when it was set, and for what somebody waits.
type setClock struct {
	*clocktest.Manual
	listens chan func()
	awaited chan time.Time
}

func (c setClock) Until(ctx context.Context, t time.Time) error {
	select {
	case <-c.awaited: // the latest counts
	default:
	}
	select {
	case c.awaited <- t:
	default:
	}
	return c.Manual.Until(ctx, t)
}

func (c setClock) Sets(ctx context.Context, f func()) {
	c.listens <- f
	<-ctx.Done()
}

// TestClockPutBackWhileIdle: a runner that waits for tomorrow learns that the clock was put back by
// ten days, and goes on from there once it has stayed so for an hour.
func TestClockPutBackWhileIdle(t *testing.T) {
	now := at(t, "2026-11-21 09:00")
	c := setClock{clocktest.NewManual(now), make(chan func(), 1), make(chan time.Time, 1)}
	s := memory.New()
	task := state.Task{Created: now, When: state.Timing{Text: "0 9 * * *", Kind: "cron", Zone: "Europe/Warsaw", Start: now.AddDate(0, -1, 0)}}
	e, err := s.Add(t.Context(), task, at(t, "2026-11-22 09:00"))
	if err != nil {
		t.Fatal(err)
	}
	queue, err := s.Follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{Store: s, Clock: c, Commands: Processes{}, Self: state.Ident{PID: 1}, MaxParallel: AtMost(1),
			Deliver: func(state.Record) error { return nil }, Say: t.Logf, Ended: func(state.Record, state.Line) {}})
	}()
	late := time.After(time.Minute)
	var tell func()
	select {
	case tell = <-c.listens:
	case <-late:
		t.Fatal("it does not ask when the clock is set")
	}
	select {
	case until := <-c.awaited: // not the wait of something else: the runner has looked, and is idle
		if want := e.Due.Add(-claimAhead); !until.Equal(want) {
			t.Fatalf("it waits for %v, not for %v", until, want)
		}
	case <-late:
		t.Fatal("it does not wait for tomorrow")
	}
	c.Step(-240 * time.Hour)
	tell()
	want := at(t, "2026-11-12 09:00")
	for range 60 {
		if found, err := s.Find(t.Context(), e.Task.ID); err != nil || !found[0].Due.Equal(e.Due) {
			t.Fatalf("%v: it was moved before the hour was over: %v", err, found)
		}
		look := c.Now().Add(state.BackLook)
		for until := (time.Time{}); !until.Equal(look); { // the next look at the clock
			select {
			case until = <-c.awaited:
			case <-late:
				t.Fatalf("it waits for %v, not for %v", until, look)
			}
		}
		c.Advance(state.BackLook)
	}
	for {
		found, err := s.Find(t.Context(), e.Task.ID)
		if err != nil {
			t.Fatal(err)
		}
		if found[0].Due.Equal(want) {
			break
		}
		select {
		case <-queue.Changed():
		case <-late:
			t.Fatalf("due at %v, want %v", found[0].Due, want)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// silentOnce is a store that does not answer the first time that a claim is given back.
type silentOnce struct {
	state.Store
	asked chan struct{} // receives then
}

func (s silentOnce) Release(ctx context.Context, r state.Record) error {
	select {
	case s.asked <- struct{}{}:
		return state.ErrUnusable
	default:
		return s.Store.Release(ctx, r)
	}
}

// TestClockPutBackBeforeASecondLook: a claim that could not be taken over is looked at again soon,
// even if the clock is put back by hours meanwhile.
func TestClockPutBackBeforeASecondLook(t *testing.T) {
	now := at(t, "2026-11-21 09:00")
	c := setClock{clocktest.NewManual(now), make(chan func(), 1), make(chan time.Time, 1)}
	s := silentOnce{memory.New(), make(chan struct{}, 1)}
	due := now.Add(-24 * time.Hour)
	e, err := s.Add(t.Context(), state.Task{Created: due, Text: "call Bob", When: state.Timing{Text: "now", Kind: "once", Zone: "UTC", Start: due}}, due)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(t.Context(), e.Task.ID, due, time.Time{}, state.Ident{PID: 1 << 22}, due); err != nil {
		t.Fatal(err)
	}
	told, ended := make(chan struct{}), make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		ended <- Run(ctx, Options{Store: s, Clock: c, Commands: Processes{}, Self: state.Ident{PID: 1}, MaxParallel: AtMost(1),
			Deliver: func(state.Record) error { close(told); return nil }, Say: t.Logf, Ended: func(state.Record, state.Line) {}})
	}()
	late := time.After(time.Minute)
	tell := <-c.listens
	for until := (time.Time{}); !until.Equal(now.Add(takeOverStep)); {
		select {
		case until = <-c.awaited:
		case <-late:
			t.Fatalf("it waits for %v, and not for a second look", until)
		}
	}
	c.Step(-6 * time.Hour)
	tell()
	select {
	case <-told:
	case <-late:
		t.Fatal("it waits until the clock shows again what it showed")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
