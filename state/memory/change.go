package memory

import (
	"context"
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

// keyed is the task that lives and has the key, or nil. One that has ended does not live, also while somebody runs it by hand.
func (s *Store) keyed(key string) *task {
	if key == "" {
		return nil
	}
	for _, e := range s.tasks {
		if e.Task.Key != key || e.Phase == state.Removed {
			continue
		}
		if e.Phase != state.Ended || slices.ContainsFunc(e.Open, func(r state.Record) bool { return !r.Manual }) {
			return e
		}
	}
	return nil
}

// later is a task that has later occurrences.
func (s *Store) later(id string) (*task, error) {
	e, ok := s.tasks[id]
	if !ok {
		return nil, state.ErrNotFound
	}
	if e.Phase != state.Pending && e.Phase != state.Paused {
		return nil, state.ErrEnded
	}
	return e, nil
}

// Update replaces what a task says.
func (s *Store) Update(ctx context.Context, t state.Task, due, now time.Time) (state.Entry, error) {
	return s.replace(ctx, t, due, now, state.EventEdited)
}

// Rewind is Update after the clock was put back.
func (s *Store) Rewind(ctx context.Context, t state.Task, due, now time.Time) (state.Entry, error) {
	return s.replace(ctx, t, due, now, state.EventClock)
}

func (s *Store) replace(ctx context.Context, t state.Task, due, now time.Time, event string) (state.Entry, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer unlock()
	e, err := s.later(t.ID)
	if err != nil {
		return state.Entry{}, err
	}
	if t.Revision != e.Task.Revision {
		return state.Entry{}, state.ErrConflict
	}
	to := e.Due
	if !due.IsZero() && !due.Equal(e.Due) {
		floor := e.Tally.Floor()
		if event == state.EventClock {
			floor = time.Time{}
		}
		if err := free(due, floor, e.Open); err != nil {
			return state.Entry{}, err
		}
		to = state.UTC(due)
	}
	t = t.Clone().UTC()
	t.Format, t.Revision, t.Key, t.Created = state.Format, t.Revision+1, e.Task.Key, e.Task.Created
	if err := state.Check(t, to); err != nil {
		return state.Entry{}, err
	}
	if t.Origin != e.Task.Origin && t.Origin != "" {
		limits, err := s.limits()
		if err == nil {
			err = limits.CheckPending(t.Origin, s.waiting(t.Origin))
		}
		if err != nil {
			return state.Entry{}, err
		}
	}
	e.Task, e.Due = t, to
	s.place(e)
	s.changed(e, event, now)
	if line := s.ledger[len(s.ledger)-1]; line.Counts() {
		e.Tally.Count(line)
	}
	return view(e), nil
}

// Pause takes a task out of the queue.
func (s *Store) Pause(ctx context.Context, id string, resume, now time.Time) (state.Entry, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer unlock()
	e, err := s.later(id)
	if err != nil {
		return state.Entry{}, err
	}
	if !resume.IsZero() {
		if err := state.CheckDue(resume); err != nil {
			return state.Entry{}, err
		}
	}
	e.Phase, e.Held, e.Resume = state.Paused, true, state.UTC(resume)
	s.place(e)
	s.changed(e, state.EventPaused, now)
	return view(e), nil
}

// Resume puts a task back into the queue.
func (s *Store) Resume(ctx context.Context, id string, now time.Time) (state.Entry, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return state.Entry{}, err
	}
	defer unlock()
	e, err := s.later(id)
	if err != nil {
		return state.Entry{}, err
	}
	if e.Phase != state.Paused {
		return state.Entry{}, state.ErrTaken
	}
	if err := checkFree(e, e.Due); err != nil {
		return state.Entry{}, err
	}
	e.Phase, e.Held, e.Resume = state.Pending, false, time.Time{}
	s.place(e)
	s.changed(e, state.EventResumed, now)
	return view(e), nil
}

// Release undoes a claim for which nothing was started.
func (s *Store) Release(ctx context.Context, r state.Record) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	e, i := s.claim(r)
	if i < 0 {
		return state.ErrEnded
	}
	r = e.Open[i]
	others := slices.Delete(slices.Clone(e.Open), i, i+1)
	if r.Manual {
		e.Open = others
		s.tell()
		return nil
	}
	moved := e.Phase == state.Pending && e.Due.After(r.Due) || e.Phase == state.Ended && e.Due.Equal(r.Due)
	if !moved || e.Task.Revision != r.Task.Revision || free(r.Due, e.Tally.Floor(), others) != nil {
		return state.ErrTaken
	}
	e.Open = others
	e.Phase, e.Due = state.Pending, r.Due
	s.place(e)
	s.tell()
	return nil
}
