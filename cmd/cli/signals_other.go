//go:build !unix

package cli

import (
	"os"
)

// DeafToPipes does nothing on this system.
func DeafToPipes() func() { return func() {} }

// raise does nothing on this system; the exit code says it.
func raise(os.Signal) {}
