package runner

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// TestBeingToldToEndIsNoTrouble: what was not done because the runner was told to end is not said; anything else is.
func TestBeingToldToEndIsNoTrouble(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{context.Canceled, ""},
		{fmt.Errorf("reading: %w", context.Canceled), ""},
		{context.DeadlineExceeded, "task b42p cannot be run now: context deadline exceeded"},
		{errors.New("no room"), "task b42p cannot be run now: no room"},
	} {
		said := ""
		Options{Warn: func(format string, a ...any) { said = fmt.Sprintf(format, a...) }}.warn("task %s cannot be run now: %v", "b42p", c.err)
		if said != c.want {
			t.Errorf("%v: %q", c.err, said)
		}
	}
}

// synced counts how often the disk was made to take all.
type synced struct {
	*memory.Store
	n atomic.Int64
}

func (s *synced) Sync(context.Context) error { s.n.Add(1); return nil }

// TestTheDiskTakesAllWhenIdle: a second after the last that has happened, once, and when the runner ends.
func TestTheDiskTakesAllWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		s := &synced{Store: w.store}
		w.o.Store = s
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		after := func(d time.Duration, want int64) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := s.n.Load(); got != want {
				t.Errorf("after %v more: %d times, want %d", d, got, want)
			}
		}
		after(900*time.Millisecond, 0)
		after(200*time.Millisecond, 1) // another runner may have left something
		after(time.Hour, 1)
		w.add(t, "once", time.Minute, "true")
		after(500*time.Millisecond, 1)
		w.add(t, "once", time.Hour, "true")
		after(900*time.Millisecond, 1)
		after(time.Second, 2)
		after(50*time.Second, 2)
		after(20*time.Second, 3) // the first has run
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got := s.n.Load(); got != 4 {
			t.Errorf("at the end: %d times", got)
		}
	})
}

// belated grants the first claim, and says that it could not be: the change was committed, and applied only afterwards.
type belated struct {
	*memory.Store
	n int
}

func (s *belated) Apply(ctx context.Context, changes ...state.Change) []state.Applied {
	all := s.Store.Apply(ctx, changes...)
	if s.n++; s.n == 1 {
		for i := range all {
			all[i] = state.Applied{Err: errors.New("the change may be made later")}
		}
	}
	return all
}

// TestAClaimThatWasGrantedAfterAll does not stay open for as long as its runner lives: nothing was started, so it is given back, and runs.
func TestAClaimThatWasGrantedAfterAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		w.o.Store = &belated{Store: w.store}
		w.add(t, "once", time.Minute, "true")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := fmt.Sprint(w.outcomes(t)); got != "[ok]" {
			t.Errorf("outcomes %s, started %v", got, w.cmds.started)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	})
}
