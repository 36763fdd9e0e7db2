package state_test

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

func TestParseSpan(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "1m": time.Minute, "1m30s": 90 * time.Second, "7d": 7 * day, "1d12h": 36 * time.Hour, "2w": 14 * day,
		"1w1d1s": 8*day + time.Second, "0.5d": 12 * time.Hour, " 1h ": time.Hour, "0": 0, "250ms": 250 * time.Millisecond,
	} {
		if got, err := state.ParseSpan(text); err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "7", "-1h", "+1h", "-1d", "1d-2h", "1y", "1h1d", "99999999d", "one day", "1.2.3d", "300000000h"} {
		if got, err := state.ParseSpan(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
