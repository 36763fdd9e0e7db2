//go:build !unix

package cli

import (
	"syscall"
)

// SignalNamed knows none: nothing ends by a signal here.
func SignalNamed(string) (syscall.Signal, bool) { return 0, false }
