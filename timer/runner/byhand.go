package runner

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// byHand sees to it that the ledger knows the due instant of a task of which something is about to begin or to be skipped. One that is no
// instant of its schedule was given by hand, by a new name of its file, or stood when its zone's rules were others: it counts, and
// gets its line first, or an audit would find an outcome of an instant that never was.
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
	due := e.Due
	if zone, err := when.LoadZone(e.Task.When.Zone); err == nil {
		due = due.In(zone)
	}
	g.Say("task %s is due %s, which is no instant of %q: its file was renamed", e.Task.ID, when.Stamp(due), e.Task.When.Text)
	return nil
}

// unlessTaken is an error but for that of a task that another runner, or the user, came first to.
func unlessTaken(err error) error {
	if errors.Is(err, state.ErrTaken) || errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound) {
		return nil
	}
	return err
}
