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
