package files

import (
	"cmp"
	"context"
	"iter"
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
	all, err := s.snapshot(ctx, queueOnly, "")
	if err != nil {
		return time.Time{}, false, err
	}
	least, from := "", stampOf(after)
	for _, l := range all.tasks {
		if at := l.wakes(); at > from && (least == "" || at < least) {
			least = at
		}
	}
	t, ok := parseStamp(least)
	return t, ok, nil
}

// DueBy reads the names in the queue and then, in their order, only the tasks it returns. Tasks that cannot be read do
// not take the places of others.
func (s *Store) DueBy(ctx context.Context, t time.Time, limit int) ([]state.Entry, []state.Problem, error) {
	all, err := s.snapshot(ctx, queueOnly, "")
	if err != nil {
		return nil, nil, err
	}
	until := stampOf(t)
	var list []state.Entry
	var problems []state.Problem
	done := map[string]bool{} // tasks that were looked at
	for limit <= 0 || len(list) < limit {
		n := len(all.tasks)
		if limit > 0 {
			n = limit - len(list)
		}
		first := earliest(all.due(until, done), n, byWake)
		if len(first) == 0 {
			break
		}
		picks, losers := s.picked(all, first, until)
		problems = append(problems, losers...)
		reader, err := s.reader(len(picks))
		if err != nil {
			return nil, nil, err
		}
		got, err := reader.readAll(ctx, picks)
		if err != nil {
			return nil, nil, err
		}
		list, problems = append(list, got.entries...), append(problems, got.problems...)
		for _, f := range first {
			done[f.id] = true
		}
	}
	slices.SortFunc(list, func(a, b state.Entry) int {
		return cmp.Or(wake(a).Compare(wake(b)), strings.Compare(a.Task.ID, b.Task.ID))
	})
	return list, problems, nil
}

// EachDueBy calls yield with the tasks that DueBy would return, in no order, until it returns false. It holds few of them at a time.
func (s *Store) EachDueBy(ctx context.Context, t time.Time, yield func(state.Entry) bool) ([]state.Problem, error) {
	all, err := s.snapshot(ctx, queueOnly, "")
	if err != nil {
		return nil, err
	}
	until := stampOf(t)
	soon := func(f found) bool { at := f.wakes(); return at != "" && at <= until }
	doubles := all.doubles()
	var winners []found
	var problems []state.Problem
	for _, files := range doubles {
		if !slices.ContainsFunc(files, soon) {
			continue
		}
		win, losers := s.winner(files)
		problems = append(problems, losers...)
		if soon(win) {
			winners = append(winners, win)
		}
	}
	_, more, err := s.pass(ctx, all, func(yield func(found) bool) {
		for f := range all.due(until, nil) {
			if _, more := doubles[f.id]; !more && !yield(f) {
				return
			}
		}
		slices.Values(winners)(yield)
	}, func(string) {}, yield)
	if err != nil {
		return nil, err
	}
	return inOrder(append(problems, more...)), nil
}

// due are the files by whose names the runner has to look at a task until then, but for those of tasks that are done.
func (all *names) due(until string, done map[string]bool) iter.Seq[found] {
	return func(yield func(found) bool) {
		for _, l := range all.tasks {
			if at := l.wakes(); at == "" || at > until {
				continue
			}
			if f := l.found(); !done[f.id] && !yield(f) {
				return
			}
		}
	}
}

// picked are the tasks of files, as far as the file that counts says that they are due. All files of a task count when there is more than
// one, also those that are due later.
func (s *Store) picked(all *names, files []found, until string) (picks []pick, problems []state.Problem) {
	groups := make(map[string][]found, len(files))
	for _, f := range files {
		groups[f.id] = nil
	}
	for f := range all.found() {
		if group, ok := groups[f.id]; ok {
			groups[f.id] = append(group, f)
		}
	}
	for id, group := range groups {
		win, losers := s.winner(group)
		problems = append(problems, losers...)
		if at := win.wakes(); at != "" && at <= until {
			picks = append(picks, pick{win, all.open[id]})
		}
	}
	return picks, problems
}

// wake is found.wakes of a task that was read.
func wake(e state.Entry) time.Time {
	if e.Held {
		return e.Resume
	}
	return e.Due
}
