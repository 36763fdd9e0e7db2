package cmd

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestOverdueRow marks what should have started, and nothing else.
func TestOverdueRow(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	task := state.Task{ID: "k7m2", Text: "x", When: state.Timing{Text: "1h", Kind: "once", Zone: "UTC"}}
	every := task
	every.When.Text, every.When.Kind = "every 1h", "interval"
	for _, c := range []struct {
		name  string
		entry state.Entry
		want  string
	}{
		{"about to start", state.Entry{Task: task, Phase: state.Pending, Due: now.Add(-4 * time.Second)}, "  now  "},
		{"late", state.Entry{Task: task, Phase: state.Pending, Due: now.Add(-6 * time.Second)}, "  overdue  "},
		{"late, and recurs", state.Entry{Task: every, Phase: state.Pending, Due: now.Add(-time.Hour)}, "  overdue  "},
		{"paused", state.Entry{Task: task, Phase: state.Paused, Held: true, Due: now.Add(-time.Hour)}, "  until resumed  "},
		{"to come", state.Entry{Task: task, Phase: state.Pending, Due: now.Add(time.Hour)}, "  in 1 hour  "},
	} {
		row := (&session{}).dayRow(c.entry, now, 100, 4)
		if !strings.Contains(row, c.want) || isOverdue(c.entry, now) != (c.want == "  overdue  ") {
			t.Errorf("%s: %q", c.name, row)
		}
	}
}

// TestPausedRow says that a task is paused, and until when, and no time at which nothing happens.
func TestPausedRow(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	task := state.Task{ID: "k7m2", Text: "x", When: state.Timing{Text: "1h", Kind: "once", Zone: "UTC"}}
	e := state.Entry{Task: task, Phase: state.Paused, Held: true, Due: now.Add(time.Hour)}
	until := e
	until.Resume = now.AddDate(0, 0, 2)
	runs := e
	runs.Phase = state.Running
	for _, c := range []struct {
		entry state.Entry
		width int
		want  string
	}{
		{e, 100, "  paused    k7m2  until resumed             x"},
		{until, 100, "  paused    k7m2  until 23 Nov 2026 12:00   x"},
		{e, 60, "         k7m2  paused   x"},
		{until, 60, "         k7m2  paused   x"},
	} {
		if row := (&session{}).dayRow(c.entry, now, c.width, 4); row != c.want {
			t.Errorf("%q, want %q", row, c.want)
		}
	}
	if head := dayHead(runs, now); head != "Paused" {
		t.Errorf("a run that goes on is below %q", head)
	}
}

// TestNothingListed does not call a list empty whose tasks cannot be read.
func TestNothingListed(t *testing.T) {
	bad := state.Problem{Path: "p", Err: errors.New("cannot be understood")}
	for _, c := range []struct {
		all      bool
		problems []state.Problem
		want     string
	}{
		{false, nil, "No tasks pending."},
		{true, nil, "No tasks."},
		{false, []state.Problem{bad}, "1 task cannot be read; there is no other."},
		{true, []state.Problem{bad, bad}, "2 tasks cannot be read; there is no other."},
	} {
		if got := nothing(c.all, c.problems); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}
