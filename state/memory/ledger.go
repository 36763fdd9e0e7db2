package memory

import (
	"context"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
)

// write appends a line to the ledger, and makes its item and notices.
func (s *Store) write(l state.Line) {
	l = l.Clone()
	s.ledger = append(s.ledger, l.Kept())
	s.logWatchers.send()
	s.post(l)
}

// lines returns the lines of the ledger and where it ends. Later calls only append to the list.
func (s *Store) lines(ctx context.Context) (list []state.Line, end state.Place, err error) {
	err = s.do(ctx, func() { list, end = s.ledger, placeIn(len(s.ledger)) })
	return list, end, err
}

// Spell adds the texts of the tasks to lines: those of the tasks as they are, and else those that
// the ledger has in lines about their creation and edits.
func (s *Store) Spell(ctx context.Context, lines []state.Line) error {
	missing := state.Lacking(lines...)
	var all []state.Line
	err := s.do(ctx, func() {
		for id := range missing {
			missing.Found(s.tasks[id].Task)
		}
		all = s.ledger
	})
	for _, l := range slices.Backward(all) {
		missing.Read(l)
	}
	for i, l := range lines {
		lines[i] = missing.Spell(l)
	}
	return err
}

// placeIn returns the place after the first n lines.
func placeIn(n int) state.Place {
	if n == 0 {
		return state.Place{}
	}
	return state.Place{Part: 1, Offset: int64(n)}
}

// Log reads the ledger, newest first. No lock is held while yield is called.
func (s *Store) Log(ctx context.Context, taskID string, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	lines, end, err := s.lines(ctx)
	for _, l := range slices.Backward(lines) {
		if err := ctx.Err(); err != nil {
			return end, nil, err
		}
		if (taskID == "" || l.TaskID == taskID) && !yield(l.Clone()) {
			break
		}
	}
	return end, nil, err
}

// Occurrence reads the lines about one occurrence. known says that there are lines about the task.
func (s *Store) Occurrence(ctx context.Context, taskID string, number int, yield func(state.Line) bool) (end state.Place, known bool, problems []state.Problem, err error) {
	end, problems, err = s.Log(ctx, taskID, func(l state.Line) bool {
		known = true
		return !l.Has(number) || yield(l)
	})
	return end, known, problems, err
}

// After reads the lines after a place, the oldest first. No lock is held while yield is called.
func (s *Store) After(ctx context.Context, taskID string, from state.Place, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	lines, end, err := s.lines(ctx)
	if err != nil {
		return from, nil, err
	}
	if from.Part > 1 || from.Offset > int64(len(lines)) {
		return end, nil, nil
	}
	for i, l := range lines[from.Offset:] {
		if err := ctx.Err(); err != nil {
			return from, nil, err
		}
		if (taskID == "" || l.TaskID == taskID) && !yield(l.Clone()) {
			return placeIn(int(from.Offset) + i + 1), nil, nil
		}
	}
	return end, nil, nil
}

// Gone is false, because no part of the ledger is ever dropped.
func (s *Store) Gone(ctx context.Context) (g state.Gone, some bool, err error) {
	return g, false, ctx.Err()
}

// WatchLog tells of lines and claims of all tasks.
func (s *Store) WatchLog(ctx context.Context, _ string) (<-chan struct{}, error) {
	return s.watch(ctx, s.logWatchers)
}
