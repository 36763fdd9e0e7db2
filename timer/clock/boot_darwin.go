package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

const bootTick = time.Microsecond

// boot reads CLOCK_MONOTONIC, which on this system counts suspended time (clock_gettime(3)); Go's
// own monotonic clock does not.
func boot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return bootless()
	}
	return time.Duration(ts.Nano())
}
