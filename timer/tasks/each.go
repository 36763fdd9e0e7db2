package tasks

import (
	"context"
	"errors"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// Failure says which task could not be changed, and why.
type Failure struct {
	ID  string
	Err error
}

// Each makes a change of every task, whatever becomes of the others, and says which it failed for. It is not tried any more once nobody can
// change anything, as the call was ended or somebody does not give the state lock back: the tasks that are left fail as the one did that was
// waited for.
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

// Remove ends tasks: no further occurrence of them starts. They are returned as they were left; Open says what still runs of them.
func Remove(ctx context.Context, st state.Changes, list []state.Entry, c clock.Clock) (removed []state.Entry, failed []Failure) {
	now := c.Now() // one for all: LastRemoved finds them by it
	failed = Each(ctx, list, func(e state.Entry) error {
		e, err := st.Remove(ctx, e.Task.ID, now)
		if err == nil {
			removed = append(removed, e)
		}
		return err
	})
	return removed, failed
}
