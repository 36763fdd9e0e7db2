package tasks

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

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

// TestTimeOfDayKeepsTheDate: edit takes a time of day, however it is said, on the date on which the task is due, also when it has passed
// today.
func TestTimeOfDayKeepsTheDate(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Warsaw")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ now, text, want string }{
		{"2026-11-27 22:02", "an hour before midnight", "2099-12-20 23:00"},
		{"2026-11-27 23:02", "an hour before midnight", "2099-12-20 23:00"},
		{"2026-11-27 23:59", "5 minutes after noon", "2099-12-20 12:05"},
		{"2026-11-27 00:00", "an hour before midnight", "2099-12-20 23:00"},
		{"2099-12-20 23:02", "an hour before midnight", ""},
		{"2099-12-20 13:00", "noon", ""},
		{"2099-12-20 11:00", "noon", "2099-12-20 12:00"},
		{"2026-11-27 23:02", "tonight an hour before midnight", ""},
	} {
		at := func(text string) time.Time {
			got, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		c := &Change{Spec: Spec{When: &tt.text}, Now: at(tt.now)}
		c.was = state.Entry{Task: state.Task{ID: "k7m2"}, Due: at("2099-12-20 23:30")}
		c.was.Task.When.Kind = "once"
		got, err := wording{c}.reads(when.Options{Now: c.Now, Zone: zone})
		switch {
		case tt.want == "" && err == nil:
			t.Errorf("at %s, %q is %v", tt.now, tt.text, got.At)
		case tt.want != "" && err != nil:
			t.Errorf("at %s, %q: %v", tt.now, tt.text, err)
		case tt.want != "" && !got.At.Equal(at(tt.want)):
			t.Errorf("at %s, %q is %v, not %s", tt.now, tt.text, got.At, tt.want)
		}
	}
}
