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
	state.Doc
	wake time.Time // when a runner has to look at it, as the queue has it; zero: it is not there

	waiting int // how many wait for it
}

// entry is the task as callers see it.
func (t *task) entry() state.Entry {
	e := t.Entry()
	e.Attended = t.waiting > 0 && e.Phase == state.Pending
	return e
}

// place puts a task where it belongs in the queue. It is called after each change.
func (s *Store) place(t *task) {
	s.moved(t.Task.ID)
	at := t.Wake()
	if at.Equal(t.wake) {
		return
	}
	if !t.wake.IsZero() {
		i, _ := slices.BinarySearchFunc(s.queue, t, byWake)
		s.queue = slices.Delete(s.queue, i, i+1)
	}
	if t.wake = at; !at.IsZero() {
		i, _ := slices.BinarySearchFunc(s.queue, t, byWake)
		s.queue = slices.Insert(s.queue, i, t)
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
