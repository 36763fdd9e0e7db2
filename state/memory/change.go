package memory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// AddAll adds many tasks, one after the other.
func (s *Store) AddAll(ctx context.Context, drafts []state.Draft) []state.Added {
	results := make([]state.Added, len(drafts))
	for i, d := range drafts {
		results[i].Entry, results[i].Err = s.Add(ctx, d.Task, d.Due)
	}
	return results
}

// Add makes a task pending.
func (s *Store) Add(ctx context.Context, t state.Task, due time.Time) (state.Entry, error) {
	if err := state.Check(t, due); err != nil {
		return state.Entry{}, err
	}
	limits, unlock, err := s.limited(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer unlock()
	if t.Created.IsZero() {
		t.Created = time.Now()
	}
	t.ID = state.ID(s.made)
	d, lines := state.Create(t, due)
	if other, err := s.admit(limits, nil, d, d.Task.Created); err != nil {
		return other.Entry(), err
	}
	s.made++
	if s.tasks == nil {
		s.tasks = map[string]*task{}
	}
	s.tasks[t.ID] = &task{}
	s.charge(d.Task.Origin, d.Task.Created)
	return s.put(s.tasks[t.ID], d, lines).Entry(), nil
}

// Change applies rules to tasks, one after the other.
func (s *Store) Change(ctx context.Context, changes ...state.Change) []state.Changed {
	answers := make([]state.Changed, len(changes))
	for i, c := range changes {
		answers[i].Doc, answers[i].Err = s.change(ctx, c)
	}
	return answers
}

func (s *Store) change(ctx context.Context, c state.Change) (state.Doc, error) {
	limits, unlock, err := s.limited(ctx)
	if err != nil {
		return state.Doc{}, err
	}
	defer unlock()
	t, ok := s.tasks[c.ID]
	if !ok {
		return state.Doc{}, state.ErrNotFound
	}
	d, lines, err := c.Rule(t.Doc)
	if err != nil {
		return state.Doc{}, err
	}
	if other, err := s.admit(limits, &t.Doc, d, c.Now); err != nil {
		return other, err
	}
	return s.put(t, d, lines), nil
}

// limited begins a call that limits could forbid.
func (s *Store) limited(ctx context.Context) (limits state.Limits, unlock func(), err error) {
	if s.Limits != nil {
		if limits, err = s.Limits(); err != nil {
			return limits, nil, err
		}
	}
	unlock, err = s.lock(ctx)
	return limits, unlock, err
}

// admit refuses a change after which two tasks would have one key, with the other one, or there would be too many.
func (s *Store) admit(limits state.Limits, before *state.Doc, after state.Doc, now time.Time) (other state.Doc, err error) {
	if key := after.Task.Key; key != "" && after.Lives() && (before == nil || !before.Lives()) {
		for _, t := range s.tasks {
			if t.Task.Key == key && t.Lives() {
				return t.Doc, state.ErrKept
			}
		}
	}
	return other, limits.Admit(before, after, census{s}, now)
}

// put puts a task as it stands after a change in the place of how it stood, and the lines into the ledger.
func (s *Store) put(t *task, d state.Doc, lines []state.Line) state.Doc {
	t.Doc = d
	s.moved(t.Task.ID)
	s.say(d.Task)
	for _, l := range lines {
		s.write(l)
	}
	signal(s.watchers)
	signal(s.logWatchers)
	return d
}

// write appends a line to the ledger, and makes its mail.
func (s *Store) write(l state.Line) {
	l = l.Clone()
	s.ledger = append(s.ledger, l.Kept())
	signal(s.logWatchers)
	s.post(l)
}

// census counts what limits bound.
type census struct{ *Store }

func (c census) Waiting() (int, error) {
	return c.waiting(func(state.Task) bool { return true }), nil
}

func (c census) Pending(origin string) (int, error) {
	return c.waiting(func(t state.Task) bool { return t.Origin == origin }), nil
}

func (c census) Made(origin string) ([]time.Time, error) { return c.creations[origin], nil }

func (s *Store) waiting(of func(state.Task) bool) (n int) {
	for _, t := range s.tasks {
		if t.Waits() && of(t.Task) {
			n++
		}
	}
	return n
}

// charge notes a creation of an origin.
func (s *Store) charge(origin string, now time.Time) {
	if origin == "" {
		return
	}
	if s.creations == nil {
		s.creations = map[string][]time.Time{}
	}
	s.creations[origin] = append(state.Recent(s.creations[origin], now), state.UTC(now))
}

// Charge notes a creation of an origin.
func (s *Store) Charge(ctx context.Context, origin string, now time.Time) error {
	limits, unlock, err := s.limited(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := limits.CheckHour(origin, s.creations[origin], now); err != nil || origin == "" {
		return err
	}
	s.charge(origin, now)
	return nil
}

// Started notes the process of a claim. For one that has ended there is nothing to note.
func (s *Store) Started(ctx context.Context, r state.Record) error {
	_, err := s.change(ctx, state.Change{ID: r.Task.ID, Rule: state.Started(r)})
	if errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound) {
		return nil
	}
	return err
}

// Put places a task as it is, with its ID, its tally and its open claims: for who goes on from what another store has.
// Nothing is logged. IDs that Add gives later may meet it.
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
			d.Phase = state.Ended // what runs is its last
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks == nil {
		s.tasks = map[string]*task{}
	}
	t := s.tasks[e.Task.ID]
	if t == nil {
		t = &task{}
		s.tasks[e.Task.ID] = t
	}
	t.Doc = d
	s.moved(t.Task.ID)
}
