package memory

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// tx is a transaction. The store is locked while there is one.
type tx struct {
	*Store
	limits state.Limits
}

// each calls do n times, each time in a transaction of its own.
func (s *Store) each(ctx context.Context, n int, do func(tx state.Transaction, i int) error, answer func(i int, err error)) {
	for i := range n {
		answer(i, s.transact(ctx, func(t tx) error { return do(t, i) }))
	}
}

// transact calls f in a transaction.
func (s *Store) transact(ctx context.Context, f func(t tx) error) (err error) {
	var limits state.Limits
	if s.Limits != nil {
		if limits, err = s.Limits(); err != nil {
			return err
		}
	}
	if ended := s.do(ctx, func() { err = f(tx{s, limits}) }); ended != nil {
		return ended
	}
	return err
}

// Dry returns a TaskWriter that changes a copy of the tasks, which is thrown away after each call.
func (s *Store) Dry() state.TaskWriter {
	return state.Dry(func(ctx context.Context, planned state.Planned, f func(state.Transaction) error) error {
		return s.transact(ctx, func(t tx) error {
			c := New()
			c.made = s.made
			for id, d := range s.tasks {
				c.tasks[id] = d
			}
			for origin, times := range s.creations {
				c.creations[origin] = slices.Clone(times)
			}
			t.limits.Planned = planned
			return f(tx{c, t.limits})
		})
	})
}

// NextID is the ID of the next task.
func (t tx) NextID() string { return state.ID(t.made) }

// Load returns the document of a task.
func (t tx) Load(c state.Change) (state.Doc, error) {
	d, ok := t.tasks[c.ID]
	if !ok {
		return d, state.ErrNotFound
	}
	return d, nil
}

// Holder returns the live task that has a key, and whether there is one.
func (t tx) Holder(key string) (state.Doc, bool, error) {
	for _, d := range t.tasks {
		if key != "" && d.Task.Key == key && d.Lives() {
			return d, true, nil
		}
	}
	return state.Doc{}, false, nil
}

// Admit returns an error if a change exceeds the limits.
func (t tx) Admit(before *state.Doc, after state.Doc, now time.Time) error {
	return t.limits.Admit(before, after, t, now)
}

// Put replaces the document of a task, and appends lines to the ledger. before is nil for a new
// task.
func (t tx) Put(before *state.Doc, after state.Doc, lines []state.Line, c state.Change) (state.Doc, error) {
	was := state.Slot{ID: after.Task.ID, Gone: true}
	if before == nil {
		t.made++
		t.charge(after.Task.Origin, c.Now)
	} else {
		was = before.Slot()
	}
	edited := before == nil || before.Task.Revision != after.Task.Revision
	t.tasks[after.Task.ID] = after
	t.moved(was, after.Slot(), edited)
	for _, l := range lines {
		t.write(l)
	}
	t.watchers.send()
	t.logWatchers.send()
	return after, nil
}

// Charge counts a creation against the hourly limit of an origin, unless that is used up.
func (t tx) Charge(origin string, now time.Time) error {
	err := t.limits.CheckHour(origin, t.creations[origin], now)
	if err == nil {
		t.charge(origin, now)
	}
	return err
}

// charge notes a creation of an origin.
func (s *Store) charge(origin string, now time.Time) {
	if origin != "" {
		s.creations[origin] = append(state.Recent(s.creations[origin], now), state.UTC(now))
	}
}

// Waiting returns how many tasks wait.
func (t tx) Waiting() (n int, err error) {
	for _, d := range t.tasks {
		if d.Waits() {
			n++
		}
	}
	return n, nil
}

// Pending returns how many tasks of an origin wait.
func (t tx) Pending(origin string) (n int, err error) {
	for _, d := range t.tasks {
		if d.Waits() && d.Task.Origin == origin {
			n++
		}
	}
	return n, nil
}

// Made returns when an origin made tasks during the last hour.
func (t tx) Made(origin string) ([]time.Time, error) { return t.creations[origin], nil }

// Started notes the process of a claim. It does nothing if the claim has ended.
func (s *Store) Started(ctx context.Context, r state.Record) error {
	err := s.Apply(ctx, state.Change{ID: r.Task.ID, Rule: state.Started(r)})[0].Err
	if errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound) {
		return nil
	}
	return err
}

