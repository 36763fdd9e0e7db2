package tasks

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// Paused is a task that was to be held. Already says that it was, until the same instant.
type Paused struct {
	Entry   state.Entry
	Already bool
	Err     error
}

// Pause holds tasks until an instant, or without one until somebody resumes them. The answers stand in the order of the tasks.
func Pause(ctx context.Context, st state.Changes, found []state.Entry, until, now time.Time) []Paused {
	all := make([]Paused, len(found))
	var ids []string
	var index []int
	for i, e := range found {
		all[i] = Paused{Entry: e, Already: e.Held && e.Resume.Equal(until)}
		if !all[i].Already {
			ids, index = append(ids, e.Task.ID), append(index, i)
		}
	}
	for k, answer := range st.PauseAll(ctx, ids, until, now) {
		p := &all[index[k]]
		if p.Err = answer.Err; p.Err == nil {
			p.Entry = answer.Doc.Entry()
		}
	}
	return all
}

// Releasing is what it takes to let a paused task go on.
type Releasing interface {
	state.Tasks
	state.Changes
	state.Occurrences
}

// Resumed is a task that was to go on, and the line of the instants that passed before it could.
type Resumed struct {
	Entry   state.Entry
	Skipped *state.Line
	Err     error
}

// Resume ends the pause of tasks: the instants that have passed are skipped, in the order of the answers that of the  Those that cannot
// be taken together, because somebody else changes them, are taken one by one.
func Resume(ctx context.Context, st Releasing, changes state.Changes, found []state.Entry, now time.Time) []Resumed {
	all := make([]Resumed, len(found))
	var list []state.Resumption
	var index []int
	for i, e := range found {
		if all[i].Entry = e; !e.Held {
			continue
		}
		sched, err := rules.Schedule(e.Task)
		if err != nil {
			all[i].Err = err
			continue
		}
		line, next, _ := rules.Resume(e, sched, now)
		if line != nil {
			line.At = now
		}
		list, index = append(list, state.Resumption{ID: e.Task.ID, Line: line, Next: next}), append(index, i)
	}
	for k, a := range changes.ResumeAll(ctx, list, now) {
		i := index[k]
		switch {
		case a.Err == nil:
			all[i].Entry, all[i].Skipped = a.Doc.Entry(), list[k].Line
		case ctx.Err() != nil:
			all[i].Err = ctx.Err()
		case errors.Is(a.Err, state.ErrTaken), errors.Is(a.Err, state.ErrEnded), errors.Is(a.Err, state.ErrNotFound):
			e, err := Reread(ctx, st, all[i].Entry)
			if err == nil {
				e, all[i].Skipped, err = release(ctx, st, e, now)
			}
			all[i].Entry, all[i].Err = e, err
		default:
			all[i].Err = a.Err
		}
	}
	return all
}

// release lets a paused task go on at now: the instants that have passed are skipped, then it is put back into the queue. The
// line is theirs. One that is not paused any more is returned as it is.
func release(ctx context.Context, st Releasing, e state.Entry, now time.Time) (state.Entry, *state.Line, error) {
	var skipped *state.Line
	for try := 0; ; try++ {
		if !e.Held {
			return e, skipped, nil
		}
		sched, err := rules.Schedule(e.Task)
		if err != nil {
			return e, skipped, err
		}
		line, next, over := rules.Resume(e, sched, now)
		if line != nil {
			line.At = now
			if err = st.Skip(ctx, e.Task.ID, e.Due, next, *line); err == nil {
				skipped = line
			}
		}
		if err == nil && !over {
			var after state.Entry
			if after, err = st.Resume(ctx, e.Task.ID, now); err == nil {
				return after, skipped, nil
			}
		}
		if err != nil && (!errors.Is(err, state.ErrTaken) || try == Attempts) {
			return e, skipped, err
		}
		// It is over, or somebody else changed it: see where it stands.
		if e, err = Reread(ctx, st, e); err != nil || err == nil && over && !Live(e) {
			return e, skipped, err
		}
	}
}
