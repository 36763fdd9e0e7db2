//go:build !unix

package cli

import (
	"syscall"
)

// SignalNamed finds none, because nothing ends by a signal on this system.
func SignalNamed(string) (syscall.Signal, bool) { return 0, false }
