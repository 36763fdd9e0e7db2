package cli

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// These are the defaults of the limits in config.toml.
const (
	LineagePending = 50
	LineagePerHour = 60
)

// Origin is the origin of the tasks that this call adds: the task whose run made the call, or that
// task's own origin. It is empty for a call outside of runs.
func Origin(s *Call) (string, error) {
	if s.ChildOrigin != "" {
		return s.ChildOrigin, nil
	}
	id := s.Getenv(runner.OriginVariable)
	if id != "" && !state.WholeID(id) {
		return "", problem.Of(problem.T("%s is %s, which is not a task's ID", runner.OriginVariable, Quote(id)),
			problem.T("a runner sets it for the runs of tasks; elsewhere: unset %s", runner.OriginVariable))
	}
	return id, nil
}

// storeLimits returns the limits that the store enforces.
func (s *Call) storeLimits() (state.Limits, error) {
	config, err := s.Settings()
	if err != nil {
		return state.Limits{}, err
	}
	l := state.Limits{Tasks: config.Limits.MaxTasks, Leaving: s.Leaving, Pending: LineagePending, PerHour: LineagePerHour,
		File: ConfigPath(s)}
	if n := config.Lineage.Pending; n != nil {
		l.Pending = *n
	}
	if n := config.Lineage.PerHour; n != nil {
		l.PerHour = *n
	}
	return l, nil
}

// CheckAllowed refuses the command of a task if [run] allow does not list it.
func CheckAllowed(ctx context.Context, s *Call, t state.Task) error {
	config, err := s.Settings()
	if err != nil {
		return err
	}
	return tasks.Allowed(ctx, t, s.Opt.List("env"), config.Run.Allow, ConfigPath(s))
}

// RunPath is the PATH for commands: that of the call, or the part of it that [run] allow permits.
func RunPath(s *Call) (string, error) {
	if _, err := s.Home(); err != nil { // without a state folder there is no config.toml
		return s.Getenv("PATH"), nil
	}
	config, err := s.Settings()
	if err != nil || config.Run.Allow == nil || s.Sample {
		return s.Getenv("PATH"), err
	}
	return state.PathOf(config.Run.Allow, s.Getenv("PATH")), nil
}

// limitFailure is the problem of a limit of the store that was reached.
func limitFailure(e *state.LimitError) *problem.Problem {
	file := cmp.Or(e.File, "config.toml")
	hint := problem.T("end some tasks (%s shows them), or raise max_tasks under [limits] in %s (0: no limit)",
		problem.To("ls"), file)
	switch e.Setting {
	case state.SettingPerHour:
		hint = problem.T("there is room again at %s; or raise per_hour under [lineage] in %s (0: no limit)",
			e.Again.UTC().Format(time.RFC3339), file)
	case state.SettingPending:
		hint = problem.T("end some of them: %s, %s; or raise pending under [lineage] in %s (0: no limit)",
			problem.To("ls").With("origin", e.Origin), problem.To("rm").With("origin", e.Origin), file)
	}
	return problem.New(problem.Limit, problem.T(e.Error()), hint)
}

// LimitOf returns the limit that an error is about, or nil.
func LimitOf(err error) *state.LimitError {
	limit, _ := errors.AsType[*state.LimitError](err)
	return limit
}
