//go:build !unix

package cli

import (
	"os"
)

// BrokenPipesAreErrors does nothing on this system.
func BrokenPipesAreErrors() func() { return func() {} }

// raise does nothing on this system: the exit code names the signal.
func raise(os.Signal) {}
