package files

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// placesMost bounds how many places a handle remembers.
const placesMost = 1 << 17

// note remembers where the files of tasks were that a caller was told of, so that a change of each of very many has not to
// list all folders. Like a key's file it is a hint: what counts is the file. Tasks with several files are not to be noted.
func (s *Store) note(files ...found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places == nil {
		s.places = make(map[string]found, len(files))
	}
	for _, f := range files {
		if _, has := s.places[f.id]; has || len(s.places) < placesMost {
			s.places[f.id] = f
		}
	}
}

// noted is the place that was remembered of a task, which is forgotten by that: a hint is good for one change.
func (s *Store) noted(id string) (found, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.places[id]
	delete(s.places, id)
	return f, ok
}

// forgetPlaces is for when a writer was cut off: a task may then have two files for a moment.
func (s *Store) forgetPlaces() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places = nil
}

// whereNoted is whereIs, and looks first where the caller was told that the task is. The turn has finished what was unfinished, so
// a file in the queue or among the paused is the task's. What ended or was removed is looked for among all.
func (t *turn) whereNoted(id string) (found, []name, error) {
	f, ok := t.noted(id)
	if !ok || !state.WholeID(id) || f.dir != queueDir && f.dir != pausedDir {
		return t.whereIs(id)
	}
	if _, err := os.Lstat(t.path(f.place())); err != nil {
		return t.whereIs(id)
	}
	names, err := t.list(openOnly, id)
	if err != nil {
		return found{}, nil, err
	}
	return f, names.open[id], nil
}

// Finder is Find for many IDs: the folders are listed once, when it is made. Its function is for one goroutine.
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

// among reads the tasks of the names whose ID begins with id; moved says that one was not there any more.
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
		e, err := s.entry(win, all.open[id])
		if missing(err) {
			return nil, true, nil
		}
		if err != nil {
			return nil, false, fail("reading a task", err)
		}
		if len(files) == 1 {
			s.note(win)
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b state.Entry) int { return strings.Compare(a.Task.ID, b.Task.ID) })
	return list, false, nil
}
