//go:build !unix

package cmd

// hasTerminal and ownsTerminal: nobody sends HUP here.
func hasTerminal() bool { return false }

func ownsTerminal() bool { return false }
