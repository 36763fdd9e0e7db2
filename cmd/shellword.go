package cmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// shells are the programs whose texts begin with a command's name. Of others, such as python3, nothing is said.
var shells = []string{"sh", "ash", "bash", "busybox", "dash", "ksh", "ksh93", "mksh", "yash", "zsh"}

// inShell are words that are no program's name, or need none: what the shells above have built in, and what they reserve. What one
// of them has and another has not is here as well: a warning that is not given does less harm than one that is wrong.
var inShell = strings.Fields(`
	. : [ [[ alias autoload bg bind break builtin caller case cd command compgen complete continue coproc declare dirs disown do done
	echo elif else emulate enable end esac eval exec exit export false fc fg fi float for foreach function getopts hash help history
	if in integer jobs kill let limit local logout mapfile nameref newgrp nocorrect noglob popd print printf pushd pwd read readarray
	readonly repeat return select set setopt shift shopt source suspend test then time times trap true type typeset ulimit umask
	unalias unset unsetopt until vared wait whence where which while zmodload`)

// shellProgram is the program that a text for the shell begins with, when that is beyond doubt: a plain word that the shell looks up
// on its PATH, or a path. Assignments, expansions, quotes, definitions and all that is the shell's own give none.
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
	if !plain || slices.Contains(inShell, word) {
		return "", false
	}
	return word, true
}

// missing says that a program cannot be started, and why; empty when it can. now is "now", or nothing.
func (s *session) missing(ctx context.Context, name, path, dir, now string) string {
	_, err := s.lookPath(ctx, name, path, dir)
	if err == nil {
		return ""
	}
	if now != "" {
		now = " " + now
	}
	if errors.Is(err, os.ErrNotExist) {
		return "there is no program " + quote(name) + now
	}
	text := quote(name) + " cannot be run" + now
	var se *proc.StartError
	if errors.As(err, &se) {
		text += " (" + se.Err.Error() + ")"
	}
	return text
}

// usualPath is where a shell looks that was given no PATH.
const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// missingInShell says that the program which a text for a job's shell begins with cannot be started; empty when it can, or when
// that is not known. A relative path is from the job's folder, and a message has none.
func (s *session) missingInShell(ctx context.Context, text string, job state.Job, now string) string {
	if job.Prog != "" && !slices.Contains(shells, filepath.Base(job.Prog)) {
		return ""
	}
	word, ok := shellProgram(text)
	if !ok || strings.Contains(word, "/") && !filepath.IsAbs(word) && job.Dir == "" {
		return ""
	}
	path, set := job.Env["PATH"]
	if !set {
		path = usualPath
	}
	return s.missing(ctx, word, path, job.Dir, now)
}
