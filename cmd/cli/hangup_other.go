//go:build !unix

package cli

// hasTerminal and ownsTerminal: nobody sends HUP here.
func hasTerminal() bool { return false }

func ownsTerminal() bool { return false }
