package cli

import "github.com/ouro-timer/ouro-timer/timer/problem"

// These describe the build of a release; its linker sets all three from the tag. Without it Version
// is the release that this source belongs to, or the next one.
var (
	Version  = "0.2.0"
	Revision = "" // the commit
	Date     = "" // the date of the commit, in RFC 3339
)

// NoArguments refuses arguments, for a command that has none.
func NoArguments(s *Call) error {
	if len(s.Args) > 0 {
		return problem.Of(problem.T("%s takes no argument, but was given %s", problem.To(s.Cmd.Name), Quote(s.Args[0])),
			problem.T("see %s", problem.To(s.Cmd.Name).With("help", true)))
	}
	return nil
}
