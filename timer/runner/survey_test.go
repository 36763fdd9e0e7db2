package runner

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

func TestTheRunnerMovesWhatNewRulesMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		zone, err := time.LoadLocation("Europe/Warsaw")
		if err != nil {
			t.Fatal(err)
		}
		task := state.Task{Created: time.Now(), Text: "hello", When: state.Timing{Text: "02:00", Kind: "once", Zone: zone.String(), Start: time.Now(),
			Wall: time.Now().Add(time.Hour).In(zone).Format(state.WallForm)}}
		if _, err := w.store.Add(t.Context(), task, time.Now().Add(2*time.Hour)); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != time.Hour || len(w.told) != 1 {
			t.Errorf("told %d messages after %v, want 1 after 1h", len(w.told), took)
		}
	})
}

// roundsStore has, in each round of a survey, one task, and a file that cannot be read until the last.
type roundsStore struct {
	state.Store
	rounds []state.Entry
	moved  []string
}

func (s *roundsStore) List(context.Context, ...state.Phase) (l state.Listing, err error) {
	e := s.rounds[0]
	if s.rounds = s.rounds[1:]; len(s.rounds) > 0 {
		l.Problems = []state.Problem{{Path: "p", Err: errors.New("cannot be understood")}}
	}
	l.Len, l.Read = 1, func(_ int, into *state.Entry) ([]state.Problem, error) {
		*into = e
		return nil, nil
	}
	return l, nil
}

func (s *roundsStore) Quarantine(context.Context, time.Duration) ([]state.Problem, error) {
	return nil, nil
}

func (s *roundsStore) Move(_ context.Context, id string, _, _, _ time.Time) error {
	s.moved = append(s.moved, id)
	return nil
}

// atOnce is a clock on which no wait takes any time.
type atOnce struct{ clock.Clock }

func (atOnce) For(context.Context, time.Duration) error { return nil }

// TestSurveyMovesAtTheStart: a task that is off its schedule when the runner starts is put back; one that somebody renames while the survey
// waits for what cannot be read is left where it is.
func TestSurveyMovesAtTheStart(t *testing.T) {
	start := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	task := func(id string) state.Entry {
		return state.Entry{Task: state.Task{ID: id, When: state.Timing{Text: "every day at 9am", Kind: "rrule", Zone: "Europe/Warsaw", Start: start}}, Due: start.Add(time.Hour)}
	}
	s := &roundsStore{rounds: []state.Entry{task("before"), task("after"), task("later")}}
	newEngine(Options{Store: s, Clock: atOnce{clock.System}, Say: t.Logf}, nil).survey(t.Context())
	if len(s.rounds) > 0 || !slices.Equal(s.moved, []string{"before"}) {
		t.Errorf("%d rounds are left, moved %v", len(s.rounds), s.moved)
	}
}
