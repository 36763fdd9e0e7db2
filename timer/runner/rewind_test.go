package runner

import (
	"context"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// TestRecall: what the clock has shown is known also when commands have written lines since it is
// back, and what was shown before it was believed to be back does not count any more.
func TestRecall(t *testing.T) {
	now := at(t, "2026-11-21 12:00")
	s := memory.New()
	add := func(created time.Time) state.Entry {
		t.Helper()
		task := state.Task{Created: created, When: state.Timing{Text: "0 9 * * *", Kind: "cron", Zone: "UTC", Start: created}}
		e, err := s.Add(t.Context(), task, created.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	latest := func() time.Time {
		t.Helper()
		g := newEngine(Options{Store: s}, nil)
		if err := g.recall(t.Context()); err != nil {
			t.Fatal(err)
		}
		return g.latest
	}
	if got := latest(); !got.IsZero() {
		t.Errorf("of an empty ledger %v", got)
	}
	e := add(now)
	for range 5 {
		add(now.Add(-5 * time.Hour))
	}
	if got := latest(); !got.Equal(now) {
		t.Errorf("it has shown %v, want %v", got, now)
	}
	if _, err := s.Rewind(t.Context(), e.Task, now.Add(-time.Hour), now.Add(-4*time.Hour)); err != nil {
		t.Fatal(err)
	}
	add(now.Add(-5 * time.Hour))
	if got, want := latest(), now.Add(-4*time.Hour); !got.Equal(want) {
		t.Errorf("after the clock was believed to be back it has shown %v, want %v", got, want)
	}
}

// TestAwaitGivesUp: a claim waits for its instant, and no longer when that recedes.
func TestAwaitGivesUp(t *testing.T) {
	now := at(t, "2026-11-21 12:00")
	for name, c := range map[string]struct {
		move func(*clocktest.Manual)
		ok   bool
	}{
		"it comes":                             {func(m *clocktest.Manual) { m.Advance(claimAhead) }, true},
		"it comes late":                        {func(m *clocktest.Manual) { m.Advance(time.Hour) }, true},
		"the clock is put forward":             {func(m *clocktest.Manual) { m.Step(time.Hour) }, true},
		"the clock is put back":                {func(m *clocktest.Manual) { m.Step(-time.Hour); m.Advance(awaitMost) }, false},
		"the clock is put back by a moment":    {func(m *clocktest.Manual) { m.Step(-claimAhead); m.Advance(2 * claimAhead) }, true},
		"the clock is put back by two moments": {func(m *clocktest.Manual) { m.Step(-awaitMost); m.Advance(awaitMost) }, false},
	} {
		m := clocktest.NewManual(now)
		host := &machine{Options: Options{Clock: m, Awake: m}, ctx: t.Context()}
		over := make(chan bool, 1)
		go func() {
			ok := newSupervisor(host, state.Record{Claimed: now, Due: now.Add(claimAhead)}).await(now.Add(claimAhead))
			over <- ok
		}()
		if err := m.BlockUntil(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		c.move(m)
		select {
		case ok := <-over:
			if ok != c.ok {
				t.Errorf("%s: %v", name, ok)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s: it waits on", name)
		}
	}
}

// TestRecedingClaim: a claim whose instant recedes is given back, and its task is due as before.
func TestRecedingClaim(t *testing.T) {
	now := at(t, "2026-11-21 12:00")
	s := memory.New()
	task := state.Task{Created: now, When: state.Timing{Text: "0 9 * * *", Kind: "cron", Zone: "UTC", Start: now}}
	due := at(t, "2026-11-22 09:00")
	e, err := s.Add(t.Context(), task, due)
	if err != nil {
		t.Fatal(err)
	}
	g := newEngine(Options{Store: s, Say: t.Logf, Ended: func(state.Record, state.Line) {}}, nil)
	claim := func(due, next time.Time) state.Record {
		t.Helper()
		r, err := s.Claim(t.Context(), e.Task.ID, due, next, state.Ident{PID: 1}, due)
		if err != nil {
			t.Fatal(err)
		}
		g.runs[claimOf(r)] = &run{r: r}
		return r
	}
	g.handle(t.Context(), Event{Record: claim(due, due.AddDate(0, 0, 1)), Result: rules.Result{Unstarted: true}}, now)
	if found, _ := s.Find(t.Context(), e.Task.ID); !found[0].Due.Equal(due) || len(found[0].Open) > 0 || len(g.runs) > 0 {
		t.Errorf("given back it is %+v", found[0])
	}
	// One that cannot be, because its task is another one by now, gets an outcome.
	r := claim(due, due.AddDate(0, 0, 1))
	found, _ := s.Find(t.Context(), e.Task.ID)
	if _, err := s.Update(t.Context(), found[0].Task, time.Time{}, now, nil); err != nil {
		t.Fatal(err)
	}
	g.handle(t.Context(), Event{Record: r, Result: rules.Result{Unstarted: true}}, now)
	g.flush(t.Context(), now)
	if found, _ := s.Find(t.Context(), e.Task.ID); len(found[0].Open) > 0 || found[0].Tally.Last != string(state.Interrupted) || len(g.runs) > 0 {
		t.Errorf("not given back it is %+v", found[0])
	}
}

// restHost notes the pauses that it is asked for.
type restHost struct {
	Host
	pauses []time.Duration
}

func (h *restHost) Rest(_ state.Record, pause time.Duration) { h.pauses = append(h.pauses, pause) }

func (*restHost) Alive(state.Ident, bool) bool { return false }

// TestRestOfAWrongClock: a further attempt whose time was noted by a clock that was ahead by years is
// made after the longest pause that there is.
func TestRestOfAWrongClock(t *testing.T) {
	now := at(t, "2026-11-21 12:00")
	for _, c := range []struct {
		backoff string
		retry   time.Time
		want    time.Duration
	}{
		{"", now.Add(5 * time.Minute), 5 * time.Minute},
		{"", now.Add(-5 * time.Minute), 0},
		{"", now.AddDate(12, 0, 0), time.Hour},
		{"3h", now.AddDate(12, 0, 0), 3 * time.Hour},
	} {
		h := &restHost{}
		g := newEngine(Options{Store: memory.New(), Say: t.Logf}, h)
		r := state.Record{Task: state.Task{ID: "k7m2", Policy: state.Policy{Backoff: c.backoff, Retries: 3}, Run: state.Job{Argv: []string{"true"}}},
			Number: 1, Attempt: 1, Starting: now, Retry: c.retry}
		g.takeOverClaim(t.Context(), r, now)
		if len(h.pauses) != 1 || h.pauses[0] != c.want {
			t.Errorf("of %v after %q: %v, want %v", c.retry.Sub(now), c.backoff, h.pauses, c.want)
		}
	}
}

// rewinds is a store that moves no task back while it is busy.
type rewinds struct {
	state.Store
	busy  bool
	moved int
}

func (r *rewinds) Rewind(ctx context.Context, t state.Task, to, now time.Time) (state.Entry, error) {
	if r.busy {
		return state.Entry{}, state.ErrTaken
	}
	r.moved++
	return r.Store.Rewind(ctx, t, to, now)
}

// TestASecondShiftOfTheClock: a clock that is put back once more is believed as soon as it was the
// first time, also when a task ran for as long as it was back then.
func TestASecondShiftOfTheClock(t *testing.T) {
	now := at(t, "2026-11-21 12:00")
	c, s := clocktest.NewManual(now), &rewinds{Store: memory.New(), busy: true}
	task := state.Task{Created: now, When: state.Timing{Text: "0 9 * * *", Kind: "cron", Zone: "UTC", Start: now.AddDate(0, -1, 0)}}
	if _, err := s.Add(t.Context(), task, at(t, "2026-11-22 09:00")); err != nil {
		t.Fatal(err)
	}
	g := newEngine(Options{Store: s, Clock: c, Say: t.Logf}, nil)
	look := func() { g.lookAtClock(t.Context(), c.Now()) }
	back := func() {
		c.Step(-10 * time.Hour)
		for range 62 {
			look()
			c.Advance(state.BackLook)
		}
	}
	look()
	back()
	c.Step(10 * time.Hour)
	look()
	s.busy = false
	back()
	if s.moved != 1 {
		t.Errorf("%d tasks were moved back", s.moved)
	}
}
