package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/lease"
)

// readTask reads the task's file at a place. The ID in it must be the one in its name. A file that
// others can write is refused with state.ErrUnusable, because its command would run as this user.
func (s *Store) readTask(place, id string) (t state.Task, err error) {
	_, err = readInto(nil, s.path(place), id, &t)
	return t, err
}

// readInto is readTask for a file in an open folder, or for its path if folder is nil. It
// overwrites t, and returns the keys that this version does not know.
func readInto(folder *os.File, file, id string, t *state.Task) (unknown map[string]any, err error) {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	data, err := readOwn(folder, file, *room, state.TaskLimit)
	if err != nil {
		return nil, err
	}
	if cap(data) <= roomMost {
		*room = data
	}
	if unknown, err = taskIn(data, id, t); err != nil {
		return nil, &fileError{pathIn(folder, file), err}
	}
	return unknown, nil
}

// rooms are buffers for reading files of tasks one after the other, of which there may be very
// many. What was read from them is not kept.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// roomMost is the largest buffer that is kept.
const roomMost = 64 << 10

// taskIn reads the task of a file. The task must have the ID that the file's name has. It returns
// the unknown keys.
func taskIn(data []byte, id string, into *state.Task) (unknown map[string]any, err error) {
	unknown, err = codec.ReadTask(data, into)
	if err == nil && into.ID != id {
		err = fmt.Errorf("%w: its name says task %s, and it says %q", codec.ErrBroken, id, into.ID)
	}
	return unknown, err
}

// readEntry reads all that is known about a task into e, except its tally, and returns which of its
// open claims could not be read. folder is its open folder, or nil.
func (s *Store) readEntry(f found, folder *os.File, open []name, e *state.Entry) (problems []state.Problem, err error) {
	*e = state.Entry{Due: f.time(), Phase: f.phase(len(open) > 0)}
	file := f.file()
	if folder == nil {
		file = s.path(f.dir + "/" + file)
	}
	unknown, err := readInto(folder, file, f.id, &e.Task)
	if err != nil {
		return nil, err
	}
	if f.dir == pausedDir {
		e.Held, e.Resume = true, f.moment()
	}
	if len(open) > 0 {
		if e.Open, problems, err = s.records(open); err != nil {
			return nil, err
		}
	}
	if e.Phase == state.Pending && e.Task.Type() == state.TypeWait {
		e.Awaited = lease.Awaited(s.path(announceFile(f.id)))
	}
	if s.inspect && len(unknown) > 0 {
		problems = append(problems, state.Problem{Path: s.path(f.place()), Err: unknownKeys(codec.Names(unknown))})
	}
	return problems, nil
}

// problem is the problem of a task's file that could not be read.
func (s *Store) problem(f found, err error) state.Problem {
	p := state.Problem{Path: s.path(f.place()), Err: err, Hint: adviceOn(err, "the other tasks are not affected")}
	switch {
	case garbled(err):
		p.Hint = "mend it; the runner moves it to " + s.path(corruptDir) + " otherwise"
	case errors.Is(err, state.ErrNewer):
		p.Hint = "use the newer ouro-timer that wrote it"
	}
	return p
}

// Find reads names, and then only the tasks that match. A whole ID is never taken for the beginning
// of a longer one: it names a task that no longer exists.
func (s *Store) Find(ctx context.Context, id string) ([]state.Entry, error) {
	if id == "" {
		return nil, state.ErrNotFound
	}
	l, _, err := s.listing(ctx, id)
	if err != nil {
		return nil, err
	}
	return l.find(id)
}

// roundsMost bounds how often a reader looks again for files that were renamed between listing and
// reading.
const roundsMost = 50

// Finder is Find for many IDs. It lists the folders once. Its function is for one goroutine.
func (s *Store) Finder(ctx context.Context) (func(ctx context.Context, id string) ([]state.Entry, error), error) {
	l, _, err := s.listing(ctx, "")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, id string) ([]state.Entry, error) {
		l.ctx = ctx
		return l.find(id)
	}, nil
}

// find reads the tasks whose ID begins with id.
func (l *listing) find(id string) (list []state.Entry, err error) {
	for i := range l.tasks {
		if !state.MatchID(l.tasks[i].found().id, id) {
			continue
		}
		var e state.Entry
		switch problems, err := l.read(i, &e); {
		case errors.Is(err, state.ErrNotFound) && len(problems) == 0: // it is gone by now
			continue
		case errors.Is(err, state.ErrNotFound):
			return nil, fail("reading a task", problems[0].Err)
		case err != nil:
			return nil, err
		}
		list = append(list, e)
	}
	if len(list) == 0 {
		return nil, state.ErrNotFound
	}
	slices.SortFunc(list, func(a, b state.Entry) int { return strings.Compare(a.Task.ID, b.Task.ID) })
	return list, nil
}
