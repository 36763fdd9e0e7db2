//go:build !linux && !darwin && !windows

package clock

import "time"

const bootTick = 0

// boot is the monotonic clock. Whether it counts suspended time is up to the system.
func boot() time.Duration { return bootless() }
