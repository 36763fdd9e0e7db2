package files

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// dry is a handle that makes no changes. It has the lock that readers share, and makes nothing where there is nothing yet.
type dry struct {
	state.Verbs
	s    *Store
	keys map[string]state.Entry
}

// Dry returns a handle that says what would become of changes.
func (s *Store) Dry() state.Changes {
	d := &dry{s: s, keys: map[string]state.Entry{}}
	d.Verbs = state.Verbs{Changer: d}
	return d
}

// with calls f with a transaction whose changes are thrown away.
func (d *dry) with(ctx context.Context, f func(t *tx) error) error {
	limits, err := d.s.limited()
	if err != nil {
		return err
	}
	return d.s.look(ctx, func() error {
		t := &tx{Store: d.s, limits: limits, dry: true}
		t.forget()
		t.next.Mail = "-" // nobody is told
		return f(t)
	})
}

// Add says what Store.Add would answer.
func (d *dry) Add(ctx context.Context, t state.Task, due time.Time) (state.Entry, error) {
	a := d.AddAll(ctx, []state.Draft{{Task: t, Due: due}})[0]
	return a.Entry, a.Err
}

// AddAll says of each draft what Store.AddAll would answer. The limits count these drafts alone.
func (d *dry) AddAll(ctx context.Context, drafts []state.Draft) []state.Added {
	answers := make([]state.Added, len(drafts))
	err := d.with(ctx, func(t *tx) error {
		for i, draft := range drafts {
			answers[i].Entry, answers[i].Err = d.add(t, draft)
		}
		return ctx.Err()
	})
	for i := range answers {
		if err != nil {
			answers[i] = state.Added{Err: err}
		}
	}
	return answers
}

func (d *dry) add(t *tx, draft state.Draft) (state.Entry, error) {
	if e, taken := d.keys[draft.Task.Key]; taken {
		return e, state.ErrKept
	}
	e, err := t.add(draft)
	if err == nil && draft.Task.Key != "" {
		d.keys[draft.Task.Key] = e
	}
	return e, err
}

// Change says what Store.Change would answer.
func (d *dry) Change(ctx context.Context, changes ...state.Change) []state.Changed {
	answers := make([]state.Changed, len(changes))
	err := d.with(ctx, func(t *tx) error {
		for i, c := range changes {
			answers[i].Doc, answers[i].Err = t.change(c)
		}
		return ctx.Err()
	})
	for i := range answers {
		if err != nil {
			answers[i] = state.Changed{Err: err}
		}
	}
	return answers
}

// Charge says what Store.Charge would answer.
func (d *dry) Charge(ctx context.Context, origin string, now time.Time) error {
	return d.with(ctx, func(t *tx) error { return t.charge(origin, now) })
}

// Dry is this handle.
func (d *dry) Dry() state.Changes { return d }
