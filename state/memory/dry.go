package memory

import (
	"context"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// dry is a handle whose changes are made to a copy of the tasks, which is thrown away after each
// call.
type dry struct {
	state.Verbs
	s    *Store
	keys map[string]state.Entry // of earlier drafts
}

// Dry returns a handle that says what would become of changes.
func (s *Store) Dry() state.Changes {
	d := &dry{s: s, keys: map[string]state.Entry{}}
	d.Verbs = state.Verbs{Changer: d}
	return d
}

// copy is a store with the same tasks and the same limits.
func (s *Store) copy() *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := New()
	c.Limits, c.made, c.tasks, c.creations = s.Limits, s.made, map[string]*task{}, map[string][]time.Time{}
	for id, t := range s.tasks {
		c.tasks[id] = &task{Doc: t.Doc}
	}
	for origin, times := range s.creations {
		c.creations[origin] = slices.Clone(times)
	}
	return c
}

// Add says what Store.Add would answer.
func (d *dry) Add(ctx context.Context, t state.Task, due time.Time) (state.Entry, error) {
	a := d.AddAll(ctx, []state.Draft{{Task: t, Due: due}})[0]
	return a.Entry, a.Err
}

// AddAll says of each draft what Store.AddAll would answer.
func (d *dry) AddAll(ctx context.Context, drafts []state.Draft) []state.Added {
	c := d.s.copy()
	answers := make([]state.Added, len(drafts))
	for i, draft := range drafts {
		key := draft.Task.Key
		if e, taken := d.keys[key]; taken {
			answers[i] = state.Added{Entry: e, Err: state.ErrKept}
			continue
		}
		e, err := c.Add(ctx, draft.Task, draft.Due)
		if err == nil {
			e.Task.ID = ""
		}
		if err == nil && key != "" {
			d.keys[key] = e
		}
		answers[i] = state.Added{Entry: e, Err: err}
	}
	return answers
}

// Change says what Store.Change would answer.
func (d *dry) Change(ctx context.Context, changes ...state.Change) []state.Changed {
	return d.s.copy().Change(ctx, changes...)
}

// Charge says what Store.Charge would answer.
func (d *dry) Charge(ctx context.Context, origin string, now time.Time) error {
	return d.s.copy().Charge(ctx, origin, now)
}

// Dry is this handle.
func (d *dry) Dry() state.Changes { return d }
