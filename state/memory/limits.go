package memory

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

func (s *Store) limits() (state.Limits, error) {
	if s.Limits == nil {
		return state.Limits{}, nil
	}
	return s.Limits()
}

// waiting is how many tasks of an origin wait; of everybody for the empty one.
func (s *Store) waiting(origin string) (n int) {
	for _, e := range s.tasks {
		if (e.Phase == state.Pending || e.Phase == state.Paused) && (origin == "" || e.Task.Origin == origin) {
			n++
		}
	}
	return n
}

// admit refuses a task that is to wait from now on when a limit has been reached, and else notes its creation if it is one. A wait that
// is part of no run is never refused.
func (s *Store) admit(t state.Task, anew bool, now time.Time) error {
	limits, err := s.limits()
	if err != nil || t.Type() == state.TypeWait && t.Origin == "" {
		return err
	}
	origin := t.Origin
	if limits.Tasks > 0 {
		if err := limits.CheckTasks(s.waiting("")); err != nil {
			return err
		}
	}
	if origin == "" {
		return nil
	}
	if limits.Pending > 0 {
		if err := limits.CheckPending(origin, s.waiting(origin)); err != nil {
			return err
		}
	}
	if !anew {
		return nil
	}
	return s.charge(limits, origin, now)
}

// charge notes a creation, unless there were enough.
func (s *Store) charge(limits state.Limits, origin string, now time.Time) error {
	if limits.PerHour <= 0 {
		return nil
	}
	if err := limits.CheckHour(origin, s.creations[origin], now); err != nil {
		return err
	}
	if s.creations == nil {
		s.creations = map[string][]time.Time{}
	}
	s.creations[origin] = append(state.Recent(s.creations[origin], now), state.UTC(now))
	return nil
}

// Charge notes a creation of an origin.
func (s *Store) Charge(ctx context.Context, origin string, now time.Time) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	limits, err := s.limits()
	if err != nil || origin == "" {
		return err
	}
	return s.charge(limits, origin, now)
}
