// Package memory is a Store without a disk: for tests of what is built on a Store, where nothing may wait for the outside.
// It keeps every promise of state.Store but the one about the end of the process.
package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Store is a state.Store in memory. The zero value is ready to use. Several runners may share one.
type Store struct {
	mu       sync.Mutex
	made     int
	tasks    map[string]*task
	open     map[key]state.Record
	ledger   []state.Line
	leader   *state.Leader
	watchers map[chan struct{}]bool
}

type task struct {
	state.Task
	due   time.Time
	phase state.Phase
	tally state.Tally
}

type key struct {
	id     string
	number int
}

var _ state.Store = (*Store)(nil)

// Add makes a task pending.
func (s *Store) Add(_ context.Context, t state.Task, due time.Time) (state.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks == nil {
		s.tasks, s.open, s.watchers = map[string]*task{}, map[key]state.Record{}, map[chan struct{}]bool{}
	}
	s.made++
	t.ID, t.Format, t.Revision = fmt.Sprintf("m%03d", s.made), state.Format, 1
	s.tasks[t.ID] = &task{Task: t, due: due, phase: state.Pending}
	s.ledger = append(s.ledger, state.Line{Type: state.LineTask, At: t.Created, TaskID: t.ID, Event: "created", When: t.When.Text, Zone: t.When.Zone, Due: &due, Description: t.Summary()})
	s.changed()
	return s.entry(s.tasks[t.ID]), nil
}

// changed tells the watchers. It is called under the lock.
func (s *Store) changed() {
	for w := range s.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

func (s *Store) entry(t *task) state.Entry {
	e := state.Entry{Task: t.Task, Due: t.due, Phase: t.phase, Tally: t.tally}
	for _, r := range s.open {
		if r.Task.ID == t.ID {
			e.Open = append(e.Open, r)
		}
	}
	slices.SortFunc(e.Open, func(a, b state.Record) int { return a.Claimed.Compare(b.Claimed) })
	return e
}

// Find returns the tasks whose ID is id or begins with it.
func (s *Store) Find(_ context.Context, id string) ([]state.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.tasks[id]; ok {
		return []state.Entry{s.entry(t)}, nil
	}
	var found []state.Entry
	for _, t := range s.tasks {
		if strings.HasPrefix(t.ID, id) {
			found = append(found, s.entry(t))
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %s", state.ErrNotFound, id)
	}
	slices.SortFunc(found, func(a, b state.Entry) int { return strings.Compare(a.Task.ID, b.Task.ID) })
	return found, nil
}

// List returns the tasks of the phases, next due first.
func (s *Store) List(_ context.Context, phases ...state.Phase) ([]state.Entry, []state.Problem, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sorted(func(e state.Entry) bool {
		return slices.Contains(phases, e.Phase) || len(e.Open) > 0 && slices.Contains(phases, state.Running)
	}), nil, nil
}

func (s *Store) sorted(fits func(state.Entry) bool) []state.Entry {
	var list []state.Entry
	for _, t := range s.tasks {
		if e := s.entry(t); fits(e) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b state.Entry) int {
		if c := a.Due.Compare(b.Due); c != 0 {
			return c
		}
		return strings.Compare(a.Task.ID, b.Task.ID)
	})
	return list
}

// Next returns the earliest due instant after the given one.
func (s *Store) Next(_ context.Context, after time.Time) (time.Time, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.sorted(func(e state.Entry) bool { return e.Phase == state.Pending && e.Due.After(after) })
	if len(list) == 0 {
		return time.Time{}, false, nil
	}
	return list[0].Due, true, nil
}

// DueBy returns the pending tasks due at or before t.
func (s *Store) DueBy(_ context.Context, t time.Time, limit int) ([]state.Entry, []state.Problem, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.sorted(func(e state.Entry) bool { return e.Phase == state.Pending && !e.Due.After(t) })
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, nil, nil
}

// Remove ends a task.
func (s *Store) Remove(_ context.Context, id string, now time.Time) (state.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tasks[id]
	if !ok {
		return state.Entry{}, fmt.Errorf("%w: %s", state.ErrNotFound, id)
	}
	if t.phase != state.Pending {
		return state.Entry{}, fmt.Errorf("task %s: %w", id, state.ErrEnded)
	}
	t.phase = state.Removed
	s.ledger = append(s.ledger, state.Line{Type: state.LineTask, At: now, TaskID: id, Event: "removed", Description: t.Summary()})
	s.changed()
	return s.entry(t), nil
}

// Restore undoes Remove.
func (s *Store) Restore(_ context.Context, id string, due, now time.Time) (state.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tasks[id]
	if !ok {
		return state.Entry{}, fmt.Errorf("%w: %s", state.ErrNotFound, id)
	}
	if t.phase != state.Removed {
		return state.Entry{}, fmt.Errorf("task %s: %w", id, state.ErrEnded)
	}
	t.phase, t.due = state.Pending, due
	s.ledger = append(s.ledger, state.Line{Type: state.LineTask, At: now, TaskID: id, Event: "restored", When: t.When.Text, Zone: t.When.Zone, Due: &due, Description: t.Summary()})
	s.changed()
	return s.entry(t), nil
}

// Move changes the due instant of a task.
func (s *Store) Move(_ context.Context, id string, due, to, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.at(id, due)
	if err != nil {
		return err
	}
	t.due = to
	s.ledger = append(s.ledger, state.Line{Type: state.LineTask, At: now, TaskID: id, Event: "moved", When: t.When.Text, Zone: t.When.Zone, Due: &to, Description: t.Summary()})
	s.changed()
	return nil
}

// Claim takes an occurrence.
func (s *Store) Claim(_ context.Context, id string, due, next time.Time, by state.Ident, now time.Time) (state.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.at(id, due)
	if err != nil {
		return state.Record{}, err
	}
	number := t.tally.Number
	for k := range s.open {
		if k.id == id {
			number = max(number, k.number)
		}
	}
	r := state.Record{Task: t.Task, Due: due, Number: number + 1, Claimed: now, Runner: by}
	s.open[key{id, r.Number}] = r
	t.move(next)
	s.changed()
	return r, nil
}

// at returns the pending task if it is due at due and that instant has not ended.
func (s *Store) at(id string, due time.Time) (*task, error) {
	t, ok := s.tasks[id]
	if !ok || t.phase != state.Pending || !t.due.Equal(due) || !t.tally.LastDue.IsZero() && !due.After(t.tally.LastDue) {
		return nil, fmt.Errorf("task %s: %w", id, state.ErrTaken)
	}
	return t, nil
}

func (t *task) move(next time.Time) {
	if next.IsZero() {
		t.phase = state.Ended
	} else {
		t.due = next
	}
}

// Started notes the process of a claim.
func (s *Store) Started(_ context.Context, r state.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.open[key{r.Task.ID, r.Number}]; ok {
		s.open[key{r.Task.ID, r.Number}] = r
	}
	return nil
}

// Skip ends occurrences without a run.
func (s *Store) Skip(_ context.Context, id string, due, next time.Time, line state.Line) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.at(id, due)
	if err != nil {
		return err
	}
	s.ledger = append(s.ledger, line)
	t.tally.Last, t.tally.LastDue, t.tally.LastEnd = string(line.Outcome), due, line.At
	if line.DueLast != nil {
		t.tally.LastDue = *line.DueLast
	}
	t.move(next)
	s.changed()
	return nil
}

