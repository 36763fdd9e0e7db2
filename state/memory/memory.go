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
	queue     []*task          // those a runner has to look at some time, in the order in which it has to
	ledger    []state.Line     // oldest first
	said      map[string][]said
	leases    map[string]*lease // of who leads, by node
	watchers  map[chan struct{}]bool
	followers []*follower
	setback   state.Setback
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
func (s *Store) Find(ctx context.Context, id string) ([]state.Entry, error) {
	list, err := s.pick(ctx, func(d state.Doc) bool { return state.MatchID(d.Task.ID, id) })
	if err == nil && len(list) == 0 {
		err = state.ErrNotFound
	}
	slices.SortFunc(list, func(a, b state.Entry) int { return strings.Compare(a.Task.ID, b.Task.ID) })
	return list, err
}

// Finder is Find.
func (s *Store) Finder(ctx context.Context) (func(context.Context, string) ([]state.Entry, error), error) {
	return s.Find, ctx.Err()
}

// List returns the tasks of the phases, next due first.
func (s *Store) List(ctx context.Context, phases ...state.Phase) ([]state.Entry, []state.Problem, error) {
	list, err := s.pick(ctx, func(d state.Doc) bool { return len(phases) == 0 || slices.Contains(phases, d.Shown()) })
	slices.SortFunc(list, state.Compare)
	return list, nil, err
}

// First returns the first of the tasks that List would return, and how many those are.
func (s *Store) First(ctx context.Context, n int, phases ...state.Phase) ([]state.Entry, int, []state.Problem, error) {
	all, _, err := s.List(ctx, phases...)
	return all[:min(max(n, 0), len(all))], len(all), nil, err
}

// Each calls yield with the tasks that List would return.
func (s *Store) Each(ctx context.Context, yield func(state.Entry) bool, phases ...state.Phase) ([]state.Problem, error) {
	list, _, err := s.List(ctx, phases...)
	for _, e := range list {
		if err = ctx.Err(); err != nil || !yield(e) {
			break
		}
	}
	return nil, err
}

// pick returns the tasks that fit, in no order.
func (s *Store) pick(ctx context.Context, fits func(state.Doc) bool) (list []state.Entry, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, t := range s.tasks {
		if fits(t.Doc) {
			list = append(list, t.entry())
		}
	}
	return list, nil
}

// Next returns the earliest due instant after the given one.
func (s *Store) Next(ctx context.Context, after time.Time) (due time.Time, ok bool, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return time.Time{}, false, err
	}
	defer unlock()
	if i := s.wakesAfter(after); i < len(s.queue) {
		return s.queue[i].wake, true, nil
	}
	return time.Time{}, false, nil
}

// DueBy returns the tasks in the queue due at or before t.
func (s *Store) DueBy(ctx context.Context, t time.Time, limit int) (list []state.Entry, problems []state.Problem, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	due := s.queue[:s.wakesAfter(t)]
	if limit > 0 && len(due) > limit {
		due = due[:limit]
	}
	for _, t := range due {
		list = append(list, t.entry())
	}
	return list, nil, nil
}

// EachDueBy calls yield with the tasks that DueBy would return.
func (s *Store) EachDueBy(ctx context.Context, t time.Time, yield func(state.Entry) bool) ([]state.Problem, error) {
	list, _, err := s.DueBy(ctx, t, 0)
	for _, e := range list {
		if err = ctx.Err(); err != nil || !yield(e) {
			break
		}
	}
	return nil, err
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
