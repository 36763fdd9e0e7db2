package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// WithoutShell is the same run without its shell, for the arguments of ShellText, where the text is so simple that the shell would
// do nothing but find one program, execute it and wait for it. GNU make and perl's system and exec leave the shell out of such lines,
// too. The program is given the words, environment and folder that dash would give it, and what is not certain is refused:
//
//   - the shell is the system's dash, by whatever link: it changes nothing in the environment but PWD. bash also sets _ and SHLVL;
//   - the text is words of plain characters with blanks between, the first of them no assignment, keyword or builtin of a shell;
//   - no variable is there that tells a shell what to do, none is there twice, and each has a name that dash passes on;
//   - the word, or PATH by absolute folders alone, leads to a program that we may read and that runs with our rights: no setuid, setgid
//     or file capabilities;
//   - nothing is said of a program that leaves our reach: setsid(1), sudo(8) and the like.
//
// A signal that ends the program, and was not sent by us to the group and so to the shell as well, is an exit code and last words
// in the Result, where this dash forks for its last command; where it gives its place to that it is the signal. Where the program cannot be executed, Start fails and nothing was done: the Spec with the shell is to be started,
// which says why, with its words and its exit code.
func (s Spec) WithoutShell() (Spec, bool) {
	if s.Foreground || len(s.Argv) != 3 || s.Argv[1] != "-c" || !filepath.IsAbs(s.Dir) {
		return s, false
	}
	words, ok := simpleWords(s.Argv[2])
	if !ok || !isDash(s.Argv[0]) || os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() { // dash gives up what it may not keep
		return s, false
	}
	env, path, ok := passedOn(s.Env)
	if !ok {
		return s, false
	}
	if direct := (Spec{Argv: words, Env: s.Env, Dir: s.Dir}); direct.MayHang() {
		return s, false
	}
	program, ok := simpleProgram(words[0], path, s.Dir)
	if !ok {
		return s, false
	}
	// What dash finds by getcwd(3) when nobody tells it.
	here, err := filepath.EvalSymlinks(s.Dir)
	if err != nil {
		return s, false
	}
	s.program, s.Argv, s.Env = program, words, append(env, "PWD="+here)
	return s, true
}

// isDash reports whether prog is the system's dash. Elsewhere there are other programs of that name.
func isDash(prog string) bool {
	switch prog {
	case "/bin/sh", "/usr/bin/sh", "/bin/dash", "/usr/bin/dash":
	default:
		return false
	}
	dash, err := os.Lstat("/bin/dash")
	if err != nil || !dash.Mode().IsRegular() {
		return false
	}
	found, err := os.Stat(prog)
	return err == nil && os.SameFile(dash, found)
}

// simpleWords are the words of a command line that every shell splits at its blanks and takes as they are.
func simpleWords(text string) ([]string, bool) {
	for i := range len(text) {
		if c := text[i]; !isAlnum(c) && strings.IndexByte("_./,:@%+=- \t", c) < 0 {
			return nil, false
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	// An option of the shell, a job, an assignment, what the shell does by itself.
	if len(words) == 0 || strings.ContainsAny(words[0], "%=") || strings.IndexByte("-+", words[0][0]) >= 0 {
		return nil, false
	}
	if _, own := slices.BinarySearch(shellsOwn, words[0]); own {
		return nil, false
	}
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(leavers, filepath.Base(w)) }) {
		return nil, false
	}
	return words, true
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// leavers are programs that do not stay what was started, also where another one (env, nice) gives its place to them: setsid(1) goes to
// the background when it leads a group, which it would then, and no signal of ours ends those that become another user.
var leavers = []string{"doas", "newgrp", "pkexec", "run0", "setsid", "sg", "su", "sudo"}

// shellsOwn are the keywords and builtins of POSIX, dash, bash and ksh that are made of plain characters.
var shellsOwn = []string{
	".", ":", "alias", "autoload", "bg", "bind", "break", "builtin", "caller", "case", "cd", "chdir", "command", "compgen",
	"complete", "compopt", "continue", "coproc", "declare", "dirs", "disown", "do", "done", "echo", "elif", "else", "enable",
	"esac", "eval", "exec", "exit", "export", "false", "fc", "fg", "fi", "float", "for", "foreach", "function", "functions",
	"getopts", "hash", "help", "histcmd", "history", "if", "in", "integer", "jobs", "kill", "let", "local", "login", "logout",
	"mapfile", "nameref", "newgrp", "nocorrect", "noglob", "popd", "print", "printf", "pushd", "pwd", "read", "readarray",
	"readonly", "redirect", "repeat", "return", "select", "set", "setvar", "shift", "shopt", "source", "stop", "suspend",
	"test", "then", "time", "times", "trap", "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "until",
	"wait", "while", "wordexp",
}

// passedOn is an environment as dash passes it on, sorted, without the PWD that it adds, and the PATH in it. Not ok: there is
// something in it that dash leaves out, changes or goes by, or no PATH.
func passedOn(given []string) (env []string, path string, ok bool) {
	env = slices.Sorted(slices.Values(given))
	last := ""
	for _, kv := range env {
		name, value, found := strings.Cut(kv, "=")
		if !found || name == last || !isVariable(name) || strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "POSIXLY") {
			return nil, "", false
		}
		if _, own := slices.BinarySearch(shellVariables, name); own {
			return nil, "", false
		}
		if last = name; name == "PATH" {
			path = value
		}
	}
	return env, path, path != "" && !strings.Contains(path, "%") // which dash gives a meaning
}

// isVariable reports whether a shell knows variables of this name.
func isVariable(name string) bool {
	for i := range len(name) {
		if c := name[i]; c != '_' && !isAlnum(c) || i == 0 && '0' <= c && c <= '9' {
			return false
		}
	}
	return name != ""
}

// shellVariables are those that a shell goes by or sets.
var shellVariables = []string{
	"ATTY", "CDPATH", "ENV", "FCEDIT", "HISTSIZE", "IFS", "LINENO", "MAIL", "MAILPATH", "OLDPWD", "OPTARG", "OPTIND", "PPID",
	"PS1", "PS2", "PS3", "PS4", "PWD", "SHELLOPTS", "SHLVL", "_",
}

// simpleProgram is what dash executes for a word: the word itself when it has a slash, else the first file of that name. It looks
// no further when that is not simply a program.
func simpleProgram(word, path, dir string) (string, bool) {
	if strings.Contains(word, "/") {
		file := word
		if !filepath.IsAbs(file) {
			file = dir + "/" + word
		}
		info, err := os.Stat(file)
		return word, err == nil && simpleFile(file, info)
	}
	for folder := range strings.SplitSeq(path, ":") {
		if !filepath.IsAbs(folder) {
			return "", false
		}
		file := folder + "/" + word // as dash writes it: a script learns it
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			continue
		case err != nil:
			return "", false
		}
		return file, simpleFile(file, info)
	}
	return "", false
}

// simpleFile reports whether a file is a program that runs as we do. One that became another user could not be ended by us, where its
// shell could; one that we may not read is not shown by every /proc.
func simpleFile(file string, info fs.FileInfo) bool {
	return simpleMode(info.Mode()) && readable(file) && !hasCapabilities(file)
}

func simpleMode(mode fs.FileMode) bool {
	return mode.IsRegular() && mode&0o111 != 0 && mode&(fs.ModeSetuid|fs.ModeSetgid) == 0
}
