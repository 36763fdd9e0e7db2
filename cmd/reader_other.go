//go:build !unix

package cmd

import "io"

// readerGone never tells: the next write does.
func readerGone(io.Writer) <-chan struct{} { return nil }
