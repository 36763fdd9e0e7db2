//go:build !unix

package cli

import "syscall"

// signalNamed knows none: nothing ends by a signal here.
func SignalNamed(string) (syscall.Signal, bool) { return 0, false }

// deafToPipes has nothing to do here.
func DeafToPipes() func() { return func() {} }
