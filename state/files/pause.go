package files

import (
	"context"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// held finds the task's file for a change of later occurrences: in the queue or among the paused. state.ErrEnded when no
// later occurrence will come.
func (t *turn) held(id string) (found, []name, error) {
	f, open, err := t.whereNoted(id)
	if err != nil {
		return found{}, nil, err
	}
	if f.dir != queueDir && f.dir != pausedDir {
		return found{}, nil, state.ErrEnded
	}
	return f, open, nil
}

// Pause renames the task's file into the folder of the paused, with the instant of its resumption in its name.
func (s *Store) Pause(ctx context.Context, id string, resume, now time.Time) (state.Entry, error) {
	t, err := s.begin(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer t.done()
	f, open, err := t.held(id)
	if err != nil {
		return state.Entry{}, err
	}
	n, err := f.with(resume)
	if err != nil {
		return state.Entry{}, err
	}
	return t.shift(f, open, found{n, pausedDir}, state.EventPaused, now)
}

// Resume renames the task's file back into the queue.
func (s *Store) Resume(ctx context.Context, id string, now time.Time) (state.Entry, error) {
	t, err := s.begin(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer t.done()
	f, open, err := t.held(id)
	if err != nil {
		return state.Entry{}, err
	}
	if f.dir != pausedDir {
		return state.Entry{}, state.ErrTaken
	}
	tally, err := t.readTally(id)
	if err != nil {
		return state.Entry{}, err
	}
	if err := t.checkFree(f.name, open, tally.Tally); err != nil {
		return state.Entry{}, err
	}
	return t.shift(f, open, found{name{due: f.due, id: f.id}, queueDir}, state.EventResumed, now)
}

// shift moves a task's file from the queue to the paused or back, with a line that says so.
func (t *turn) shift(f found, open []name, to found, event string, now time.Time) (state.Entry, error) {
	e, err := t.entry(f, open)
	if err != nil {
		return state.Entry{}, fail("reading a task", err)
	}
	if f.dir == queueDir {
		if err := t.dropUnfinished(f.name); err != nil {
			return state.Entry{}, err
		}
	}
	line := state.TaskLine(e, event, now)
	if to.extra != "" {
		resume := to.moment()
		line.Resume = &resume
	}
	if err := t.commit(line, f.place(), to.place(), 0); err != nil {
		return state.Entry{}, err
	}
	t.noteKey(e.Task, to.place())
	t.note(to)
	after := to.entry(e.Task, len(open) > 0)
	after.Tally, after.Open = e.Tally, e.Open
	return after, nil
}

// pausedStep is Skip's step of a task that is paused: from its file, whose due instant must be the name's, to next.
func (t *turn) pausedStep(n name, next time.Time) (from, to string, err error) {
	var files []string
	if f, ok := t.noted(n.id); ok && f.dir == pausedDir && f.due == n.due {
		if _, err := os.Lstat(t.path(f.place())); err == nil {
			files = []string{f.file()}
		}
	}
	if files == nil {
		if files, err = readNames(t.path(pausedDir)); err != nil {
			return "", "", err
		}
	}
	for _, file := range files {
		p, ok := parseName(file)
		if !ok || p.id != n.id || p.due != n.due {
			continue
		}
		from = pausedDir + "/" + file
		if next.IsZero() {
			return from, endedDir + "/" + n.queue(), nil
		}
		after, err := nameOf(n.id, next)
		after.extra = p.extra
		return from, pausedDir + "/" + after.file(), err
	}
	return "", "", state.ErrTaken
}
