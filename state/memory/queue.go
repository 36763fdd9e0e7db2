package memory

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// task is a task with its place in the queue.
type task struct {
	state.Entry
	gone time.Time // when it was removed
	wake time.Time // when a runner has to look at it, as the queue has it; zero: it is not there

	waiting int // how many wait for it
}

// wakes is when a runner has to look at a task; the zero instant for never.
func wakes(e *task) time.Time {
	switch e.Phase {
	case state.Pending:
		return e.Due
	case state.Paused:
		return e.Resume
	}
	return time.Time{}
}

// place puts a task where it belongs in the queue. It is called after each change of its phase, its due instant and the
// instant it is resumed at.
func (s *Store) place(e *task) {
	at := wakes(e)
	if at.Equal(e.wake) {
		return
	}
	if !e.wake.IsZero() {
		i, _ := slices.BinarySearchFunc(s.queue, e, byWake)
		s.queue = slices.Delete(s.queue, i, i+1)
	}
	if e.wake = at; !at.IsZero() {
		i, _ := slices.BinarySearchFunc(s.queue, e, byWake)
		s.queue = slices.Insert(s.queue, i, e)
	}
}

// byWake is the order of the queue.
func byWake(a, b *task) int {
	return cmp.Or(a.wake.Compare(b.wake), strings.Compare(a.Task.ID, b.Task.ID))
}

// wakesAfter is how many of the queue come at t or before.
func (s *Store) wakesAfter(t time.Time) int {
	i, _ := slices.BinarySearchFunc(s.queue, t, func(e *task, t time.Time) int {
		if e.wake.After(t) {
			return 1
		}
		return -1
	})
	return i
}

// Put places a task as it is, with its ID, its tally and its open claims: for who goes on from what another store has.
// Nothing is logged. IDs that Add gives later may meet it.
func (s *Store) Put(e state.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks == nil {
		s.tasks = map[string]*task{}
	}
	if old := s.tasks[e.Task.ID]; old != nil {
		old.Phase = state.Removed
		s.place(old)
	}
	k := &task{Entry: e}
	k.Task, k.Open = e.Task.Clone(), nil
	for _, r := range e.Open {
		k.Open = append(k.Open, copyRecord(r))
	}
	switch {
	case e.Held:
		k.Phase = state.Paused
	case e.Phase == state.Running:
		k.Phase = state.Pending
		for _, r := range e.Open {
			if !r.Manual && r.Due.Equal(e.Due) {
				k.Phase = state.Ended // what runs is its last
			}
		}
	}
	s.tasks[e.Task.ID] = k
	s.place(k)
}
