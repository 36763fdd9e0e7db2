package manage

import (
	"context"
	"errors"

	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
)

// each makes a change of every task that was picked, whatever becomes of the others, and adds those that it failed for to failed.
func each(found []state.Entry, failed []view.PickError, change func(i int, e state.Entry) error) []view.PickError {
	for i, e := range found {
		if err := change(i, e); err != nil {
			failed = append(failed, view.FailedBy(e.Task.ID, err))
		}
	}
	return failed
}

// whileFree is a change that is not tried any more once nobody can change anything, as the call was ended or somebody does not give the
// state lock back: the tasks that are left fail as the one did that was waited for.
func whileFree(ctx context.Context, change func(e state.Entry) error) func(int, state.Entry) error {
	var none error
	return func(_ int, e state.Entry) error {
		if none != nil {
			return none
		}
		err := ctx.Err()
		if err == nil {
			err = change(e)
		}
		if err != nil && (ctx.Err() != nil || errors.Is(err, state.ErrBusy)) {
			none = err
		}
		return err
	}
}
