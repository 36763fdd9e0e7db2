package runner

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// faulty fails the calls that are to fail.
type faulty struct {
	state.Store
	note, halted error
	asked        int
}

func (f *faulty) Note(ctx context.Context, r state.Record) error {
	if f.note != nil {
		return f.note
	}
	return f.Store.Note(ctx, r)
}

func (f *faulty) Halted(ctx context.Context) ([]state.Record, error) {
	if f.asked++; f.halted != nil {
		return nil, f.halted
	}
	return f.Store.Halted(ctx)
}

// claimed is an engine that has claimed a daily task.
func claimed(t *testing.T) (g *engine, s *faulty, n *run, now time.Time) {
	t.Helper()
	now = at(t, "2026-11-21 09:00")
	s = &faulty{Store: memory.New()}
	task := state.Task{Created: now.AddDate(0, 0, -1), When: state.Timing{Text: "0 9 * * *", Kind: "cron", Zone: "Europe/Warsaw", Start: now.AddDate(0, 0, -1)}, Run: state.Job{Argv: []string{"true"}}}
	e, err := s.Add(t.Context(), task, now)
	if err != nil {
		t.Fatal(err)
	}
	self := state.Ident{PID: 1, Boot: "b"}
	g = newEngine(Options{Store: s, Self: self, Clock: clocktest.Bubble{}, MaxParallel: AtMost(4), Say: t.Logf, Ended: func(state.Record, state.Line) {}}, &restHost{})
	if g.queue, err = s.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := s.Claim(t.Context(), e.Task.ID, now, now.AddDate(0, 0, 1), self, now)
	if err != nil {
		t.Fatal(err)
	}
	n = &run{r: r}
	g.runs[claimOf(r)] = n
	return g, s, n, now
}

func open(t *testing.T, s state.Store) []state.Record {
	t.Helper()
	list, _, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestAnAttemptThatWasKeptBackRests: a further attempt that a runner has noted and does not begin, since it ends, is the next one's.
func TestAnAttemptThatWasKeptBackRests(t *testing.T) {
	g, s, n, now := claimed(t)
	n.r.Attempt = 2
	if err := s.Note(t.Context(), n.r); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	g.handle(ended, Event{Record: n.r, Result: rules.Result{Unstarted: true}}, now)
	list := open(t, s)
	if len(list) != 1 || list[0].Attempt != 1 || rules.TakingOver(list[0], g.Self, false) != rules.ToRest || len(g.runs) > 0 {
		t.Errorf("it is %+v", list)
	}
}

// TestWhatCannotBeGivenBackStaysOpen: a claim whose task is due at another instant by now is the next runner's when this one ends.
func TestWhatCannotBeGivenBackStaysOpen(t *testing.T) {
	g, s, n, now := claimed(t)
	if _, err := s.Update(t.Context(), n.r.Task, now.Add(time.Hour), now, nil); err != nil {
		t.Fatal(err)
	}
	g.closed = true
	g.handle(t.Context(), Event{Record: n.r, Result: rules.Result{Unstarted: true}}, now)
	if list := open(t, s); len(list) != 1 || rules.TakingOver(list[0], g.Self, false) != rules.ToRelease || len(g.ends) > 0 {
		t.Errorf("it is %+v, and ends as %+v", list, g.ends)
	}
}

// TestTheEndOfWhatWasKeptBack: somebody asked for the end of a run just before it was kept back for another reason. It does not run later.
func TestTheEndOfWhatWasKeptBack(t *testing.T) {
	g, _, n, now := claimed(t)
	n.halt = rules.Stopped
	g.handle(t.Context(), Event{Record: n.r, Result: rules.Result{Unstarted: true}}, now)
	if len(g.ends) != 1 || g.ends[0].Line.Outcome != state.Cancelled || g.ends[0].Line.Reason != rules.ReasonStopped {
		t.Errorf("it ends as %+v", g.ends)
	}
}

// TestTheStoreIsAskedAgain: what the store could not be asked, or told, is tried again though nothing happens.
func TestTheStoreIsAskedAgain(t *testing.T) {
	broken := errors.New("the disk is full")
	t.Run("for an end", func(t *testing.T) {
		g, s, _, now := claimed(t)
		s.halted = broken
		g.halts(t.Context(), now)
		if o, err := g.pass(t.Context(), now); err != nil || o.wake.IsZero() || s.asked != 2 {
			t.Errorf("asked %d times, wakes at %v; %v", s.asked, o.wake, err)
		}
		s.halted = nil
		if _, err := g.pass(t.Context(), now); err != nil || s.asked != 3 || g.unheard {
			t.Errorf("asked %d times; %v", s.asked, err)
		}
	})
	t.Run("for a further attempt", func(t *testing.T) {
		g, s, n, now := claimed(t)
		n.r.Attempt, n.resting = 1, true
		g.ready = []*run{n}
		s.note = broken
		if o, err := g.pass(t.Context(), now); err != nil || o.wake.IsZero() || o.wake.After(now.Add(time.Minute)) || len(g.ready) != 1 {
			t.Errorf("it wakes at %v, %d wait; %v", o.wake, len(g.ready), err)
		}
	})
}
