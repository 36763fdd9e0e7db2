//go:build !unix

package cmd

import "syscall"

// signalNamed knows none: nothing ends by a signal here.
func signalNamed(string) (syscall.Signal, bool) { return 0, false }

// deafToPipes has nothing to do here.
func deafToPipes() func() { return func() {} }
