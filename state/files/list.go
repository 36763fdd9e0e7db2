package files

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// listing is the tasks of some phases at the moment of listing. It may be read concurrently.
type listing struct {
	*Store
	ctx     context.Context
	phases  []state.Phase
	tasks   []listed
	open    map[string][]name
	tallied func() (map[string]bool, error)
	folders map[string]func() *os.File // of taskDirs, opened at the first read; nil if that fails

	mu    sync.Mutex
	moved *names             // a new listing, after a file was gone
	files map[string][]found // of moved, by task
}

// List reads the names, and the files of a task only if it has several.
func (s *Store) List(ctx context.Context, phases ...state.Phase) (state.Listing, error) {
	all, err := s.snapshot(ctx, covering(phases), "")
	if err != nil {
		return state.Listing{}, err
	}
	var problems []state.Problem
	wins := map[string]found{}
	for id, files := range all.doubles() {
		win, losers := s.winner(files)
		wins[id], problems = win, append(problems, losers...)
	}
	l := &listing{Store: s, ctx: ctx, phases: phases, open: all.open, tallied: sync.OnceValues(s.tallied), folders: map[string]func() *os.File{}}
	for _, dir := range taskDirs {
		l.folders[dir] = sync.OnceValue(func() *os.File {
			folder, _ := plainfile.Folder(s.path(dir)) // who reads is told by the path
			return folder
		})
	}
	l.tasks = slices.DeleteFunc(all.tasks, func(t listed) bool {
		f := t.found()
		win, several := wins[f.id]
		return several && f != win || !l.asks(all.phase(f))
	})
	for i, t := range l.tasks {
		l.tasks[i].rank = uint8(all.phase(t.found()).Rank())
	}
	slices.SortFunc(l.tasks, func(a, b listed) int {
		if a.rank != b.rank {
			return cmp.Compare(a.rank, b.rank)
		}
		return strings.Compare(a.file, b.file)
	})
	return state.Listing{Len: len(l.tasks), Wake: l.wake, Read: l.read, Problems: problems}, nil
}

// asks reports whether tasks of the phase are listed.
func (l *listing) asks(p state.Phase) bool { return len(l.phases) == 0 || slices.Contains(l.phases, p) }

// wake is when a runner has to look at the task; zero means never.
func (l *listing) wake(i int) time.Time {
	f := l.tasks[i].found()
	if slot, waits := f.slot(); waits && (f.dir == queueDir || f.dir == pausedDir) {
		return slot.Wake()
	}
	return time.Time{}
}

// talliesAsked is up to how many tasks each tally is looked for, before all tallies are listed at
// once.
const talliesAsked = 256

// read reads a task from where it is now.
func (l *listing) read(i int, e *state.Entry) (problems []state.Problem, err error) {
	f := l.tasks[i].found()
	open := l.open[f.id]
	var tallied map[string]bool // nil: any may have a tally
	if i >= talliesAsked {
		if tallied, err = l.tallied(); err != nil {
			return nil, err
		}
	}
	for range roundsMost {
		problems, err = l.Store.read(f, l.folders[f.dir](), open, e)
		if err == nil && (tallied == nil || tallied[f.id]) {
			e.Tally, err = l.readTally(f.id)
		}
		switch {
		case err == nil:
			return problems, nil
		case !missing(err):
			return []state.Problem{l.problem(f, err)}, state.ErrNotFound
		}
		if f, open, err = l.again(f); err != nil {
			return nil, err
		}
	}
	return nil, state.ErrNotFound
}

// again finds a task whose file is gone from its place.
func (l *listing) again(was found) (found, []name, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.moved == nil || slices.Contains(l.files[was.id], was) {
		all, err := l.snapshot(l.ctx, covering(l.phases), "")
		if err != nil {
			return found{}, nil, err
		}
		l.moved, l.files = all, all.byTask()
	}
	files := l.files[was.id]
	if len(files) == 0 {
		return found{}, nil, state.ErrNotFound
	}
	f, _ := l.winner(files)
	if !l.asks(l.moved.phase(f)) {
		return found{}, nil, state.ErrNotFound
	}
	return f, l.moved.open[f.id], nil
}
