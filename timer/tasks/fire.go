package tasks

import (
	"context"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// Firing returns the options of a run by hand, once nothing forbids it: the kind of the task, what
// the configuration allows, the quota of its origin, and a runner that would not see the run and
// would end its claim as interrupted. The caller adds what the run prints and delivers, and who
// answers an agent. With tell, the run is reported as if it had been due.
func Firing(ctx context.Context, w World, st state.Store, e state.Entry, tell bool) (o runner.Options, err error) {
	self, err := runner.SelfIn(st)
	if err != nil {
		return o, err
	}
	if e.Task.Type() == state.TypeWait {
		return o, NotForWaits(e, "and there is nothing to run")
	}
	config, err := w.Settings()
	if err != nil {
		return o, err
	}
	if err := Allowed(ctx, e.Task, nil, config.Run.Allow, w.File()); err != nil {
		return o, err
	}
	if _, shared := state.SharedBy(st); !shared { // in a fleet, heartbeats tell who lives
		leader, led, err := st.Led(ctx)
		if err != nil {
			return o, err
		}
		if led && runner.InOtherContainer(leader.Ident) {
			return o, problem.New(problem.Failed,
				problem.T("the runner (pid %d there) is in another container, and would take this run for one that is lost", leader.Ident.PID),
				problem.T("call it in that container, such as by docker exec"))
		}
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

// NotForWaits returns the refusal of what works on all tasks but waits.
func NotForWaits(e state.Entry, why string) *problem.Problem {
	id := e.Task.ID
	return problem.Of(problem.T("task %s is a wait, %s", id, why), problem.T("%s goes on with it, %s ends it", problem.To("wait").With("resume", id), problem.To("rm", id)))
}
