//go:build !unix

package history

import (
	"io"
)

// readerGone never tells: the next write does.
func readerGone(io.Writer) <-chan struct{} { return nil }
