//go:build unix

package cmd

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// stepped is the machine's clock, set ahead or back as NTP would, which keeps it right: waits for
// an instant notice at once. Nobody has to be root for it, and nothing else on the machine is
// disturbed.
type stepped struct {
	clock.Steady
	mu      sync.Mutex
	off     time.Duration
	passed  time.Duration // that only seemed to pass
	changed chan struct{}
}

// pass has d pass at once.
func (c *stepped) pass(d time.Duration) {
	c.mu.Lock()
	c.passed += d
	c.mu.Unlock()
	c.step(d)
}

func (c *stepped) Boot() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Steady.Boot() + c.passed
}

func (c *stepped) Synced() bool { return true }

func (c *stepped) look() (time.Duration, chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.off, c.changed
}

func (c *stepped) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off += d
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *stepped) Now() time.Time {
	off, _ := c.look()
	return c.Steady.Now().Add(off)
}

func (c *stepped) Until(ctx context.Context, t time.Time) error {
	for {
		off, changed := c.look()
		waiting, stop := context.WithCancel(ctx)
		over := make(chan error, 1)
		go func() { over <- c.Steady.Until(waiting, t.Add(-off)) }()
		select {
		case err := <-over:
			stop()
			return err
		case <-changed:
			stop()
			<-over
		}
	}
}

// TestClockSteps runs real commands while the clock is set ahead by ten hours, back by seven, and back by two more.
func TestClockSteps(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for real seconds")
	}
	f := newFaults(t)
	c := &stepped{Steady: clock.System, changed: make(chan struct{})}
	at := func(words ...string) string {
		t.Helper()
		w, out := cli.Real(), &sink{}
		w.Out, w.Err, w.Clock = out, out, c
		w.Getenv = func(name string) string {
			return map[string]string{"OURO_HOME": f.home, "TZ": "UTC", "OURO_AUTOSTART": "0", "PATH": "/usr/bin:/bin"}[name]
		}
		if code := Main(append([]string{"ouro-timer", "at", "--json"}, words...), w); code != cli.ExitOK {
			t.Fatalf("at %v: exit %d: %s", words, code, out.text())
		}
		entries, _, err := state.All(t.Context(), f.st)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if (e.Task.When.Kind == "once") == (words[0] == "in 1 hour") {
				return e.Task.ID
			}
		}
		t.Fatal("nothing was scheduled")
		return ""
	}
	beat := at("every 1s", "-c", f.script("0"))
	once := at("in 1 hour", "-c", f.script("0"))
	self, err := runner.Self()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- runner.Run(ctx, runner.Options{Store: f.st, Clock: c, Awake: clock.Awake, Commands: runner.Processes{}, Self: self,
			Leader: state.Leader{Ident: self}, MaxParallel: runner.AtMost(4), Say: t.Logf,
			Deliver: func(state.Record) error { return nil }, Ended: func(state.Record, state.Line) {}})
	}()
	lines := func(id string) (list []state.Line) {
		if _, _, err := f.st.Log(t.Context(), id, func(l state.Line) bool {
			if l.Type == state.LineOccurrence {
				list = append(list, l)
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		return list
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("waited in vain for %s", what)
			}
		}
	}
	more := func(n int) func() bool {
		have := len(lines(beat))
		return func() bool { return len(lines(beat)) >= have+n }
	}
	until("the first beats", more(2))
	if len(lines(once)) != 0 {
		t.Fatal("the one-shot has run too early")
	}
	c.step(10 * time.Hour)
	until("the one-shot, late", func() bool { return len(lines(once)) == 1 })
	until("beats after the step ahead", more(3))
	c.step(-7 * time.Hour)
	until("it to be seen that the clock is back", func() bool { back, err := f.st.ClockShift(ctx); return err == nil && !back.IsZero() })
	c.pass(state.BackLook)
	until("beats after a step back that is a correction", more(3))
	c.step(-2 * time.Hour)
	nap(ctx, 50*time.Millisecond) // what was claimed before the step ends
	have := len(lines(beat))
	nap(ctx, 1500*time.Millisecond)
	if n := len(lines(beat)) - have; n > 1 {
		t.Errorf("%d instants came again after a step back by two hours", n)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if n := len(lines(once)); n != 1 {
		t.Errorf("the one-shot has %d outcomes", n)
	}
	numbers := map[int]bool{}
	for _, l := range lines(beat) {
		if numbers[l.Number] {
			t.Errorf("number %d has two outcomes", l.Number)
		}
		numbers[l.Number] = true
	}
	byOccurrence := map[string]state.Line{}
	for _, l := range append(lines(beat), lines(once)...) {
		byOccurrence[state.OccurrenceID(l.TaskID, l.Number)] = l
	}
	f.begun(byOccurrence)
}

// sink takes what a call in this process prints.
type sink struct {
	mu   sync.Mutex
	said []byte
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, p...)
	return len(p), nil
}

func (s *sink) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.said)
}
