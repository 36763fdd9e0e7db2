package runner

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// at reads an instant in Warsaw, where there is a spring night and an autumn night.
func at(t *testing.T, text string) time.Time {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Warsaw")
	if err != nil {
		t.Fatal(err)
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at
		}
	}
	t.Fatalf("no instant: %q", text)
	return time.Time{}
}

// entry is a task with the schedule, made at the given instant, that is due.
func entry(t *testing.T, kind, when, start, due string) state.Entry {
	return state.Entry{
		Task: state.Task{ID: "k7m2", When: state.Timing{Text: when, Kind: kind, Zone: "Europe/Warsaw", Start: at(t, start)}, Run: state.Job{Argv: []string{"true"}}},
		Due:  at(t, due), Phase: state.Pending,
	}
}
