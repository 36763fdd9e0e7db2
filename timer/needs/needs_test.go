package needs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// TestRemembered: an answer counts for a moment, and no longer when the clock is put back by hours.
func TestRemembered(t *testing.T) {
	dir := t.TempDir()
	c := clocktest.NewManual(time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC))
	f := New(c)
	found := func(want bool) {
		t.Helper()
		if _, err := f.Path(t.Context(), "tool", dir, dir); (err == nil) != want {
			t.Errorf("found: %v, want %v", err, want)
		}
	}
	found(false)
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	found(false)
	c.Step(-6 * time.Hour)
	found(true)
	if err := os.Remove(filepath.Join(dir, "tool")); err != nil {
		t.Fatal(err)
	}
	found(true)
	c.Advance(lookAgain)
	found(false)
}
