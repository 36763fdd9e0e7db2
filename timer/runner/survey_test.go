package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// TestDueNow gives tasks a due instant that older rules of Europe/Warsaw might have had.
func TestDueNow(t *testing.T) {
	for _, row := range []struct{ name, kind, when, wall, due, want string }{
		{"unchanged", "once", "", "2026-12-24T18:00:00", "2026-12-24 18:00", ""},
		{"elapsed time does not move", "once", "", "", "2026-12-24 19:00", ""},
		{"the reading stays, the instant moves", "once", "", "2026-12-24T18:00:00", "2026-12-24 19:00", "2026-12-24 18:00"},
		{"the second pass of a repeated hour is as good", "once", "", "2026-10-25T02:30:00", "2026-10-25T02:30:00+01:00", ""},
		{"a reading that was moved out of a gap", "once", "", "2026-03-29T02:30:00", "2026-03-29 03:30", ""},
		{"a recurrence that is right", "cron", "0 9 * * *", "", "2026-12-24 09:00", ""},
		{"a recurrence takes the nearest instant", "cron", "0 9 * * *", "", "2026-12-24 10:00", "2026-12-24 09:00"},
		{"or the one after", "cron", "0 9 * * *", "", "2026-12-24 08:00", "2026-12-24 09:00"},
		{"a zone without rules has nothing to follow", "once", "", "UTC 2026-12-24T18:00:00", "2026-12-24 19:00", ""},
		{"an interval has no rules to follow", "interval", "every 1h", "", "2026-12-24 10:00", ""},
	} {
		e := entry(t, row.kind, row.when, "2026-01-01 00:00", row.due)
		e.Task.When.Wall = row.wall
		if wall, ok := strings.CutPrefix(row.wall, "UTC "); ok {
			e.Task.When.Zone, e.Task.When.Wall = "UTC", wall
		}
		got, changed := dueNow(e)
		if want := row.want != ""; changed != want || want && !got.Equal(at(t, row.want)) {
			t.Errorf("%s: due %s becomes %s (%v), want %q", row.name, row.due, got, changed, row.want)
		}
	}
}

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

func (s *roundsStore) SetAside(context.Context, time.Duration) ([]state.Problem, error) {
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
