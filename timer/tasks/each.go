package tasks

import (
	"context"
	"errors"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// Failure is a task that could not be changed, and why.
type Failure struct {
	ID  string
	Err error
}

// Each makes a change of every task, regardless of the others, and returns the failures. It stops
// when nothing can be changed any more, because the call was cancelled or somebody keeps the state
// lock. Then the remaining tasks fail with the same error.
func Each(ctx context.Context, list []state.Entry, change func(e state.Entry) error) (failed []Failure) {
	var none error
	for _, e := range list {
		err := none
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = change(e)
		}
		if err != nil {
			failed = append(failed, Failure{e.Task.ID, err})
		}
		if err != nil && (ctx.Err() != nil || errors.Is(err, state.ErrBusy)) {
			none = err
		}
	}
	return failed
}

// Remove ends tasks: no further occurrence of them starts. It returns them in their last state;
// Open has what still runs of them.
func Remove(ctx context.Context, st state.TaskWriter, list []state.Entry, c clock.Clock) (removed []state.Entry, failed []Failure) {
	now := c.Now() // the same for all, because LastRemoved finds them by it
	failed = Each(ctx, list, func(e state.Entry) error {
		e, err := st.Remove(ctx, e.Task.ID, now)
		if err == nil {
			removed = append(removed, e)
		}
		return err
	})
	return removed, failed
}
