package tasks

import (
	"context"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// Firing is what a run of a task by hand is begun with, once nothing speaks against it: nothing but the task's own kind, what the
// configuration allows, and how much what came of one task may do. What the run says and delivers, and who answers an agent, is for the caller
// to add. With tell it is told of as if it had been due.
func Firing(ctx context.Context, w World, st state.Store, e state.Entry, tell bool) (o runner.Options, err error) {
	self, err := runner.Self()
	if err != nil {
		return o, err
	}
	if e.Task.Type() == state.TypeWait {
		return o, IsWait(e, "and there is nothing to run")
	}
	config, err := w.Settings()
	if err != nil {
		return o, err
	}
	if err := Allowed(ctx, e.Task, nil, config.Run.Allow, w.File()); err != nil {
		return o, err
	}
	origin, err := w.Origin()
	if err == nil && origin != "" {
		err = st.Charge(ctx, origin, w.Clock.Now())
	}
	if err != nil {
		return o, err
	}
	return runner.Options{
		Store: st, Clock: w.Clock, Awake: clock.Awake, Commands: runner.Processes{Scratch: st.Scratch}, Self: self,
		Allow: func() []string { return config.Run.Allow },
		Standing: func() rules.TellDefaults {
			standing := rules.TellDefaults{Prefix: config.Notify.Prefix, Manual: tell, Beats: config.Heartbeats()}
			if tell {
				standing.Channels, standing.On = config.Notify.Default, config.Notify.On
			}
			return standing
		},
	}, nil
}

// IsWait refuses what is for other tasks than waits.
func IsWait(e state.Entry, why string) *problem.Problem {
	id := e.Task.ID
	return problem.Of(problem.T("task %s is a wait, %s", id, why), problem.T("%s goes on with it, %s ends it", problem.To("wait").With("resume", id), problem.To("rm", id)))
}
