package cmd

import (
	"context"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// tooLate warns of a one-shot that is paused for longer than until its time.
func tooLate(e state.Entry) []warning {
	if e.Task.Recurring() || !e.Held || e.Resume.IsZero() || e.Due.After(e.Resume) {
		return nil
	}
	return []warning{{warnLate, problem.T("task %s is due on %s, before it is resumed: it will be skipped; %s gives it another time",
		e.Task.ID, stamp(e.Due.In(taskZone(e.Task))), problem.To("edit", e.Task.ID))}}
}

// attempts bounds how often a change is tried again because somebody else changed the same task meanwhile.
const attempts = 5

// reread is the task as it is now.
func reread(ctx context.Context, st state.Tasks, e state.Entry) (state.Entry, error) {
	list, err := st.Find(ctx, e.Task.ID)
	if err != nil {
		return e, err
	}
	return list[0], nil
}

// isWait refuses what is for other tasks than waits.
func isWait(e state.Entry, why string) *problem.Problem {
	id := e.Task.ID
	return problem.Of(problem.T("task %s is a wait, %s", id, why), problem.T("%s goes on with it, %s ends it", resuming(id), problem.To("rm", id)))
}

// resuming is the call that goes on with a wait.
func resuming(id string) problem.Call { return problem.To("wait").With("resume", id) }
