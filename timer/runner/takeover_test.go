package runner

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// dying is a host on which another runner still does something after the claims were read, and then dies.
type dying struct {
	restHost
	last    func()
	adopted []state.Record
}

func (d *dying) Alive(i state.Ident, _ bool) bool {
	if d.last != nil {
		d.last()
		d.last = nil
	}
	return i.PID == child.PID
}

func (d *dying) Adopt(r state.Record) { d.adopted = append(d.adopted, r) }

var child = state.Ident{PID: 77, Boot: "b"}

// TestTakeOverOfWhatHasJustBegun: a runner that dies right after it has begun something has begun it, also for one that had read its claims before that.
func TestTakeOverOfWhatHasJustBegun(t *testing.T) {
	now := at(t, "2026-11-21 09:00")
	other := state.Ident{PID: 2, Boot: "b"}
	for _, c := range []struct {
		name    string
		begins  func(r *state.Record)
		adopted bool
		ends    []state.Outcome
	}{
		{"nothing", nil, false, nil},
		{"its start was noted", func(r *state.Record) { r.Starting = now }, false, []state.Outcome{state.Interrupted}},
		{"its command runs", func(r *state.Record) { r.Starting, r.Started, r.Child = now, now, child }, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := memory.New()
			task := state.Task{Created: now.AddDate(0, 0, -1), When: state.Timing{Text: "0 9 * * *", Kind: "cron", Zone: "Europe/Warsaw", Start: now.AddDate(0, 0, -1)}, Run: state.Job{Argv: []string{"true"}}}
			e, err := s.Add(t.Context(), task, now)
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Claim(t.Context(), e.Task.ID, now, now.AddDate(0, 0, 1), other, now)
			if err != nil {
				t.Fatal(err)
			}
			h := &dying{last: func() {
				if c.begins != nil {
					c.begins(&r)
					if err := s.Started(context.Background(), r); err != nil {
						t.Error(err)
					}
				}
			}}
			g := newEngine(Options{Store: s, Self: state.Ident{PID: 1, Boot: "b"}, Clock: clocktest.Bubble{}, MaxParallel: AtMost(4), Say: t.Logf, Ended: func(state.Record, state.Line) {}}, h)
			if g.queue, err = s.Follow(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := g.recover(t.Context(), now.Add(time.Second)); err != nil || g.unsettled {
				t.Fatal(err, g.unsettled)
			}
			var ends []state.Outcome
			if _, _, err := s.Log(t.Context(), e.Task.ID, func(l state.Line) bool {
				if l.Type == state.LineOccurrence {
					ends = append(ends, l.Outcome)
				}
				return true
			}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(ends, c.ends) || (len(h.adopted) == 1) != c.adopted {
				t.Errorf("outcomes %v, adopted %v", ends, h.adopted)
			}
			found, err := s.Find(t.Context(), e.Task.ID)
			if err != nil {
				t.Fatal(err)
			}
			if released := found[0].Due.Equal(now); released != (c.begins == nil) {
				t.Errorf("released: %v", released)
			}
		})
	}
}

// TestRerunNotBeforeItsInstant: what a runner had claimed ahead of its instant, before the machine or its container ended, is not run again
// before that.
func TestRerunNotBeforeItsInstant(t *testing.T) {
	due := at(t, "2026-11-21 09:00")
	for _, c := range []struct {
		left time.Duration
		want []time.Duration
	}{
		{30 * time.Millisecond, []time.Duration{30 * time.Millisecond}},
		{0, nil},
		{-time.Minute, nil},
		{time.Hour, nil}, // the clock was put back
	} {
		s, now := memory.New(), due.Add(-c.left)
		task := state.Task{Created: due.AddDate(0, 0, -1), When: state.Timing{Text: "0 9 * * *", Kind: "cron", Zone: "Europe/Warsaw", Start: due.AddDate(0, 0, -1)},
			Run: state.Job{Argv: []string{"true"}}, Policy: state.Policy{Rerun: true}}
		e, err := s.Add(t.Context(), task, due)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Claim(t.Context(), e.Task.ID, due, due.AddDate(0, 0, 1), state.Ident{PID: 2, Boot: "before"}, due.Add(-claimAhead)); err != nil {
			t.Fatal(err)
		}
		h := &restHost{}
		g := newEngine(Options{Store: s, Self: state.Ident{PID: 1, Boot: "b"}, Clock: clocktest.Bubble{}, MaxParallel: AtMost(4), Say: t.Logf}, h)
		if _, err := g.recover(t.Context(), now); err != nil || g.unsettled {
			t.Fatal(err, g.unsettled)
		}
		if !slices.Equal(h.pauses, c.want) || len(g.ready) != 1-len(c.want) {
			t.Errorf("%v before its instant: rests %v, and %d are ready", c.left, h.pauses, len(g.ready))
		}
	}
}
