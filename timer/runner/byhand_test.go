package runner

import (
	"context"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// TestByHand: a due instant that is none of its task's schedule gets its line before anything comes of it, once; one that its words
// give, or that the ledger tells of, gets none.
func TestByHand(t *testing.T) {
	ctx := context.Background()
	start := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	once := func(text, wall string) state.Timing {
		return state.Timing{Text: text, Kind: "once", Zone: "Europe/Warsaw", Wall: wall, Start: start}
	}
	every := state.Timing{Text: "every day at 9am", Kind: "rrule", Zone: "Europe/Warsaw", Start: start}
	late := every
	late.Jitter, late.Delay = "30m0s", "12m3.5s"
	for _, c := range []struct {
		name   string
		timing state.Timing
		due    time.Time // as it was made
		is     time.Time // as its file says
		moved  bool
	}{
		{"a duration", once("2h", ""), start.Add(2 * time.Hour), start.Add(2 * time.Hour), false},
		{"a duration, renamed", once("2h", ""), start.Add(2 * time.Hour), start.Add(time.Hour), true},
		{"an instant", once("2026-11-24T09:00:00Z", ""), start.Add(25 * time.Hour), start.Add(25 * time.Hour), false},
		{"an instant, renamed", once("2026-11-24T09:00:00Z", ""), start.Add(25 * time.Hour), start.Add(26 * time.Hour), true},
		{"words that the due instant does not follow from, as after an edit", once("tomorrow", ""), start.Add(time.Hour), start.Add(time.Hour), false},
		{"a wall clock", once("24 Nov 9:00", "2026-11-24T09:00:00"), start.Add(24 * time.Hour), start.Add(24 * time.Hour), false},
		{"a wall clock, renamed", once("24 Nov 9:00", "2026-11-24T09:00:00"), start.Add(24 * time.Hour), start.Add(time.Hour), true},
		{"a recurrence", every, start.Add(24 * time.Hour), start.Add(24 * time.Hour), false},
		{"a recurrence, renamed", every, start.Add(24 * time.Hour), start.Add(time.Hour), true},
		{"a recurrence, renamed to another of its instants", every, start.Add(24 * time.Hour), start.Add(72 * time.Hour), false},
		{"a recurrence with its share of a jitter", late, start.Add(24*time.Hour + 723500*time.Millisecond), start.Add(24*time.Hour + 723500*time.Millisecond), false},
		{"a recurrence without its share", late, start.Add(24*time.Hour + 723500*time.Millisecond), start.Add(24 * time.Hour), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := memory.New()
			e, err := st.Add(ctx, state.Task{Created: start, Text: "x", When: c.timing}, c.due)
			if err != nil {
				t.Fatal(err)
			}
			e.Due = c.is
			renamed := renamedStore{st, e.Task.ID, c.due}
			g := newEngine(Options{Store: &renamed, Say: t.Logf}, nil)
			sched, err := rules.Schedule(e.Task)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := g.byHand(ctx, e, sched, start); err != nil {
					t.Fatal(err)
				}
			}
			lines := 0
			if _, _, err := st.Log(ctx, "", func(l state.Line) bool {
				if l.Event == state.EventMoved && l.Due.Equal(c.is) {
					lines++
				}
				return true
			}); err != nil {
				t.Fatal(err)
			}
			if (lines == 1) != c.moved || lines > 1 {
				t.Errorf("%d lines", lines)
			}
		})
	}
}

// renamedStore is a store in which a task's due instant is another one than the store says, until it is moved there.
type renamedStore struct {
	state.Store
	id  string
	due time.Time
}

func (s *renamedStore) Move(ctx context.Context, id string, due, to, now time.Time) error {
	if !due.Equal(to) {
		return state.ErrTaken
	}
	return s.Store.Move(ctx, id, s.due, to, now)
}
