//go:build !unix

package cli

import "io"

// Foreground is always the case where there is no job control.
func Foreground(io.Writer) bool { return true }
