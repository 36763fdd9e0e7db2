package recur

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// mustZone loads a zone for a test.
func mustZone(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := civil.LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// wallAt reads "2006-01-02 15:04[:05]" as a reading labelled UTC.
func wallAt(t testing.TB, text string) time.Time {
	t.Helper()
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if wall, err := time.Parse(layout, text); err == nil {
			return wall
		}
	}
	t.Fatalf("bad reading %q", text)
	return time.Time{}
}
