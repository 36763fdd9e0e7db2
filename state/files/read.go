package files

import (
	"cmp"
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

// readRecord reads an open record and the note about its process, and returns the content of its
// file. With an error that it is garbled, the record has only what the file's name says, so that
// its occurrence can still end with an outcome.
func (s *Store) readRecord(n name) (r state.Record, data []byte, err error) {
	data, err = readFile(s.path(openDir+"/"+n.record()), recordLimit)
	if err == nil {
		r, err = s.recordIn(n, data)
	}
	if garbled(err) {
		r = state.Record{Task: state.Task{ID: n.id}, Due: n.time()}
		data = append([]byte{}, data...) // not nil: there is a file
	}
	return r, data, err
}

// recordIn reads the content of a record's file.
func (s *Store) recordIn(n name, data []byte) (state.Record, error) {
	r, err := codec.DecodeRecord(data)
	if err != nil {
		return state.Record{}, err
	}
	if r.Task.ID != n.id {
		return state.Record{}, fmt.Errorf("%w: its name says task %s, and it says %q", codec.ErrBroken, n.id, r.Task.ID)
	}
	r.Due = n.time()
	why, err := readFile(s.path(haltOf(openDir+"/"+n.record())), haltMost)
	switch {
	case err == nil:
		r.Halt = string(why)
	case !missing(err) && !garbled(err):
		return state.Record{}, err
	}
	return r, nil
}

// records reads open records, oldest first. A damaged record is reported. A record that could not
// be read is reported and missing from the list. unread is the error of the first of these; nobody
// may decide anything from such a list.
func (s *Store) records(open []name) (list []state.Record, problems []state.Problem, unread error) {
	for _, n := range open {
		r, _, err := s.readRecord(n)
		if missing(err) { // it has ended
			continue
		}
		bad := state.Problem{Path: s.path(openDir + "/" + n.record()), Err: err}
		switch {
		case garbled(err):
			bad.Hint = "the runner ends its occurrence as interrupted"
			problems = append(problems, bad)
		case err != nil:
			bad.Hint = adviceOn(err, "its occurrence stays open until it can be read")
			problems = append(problems, bad)
			unread = cmp.Or(unread, fail("reading an open claim", err))
			continue
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b state.Record) int { return a.Claimed.Compare(b.Claimed) })
	return list, problems, unread
}

// Open returns the claims that were granted and have not ended.
func (s *Store) Open(ctx context.Context) ([]state.Record, []state.Problem, error) {
	all, err := s.snapshot(ctx, openOnly, "")
	if err != nil {
		return nil, nil, err
	}
	var open []name
	for _, n := range all.open {
		open = append(open, n...)
	}
	slices.SortFunc(open, func(a, b name) int { return strings.Compare(a.due+a.id, b.due+b.id) })
	list, problems, _ := s.records(open) // each is seen to by itself
	return list, problems, nil
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
