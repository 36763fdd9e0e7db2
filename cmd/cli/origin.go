package cli

import (
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// OriginGiven is the ID that --origin names; empty when it was not given. The task itself may be gone.
func OriginGiven(s *Call) (string, error) {
	if !s.Opt.Has("origin") {
		return "", nil
	}
	id := strings.ToLower(strings.TrimSpace(s.Opt.Text("origin")))
	if !state.WholeID(id) {
		return "", problem.New(problem.NotFound, problem.T("%s %s is no task's ID", problem.Option("origin"), Quote(s.Opt.Text("origin"))),
			problem.T("it takes a whole ID; %s names the origin of a task", problem.To("show")))
	}
	return id, nil
}
