// Package memory is a Store without a disk: for tests of what is built on a Store, where nothing may wait for the outside,
// and for playing out what would happen. It keeps every promise of state.Store but the one about the end of the process.
//
// It does no input or output and leaves no goroutine behind, so that it can be used in a bubble of testing/synctest.
package memory

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Store is a state.Store in memory. The zero value is ready to use. Several runners may share one.
type Store struct {
	// Output is an existing folder for the output of runs. When it is empty, OutputPaths names no files.
	Output string
	// Limits, unless it is nil, is asked for before each change that they could forbid.
	Limits func() (state.Limits, error)

	mu       sync.Mutex
	made     uint64           // how many IDs were given out
	tasks    map[string]*task // Phase is Pending, Paused, Ended or Removed; Running follows from Open
	queue    []*task          // those a runner has to look at some time, in the order in which it has to
	ledger   []state.Line     // oldest first
	said     map[string][]said
	lease    *lease // of who leads, or nil
	watchers map[chan struct{}]bool
	setback  state.Setback

	creations map[string][]time.Time // by origin: when it made tasks, those of the last hour

	inbox        []state.Item // in the order in which they came
	newest       time.Time    // the cursor of the last that came
	outbox       []*notice
	posted       int // how often a notice was written
	mailWatchers map[chan struct{}]bool
}

var _ state.Store = (*Store)(nil)

// lock begins a call. No call is begun after ctx has ended.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	return s.mu.Unlock, nil
}

// Add makes a task pending.
func (s *Store) Add(ctx context.Context, t state.Task, due time.Time) (state.Entry, error) {
	if err := state.Check(t, due); err != nil {
		return state.Entry{}, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer unlock()
	if e := s.keyed(t.Key); e != nil {
		return view(e), state.ErrKept
	}
	t = t.Clone()
	if t.Created.IsZero() {
		t.Created = time.Now()
	}
	t = t.UTC()
	if err := s.admit(t, true, t.Created); err != nil {
		return state.Entry{}, err
	}
	t.ID, t.Format, t.Revision = state.ID(s.made), state.Format, 1
	e := &task{Entry: state.Entry{Task: t, Due: state.UTC(due), Phase: state.Pending}}
	if s.tasks == nil {
		s.tasks = map[string]*task{}
	}
	s.tasks[t.ID] = e
	s.place(e)
	s.made++
	s.changed(e, state.EventCreated, t.Created)
	return view(e), nil
}

// said is the text of a task from a revision on.
type said struct {
	revision int64
	text     string
}

// say notes the text of a task, and reports whether it is another one than before.
func (s *Store) say(t state.Task) bool {
	list, text := s.said[t.ID], t.Said()
	if n := len(list); n > 0 && list[n-1].text == text || n == 0 && text == "" {
		return false
	}
	if s.said == nil {
		s.said = map[string][]said{}
	}
	s.said[t.ID] = append(list, said{t.Revision, text})
	return true
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

// changed logs a change of a task, and tells the watchers.
func (s *Store) changed(e *task, event string, at time.Time) {
	line := state.TaskLine(e.Entry, event, at)
	if s.say(e.Task) && event == state.EventEdited {
		line.Text = e.Task.Said()
	}
	if !e.Resume.IsZero() {
		line.Resume = copyOf(&e.Resume)
	}
	s.ledger = append(s.ledger, line)
	s.tell()
}

// Find returns the tasks whose ID is id or begins with it.
func (s *Store) Find(ctx context.Context, id string) ([]state.Entry, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	list := views(s.pick(func(e *task) bool { return state.MatchID(e.Task.ID, id) }))
	if len(list) == 0 {
		return nil, state.ErrNotFound
	}
	slices.SortFunc(list, func(a, b state.Entry) int { return strings.Compare(a.Task.ID, b.Task.ID) })
	return list, nil
}

// List returns the tasks of the phases, next due first.
func (s *Store) List(ctx context.Context, phases ...state.Phase) ([]state.Entry, []state.Problem, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	return views(s.pick(func(e *task) bool { return len(phases) == 0 || slices.Contains(phases, phase(e)) })), nil, nil
}

// First returns the first of the tasks that List would return, and how many those are.
func (s *Store) First(ctx context.Context, n int, phases ...state.Phase) ([]state.Entry, int, []state.Problem, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, 0, nil, err
	}
	defer unlock()
	all := s.pick(func(e *task) bool { return len(phases) == 0 || slices.Contains(phases, phase(e)) })
	return views(all[:min(max(n, 0), len(all))]), len(all), nil, nil
}

// Each calls yield with the tasks that List would return.
func (s *Store) Each(ctx context.Context, yield func(state.Entry) bool, phases ...state.Phase) ([]state.Problem, error) {
	list, problems, err := s.List(ctx, phases...)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !yield(e) {
			break
		}
	}
	return problems, nil
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
func (s *Store) DueBy(ctx context.Context, t time.Time, limit int) ([]state.Entry, []state.Problem, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	due := s.queue[:s.wakesAfter(t)]
	if limit > 0 && len(due) > limit {
		due = due[:limit]
	}
	return views(due), nil, nil
}

// pick returns the tasks that fit, in the order of lists.
func (s *Store) pick(fits func(*task) bool) (list []*task) {
	for _, e := range s.tasks {
		if fits(e) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *task) int {
		return cmp.Or(phase(a).Rank()-phase(b).Rank(), a.Due.Compare(b.Due), strings.Compare(a.Task.ID, b.Task.ID))
	})
	return list
}

