package runner

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// byHand makes sure that the ledger knows the due instant of a task before an occurrence starts or
// is skipped. An instant that is not one of the schedule was set by hand, by renaming the task's
// file, or comes from older rules of its zone. It counts, and gets its own line first. Otherwise an
// audit would find an outcome for an instant that never existed.
func (g *engine) byHand(ctx context.Context, e state.Entry, sched *when.Schedule, now time.Time) error {
	if rules.AsSaid(e, sched) {
		return nil
	}
	known := false
	_, _, err := g.Store.Log(ctx, e.Task.ID, func(l state.Line) bool {
		if l.Type != state.LineTask || l.Due == nil {
			return true
		}
		known = l.Due.Equal(e.Due)
		return false
	})
	if err != nil || known {
		return err
	}
	if err := g.Store.Move(ctx, e.Task.ID, e.Due, e.Due, now); err != nil {
		return err
	}
	g.Say("task %s is due %s, which is not an instant of %q: its file was renamed", e.Task.ID, say.Stamp(e.Due.In(rules.TaskZone(e.Task))), e.Task.When.Text)
	return nil
}

// unlessTaken drops the error of a task that another runner, or the user, reached first.
func unlessTaken(err error) error {
	if errors.Is(err, state.ErrTaken) || errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound) {
		return nil
	}
	return err
}
