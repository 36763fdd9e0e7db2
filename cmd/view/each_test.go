package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// TestEach: of a list of tasks each is changed, whatever becomes of the others, and those that fail are named with codes of their own. A
// state that nobody gives back is waited for once, and an ended call goes no further.
func TestEach(t *testing.T) {
	var found []state.Entry
	for _, id := range []string{"aaaa", "bbbb", "cccc", "dddd"} {
		found = append(found, state.Entry{Task: state.Task{ID: id}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	for name, test := range map[string]struct {
		of    func(id string) error
		tried string
		codes []problem.Code
	}{
		"one is damaged": {func(id string) error {
			return map[string]error{"bbbb": fmt.Errorf("x: %w", state.ErrUnusable), "cccc": state.ErrEnded}[id]
		}, "aaaabbbbccccdddd", []problem.Code{problem.Unusable, problem.Ended}},
		"the state is busy": {func(id string) error {
			return map[string]error{"bbbb": state.ErrBusy}[id]
		}, "aaaabbbb", []problem.Code{problem.Busy, problem.Busy, problem.Busy}},
		"the call is ended": {func(id string) error {
			if id == "cccc" {
				cancel()
			}
			return nil
		}, "aaaabbbbcccc", []problem.Code{problem.Cancelled}},
	} {
		tried := ""
		failed := Failed(tasks.Each(ctx, found, func(e state.Entry) error {
			tried += e.Task.ID
			return test.of(e.Task.ID)
		}))
		var codes []problem.Code
		for _, f := range failed {
			codes = append(codes, f.Code)
		}
		if tried != test.tried || !slices.Equal(codes, test.codes) {
			t.Errorf("%s: tried %s, failed %v", name, tried, codes)
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			ctx, cancel = context.WithCancel(t.Context())
		}
	}
	cancel()
}
