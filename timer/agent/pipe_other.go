//go:build !unix

package agent

import (
	"errors"
	"io"
)

// isBrokenPipe reports whether an error of a write says that the reading end of the pipe is closed.
func isBrokenPipe(err error) bool { return errors.Is(err, io.ErrClosedPipe) }
