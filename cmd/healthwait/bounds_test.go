package healthwait

import (
	"testing"
	"time"
)

// TestMaxCameFirst: which bound a wait has reached, at an instant before the deadline as it is rounded, and after it.
func TestMaxCameFirst(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	early, late := now.Add(400*time.Microsecond), now.Add(-400*time.Microsecond)
	for _, c := range []struct {
		name string
		b    bounds
		max  bool
	}{
		{"no --max", bounds{timeout: time.Second, due: early}, false},
		{"no deadline", bounds{most: time.Second}, true},
		{"a shorter --max", bounds{timeout: time.Minute, most: time.Second, due: now.Add(59 * time.Second)}, true},
		{"a shorter --timeout, rounded up", bounds{timeout: time.Second, most: time.Minute, due: early}, false},
		{"a shorter --timeout, rounded down", bounds{timeout: time.Second, most: time.Minute, due: late}, false},
		{"an instant to come", bounds{until: true, most: time.Second, due: now.Add(time.Minute)}, true},
		{"an instant that has passed", bounds{until: true, most: time.Second, due: late}, false},
	} {
		if got := c.b.maxCameFirst(now); got != c.max {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
