package cmd

import "github.com/ouro-timer/ouro-timer/timer/problem"

// Version is the release; it is set by the linker when a release is built.
var Version = "0.1.0-dev"

// noArguments refuses arguments, for a command that has none.
func noArguments(s *session) error {
	if len(s.args) > 0 {
		return problem.Of(problem.T("%s takes no argument, but was given %s", problem.To(s.cmd.name), quote(s.args[0])),
			problem.T("see %s", problem.To(s.cmd.name).With("help", true)))
	}
	return nil
}
