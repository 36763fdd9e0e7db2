package guide

import (
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/docs/man"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// ManualNames are the manual pages beside that of the program, in alphabetical order.
func ManualNames() []string { return man.Names() }

// HelpRequest is what a call of help asks to see.
type HelpRequest struct {
	Command string // empty for the program
	Manual  bool   // its manual page, and not its help
}

// ReadHelp reads the words after help. It skips --json, which is read before, and -q and --help,
// which change nothing. The help of help is that of the program.
func ReadHelp(words []string) (a HelpRequest, err error) {
	for _, w := range words {
		switch {
		case w == "--man":
			a.Manual = true
		case slices.Contains([]string{"--json", "--json=full", "-q", "--quiet", "-h", "--help", "--", "help"}, w):
		case strings.HasPrefix(w, "-"):
			return a, problem.Of(problem.T("help has no option %s", cli.Quote(w)),
				problem.T("it has %s and %s", problem.Option("man"), problem.Option("json")))
		case a.Command == "":
			a.Command = w
		default:
			return a, problem.Of(problem.T("help takes one command, but was also given %s", cli.Quote(w)),
				problem.T("%s", problem.To("help", a.Command)))
		}
	}
	return a, nil
}

// Manual prints a manual page in the form that man -l - reads.
func Manual(s *cli.Call, name string) error {
	if s.InJSON {
		return problem.Of(problem.T("a manual page is not JSON"),
			problem.T("leave %s out; %s is the help as JSON", problem.Option("json"),
				problem.To("guide").With("json", true)))
	}
	page, ok := man.Page(name)
	if !ok {
		return problem.New(problem.Usage, problem.T("there is no manual page %s", cli.Quote(name)),
			problem.T("there are %s", strings.Join(ManualNames(), ", ")))
	}
	_, err := s.Stdout.Write(page)
	return err
}
