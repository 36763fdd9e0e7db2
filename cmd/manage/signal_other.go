//go:build !unix

package manage

import (
	"syscall"
)

// signalNamed knows none: nothing ends by a signal here.
func signalNamed(string) (syscall.Signal, bool) { return 0, false }
