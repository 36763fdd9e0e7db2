package cli

import (
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// NoArguments refuses arguments, for a command that has none.
func NoArguments(s *Call) error {
	if len(s.Args) > 0 {
		return problem.Of(problem.T("%s takes no argument, but was given %s", problem.To(s.Cmd.Name), Quote(s.Args[0])),
			problem.T("see %s", problem.To(s.Cmd.Name).With("help", true)))
	}
	return nil
}

// GiveOneOfThem is the hint for options that exclude each other.
var GiveOneOfThem = problem.T("give one of them")

// Excluding is the problem of two options that exclude each other.
func Excluding(one, other problem.Option) *problem.Problem {
	return problem.Of(problem.T("%s exclude each other", problem.Options(" and ", one, other)), GiveOneOfThem)
}

// NeedsOption is the problem of an option that was given without the one that it needs. The hint
// leaves the rest of the call as it is.
func NeedsOption(name problem.Option, with problem.Setting) *problem.Problem {
	return problem.Of(problem.T("%s goes with %s", name, with.Name), problem.T("add %s", with))
}

// CallInstead is the problem of a call whose hint is the call to make instead.
func CallInstead(message problem.Text, call problem.Call) *problem.Problem {
	return problem.Of(message, problem.T("%s", call))
}
