package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// place returns the place in the ledger after the line with a revision.
func place(rev uint64) state.Place {
	if rev == 0 {
		return state.Place{}
	}
	return state.Place{Part: 1, Offset: int64(rev)}
}

func linesOf(taskID string) string {
	if taskID == "" {
		return ledger
	}
	return ledger + taskID
}

// Log reads the ledger, newest first.
func (s *Store) Log(ctx context.Context, taskID string, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	err = s.receive(ctx, func(ctx context.Context, yield func(Cell) bool) error {
		last, err := s.kv.Backward(ctx, linesOf(taskID), ledger, yield)
		if end == (state.Place{}) {
			end = place(last)
		}
		return err
	}, func(c Cell) bool {
		if end != (state.Place{}) && c.Rev > uint64(end.Offset) {
			return true // an earlier attempt had begun before it was written
		}
		return readLine(c, &problems, yield)
	})
	return end, problems, err
}

// readLine yields the line of the ledger that a cell has, if any. One that cannot be decoded is a
// problem.
func readLine(c Cell, problems *[]state.Problem, yield func(state.Line) bool) (on bool) {
	if len(c.Data) == 0 {
		return true
	}
	var l state.Line
	if err := decode(c, &l); err != nil {
		*problems = append(*problems, problem(c.Key, err))
		return true
	}
	return yield(l)
}

// Occurrence reads the lines of one occurrence.
func (s *Store) Occurrence(ctx context.Context, taskID string, number int, yield func(state.Line) bool) (end state.Place, known bool, problems []state.Problem, err error) {
	end, problems, err = s.Log(ctx, taskID, func(l state.Line) bool {
		known = true
		return !l.Has(number) || yield(l)
	})
	return end, known, problems, err
}

// After reads on from a place.
func (s *Store) After(ctx context.Context, taskID string, from state.Place, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	end, _, err = s.Log(ctx, "", func(state.Line) bool { return false })
	switch {
	case err != nil:
		return from, nil, err
	case from.Part > 1 || from.Offset > end.Offset:
		return end, nil, nil
	}
	at, on := uint64(from.Offset), true
	err = s.receive(ctx, func(ctx context.Context, yield func(Cell) bool) error {
		_, err := s.kv.Prefix(ctx, linesOf(taskID), at, yield)
		return err
	}, func(c Cell) bool {
		if c.Rev > uint64(end.Offset) {
			return false
		}
		at = c.Rev
		on = readLine(c, &problems, yield)
		return on
	})
	if !on || err != nil {
		end = place(at)
	}
	return end, problems, err
}

// Spell adds the texts of their tasks to lines: a line has the revision of the text.
func (s *Store) Spell(ctx context.Context, lines []state.Line) error {
	for i, l := range lines {
		if !l.Lacks() {
			continue
		}
		task, err := s.text(ctx, l.TaskID, l.Revision)
		switch {
		case err == nil:
			lines[i] = l.Spell(task.Said())
		case !errors.Is(err, state.ErrNotFound) && !garbled(err):
			return err
		}
	}
	return ctx.Err()
}

// past is what is known about what was dropped.
type past struct {
	Gone    state.Gone    `json:"gone"`
	To      uint64        `json:"to"` // of the ledger: the last revision that was dropped
	Dropped state.Dropped `json:"dropped"`
}

func (s *Store) past(ctx context.Context) (p past, c Cell, err error) {
	if c, err = s.get(ctx, pastGone); err == nil && len(c.Data) > 0 {
		err = decode(c, &p)
	}
	p.Gone.To = place(p.To)
	return p, c, err
}

// Gone returns what was dropped from the ledger.
func (s *Store) Gone(ctx context.Context) (state.Gone, bool, error) {
	p, _, err := s.past(ctx)
	return p.Gone, p.To > 0, err
}

// Dropped returns how many items were dropped.
func (s *Store) Dropped(ctx context.Context) (state.Dropped, error) {
	p, _, err := s.past(ctx)
	return p.Dropped, err
}

// outputTick is how often a watcher of a task is told to check for output: the output itself is on
// the machine that runs the task.
const outputTick = time.Second

// WatchLog signals lines and, for a task, claims. For the output of its runs it only ticks.
func (s *Store) WatchLog(ctx context.Context, taskID string) (<-chan struct{}, error) {
	if !state.WholeID(taskID) {
		return s.watch(ctx, 0, ledger)
	}
	return s.watch(ctx, outputTick, linesOf(taskID), living+idKey(taskID))
}
