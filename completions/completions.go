// Package completions has the scripts that complete the command line of ouro-timer, one for each
// shell.
//
// A script knows no command, option or task. It calls "ouro-timer __complete -- WORD..." with the
// words up to the cursor, as they are typed, without evaluating them. It offers what that prints: a
// line "WORD<tab>DESCRIPTION" for each word that fits, or one line that begins with a colon and
// says how the shell completes the word itself:
//
//	:files        as the name of a file
//	:command N    as a word of a command that begins at word N (the program is word 0)
package completions

import _ "embed" // the scripts

//go:embed ouro-timer.bash
var bash string

//go:embed ouro-timer.zsh
var zsh string

//go:embed ouro-timer.fish
var fish string

//go:embed ouro-timer.ps1
var powershell string

// Shells returns the names of the shells that have a script.
func Shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// Script returns the script of a shell; false when there is none.
func Script(shell string) (string, bool) {
	text, ok := map[string]string{"bash": bash, "zsh": zsh, "fish": fish, "powershell": powershell}[shell]
	return text, ok
}
