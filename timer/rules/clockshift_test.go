package rules

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestGoesOn has which tasks are moved back for a clock that shows noon and is believed, which it
// was first seen to be at eleven.
func TestGoesOn(t *testing.T) {
	noon := at(t, "2026-11-21 12:00")
	for _, c := range []struct {
		name  string
		when  state.Timing
		due   string
		want  string // empty: it stays
		start string // its new beginning; empty: as it was
	}{
		{"it was ahead", state.Timing{Text: "0 * * * *", Kind: "cron", Start: noon.AddDate(0, -1, 0)}, "2027-03-01 07:00", "2026-11-21 12:00", ""},
		{"it comes rarely", state.Timing{Text: "30 9 * * *", Kind: "cron", Start: noon.AddDate(0, -1, 0)}, "2027-03-01 09:30", "2026-11-22 09:30", ""},
		{"it is where it should be", state.Timing{Text: "0 * * * *", Kind: "cron", Start: noon.AddDate(0, -1, 0)}, "2026-11-21 13:00", "", ""},
		{"it is overdue", state.Timing{Text: "0 * * * *", Kind: "cron", Start: noon.AddDate(0, -1, 0)}, "2026-11-21 11:00", "", ""},
		{"it was made meanwhile", state.Timing{Text: "every 5m", Kind: "interval", Start: noon.Add(-12 * time.Minute)}, "2026-11-21 12:03", "", ""},
		{"it was made by a clock that showed more", state.Timing{Text: "every 25m", Kind: "interval", Start: noon.AddDate(12, 0, 0)}, "2038-11-21 12:25", "2026-11-21 11:25", "2026-11-21 11:00"},
		{"it was told when to begin", state.Timing{Text: "every 25m", Kind: "interval", Start: noon.AddDate(12, 0, 0), Given: true}, "2038-11-21 12:25", "", ""},
		{"it was told how often to come", state.Timing{Text: "every 25m", Kind: "interval", Start: noon.AddDate(12, 0, 0), Count: 3}, "2038-11-21 12:25", "", ""},
		{"it is over before", state.Timing{Text: "0 * * * *", Kind: "cron", Start: noon.AddDate(0, -1, 0), End: noon.AddDate(0, 0, -1)}, "2027-03-01 07:00", "", ""},
		{"it comes once", state.Timing{Text: "2027-03-01 07:00", Kind: "once", Start: noon}, "2027-03-01 07:00", "", ""},
		{"nobody understands it", state.Timing{Text: "every blue moon", Kind: "interval", Start: noon}, "2027-03-01 07:00", "", ""},
	} {
		c.when.Zone = "Europe/Warsaw"
		got, to, ok := GoesOn(state.Entry{Task: state.Task{When: c.when}, Due: at(t, c.due)}, noon, noon.Add(-time.Hour))
		if ok != (c.want != "") || ok && !to.Equal(at(t, c.want)) {
			t.Errorf("%s: %v %v, want %s", c.name, ok, to, c.want)
		}
		start := c.when.Start
		if c.start != "" {
			start = at(t, c.start)
		}
		if ok && !got.When.Start.Equal(start) {
			t.Errorf("%s: it begins at %v, want %v", c.name, got.When.Start, start)
		}
	}
}
