//go:build !unix

package cli

import (
	"io"
)

// ReaderGone returns nil, because this system does not report it; the next write fails.
func ReaderGone(io.Writer) <-chan struct{} { return nil }
