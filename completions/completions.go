// Package completions holds the scripts that teach shells to complete the command line of
// ouro-timer, one a shell.
//
// A script knows no command, flag or task. It hands the words up to the cursor to "ouro-timer
// __complete -- WORD...", as they are typed and never evaluated, and offers what comes back: a line
// "WORD<tab>DESCRIPTION" for each word that fits, or one line that begins with a colon and says who
// knows better:
//
//	:files        names of files
//	:command N    the shell itself: the words from N on are a command (the program is word 0)
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

// script is one, for a shell.
type script struct{ shell, text string }

func scripts() []script {
	return []script{{"bash", bash}, {"zsh", zsh}, {"fish", fish}, {"powershell", powershell}}
}

// Shells are the names of the shells there is a script for.
func Shells() []string {
	var names []string
	for _, s := range scripts() {
		names = append(names, s.shell)
	}
	return names
}

// Script returns the script for a shell; false when there is none.
func Script(shell string) (string, bool) {
	for _, s := range scripts() {
		if s.shell == shell {
			return s.text, true
		}
	}
	return "", false
}
