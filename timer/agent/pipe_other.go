//go:build !unix

package agent

import (
	"errors"
	"io"
)

// isBrokenPipe reports whether nobody reads the pipe any more.
func isBrokenPipe(err error) bool { return errors.Is(err, io.ErrClosedPipe) }
