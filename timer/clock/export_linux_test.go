package clock

import (
	"testing"

	"golang.org/x/sys/unix"
)

// RefuseTimers lets a test run as on a machine without timerfd, or with none to spare.
func RefuseTimers(t *testing.T, why unix.Errno) {
	saved := openTimer
	t.Cleanup(func() { openTimer = saved })
	openTimer = func(int) (int, error) { return -1, why }
}

// SpoilTimers gives a test descriptors that are no timers: settime fails.
func SpoilTimers(t *testing.T) {
	saved := openTimer
	t.Cleanup(func() { openTimer = saved })
	openTimer = func(int) (int, error) { return unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0) }
}
