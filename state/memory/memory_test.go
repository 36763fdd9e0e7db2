package memory_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/state/storetest"
)

func TestStoreKeepsItsPromises(t *testing.T) {
	stores := map[*testing.T]*memory.Store{}
	storetest.Run(t, func(t *testing.T, limits func() (state.Limits, error)) state.Store {
		if stores[t] == nil {
			stores[t] = memory.New()
			stores[t].Folder, stores[t].Limits = t.TempDir(), limits
		}
		return stores[t]
	})
}

// TestLeadWaits: it gets what is given back in time, to the nanosecond, and not what is given back later.
func TestLeadWaits(t *testing.T) {
	for _, c := range []struct {
		kept, waited time.Duration
		want         error
	}{
		{state.LeadWait - 1, state.LeadWait - 1, nil},
		{state.LeadWait + 1, state.LeadWait, state.ErrLed},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := memory.New()
			first, err := s.Lead(t.Context(), state.Leader{})
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(c.kept, func() { first.Release() })
			start := time.Now()
			_, err = s.Lead(t.Context(), state.Leader{})
			if waited := time.Since(start); !errors.Is(err, c.want) || waited != c.waited {
				t.Errorf("kept for %v: %v after %v, want %v after %v", c.kept, err, waited, c.want, c.waited)
			}
			time.Sleep(c.kept) // the lease is given back before the bubble ends
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		s.Lead(t.Context(), state.Leader{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := s.Lead(ctx, state.Leader{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after its context: %v", err)
		}
	})
}

// TestFollowEnds: after its context a queue hears nothing.
func TestFollowEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		ctx, stop := context.WithCancel(t.Context())
		ended, err := s.Follow(ctx)
		if err != nil {
			t.Fatal(err)
		}
		lives, err := s.Follow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stop()
		synctest.Wait()
		task := state.Task{When: state.Timing{Text: "in 1h", Kind: "once", Zone: "UTC"}}
		if _, err := s.Add(t.Context(), task, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if len(ended.Changed()) != 0 || len(lives.Changed()) != 1 {
			t.Errorf("%d signals after the end, %d for who still watches", len(ended.Changed()), len(lives.Changed()))
		}
	})
}

// TestNoOutput: without a folder for output no file is made, so that nobody writes beside the program.
func TestNoOutput(t *testing.T) {
	stdout, stderr := new(memory.Store).Output("cczu", 1)
	for _, s := range []state.Stream{stdout, stderr} {
		if f, err := s.Create(t.Context()); f != nil || err != nil || s.Where() != "" {
			t.Errorf("output goes to %v (%v), %q", f, err, s.Where())
		}
	}
}
