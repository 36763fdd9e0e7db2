package service

import (
	"testing"
	"time"
)

func TestWatchdog(t *testing.T) {
	for _, c := range []struct {
		usec, pid string
		want      time.Duration
	}{
		{"", "", 0},
		{"180000000", "", 3 * time.Minute},
		{"180000000", "42", 3 * time.Minute},
		{"180000000", "43", 0}, // of another process
		{"0", "", 0},
		{"-1", "", 0},
		{"9223372036854775807", "", 0},
		{"1s", "", 0},
	} {
		env := map[string]string{"WATCHDOG_USEC": c.usec, "WATCHDOG_PID": c.pid}
		if got := Watchdog(func(name string) string { return env[name] }, 42); got != c.want {
			t.Errorf("%q of %q: %v, not %v", c.usec, c.pid, got, c.want)
		}
	}
}

func TestNotifierOfOtherKinds(t *testing.T) {
	for socket, bad := range map[string]bool{"": false, "vsock:2:1234": true, "relative": true, "/nowhere/socket": true} {
		if err := (Notifier{socket}).Tell("READY=1"); (err != nil) != bad {
			t.Errorf("%q: %v", socket, err)
		}
	}
	if got := Saying("a\nREADY=1  b"); got != "STATUS=a READY=1 b" {
		t.Errorf("a status of two lines is %q", got)
	}
}
