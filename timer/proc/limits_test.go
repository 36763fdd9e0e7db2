package proc

import "testing"

func TestParseIOPriority(t *testing.T) {
	for text, want := range map[string]IOPriority{
		"none": 0, "idle": 3 << 13, "best-effort": 2<<13 | 4, "best-effort:0": 2 << 13, "best-effort:7": 2<<13 | 7, "realtime": 1<<13 | 4, "realtime:3": 1<<13 | 3,
	} {
		if got, err := ParseIOPriority(text); err != nil || got != want {
			t.Errorf("%s is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "3", "fast", "idle:1", "best-effort:", "best-effort:8", "best-effort:-1", "best-effort:+1", "Idle"} {
		if got, err := ParseIOPriority(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}
