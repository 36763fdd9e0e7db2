package clock

import (
	"time"

	"golang.org/x/sys/windows"
)

// bootTick is the resolution of GetTickCount64 (10 to 16 ms), rounded up.
const bootTick = 16 * time.Millisecond

// boot is GetTickCount64, which counts suspended time.
func boot() time.Duration { return windows.DurationSinceBoot() }
