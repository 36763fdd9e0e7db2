package state

import "testing"

// TestParsePlace: nothing is a place that String has not written.
func TestParsePlace(t *testing.T) {
	for _, bad := range []string{"", "1", "1.", ".1", "-1.0", "1.x", "01.2", "1.2.3"} {
		if p, err := ParsePlace(bad); err == nil {
			t.Errorf("%q is %v", bad, p)
		}
	}
}
