package view

import (
	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// TooLate warns of a one-shot that is paused for longer than until its time.
func TooLate(e state.Entry) []cli.Warning {
	if e.Task.Recurring() || !e.Held || e.Resume.IsZero() || e.Due.After(e.Resume) {
		return nil
	}
	return []cli.Warning{{Kind: cli.WarnLate, Text: problem.T("task %s is due on %s, before it is resumed: it will be skipped; %s gives it another time",
		e.Task.ID, Stamp(e.Due.In(rules.TaskZone(e.Task))), problem.To("edit", e.Task.ID))}}
}

// IsWait refuses what is for other tasks than waits.
func IsWait(e state.Entry, why string) *problem.Problem {
	id := e.Task.ID
	return problem.Of(problem.T("task %s is a wait, %s", id, why), problem.T("%s goes on with it, %s ends it", Resuming(id), problem.To("rm", id)))
}

// Resuming is the call that goes on with a wait.
func Resuming(id string) problem.Call { return problem.To("wait").With("resume", id) }
