//go:build !unix

package cli

import (
	"io"
)

// OwnTerminal is empty: terminals are no files here.
func OwnTerminal(World) string { return "" }

// Foreground is always the case where there is no job control.
func Foreground(io.Writer) bool { return true }

// hasTerminal and ownsTerminal: nobody sends HUP here.
func hasTerminal() bool { return false }

func ownsTerminal() bool { return false }
