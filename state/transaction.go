package state

import (
	"context"
	"errors"
	"time"
)

// Transaction is one writer's time at a store: what rules need to know, and where what they decide goes. What is put is seen by what follows in
// the same transaction, and is there for others whole or not at all. Every store makes its changes by AddIn, ChangeIn and Charge.
type Transaction interface {
	// Load returns how a task stands. ErrNotFound when there is none.
	Load(c Change) (Doc, error)

	// Holder returns the task that lives and has a key; false when there is none. The empty key is nobody's.
	Holder(key string) (Doc, bool, error)

	// Admit refuses what is more than the limits let be, as Limits.Admit does.
	Admit(before *Doc, after Doc, now time.Time) error

	// NextID returns what the next task is called that is put.
	NextID() string

	// Put keeps how a task stands after a change, and the lines of the change; before is nil for a new task. It returns what is kept.
	Put(before *Doc, after Doc, lines []Line, c Change) (Doc, error)

	// Charge notes a creation of an origin, unless there would be more than the limits let be.
	Charge(origin string, now time.Time) error
}

// AddIn adds a task in a transaction, as Changes.AddAll promises for each draft.
func AddIn(tx Transaction, draft Draft) (Entry, error) {
	task := draft.Task
	if task.Created.IsZero() {
		task.Created = time.Now()
	}
	if err := Check(task, draft.Due); err != nil {
		return Entry{}, err
	}
	task.ID = tx.NextID()
	d, lines := Create(task, draft.Due)
	if other, err := admit(tx, nil, d, d.Task.Created); errors.Is(err, ErrKept) {
		return other.Entry(), err
	} else if err != nil {
		return Entry{}, err
	}
	d, err := tx.Put(nil, d, lines, Change{ID: task.ID, Now: d.Task.Created})
	if err != nil {
		return Entry{}, err
	}
	return d.Entry(), nil
}

// ChangeIn applies a rule in a transaction, as Changer promises for each change.
func ChangeIn(tx Transaction, c Change) (Doc, error) {
	before, err := tx.Load(c)
	if err != nil {
		return Doc{}, err
	}
	after, lines, err := c.Rule(before)
	if err != nil {
		return Doc{}, err
	}
	if other, err := admit(tx, &before, after, c.Now); err != nil {
		return other, err
	}
	return tx.Put(&before, after, lines, c)
}

// admit refuses a change after which two tasks would have one key, with the other one, or there would be too many.
func admit(tx Transaction, before *Doc, after Doc, now time.Time) (other Doc, err error) {
	if after.Lives() && (before == nil || !before.Lives()) {
		other, taken, err := tx.Holder(after.Task.Key)
		if err != nil {
			return Doc{}, err
		}
		if taken {
			return other, ErrKept
		}
	}
	return Doc{}, tx.Admit(before, after, now)
}

// Dry is the handle that Changes.Dry returns. Transact calls its function with a transaction of which nothing is kept.
func Dry(transact func(context.Context, func(Transaction) error) error) Changes {
	d := &dry{transact: transact, keys: map[string]Entry{}}
	d.Verbs = Verbs{d}
	return d
}

type dry struct {
	Verbs
	transact func(context.Context, func(Transaction) error) error
	keys     map[string]Entry // of earlier drafts
}

func (d *dry) Dry() Changes { return d }

func (d *dry) Charge(ctx context.Context, origin string, now time.Time) error {
	return d.transact(ctx, func(tx Transaction) error { return tx.Charge(origin, now) })
}

func (d *dry) Change(ctx context.Context, changes ...Change) []Changed {
	answers := make([]Changed, len(changes))
	err := d.transact(ctx, func(tx Transaction) error {
		for i, c := range changes {
			answers[i].Doc, answers[i].Err = ChangeIn(tx, c)
		}
		return ctx.Err()
	})
	for i := range answers {
		if err != nil {
			answers[i] = Changed{Err: err}
		}
	}
	return answers
}

func (d *dry) AddAll(ctx context.Context, drafts []Draft) []Added {
	answers := make([]Added, len(drafts))
	err := d.transact(ctx, func(tx Transaction) error {
		for i, draft := range drafts {
			answers[i].Entry, answers[i].Err = d.add(tx, draft)
		}
		return ctx.Err()
	})
	for i := range answers {
		if err != nil {
			answers[i] = Added{Err: err}
		}
	}
	return answers
}

func (d *dry) add(tx Transaction, draft Draft) (Entry, error) {
	key := draft.Task.Key
	if e, taken := d.keys[key]; taken {
		return e, ErrKept
	}
	e, err := AddIn(tx, draft)
	if err == nil {
		e.Task.ID = ""
		if key != "" {
			d.keys[key] = e
		}
	}
	return e, err
}
