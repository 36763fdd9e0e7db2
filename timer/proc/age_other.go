//go:build !linux

package proc

import "time"

func (Identity) age() (time.Duration, bool) { return 0, false }
