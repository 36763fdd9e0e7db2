package proc

import "strings"

// shell is what runs shell text when nothing else is asked for.
const shell = "/bin/sh"

// ShellText is the argument list that runs text in a shell; an empty prog is /bin/sh.
func ShellText(prog, text string) []string {
	if prog == "" {
		prog = shell
	}
	// POSIX shells take text that looks like an option for one. "--" would end their options, and is run as a command by fish and tcsh; a
	// line break says nothing to any of them.
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		text = "\n" + text
	}
	return []string{prog, "-c", text}
}

// ShellScript is the argument list of a shell that reads a script from its standard input; an empty prog is /bin/sh. The
// caller opens the script anew for every run and gives it as Spec.Stdin. As with at(1), a command of the script that
// reads its standard input reads the rest of the script.
func ShellScript(prog string) []string {
	if prog == "" {
		prog = shell
	}
	return []string{prog}
}
