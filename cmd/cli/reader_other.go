//go:build !unix

package cli

import (
	"io"
)

// ReaderGone never tells: the next write does.
func ReaderGone(io.Writer) <-chan struct{} { return nil }
