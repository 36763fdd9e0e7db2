package files

import (
	"cmp"
	"context"
	"fmt"
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
	ctx    context.Context
	prefix string // of their IDs
	phases []state.Phase
	tasks  []listed
	open   map[string][]name
	// of a list of many: which tasks have a tally, and the folders of taskDirs, opened at the first
	// read; nil if that fails
	tallied func() (map[string]bool, error)
	folders map[string]func() *os.File

	mu    sync.Mutex
	moved *names             // a new listing, after a file was gone
	files map[string][]found // of moved, by task
}

// List reads the names, and the files of a task only if it has several.
func (s *Store) List(ctx context.Context, phases ...state.Phase) (state.Listing, error) {
	l, problems, err := s.listing(ctx, "", phases...)
	if err != nil {
		return state.Listing{}, err
	}
	for i, t := range l.tasks {
		l.tasks[i].rank = uint8(t.found().phase(len(l.open[t.found().id]) > 0).Rank())
	}
	slices.SortFunc(l.tasks, func(a, b listed) int {
		if a.rank != b.rank {
			return cmp.Compare(a.rank, b.rank)
		}
		return strings.Compare(a.file, b.file)
	})
	l.tallied, l.folders = sync.OnceValues(s.tallied), map[string]func() *os.File{}
	for _, dir := range taskDirs {
		l.folders[dir] = sync.OnceValue(func() *os.File {
			folder, _ := plainfile.Folder(s.path(dir)) // who reads is told by the path
			return folder
		})
	}
	return state.Listing{Len: len(l.tasks), Wake: l.wake, Read: l.read, Problems: problems}, nil
}

// listing lists the tasks of phases whose ID begins with prefix, and what could not be read to tell
// which of several files of a task counts.
func (s *Store) listing(ctx context.Context, prefix string, phases ...state.Phase) (l *listing, problems []state.Problem, err error) {
	all, err := s.snapshot(ctx, covering(phases), prefix)
	if err != nil {
		return nil, nil, err
	}
	wins := map[string]found{}
	for id, files := range all.doubles() {
		win, losers := s.winner(files)
		wins[id], problems = win, append(problems, losers...)
	}
	l = &listing{Store: s, ctx: ctx, prefix: prefix, phases: phases, open: all.open}
	l.tasks = slices.DeleteFunc(all.tasks, func(t listed) bool {
		f := t.found()
		win, several := wins[f.id]
		return several && f != win || !l.asks(all.phase(f))
	})
	return l, problems, nil
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
	if i >= talliesAsked && l.tallied != nil {
		if tallied, err = l.tallied(); err != nil {
			return nil, err
		}
	}
	for range roundsMost {
		var folder *os.File
		if opened := l.folders[f.dir]; opened != nil {
			folder = opened()
		}
		problems, err = l.readEntry(f, folder, open, e)
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
	return nil, fmt.Errorf("%w: %s changes faster than it can be read", state.ErrBusy, f.id)
}

// again finds a task whose file is gone from its place.
func (l *listing) again(was found) (found, []name, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.moved == nil || slices.Contains(l.files[was.id], was) {
		all, err := l.snapshot(l.ctx, covering(l.phases), l.prefix)
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
