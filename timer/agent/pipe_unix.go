//go:build unix

package agent

import (
	"errors"
	"syscall"
)

// isBrokenPipe reports whether nobody reads any more what was written.
func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
