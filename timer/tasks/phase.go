package tasks

import (
	"context"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// Live reports whether a task can still run. A paused task can, once it is resumed.
func Live(e state.Entry) bool {
	return e.Held || e.Phase == state.Pending || e.Phase == state.Running && e.Task.Recurring()
}

// IsRunning reports whether a run of the task is open and somebody will see its end. When runner
// and command of a claim have both died, only the line that the next runner writes is left of it.
func IsRunning(e state.Entry) bool {
	return slices.ContainsFunc(e.Open, RunAlive)
}

// NextAttempt is when a run that waits for another attempt goes on, whoever is the runner then. It
// is zero when none waits.
func NextAttempt(e state.Entry) time.Time {
	for _, r := range e.Open {
		if !r.Retry.IsZero() {
			return r.Retry
		}
	}
	return time.Time{}
}

// RunAlive reports whether somebody will see the end of a run, as far as can be seen from here. In
// a fleet, the other runners see to what a machine that cannot be seen from here does not. A run of
// another container goes on until a runner has ended it.
func RunAlive(r state.Record) bool { return !runner.Left(r) || runner.Alive(r.Child) }

// Attempts is how often a change is tried again because somebody else changed the same task.
const Attempts = 20

// Reread returns the task as it is now.
func Reread(ctx context.Context, st state.Tasks, e state.Entry) (state.Entry, error) {
	list, err := st.Find(ctx, e.Task.ID)
	if err != nil {
		return e, err
	}
	return list[0], nil
}
