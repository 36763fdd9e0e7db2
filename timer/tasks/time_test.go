package tasks

import "testing"

// TestSigned holds edit to what counts from the time a task is due.
func TestSigned(t *testing.T) {
	for _, tt := range []struct {
		text, rest string
		sign       int
	}{{"+1h", "1h", 1}, {"-10m", "10m", -1}, {"+ 1 day", "1 day", 1}, {"− 2h", "2h", -1}, {"1h", "1h", 0}, {"10:00-0500", "10:00-0500", 0}} {
		sign, rest, ok := signed(tt.text)
		if sign != tt.sign || rest != tt.rest || ok != (tt.sign != 0) {
			t.Errorf("signed(%q) = %d, %q, %v", tt.text, sign, rest, ok)
		}
	}
}
