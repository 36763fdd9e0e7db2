package cli

import (
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// OneOfThem is the hint about two options that say the same.
var OneOfThem = problem.T("give one of them")

// Excluding is the problem of two options that exclude each other.
func Excluding(one, other problem.Option) *problem.Problem {
	return problem.Of(problem.T("%s exclude each other", problem.Options(" and ", one, other)), OneOfThem)
}

// GoesWith is the problem of an option without the one that it needs. call has both.
func GoesWith(name, with problem.Option, call problem.Call) *problem.Problem {
	return problem.Of(problem.T("%s goes with %s", name, with), problem.T("%s", call))
}

// Instead is the problem of a call that has to be made in another way.
func Instead(message problem.Text, call problem.Call) *problem.Problem {
	return problem.Of(message, problem.T("%s", call))
}
