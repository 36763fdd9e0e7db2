package needs

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// shells are the programs whose texts begin with a command's name. Of others, such as python3,
// nothing is said.
var shells = []string{"sh", "ash", "bash", "busybox", "dash", "ksh", "ksh93", "mksh", "yash", "zsh"}

// inShell are words that are no program's name, or need none: what the shells above have built in,
// and what they reserve. What one of them has and another has not is here as well: a warning that
// is not given does less harm than one that is wrong.
const inShell = `
	. : [ [[ alias autoload bg bind break builtin caller case cd command compgen complete continue coproc declare dirs disown do done
	echo elif else emulate enable end esac eval exec exit export false fc fg fi float for foreach function getopts hash help history
	if in integer jobs kill let limit local logout mapfile nameref newgrp nocorrect noglob popd print printf pushd pwd read readarray
	readonly repeat return select set setopt shift shopt source suspend test then time times trap true type typeset ulimit umask
	unalias unset unsetopt until vared wait whence where which while zmodload`

// shellProgram is the program that a text for the shell begins with, when that is beyond doubt: a
// plain word that the shell looks up on its PATH, or a path. Assignments, expansions, quotes,
// definitions and all that is the shell's own give none.
func shellProgram(text string) (string, bool) {
	text = strings.TrimSpace(text)
	for strings.HasPrefix(text, "! ") { // the opposite of what the command says
		text = strings.TrimSpace(text[2:])
	}
	word := text
	if end := strings.IndexAny(text, " \t\r\n;&|<>()"); end >= 0 {
		word = text[:end]
		switch rest := strings.TrimLeft(text[end:], " \t"); {
		case strings.HasPrefix(rest, "("): // a function is defined
			return "", false
		case strings.ContainsRune("<>", rune(text[end])): // perhaps the number of a file
			return "", false
		}
	}
	plain := word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-+/:@,", r)
	})
	if !plain || slices.Contains(strings.Fields(inShell), word) {
		return "", false
	}
	return word, true
}

// usualPath is where a shell looks that was given no PATH.
const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// MissingInShell is Missing of the program which a text for a job's shell begins with; nil also
// when that is not known. A relative path is from the job's folder, and a message has none.
func (f *Finder) MissingInShell(ctx context.Context, text string, job state.Job) *Missing {
	if job.Prog != "" && !slices.Contains(shells, filepath.Base(job.Prog)) {
		return nil
	}
	word, ok := shellProgram(text)
	if !ok || strings.Contains(word, "/") && !filepath.IsAbs(word) && job.Dir == "" {
		return nil
	}
	path, set := job.Env["PATH"]
	if !set {
		path = usualPath
	}
	return f.Missing(ctx, word, path, job.Dir)
}
