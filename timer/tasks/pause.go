package tasks

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// Paused is the result of pausing a task. Already says that it was paused before, until the same
// instant.
type Paused struct {
	Entry   state.Entry
	Already bool
	Err     error
}

// Pause pauses tasks until an instant; without one, until somebody resumes them. The answers are in
// the order of the tasks.
func Pause(ctx context.Context, st state.TaskWriter, found []state.Entry, until, now time.Time) []Paused {
	all := make([]Paused, len(found))
	var changes []state.Change
	var index []int
	for i, e := range found {
		all[i] = Paused{Entry: e, Already: e.Held && e.Resume.Equal(until)}
		if !all[i].Already {
			changes, index = append(changes, state.Change{ID: e.Task.ID, Now: now, Rule: state.Pause(until, now)}), append(index, i)
		}
	}
	for k, answer := range st.Apply(ctx, changes...) {
		p := &all[index[k]]
		if p.Err = answer.Err; p.Err == nil {
			p.Entry = answer.Doc.Entry()
		}
	}
	return all
}

// Resumed is the result of resuming a task. It has the line of the instants that passed before.
type Resumed struct {
	Entry   state.Entry
	Skipped *state.Line
	Err     error
}

// Resume ends the pause of tasks. The instants that have passed are skipped. When somebody else
// changes a task meanwhile, Resume tries again with its new state. The answers are in the order of
// the tasks.
func Resume(ctx context.Context, found state.Tasks, st state.TaskWriter, held []state.Entry, now time.Time) []Resumed {
	all := make([]Resumed, len(held))
	left := make([]*Resumed, len(held))
	for i, e := range held {
		all[i].Entry, left[i] = e, &all[i]
	}
	for try := 0; len(left) > 0; try++ {
		var changes []state.Change
		var lines []*state.Line
		var of []*Resumed
		for _, r := range left {
			if !r.Entry.Held {
				continue
			}
			sched, err := rules.Schedule(r.Entry.Task)
			if err != nil {
				r.Err = err
				continue
			}
			rule := state.Resume(now)
			line, next, _ := rules.Resume(r.Entry, sched, now)
			if line != nil {
				line.At = now
				rule = state.GoOn(*line, next, now)
			}
			changes = append(changes, state.Change{ID: r.Entry.Task.ID, Now: now, Rule: rule})
			lines, of = append(lines, line), append(of, r)
		}
		left = nil
		for k, a := range st.Apply(ctx, changes...) {
			r := of[k]
			switch {
			case a.Err == nil:
				r.Entry, r.Skipped = a.Doc.Entry(), lines[k]
			case ctx.Err() != nil:
				r.Err = ctx.Err()
			case try < Attempts && (errors.Is(a.Err, state.ErrTaken) || errors.Is(a.Err, state.ErrEnded) || errors.Is(a.Err, state.ErrNotFound)):
				if r.Entry, r.Err = Reread(ctx, found, r.Entry); r.Err == nil {
					left = append(left, r)
				}
			default:
				r.Err = a.Err
			}
		}
	}
	return all
}
