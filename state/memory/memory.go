// Package memory is a Store without a disk: for tests of what is built on a Store, where nothing may wait for the outside,
// and for playing out what would happen. It keeps every promise of state.Store but the one about the end of the process,
// and the one that WatchLog tells of what runs write.
//
// It does no input or output and leaves no goroutine behind, so that it can be used in a bubble of testing/synctest.
package memory

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/output"
)

// Store is a state.Store in memory, as New makes it. Several runners may share one.
type Store struct {
	state.Verbs

	// Folder is an existing folder for the output of runs. When it is empty, none is kept.
	Folder string
	// Limits, unless it is nil, is asked for before each change that they could forbid.
	Limits func() (state.Limits, error)

	mu        sync.Mutex
	made      uint64           // how many IDs were given out
	tasks     map[string]*task // by ID
	ledger    []state.Line     // oldest first
	said      map[string][]said
	leases    map[string]*lease // of who leads, by node
	watchers  map[chan struct{}]bool
	followers []*follower
	setback   state.Setback
	trouble   state.Trouble
	agents    []state.Agents

	creations map[string][]time.Time // by origin: when it made tasks, those of the last hour

	inbox        []state.Item // in the order in which they came
	newest       time.Time    // the cursor of the last that came
	outbox       []*notice
	posted       int // how often a notice was written
	mailWatchers map[chan struct{}]bool
	dropped      state.Dropped

	logWatchers map[chan struct{}]bool
}

var _ state.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	s := &Store{leases: map[string]*lease{}}
	s.Verbs = state.Verbs{Changer: s}
	return s
}

// lock begins a call. No call is begun after ctx has ended.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	return s.mu.Unlock, nil
}

// said is the text of a task from a revision on.
type said struct {
	revision int64
	text     string
}

// say notes the text of a task, where it is another one than before.
func (s *Store) say(t state.Task) {
	list, text := s.said[t.ID], t.Said()
	if n := len(list); n > 0 && list[n-1].text == text || n == 0 && text == "" {
		return
	}
	if s.said == nil {
		s.said = map[string][]said{}
	}
	s.said[t.ID] = append(list, said{t.Revision, text})
}

// Spell puts the text of their tasks into lines.
func (s *Store) Spell(ctx context.Context, lines []state.Line) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for i, l := range lines {
		if !l.Lacks() {
			continue
		}
		for _, v := range slices.Backward(s.said[l.TaskID]) {
			if v.revision <= l.Revision {
				lines[i] = l.Spell(v.text)
				break
			}
		}
	}
	return nil
}

// Find returns the tasks whose ID is id or begins with it.
func (s *Store) Find(ctx context.Context, id string) (list []state.Entry, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, t := range s.tasks {
		if state.MatchID(t.Task.ID, id) {
			list = append(list, t.entry())
		}
	}
	if len(list) == 0 {
		return nil, state.ErrNotFound
	}
	slices.SortFunc(list, func(a, b state.Entry) int { return strings.Compare(a.Task.ID, b.Task.ID) })
	return list, nil
}

// Finder is Find.
func (s *Store) Finder(ctx context.Context) (func(context.Context, string) ([]state.Entry, error), error) {
	return s.Find, ctx.Err()
}

// List says which tasks of the phases there are.
func (s *Store) List(ctx context.Context, phases ...state.Phase) (state.Listing, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return state.Listing{}, err
	}
	defer unlock()
	type listed struct {
		state.Entry
		wake time.Time
	}
	var list []listed
	for _, t := range s.tasks {
		if len(phases) == 0 || slices.Contains(phases, t.Shown()) {
			list = append(list, listed{t.entry(), t.Wake()})
		}
	}
	slices.SortFunc(list, func(a, b listed) int { return state.Compare(a.Entry, b.Entry) })
	return state.Listing{
		Len:  len(list),
		Wake: func(i int) time.Time { return list[i].wake },
		Read: func(i int, into *state.Entry) ([]state.Problem, error) {
			*into = list[i].Entry
			return nil, nil
		},
	}, nil
}

// Open returns the open claims, oldest first.
func (s *Store) Open(ctx context.Context) ([]state.Record, []state.Problem, error) {
	list, err := s.claims(ctx, func(state.Record) bool { return true })
	return list, nil, err
}

// Halted returns the open claims whose end was asked for.
func (s *Store) Halted(ctx context.Context) ([]state.Record, error) {
	return s.claims(ctx, func(r state.Record) bool { return r.Halt != "" })
}

func (s *Store) claims(ctx context.Context, fits func(state.Record) bool) (list []state.Record, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, t := range s.tasks {
		for _, r := range t.Open {
			if fits(r) {
				list = append(list, r.Clone())
			}
		}
	}
	slices.SortFunc(list, state.CompareClaims)
	return list, nil
}

// Setback is what was noted of a clock that is back.
func (s *Store) Setback(ctx context.Context) (state.Setback, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return state.Setback{}, err
	}
	defer unlock()
	return s.setback, nil
}

// NoteSetback notes it.
func (s *Store) NoteSetback(ctx context.Context, b state.Setback) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s.setback = b
	return nil
}

// Trouble is what a runner noted.
func (s *Store) Trouble(ctx context.Context) (state.Trouble, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return state.Trouble{}, err
	}
	defer unlock()
	return s.trouble, nil
}

// NoteTrouble notes it.
func (s *Store) NoteTrouble(t state.Trouble) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.At = state.UTC(t.At)
	s.trouble = t
	return nil
}

// Output is files in Folder.
func (s *Store) Output(taskID string, number int) (stdout, stderr state.Stream) {
	if s.Folder == "" {
		return output.None{}, output.None{}
	}
	base := filepath.Join(s.Folder, taskID+"."+strconv.Itoa(number))
	return output.File(base + ".out"), output.File(base + ".err")
}

// Scratch is a file of the system's folder for such.
func (s *Store) Scratch(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "ouro-timer-")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	if _, err = f.WriteString(text); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// SetAside has nothing to do: what is in memory can be read.
func (s *Store) SetAside(ctx context.Context, _ time.Duration) ([]state.Problem, error) {
	return nil, ctx.Err()
}

// Aside names nothing.
func (s *Store) Aside(ctx context.Context) ([]string, error) { return nil, ctx.Err() }

// Sync has nothing to do.
func (s *Store) Sync(ctx context.Context) error { return ctx.Err() }

// Prune forgets tasks. There are no parts of the ledger, and whatever is in Folder is the caller's.
func (s *Store) Prune(ctx context.Context, keep state.Keep, now time.Time) (p state.Pruned, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return p, err
	}
	defer unlock()
	before := time.Time{} // nothing is older
	if keep.Ended > 0 {
		before = now.Add(-keep.Ended)
	}
	for id, t := range s.tasks {
		end := t.Gone
		if t.Phase == state.Ended {
			end = t.Tally.LastEnd
		}
		if end.IsZero() { // it came from elsewhere
			end = t.Due
		}
		if !t.Waits() && len(t.Open) == 0 && end.Before(before) {
			delete(s.tasks, id)
			p.Tasks++
		}
	}
	p.Items = s.pruneInbox(keep, before)
	s.dropped.Count(p.Items, now)
	return p, nil
}
