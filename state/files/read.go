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
	data, err := readOwnIn(folder, file, *room, state.TaskLimit)
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

// markAwaited sets whether somebody waits for the task, which its file does not say.
func (s *Store) markAwaited(e *state.Entry) {
	if e.Phase == state.Pending && e.Task.Type() == state.TypeWait {
		e.Awaited = lease.Awaited(s.path(announceFile(e.Task.ID)))
	}
}

// read reads all that is known about a task into e, except its tally, and returns which of its open
// claims could not be read. folder is its open folder, or nil.
func (s *Store) read(f found, folder *os.File, open []name, e *state.Entry) (problems []state.Problem, err error) {
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
	s.markAwaited(e)
	if len(unknown) > 0 {
		problems = append(problems, s.unknownIn(s.path(f.place()), unknown)...)
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
	for range roundsMost {
		all, err := s.snapshot(ctx, everything, id)
		if err != nil {
			return nil, err
		}
		list, moved, err := s.among(all, id)
		if err != nil || !moved {
			return list, err
		}
	}
	return nil, fmt.Errorf("%w: %s changes faster than it can be read", state.ErrBusy, id)
}

// roundsMost bounds how often a reader looks again for files that were renamed between listing and
// reading.
const roundsMost = 50

// Finder is Find for many IDs. It lists the folders once. Its function is for one goroutine.
func (s *Store) Finder(ctx context.Context) (func(ctx context.Context, id string) ([]state.Entry, error), error) {
	all, err := s.snapshot(ctx, everything, "")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, id string) ([]state.Entry, error) {
		if list, moved, err := s.among(all, id); !moved && id != "" {
			return list, err
		}
		return s.Find(ctx, id) // a file has moved since
	}, nil
}

// among reads the tasks whose ID begins with id. moved says that one was no longer there.
func (s *Store) among(all *names, id string) (list []state.Entry, moved bool, err error) {
	groups := map[string][]found{}
	for f := range all.found() {
		if state.MatchID(f.id, id) {
			groups[f.id] = append(groups[f.id], f)
		}
	}
	if len(groups) == 0 {
		return nil, false, state.ErrNotFound
	}
	for id, files := range groups {
		win, _ := s.winner(files)
		var e state.Entry
		if _, err = s.read(win, nil, all.open[id], &e); err == nil {
			e.Tally, err = s.readTally(id)
		}
		if missing(err) {
			return nil, true, nil
		}
		if err != nil {
			return nil, false, fail("reading a task", err)
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b state.Entry) int { return strings.Compare(a.Task.ID, b.Task.ID) })
	return list, false, nil
}
