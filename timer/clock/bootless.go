//go:build !windows

package clock

import "time"

// process is when this process looked at the clock first, with a monotonic part.
var process = time.Now()

// bootless stands in for the clock that counts suspended time where there is none, or it may not be
// read.
func bootless() time.Duration { return time.Since(process) }
