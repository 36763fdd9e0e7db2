package cli

import (
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// OriginGiven is the ID of --origin; empty when it is not given. The task itself may be gone.
func OriginGiven(given option.Values) (string, error) {
	if !given.Has("origin") {
		return "", nil
	}
	id := strings.ToLower(strings.TrimSpace(given.Text("origin")))
	if !state.WholeID(id) {
		return "", problem.New(problem.NotFound, problem.T("%s %s is not a task's ID", problem.Option("origin"),
			Quote(given.Text("origin"))),
			problem.T("it takes a whole ID; %s names the origin of a task", problem.To("show")))
	}
	return id, nil
}
