package tasks

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// Restore puts one removed task back. It returns the entry of the task with an error as well.
func Restore(ctx context.Context, st state.TaskWriter, e state.Entry, now time.Time) (state.Entry, error) {
	id := e.Task.ID
	due, err := dueAgain(e, now)
	if err != nil {
		return e, err
	}
	back, err := st.Restore(ctx, id, due, now)
	switch {
	case errors.Is(err, state.ErrKept):
		return e, problem.New(problem.Failed, problem.T("its key %s is now that of task %s", plain.Quote(e.Task.Key), back.Task.ID),
			problem.T("%s, and then %s", problem.To("rm", back.Task.ID), problem.To("restore", id)))
	// another restore came first
	case errors.Is(err, state.ErrEnded), errors.Is(err, state.ErrNotFound):
		return e, problem.New(problem.Failed, problem.T("it is no longer removed"), problem.T("%s", problem.To("show", id)))
	case err != nil:
		return e, err
	}
	return back, nil
}

// Undoing is what to do about a removed task: restoring, or why a restore would be refused.
func Undoing(e state.Entry, now time.Time, restoring problem.Text) problem.Text {
	_, err := dueAgain(e, now)
	if p := problem.As(err); p != nil {
		return problem.T("%s, so it cannot be restored: %s", p.Message, p.Hint)
	}
	return restoring
}

// dueAgain returns the due instant of a removed task that is restored at now. For a recurring task
// it is the next instant without a run.
func dueAgain(e state.Entry, now time.Time) (time.Time, error) {
	if _, held := e.Task.Wait.Rest(); held || e.Due.After(now) {
		return e.Due, nil
	}
	sched, err := rules.Schedule(e.Task)
	if err != nil {
		return time.Time{}, err
	}
	if sched != nil {
		after := now
		for _, r := range e.Open { // claimed a moment ahead of its instant
			if r.Due.After(after) {
				after = r.Due
			}
		}
		if due, ok := sched.Next(after); ok {
			return due, nil
		}
	}
	again := problem.T("schedule it again with %s", problem.To("at"))
	if e.Task.Type() == state.TypeWait {
		again = problem.T("begin another: %s", problem.To("wait", "5m", "TASK"))
	}
	return time.Time{}, problem.New(problem.Past, problem.T("its time has passed: %s", stamp(e.Due.In(rules.TaskZone(e.Task)))), again)
}

// LastRemoved returns the tasks that the last removal took away, all at one instant, and that are
// still removed.
func LastRemoved(ctx context.Context, tasks state.Tasks, ledger state.Ledger) (list []state.Entry, err error) {
	var ids []string
	var at time.Time
	_, _, err = ledger.Log(ctx, "", func(l state.Line) bool {
		if l.Type != state.LineTask || l.Event != state.EventRemoved {
			return true
		}
		if len(ids) > 0 && !l.At.Equal(at) {
			return false
		}
		ids, at = append(ids, l.TaskID), l.At
		return true
	})
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Backward(ids) {
		found, err := tasks.Find(ctx, id)
		switch {
		case errors.Is(err, state.ErrNotFound):
		case err != nil:
			return nil, err
		case found[0].Phase == state.Removed:
			list = append(list, found[0])
		}
	}
	return list, nil
}