// End closes a claim.
func (s *Store) End(_ context.Context, r state.Record, line state.Line) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := key{r.Task.ID, r.Number}
	if _, ok := s.open[k]; !ok {
		return nil
	}
	s.ledger = append(s.ledger, line)
	if t, ok := s.tasks[r.Task.ID]; ok {
		t.tally.Number = max(t.tally.Number, r.Number)
		t.tally.Last, t.tally.LastEnd = string(line.Outcome), line.At
		if line.Outcome.Ran() {
			t.tally.Fired++
		}
		if !r.Manual && r.Due.After(t.tally.LastDue) {
			t.tally.LastDue = r.Due
		}
	}
	delete(s.open, k)
	s.changed()
	return nil
}

// Open returns the open claims.
func (s *Store) Open(context.Context) ([]state.Record, []state.Problem, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []state.Record
	for _, r := range s.open {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b state.Record) int { return a.Claimed.Compare(b.Claimed) })
	return list, nil, nil
}

// Log reads the ledger, newest first.
func (s *Store) Log(_ context.Context, taskID string, yield func(state.Line) bool) ([]state.Problem, error) {
	s.mu.Lock()
	lines := slices.Clone(s.ledger)
	s.mu.Unlock()
	for _, l := range slices.Backward(lines) {
		if (taskID == "" || l.TaskID == taskID) && !yield(l) {
			break
		}
	}
	return nil, nil
}

// OutputPaths names no files: there are none.
func (s *Store) OutputPaths(string, int) (stdout, stderr string) { return "", "" }

type lease struct {
	s *Store
	l *state.Leader
}

func (l lease) Release() error {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.s.leader == l.l {
		l.s.leader = nil
	}
	return nil
}

// Lead takes the runner lock.
func (s *Store) Lead(_ context.Context, r state.Leader) (state.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leader != nil {
		return nil, state.ErrLed
	}
	s.leader = &r
	return lease{s, &r}, nil
}

// Led says who has the runner lock.
func (s *Store) Led(context.Context) (state.Leader, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leader == nil {
		return state.Leader{}, false, nil
	}
	return *s.leader, true, nil
}

// SetAside has nothing to do: what is in memory can be read.
func (s *Store) SetAside(context.Context, time.Duration) ([]state.Problem, error) { return nil, nil }

// Watch tells of changes.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) {
	w := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers == nil {
		s.tasks, s.open, s.watchers = map[string]*task{}, map[key]state.Record{}, map[chan struct{}]bool{}
	}
	s.watchers[w] = true
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, w)
	})
	return w, nil
}
