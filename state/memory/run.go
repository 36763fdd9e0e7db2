package memory

import (
	"context"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Fire opens a claim that is no occurrence.
func (s *Store) Fire(ctx context.Context, id string, by state.Ident, now time.Time) (state.Record, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return state.Record{}, err
	}
	defer unlock()
	e, ok := s.tasks[id]
	if !ok {
		return state.Record{}, state.ErrNotFound
	}
	if e.Phase == state.Removed {
		return state.Record{}, state.ErrEnded
	}
	due := state.UTC(now)
	for due.Equal(e.Due) || slices.ContainsFunc(e.Open, func(o state.Record) bool { return o.Due.Equal(due) }) {
		due = due.Add(1)
	}
	r := state.Record{Task: e.Task, Due: due, Number: nextNumber(e), Manual: true, Claimed: state.UTC(now), Runner: by}
	e.Open = append(e.Open, r)
	s.tell()
	return copyRecord(r), nil
}

// Note keeps what is known of a claim's attempts.
func (s *Store) Note(ctx context.Context, r state.Record) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	e, i := s.claim(r)
	if i < 0 {
		return state.ErrEnded
	}
	note(&e.Open[i], r)
	e.Open[i].Runner = r.Runner
	return nil
}

// Halt asks for the end of a run.
func (s *Store) Halt(ctx context.Context, r state.Record, why string) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	e, i := s.claim(r)
	if i < 0 {
		return state.ErrEnded
	}
	e.Open[i].Halt = why
	s.tell()
	return nil
}

// Halted returns the open claims whose end was asked for.
func (s *Store) Halted(ctx context.Context) (list []state.Record, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, e := range s.tasks {
		for _, r := range e.Open {
			if r.Halt != "" {
				list = append(list, copyRecord(r))
			}
		}
	}
	return list, nil
}

// Finish ends a task whose stop condition is met.
func (s *Store) Finish(ctx context.Context, id, why string, now time.Time) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	e, err := s.later(id)
	if err != nil {
		return err
	}
	line := state.TaskLine(e.Entry, state.EventFinished, now)
	line.Reason = why
	s.ledger = append(s.ledger, line)
	s.step(e, time.Time{})
	return nil
}

// ClaimAll claims one after the other.
func (s *Store) ClaimAll(ctx context.Context, wants []state.Want, by state.Ident, now time.Time) []state.Granted {
	all := make([]state.Granted, len(wants))
	for i, w := range wants {
		all[i].Record, all[i].Err = s.Claim(ctx, w.ID, w.Due, w.Next, by, now)
	}
	return all
}

// EndAll ends one after the other.
func (s *Store) EndAll(ctx context.Context, ends []state.Ending) []error {
	all := make([]error, len(ends))
	for i, e := range ends {
		all[i] = s.End(ctx, e.Record, e.Line)
	}
	return all
}
