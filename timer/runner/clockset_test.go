package runner

import (
	"context"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// setClock is a clock that tells when it was set.
type setClock struct {
	*clocktest.Manual
	listens chan func()
}

func (c setClock) Sets(ctx context.Context, f func()) {
	c.listens <- f
	<-ctx.Done()
}

// TestClockPutBackWhileIdle: a runner that waits for tomorrow learns that the clock was put back by ten days, and goes on from there.
func TestClockPutBackWhileIdle(t *testing.T) {
	now := at(t, "2026-11-21 09:00")
	c := setClock{clocktest.NewManual(now), make(chan func(), 1)}
	s := &memory.Store{}
	task := state.Task{Created: now, When: state.Timing{Text: "0 9 * * *", Kind: "cron", Zone: "Europe/Warsaw", Start: now.AddDate(0, -1, 0)}}
	e, err := s.Add(t.Context(), task, at(t, "2026-11-22 09:00"))
	if err != nil {
		t.Fatal(err)
	}
	changed, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{Store: s, Clock: c, Commands: Processes{}, Self: state.Ident{PID: 1}, MaxParallel: 1,
			Deliver: func(state.Record) error { return nil }, Say: t.Logf, Ended: func(state.Record, state.Line) {}})
	}()
	tell := <-c.listens
	if err := c.BlockUntil(t.Context(), 1); err != nil { // it waits for tomorrow
		t.Fatal(err)
	}
	c.Step(-240 * time.Hour)
	tell()
	<-changed
	found, err := s.Find(t.Context(), e.Task.ID)
	if err != nil {
		t.Fatal(err)
	}
	if want := at(t, "2026-11-12 09:00"); !found[0].Due.Equal(want) {
		t.Errorf("due at %v, want %v", found[0].Due, want)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
