package when

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

func TestShifted(t *testing.T) {
	zone := clocktest.Zone(t, "Europe/Warsaw")
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, zone)
	for _, row := range []struct{ text, by, want string }{
		{"every 5m", "90s", "28 12:06:30 28 12:11:30 28 12:16:30"},
		{"every day at 9am", "10m", "29 09:10:00 30 09:10:00 31 09:10:00"},
		// later by elapsed time, also over the spring night
		{"0 2 * * *", "30m", "29 03:30:00 30 02:30:00 31 02:30:00"},
		{"noon tomorrow", "10m", "29 12:10:00"},
	} {
		s, err := Parse(row.text, Options{Now: now, Zone: zone})
		if err != nil {
			t.Fatal(err)
		}
		by, err := time.ParseDuration(row.by)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		c := s.Shifted(by)
		for at, ok := c.Next(now); ok && len(got) < 33; at, ok = c.Next(at) {
			got += at.Format(" 02 15:04:05")
		}
		if got != " "+row.want {
			t.Errorf("%s later by %s: got%s, want %s", row.text, row.by, got, row.want)
		}
	}
	s, err := Parse("every 1h", Options{Now: now, Zone: zone, Count: 3})
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Shifted(time.Minute).Count(now, now.Add(24*time.Hour), 100); n != 3 {
		t.Errorf("a count of 3 is %d when shifted", n)
	}
}