// Put adds a task from another store, with its ID, its tally and its open claims. It writes nothing
// to the ledger. Add may later give out the same ID.
func (s *Store) Put(e state.Entry) {
	d := state.Doc{Task: e.Task.Clone(), Due: e.Due, Phase: e.Phase, Resume: e.Resume, Tally: e.Tally}
	for _, r := range e.Open {
		d.Open = append(d.Open, r.Clone())
	}
	switch {
	case e.Held:
		d.Phase = state.Paused
	case e.Phase == state.Running:
		d.Phase = state.Pending
		if slices.ContainsFunc(e.Open, func(r state.Record) bool { return !r.Manual && r.Due.Equal(e.Due) }) {
			d.Phase = state.Ended // the open claim is its last
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved(s.tasks[e.Task.ID].Slot(), d.Slot(), true)
	s.tasks[e.Task.ID] = d
}

// entry returns the task as callers see it.
func (s *Store) entry(d state.Doc) state.Entry {
	e := d.Entry()
	e.Awaited = s.waiting[e.Task.ID] > 0 && e.Phase == state.Pending
	return e
}

// Find returns the tasks whose ID is id or begins with it.
func (s *Store) Find(ctx context.Context, id string) (list []state.Entry, err error) {
	err = s.do(ctx, func() {
		for _, d := range s.tasks {
			if state.MatchID(d.Task.ID, id) {
				list = append(list, s.entry(d))
			}
		}
	})
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

// List returns the tasks in the phases, or all tasks if there are no phases.
func (s *Store) List(ctx context.Context, phases ...state.Phase) (state.Listing, error) {
	var list []state.Entry
	wakes := map[string]time.Time{}
	err := s.do(ctx, func() {
		for id, d := range s.tasks {
			if len(phases) == 0 || slices.Contains(phases, d.Shown()) {
				list, wakes[id] = append(list, s.entry(d)), d.Wake()
			}
		}
	})
	slices.SortFunc(list, state.Compare)
	return state.Listing{
		Len:  len(list),
		Wake: func(i int) time.Time { return wakes[list[i].Task.ID] },
		Read: func(i int, into *state.Entry) ([]state.Problem, error) { *into = list[i]; return nil, nil },
	}, err
}

// Open returns the open claims, oldest first.
func (s *Store) Open(ctx context.Context) (list []state.Record, _ []state.Problem, err error) {
	err = s.do(ctx, func() {
		for _, d := range s.tasks {
			list = append(list, d.Entry().Open...)
		}
	})
	slices.SortFunc(list, state.CompareClaims)
	return list, nil, err
}

// Halted returns the open claims that are to be stopped.
func (s *Store) Halted(ctx context.Context) ([]state.Record, error) {
	list, _, err := s.Open(ctx)
	return slices.DeleteFunc(list, func(r state.Record) bool { return r.Halt == "" }), err
}

// follower is a state.Queue that Follow returned.
type follower struct {
	store  *Store
	signal <-chan struct{}
	whole  bool         // the next Take returns all tasks
	moves  []state.Slot // where tasks have come and gone since the last Take
}

// Follow returns a queue of the tasks, until ctx ends.
func (s *Store) Follow(ctx context.Context) (state.Queue, error) {
	signal, err := s.watch(ctx, s.watchers)
	if err != nil {
		return nil, err
	}
	f := &follower{store: s, signal: signal, whole: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.followers = append(s.followers, f)
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.followers = slices.DeleteFunc(s.followers, func(o *follower) bool { return o == f })
	})
	return f, nil
}

// Changed returns a channel that receives after changes.
func (f *follower) Changed() <-chan struct{} { return f.signal }

// Take returns the places of the tasks that have changed since the last Take. whole says that they
// are the places of all tasks.
func (f *follower) Take(ctx context.Context) (list iter.Seq[state.Slot], whole bool, err error) {
	var slots []state.Slot
	err = f.store.do(ctx, func() {
		if slots, whole = f.moves, f.whole; whole {
			for _, d := range f.store.tasks {
				if slot := d.Slot(); !slot.Gone {
					slots = append(slots, slot)
				}
			}
		}
		f.moves, f.whole = nil, false
	})
	return slices.Values(slots), whole, err
}

// moved notes for the followers that a task has moved to another place in the queue, or was edited.
func (s *Store) moved(from, to state.Slot, edited bool) {
	if from.Same(to) && from.Gone == to.Gone && !edited {
		return
	}
	for _, f := range s.followers {
		if f.whole {
			continue
		}
		if !from.Gone && !from.Same(to) {
			gone := from
			gone.Gone = true
			f.moves = append(f.moves, gone)
		}
		if !to.Gone {
			f.moves = append(f.moves, to)
		}
	}
}
