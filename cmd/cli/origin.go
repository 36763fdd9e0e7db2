package cli

import (
	"context"
	"slices"
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

// ofOrigin are the tasks of the phases that came of one task, in the order of lists.
func ofOrigin(ctx context.Context, st state.Tasks, origin string, phases ...state.Phase) (list []state.Entry, problems []state.Problem, err error) {
	problems, err = state.Each(ctx, st, func(e state.Entry) bool {
		if e.Task.Origin == origin {
			list = append(list, e)
		}
		return true
	}, phases...)
	slices.SortFunc(list, state.Compare)
	return list, problems, err
}

// PickOrigin finds every task of an origin that fits, next due first, and tells of those that cannot be read.
func PickOrigin(ctx context.Context, s *Call, st state.Tasks, origin string, fits func(state.Entry) bool) ([]state.Entry, error) {
	list, problems, err := ofOrigin(ctx, st, origin, state.Pending, state.Running, state.Paused)
	if err != nil {
		return nil, err
	}
	WarnOf(s, problems)
	s.Unread = problems
	return slices.DeleteFunc(list, func(e state.Entry) bool { return !fits(e) }), nil
}
