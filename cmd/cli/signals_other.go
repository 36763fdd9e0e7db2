//go:build !unix

package cli

import (
	"os"
)

// DeafToPipes has nothing to do here.
func DeafToPipes() func() { return func() {} }

// raise does nothing where there are no signals to die of; the exit code says it.
func raise(os.Signal) {}
