package tasks

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when"
)

// TestTimeOfDay holds edit to what keeps the date of a task: a time of day that says nothing about the date.
func TestTimeOfDay(t *testing.T) {
	zone, err := when.LoadZone("Europe/Warsaw")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"15:00", true}, {"3pm", true}, {"at 3pm", true}, {"1530", true}, {"15:00:30", true}, {"noon", true}, {"midnight", true}, {"0:00", true},
		{"23:59:59", true}, {"half past nine", true}, {"quarter to 5pm", true}, {"9 in the evening", true}, {"teatime", true}, {"T10:30", true},
		{"15:00 Asia/Tokyo", true}, {"10:00 UTC", true},
		{"today 15:00", false}, {"tomorrow 15:00", false}, {"tonight at 8", false}, {"friday", false}, {"friday 15:00", false}, {"next friday at noon", false},
		{"2027-03-04 15:00", false}, {"the 5th at noon", false}, {"1h", false}, {"24h", false}, {"1 day", false}, {"in 2 hours", false}, {"now", false},
		{"now + 1h", false}, {"every day at 15:00", false}, {"0 9 * * *", false}, {"@1800000000", false}, {"7", false}, {"banana", false}, {"", false},
	} {
		o := when.Options{Now: time.Date(2026, 11, 21, 14, 0, 0, 0, zone), Zone: zone}
		if got := timeOfDay(tt.text, o); got != tt.want {
			t.Errorf("timeOfDay(%q) = %v", tt.text, got)
		}
	}
}

// TestSigned holds edit to what counts from the time a task is due.
func TestSigned(t *testing.T) {
	for _, tt := range []struct {
		text, rest string
		sign       int
	}{{"+1h", "1h", 1}, {"-10m", "10m", -1}, {"+ 1 day", "1 day", 1}, {"− 2h", "2h", -1}, {"1h", "1h", 0}, {"10:00-0500", "10:00-0500", 0}} {
		sign, rest, ok := signed(tt.text)
		if sign != tt.sign || rest != tt.rest || ok != (tt.sign != 0) {
			t.Errorf("signed(%q) = %d, %q, %v", tt.text, sign, rest, ok)
		}
	}
}
