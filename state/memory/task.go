package memory

import "github.com/ouro-timer/ouro-timer/state"

// task is a task, and who waits for it.
type task struct {
	state.Doc
	waiting int // how many do
}

// entry is the task as callers see it.
func (t *task) entry() state.Entry {
	e := t.Entry()
	e.Attended = t.waiting > 0 && e.Phase == state.Pending
	return e
}
