package proc

import "strings"

// shell runs shell text if no other shell is given.
const shell = "/bin/sh"

// ShellText returns the argument list that runs text in the shell prog, or in /bin/sh if prog is
// empty.
func ShellText(prog, text string) []string {
	if prog == "" {
		prog = shell
	}
	// POSIX shells take text that looks like an option for one. "--" would end their options, but
	// fish and tcsh run it as a command. A line break means nothing to any of them.
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		text = "\n" + text
	}
	return []string{prog, "-c", text}
}
