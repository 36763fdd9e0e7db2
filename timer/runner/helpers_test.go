package runner

import (
	"testing"
	"time"
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
