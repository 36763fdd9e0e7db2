package files

import (
	"context"
	"path/filepath"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Update writes the task into a new file, appends the change to the ledger, renames the file to its place and removes the
// old one where that has another name. Keys in the old file that this version does not know are kept. Should a crash leave
// both files, the higher revision counts and the next change removes the other.
func (s *Store) Update(ctx context.Context, task state.Task, due, now time.Time) (state.Entry, error) {
	t, err := s.begin(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer t.done()
	f, open, err := t.held(task.ID)
	if err != nil {
		return state.Entry{}, err
	}
	old, err := readOwn(t.path(f.place()), state.TaskLimit)
	if err != nil {
		return state.Entry{}, fail("reading a task", err)
	}
	was, unknown, err := decodeTask(old)
	if err != nil {
		return state.Entry{}, fail("reading a task", err)
	}
	if was.Revision != task.Revision {
		return state.Entry{}, state.ErrConflict
	}
	task.Format, task.Revision, task.Key, task.Created = state.Format, was.Revision+1, was.Key, was.Created
	to := f
	if !due.IsZero() && !due.Equal(f.time()) {
		if to.name, err = nameOf(f.id, due); err != nil {
			return state.Entry{}, err
		}
		to.extra = f.extra
		tally, err := t.readTally(f.id)
		if err != nil {
			return state.Entry{}, err
		}
		if err := t.checkFree(to.name, open, tally.Tally); err != nil {
			return state.Entry{}, err
		}
		if f.dir == queueDir {
			if err := t.dropUnfinished(f.name); err != nil {
				return state.Entry{}, err
			}
		}
	}
	task = task.UTC()
	if err := state.Check(task, to.time()); err != nil {
		return state.Entry{}, err
	}
	data, err := encodeTask(task, unknown)
	if err != nil {
		return state.Entry{}, err
	}
	temp := fresh(t.path(f.dir))
	if err := t.createTwice(&temp, data); err != nil {
		return state.Entry{}, fail("saving the task", err)
	}
	// Unlike that of a new task, its name must not be lost once the line is there: the line stands for what is in it.
	if err := t.disk.syncDir(t.path(f.dir)); err != nil {
		t.disk.remove(temp)
		return state.Entry{}, fail("saving the task", err)
	}
	what := redo{From: f.dir + "/" + filepath.Base(temp), To: to.place(), Drop: f.place()}
	if err := t.change(state.TaskLine(task, state.EventEdited, to.time(), now), what); err != nil {
		if t.end.last.Store.From != what.From { // else the line stands and the next turn needs the file
			t.disk.remove(temp)
		}
		return state.Entry{}, err
	}
	t.noteKey(task, to.place())
	return t.entry(to, open)
}
