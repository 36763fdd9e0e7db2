package tasks

import (
	"context"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// Live reports whether a task can still fire. A paused one can, once it is resumed.
func Live(e state.Entry) bool {
	return e.Held || e.Phase == state.Pending || e.Phase == state.Running && e.Task.Recurring()
}

// IsRunning reports whether a run of the task is open and somebody is there to see its end. Of a claim whose runner and
// command have both died nothing is left but the ledger line that the next runner will write.
func IsRunning(e state.Entry) bool {
	return slices.ContainsFunc(e.Open, RunAlive)
}

// RunAlive reports whether somebody is there to see the end of a run.
func RunAlive(r state.Record) bool { return runner.Alive(r.Runner) || runner.Alive(r.Child) }

// Attempts bounds how often a change is tried again because somebody else changed the same task meanwhile.
const Attempts = 5

// Reread is the task as it is now.
func Reread(ctx context.Context, st state.Tasks, e state.Entry) (state.Entry, error) {
	list, err := st.Find(ctx, e.Task.ID)
	if err != nil {
		return e, err
	}
	return list[0], nil
}