// Remove ends a task.
func (s *Store) Remove(ctx context.Context, id string, now time.Time) (state.Entry, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer unlock()
	e, ok := s.tasks[id]
	if !ok {
		return state.Entry{}, state.ErrNotFound
	}
	if p := phase(e); p == state.Removed || p == state.Ended {
		return state.Entry{}, state.ErrEnded
	}
	e.Phase, e.Held, e.Resume, e.gone = state.Removed, false, time.Time{}, state.UTC(now)
	s.place(e)
	s.changed(e, state.EventRemoved, now)
	return view(e), nil
}

// Restore undoes Remove.
func (s *Store) Restore(ctx context.Context, id string, due, now time.Time) (state.Entry, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer unlock()
	e, ok := s.tasks[id]
	if !ok {
		return state.Entry{}, state.ErrNotFound
	}
	if e.Phase != state.Removed {
		return state.Entry{}, state.ErrEnded
	}
	if err := checkFree(e, due); err != nil {
		return state.Entry{}, err
	}
	if other := s.keyed(e.Task.Key); other != nil {
		return view(other), state.ErrKept
	}
	if err := s.admit(e.Task, false, now); err != nil {
		return state.Entry{}, err
	}
	e.Phase, e.Due = state.Pending, state.UTC(due)
	s.place(e)
	s.changed(e, state.EventRestored, now)
	return view(e), nil
}

// Move changes the due instant of a task.
func (s *Store) Move(ctx context.Context, id string, due, to, now time.Time) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	e, err := s.queued(id, due)
	if err != nil {
		return err
	}
	if err := checkFree(e, to); err != nil {
		return err
	}
	e.Due = state.UTC(to)
	s.place(e)
	s.changed(e, state.EventMoved, now)
	return nil
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

// checkFree refuses a due instant that cannot be kept or was taken.
func checkFree(e *task, due time.Time) error { return free(due, e.Tally.Floor(), e.Open) }

// free refuses a due instant that is not after the last and after those of the claims. A run by hand takes nothing but its own.
func free(due, last time.Time, open []state.Record) error {
	taken := []time.Time{last}
	for _, r := range open {
		if !r.Manual || r.Due.Equal(due) {
			taken = append(taken, r.Due)
		}
	}
	if err := state.CheckDue(due); err != nil {
		return err
	}
	return state.CheckFree(due, taken...)
}

// Log reads the ledger, newest first. No lock is held while yield is called.
func (s *Store) Log(ctx context.Context, taskID string, yield func(state.Line) bool) ([]state.Problem, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	lines := s.ledger // lines are added, never changed
	unlock()
	for _, l := range slices.Backward(lines) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if (taskID == "" || l.TaskID == taskID) && !yield(copyLine(l)) {
			break
		}
	}
	return nil, nil
}

// OutputPaths names files in Output. Nobody has to make room for them.
func (s *Store) OutputPaths(taskID string, number int) (stdout, stderr string) {
	if s.Output == "" {
		return "", ""
	}
	base := filepath.Join(s.Output, taskID+"."+strconv.Itoa(number))
	return base + ".out", base + ".err"
}

// SetAside has nothing to do: what is in memory can be read.
func (s *Store) SetAside(ctx context.Context, _ time.Duration) ([]state.Problem, error) {
	return nil, ctx.Err()
}

// Sync has nothing to do.
func (s *Store) Sync(ctx context.Context) error { return ctx.Err() }

// Prune forgets tasks. There are no parts of the ledger, and whatever is in Output is the caller's.
func (s *Store) Prune(ctx context.Context, keep state.Keep, now time.Time) (p state.Pruned, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return p, err
	}
	defer unlock()
	for id, e := range s.tasks {
		if at := phase(e); keep.Ended <= 0 || at != state.Ended && at != state.Removed {
			continue
		}
		end := e.gone
		if e.Phase == state.Ended && !e.Tally.LastEnd.IsZero() {
			end = e.Tally.LastEnd
		}
		if end.IsZero() { // it came from elsewhere
			end = e.Due
		}
		if len(e.Open) == 0 && end.Before(now.Add(-keep.Ended)) {
			delete(s.tasks, id)
			p.Tasks++
		}
	}
	before := time.Time{}
	if keep.Ended > 0 {
		before = now.Add(-keep.Ended)
	}
	p.Items = s.pruneInbox(keep, before)
	return p, nil
}

// phase is where a task stands.
func phase(e *task) state.Phase {
	if e.Phase != state.Removed && len(e.Open) > 0 {
		return state.Running
	}
	return e.Phase
}

// view is a task as callers see it. What they get, and what they gave, is theirs: they may change it.
func view(e *task) state.Entry {
	v := e.Entry
	v.Task, v.Phase, v.Open = e.Task.Clone(), phase(e), nil
	v.Attended = e.waiting > 0 && v.Phase == state.Pending
	for _, r := range e.Open {
		v.Open = append(v.Open, copyRecord(r))
	}
	if len(v.Open) > 1 {
		slices.SortFunc(v.Open, byClaim)
	}
	return v
}

func views(list []*task) []state.Entry {
	if len(list) == 0 {
		return nil
	}
	out := make([]state.Entry, 0, len(list))
	for _, e := range list {
		out = append(out, view(e))
	}
	return out
}

func copyRecord(r state.Record) state.Record {
	r.Task = r.Task.Clone()
	return r
}

func copyLine(l state.Line) state.Line {
	l.Due, l.DueLast, l.Started, l.Ended = copyOf(l.Due), copyOf(l.DueLast), copyOf(l.Started), copyOf(l.Ended)
	l.ExitCode, l.Schedule, l.Resume = copyOf(l.ExitCode), copyOf(l.Schedule), copyOf(l.Resume)
	l.Tell = slices.Clone(l.Tell)
	return l
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
