//go:build unix

package agent

import (
	"errors"
	"syscall"
)

// isBrokenPipe reports whether nobody reads the pipe any more.
func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
