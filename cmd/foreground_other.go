//go:build !unix

package cmd

import "io"

// foreground is always the case where there is no job control.
func foreground(io.Writer) bool { return true }
