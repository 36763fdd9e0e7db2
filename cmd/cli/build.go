package cli

import "github.com/ouro-timer/ouro-timer/timer/problem"

// Version is the release; it is set by the linker when a release is built.
var Version = "0.1.0-dev"

// NoArguments refuses arguments, for a command that has none.
func NoArguments(s *Call) error {
	if len(s.Args) > 0 {
		return problem.Of(problem.T("%s takes no argument, but was given %s", problem.To(s.Cmd.Name), Quote(s.Args[0])),
			problem.T("see %s", problem.To(s.Cmd.Name).With("help", true)))
	}
	return nil
}
