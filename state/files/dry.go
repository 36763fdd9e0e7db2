package files

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Dry returns a handle that says what would become of changes at this moment, and makes none. It has the lock that readers share, and makes
// nothing where there is nothing yet. Drafts that would take a key take it for those that come later; added tasks have no ID.
type Dry struct {
	state.Verbs
	s    *Store
	keys map[string]state.Entry
}

// Dry returns such a handle.
func (s *Store) Dry() *Dry {
	d := &Dry{s: s, keys: map[string]state.Entry{}}
	d.Verbs = state.Verbs{Changer: d}
	return d
}

// with calls f with a transaction whose changes are thrown away.
func (d *Dry) with(ctx context.Context, f func(t *tx) error) error {
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

// AddAll says of each draft what Store.AddAll would answer. The limits count these drafts alone.
func (d *Dry) AddAll(ctx context.Context, drafts []state.Draft) []state.Added {
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

func (d *Dry) add(t *tx, draft state.Draft) (state.Entry, error) {
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
func (d *Dry) Change(ctx context.Context, changes ...state.Change) []state.Changed {
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
func (d *Dry) Charge(ctx context.Context, origin string, now time.Time) error {
	return d.with(ctx, func(t *tx) error { return t.charge(origin, now) })
}
