package clocktest

import (
	"testing"
	"time"
)

// Zone loads a zone by its name.
func Zone(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// Instant reads an instant of RFC 3339.
func Instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Wall reads "2006-01-02 15:04[:05]" as a wall time, which is kept as a time in UTC.
func Wall(t testing.TB, text string) time.Time {
	t.Helper()
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if wall, err := time.Parse(layout, text); err == nil {
			return wall
		}
	}
	t.Fatalf("%q is no wall time", text)
	return time.Time{}
}
