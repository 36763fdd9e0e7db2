package say

import (
	"testing"
	"time"
)

// TestDistanceHasNoBinaryFractions is about decimals that floating point cannot say exactly.
func TestDistanceHasNoBinaryFractions(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for ms := range int64(10_000) {
		if text := Distance(now.Add(time.Duration(ms)*time.Millisecond), now); len(text) > len("9.999 seconds") {
			t.Fatalf("%d ms is %q", ms, text)
		}
	}
}
