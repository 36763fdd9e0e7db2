//go:build !windows

package clock

import "time"

// loaded is when this process began, with a monotonic part.
var loaded = time.Now()

// bootless stands in for the clock that counts suspended time where there is none, or it may not be
// read.
func bootless() time.Duration { return time.Since(loaded) }
