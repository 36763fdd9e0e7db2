package files

import (
	"context"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestWatchTellsOfRequests: a claim by hand and a request to end a run are seen, each by a signal of its own.
func TestWatchTellsOfRequests(t *testing.T) {
	s := open(t, t.TempDir())
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	watching, stop := context.WithCancel(ctx)
	defer stop()
	signal := must[state.Queue](t)(s.Follow(watching)).Changed()
	// quiet takes signals of what went before out of the way.
	quiet := func() {
		for {
			select {
			case <-signal:
			case <-time.After(100 * time.Millisecond):
				return
			}
		}
	}
	quiet()
	r := must[state.Record](t)(s.Fire(ctx, e.Task.ID, state.Ident{PID: 1}, day0))
	heard(t, signal, "a claim by hand")
	for _, why := range []string{"stopped", "killed"} {
		quiet()
		if err := s.Halt(ctx, r, why); err != nil {
			t.Fatal(err)
		}
		heard(t, signal, "a request to end it")
	}
}

// TestStandby: who waits for the runner lock gets it when it is given back, and not when it has given up before.
func TestStandby(t *testing.T) {
	s := open(t, t.TempDir())
	first, err := s.Lead(ctx, state.Leader{Ident: state.Ident{PID: 1}})
	if err != nil {
		t.Fatal(err)
	}
	gaveUp, cancel := context.WithCancel(ctx)
	ended := make(chan error)
	go func() {
		_, err := s.LeadNext(gaveUp, state.Leader{Ident: state.Ident{PID: 2}})
		ended <- err
	}()
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Errorf("a standby that was cancelled: %v", err)
	}
	got := make(chan state.Lease)
	go func() {
		l, err := s.LeadNext(ctx, state.Leader{Ident: state.Ident{PID: 3}})
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	select {
	case <-got:
		t.Fatal("two have the lock")
	case <-time.After(50 * time.Millisecond):
	}
	if who, led, err := s.Led(ctx); err != nil || !led || who.Ident.PID != 1 {
		t.Errorf("led by %+v, %v, %v", who, led, err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	next := <-got
	if who, led, err := s.Led(ctx); err != nil || !led || who.Ident.PID != 3 || who.Since.IsZero() {
		t.Errorf("led by %+v, %v, %v", who, led, err)
	}
	if err := next.Release(); err != nil {
		t.Fatal(err)
	}
}
