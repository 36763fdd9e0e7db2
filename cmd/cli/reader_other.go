//go:build !unix

package cli

import (
	"io"
)

// ReaderGone returns nil, because this system does not tell; the next write does.
func ReaderGone(io.Writer) <-chan struct{} { return nil }
