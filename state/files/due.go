package files

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// wakes is when the runner has to look at the task: when it is due or, paused, to be resumed; empty for never.
func (f found) wakes() string {
	if f.dir == pausedDir {
		return f.extra
	}
	return f.due
}

// byWake is the order in which the runner looks at tasks.
func byWake(a, b found) int {
	return cmp.Or(strings.Compare(a.wakes(), b.wakes()), strings.Compare(a.id, b.id))
}

// Next reads the names in the queue.
func (s *Store) Next(ctx context.Context, after time.Time) (time.Time, bool, error) {
	all, err := s.queue(ctx, false)
	if err != nil {
		return time.Time{}, false, err
	}
	least, from := "", stampOf(after)
	for _, f := range all.tasks {
		if at := f.wakes(); at > from && (least == "" || at < least) {
			least = at
		}
	}
	t, ok := parseStamp(least)
	return t, ok, nil
}

// DueBy reads the names in the queue and then, in their order, only the tasks it returns. Tasks that cannot be read do
// not take the places of others.
func (s *Store) DueBy(ctx context.Context, t time.Time, limit int) ([]state.Entry, []state.Problem, error) {
	all, err := s.queue(ctx, true)
	if err != nil {
		return nil, nil, err
	}
	var due []found
	until := stampOf(t)
	for _, f := range all.tasks {
		if at := f.wakes(); at != "" && at <= until {
			due = append(due, f)
		}
	}
	var list []state.Entry
	var problems []state.Problem
	for len(due) > 0 && (limit <= 0 || len(list) < limit) {
		n := len(due)
		if limit > 0 {
			n = min(n, limit-len(list))
		}
		// All files of a task count when there is more than one, also those due later.
		files := make(map[string][]found, n)
		for _, f := range earliest(slices.Values(due), n, byWake) {
			files[f.id] = nil
		}
		due = slices.DeleteFunc(due, func(f found) bool { _, taken := files[f.id]; return taken })
		for _, f := range all.tasks {
			if group, ok := files[f.id]; ok {
				files[f.id] = append(group, f)
			}
		}
		var picks []pick
		for id, group := range files {
			win, losers := s.winner(group)
			problems = append(problems, losers...)
			if at := win.wakes(); at != "" && at <= until {
				picks = append(picks, pick{win, all.open[id]})
			}
		}
		reader, err := s.reader(len(picks))
		if err != nil {
			return nil, nil, err
		}
		got, err := reader.read(ctx, picks)
		if err != nil {
			return nil, nil, err
		}
		list, problems = append(list, got.entries...), append(problems, got.problems...)
	}
	slices.SortFunc(list, func(a, b state.Entry) int {
		return cmp.Or(wake(a).Compare(wake(b)), strings.Compare(a.Task.ID, b.Task.ID))
	})
	return list, problems, nil
}

// wake is found.wakes of a task that was read.
func wake(e state.Entry) time.Time {
	if e.Held {
		return e.Resume
	}
	return e.Due
}
