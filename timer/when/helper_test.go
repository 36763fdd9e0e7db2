package when

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
