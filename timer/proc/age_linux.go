package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// userHZ is the fraction of a second in which the kernel tells times to programs, on every
// architecture of Go.
const userHZ = 100

// age is how long ago the process started, by a clock that also counts while the machine sleeps.
func (id Identity) age() (time.Duration, bool) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0, false
	}
	return max(time.Duration(now.Nano())-time.Duration(id.Start)*(time.Second/userHZ), 0), true
}
