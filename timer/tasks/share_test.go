package tasks

import (
	"testing"
	"time"
)

// TestShares deals a span out in equal steps from its beginning, within it.
func TestShares(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 1000, 99_999} {
		span, last := time.Hour, time.Duration(-1)
		for i := range n {
			d := ShareOf(span, i, n).delay
			step := span / time.Duration(n)
			if off := d - time.Duration(i)*span/time.Duration(n); d < last || d >= span || off > time.Millisecond || off < -time.Millisecond {
				t.Fatalf("%d of %d: %v, steps of %v", i, n, d, step)
			}
			last = d
		}
	}
	if d := ShareOf(time.Hour, 0, 5).delay; d != 0 {
		t.Errorf("the first is late by %v", d)
	}
}
