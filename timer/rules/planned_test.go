package rules

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestPlanned: what would be run has no outcome yet, what would not has the one it would get.
func TestPlanned(t *testing.T) {
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	hourly := state.Entry{Due: start.Add(time.Hour), Phase: state.Pending, Task: state.Task{ID: "k7m2", Text: "tea", Run: state.Job{Argv: []string{"true"}},
		When: state.Timing{Text: "every 1h", Kind: "interval", Zone: "UTC", Start: start}}}
	if lines, err := Planned(hourly, start.Add(59*time.Minute)); err != nil || len(lines) != 0 {
		t.Errorf("before it is due: %v, %v", lines, err)
	}
	lines, err := Planned(hourly, start.Add(3*time.Hour+time.Minute))
	if err != nil || len(lines) != 2 {
		t.Fatalf("two hours late: %v, %v", lines, err)
	}
	if l := lines[0]; l.Outcome != state.Missed || l.Reason != ReasonCoalesced || l.Count != 2 || !l.Due.Equal(start.Add(time.Hour)) {
		t.Errorf("the older instants: %+v", l)
	}
	if l := lines[1]; l.Outcome != "" || l.Type != state.LineOccurrence || l.TaskID != "k7m2" || !l.Due.Equal(start.Add(3*time.Hour)) {
		t.Errorf("the latest instant: %+v", l)
	}
	hourly.Task.When.Text = "every banana"
	if _, err := Planned(hourly, start); err == nil {
		t.Error("a schedule that cannot be read is planned")
	}
}
