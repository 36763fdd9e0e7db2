package when

import (
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

func TestClockChangesAreNoted(t *testing.T) {
	for _, row := range []struct{ now, zone, text, at, note string }{
		{"2024-03-30T12:00:00Z", "Europe/Warsaw", "2024-03-31 02:30", "2024-03-31T03:30:00+02:00", "02:30 does not exist on 31 March 2024, when the clocks go forward; it is read as 03:30"},
		{"2024-03-30T12:00:00Z", "Europe/Warsaw", "tomorrow at 2:30", "2024-03-31T03:30:00+02:00", "02:30 does not exist"},
		{"2024-03-30T12:00:00Z", "Europe/Warsaw", "tomorrow at 3:30", "2024-03-31T03:30:00+02:00", ""},
		{"2024-10-26T12:00:00Z", "Europe/Warsaw", "tomorrow at 2:30", "2024-10-27T02:30:00+02:00", `02:30 comes twice on 27 October 2024, when the clocks go back; this is the first time; for the second say "2024-10-27T02:30:00+01:00"`},
		{"2024-10-27T00:45:00Z", "Europe/Warsaw", "2:30", "2024-10-27T02:30:00+01:00", "this is the second time"},
		{"2024-10-26T12:00:00Z", "Europe/Warsaw", "2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+02:00", ""},
		{"2024-10-26T12:00:00Z", "Europe/Warsaw", "12 hours 30 minutes", "2024-10-27T02:30:00+02:00", ""},
		{"2017-10-14T12:00:00Z", "America/Sao_Paulo", "tomorrow", "2017-10-15T01:00:00-02:00", "00:00 does not exist on 15 October 2017"},
	} {
		now, err := time.Parse(time.RFC3339, row.now)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(row.text, Options{Now: now, Zone: clocktest.Zone(t, row.zone)})
		if err != nil {
			t.Errorf("%s: %v", row.text, err)
			continue
		}
		notes := strings.Join(textsOf(s.Notes), "; ")
		if got := s.At.Format(time.RFC3339); got != row.at || row.note == "" && strings.Contains(notes, "clocks") || !strings.Contains(notes, row.note) {
			t.Errorf("%s in %s: %s with notes %q, want %s with %q", row.text, row.zone, got, notes, row.at, row.note)
		}
	}
}
