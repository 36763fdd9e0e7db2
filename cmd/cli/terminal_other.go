//go:build !unix

package cli

import (
	"io"
)

// TerminalDevice is empty, because terminals are not files on this system.
func TerminalDevice(World) string { return "" }

// Foreground is true, because this system has no job control.
func Foreground(io.Writer) bool { return true }

// hasTerminal and leadsTerminal are false, because nobody sends HUP on this system.
func hasTerminal() bool { return false }

func leadsTerminal() bool { return false }
