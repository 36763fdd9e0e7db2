package files

import (
	"context"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Move renames the task's file to its new due instant.
func (s *Store) Move(ctx context.Context, id string, due, to, now time.Time) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	if !state.WholeID(id) {
		return state.ErrNotFound
	}
	n, err := nameOf(id, due)
	if err != nil {
		return err
	}
	after, err := nameOf(id, to)
	if err != nil {
		return err
	}
	from := queueDir + "/" + n.queue()
	if _, err := os.Lstat(t.path(from)); missing(err) {
		return state.ErrTaken
	}
	task, err := t.readTask(from, id)
	if err != nil {
		return err
	}
	tally, err := t.readTally(id)
	if err != nil {
		return err
	}
	names, err := t.list(openOnly, id)
	if err != nil {
		return err
	}
	if err := t.checkFree(after, names.open[id], tally.Tally); err != nil {
		return err
	}
	if err := t.dropUnfinished(n); err != nil {
		return err
	}
	place := queueDir + "/" + after.queue()
	e := state.Entry{Task: task, Due: to, Tally: tally.Tally}
	e.Open, _ = t.records(names.open[id])
	if err := t.commit(state.TaskLine(e, state.EventMoved, now), from, place, 0); err != nil {
		return err
	}
	t.noteKey(task, place)
	return nil
}
