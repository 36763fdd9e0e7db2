package state

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"
)

// Transaction is a change of a store by one writer. It returns what rules need to know, and stores
// what they decide. Later calls in the same transaction see what was put. Others see all of it or
// nothing. Every store makes its changes by AddIn, ApplyIn and Charge.
type Transaction interface {
	// Load returns the document of a task, or ErrNotFound.
	Load(c Change) (Doc, error)

	// Holder returns the task that lives and has the key. It is false if there is none. No task has
	// the empty key.
	Holder(key string) (Doc, bool, error)

	// Admit refuses a change beyond the limits, as Limits.Admit does.
	Admit(before *Doc, after Doc, now time.Time) error

	// NextID returns the ID of the next new task that is put.
	NextID() string

	// Put stores the document of a task after a change, and the lines of the change. before is nil
	// for a new task. It returns the stored document.
	Put(before *Doc, after Doc, lines []Line, c Change) (Doc, error)

	// Charge counts a creation of an origin. It refuses one beyond the limits.
	Charge(origin string, now time.Time) error
}

// AddIn adds a task in a transaction, as TaskWriter.AddAll promises for each draft.
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

// ApplyIn applies a rule in a transaction, as Changer promises for each change.
func ApplyIn(tx Transaction, c Change) (Doc, error) {
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

// HolderIn returns the task that lives and has the key, as TaskWriter.Holder promises.
func HolderIn(tx Transaction, key string) (Entry, error) {
	d, taken, err := tx.Holder(key)
	if err == nil && !taken {
		err = ErrNotFound
	}
	return d.Entry(), err
}

// admit refuses a change after which two tasks would have one key, and returns the other one. It
// also refuses a change beyond the limits.
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

// Transactions makes the n changes of a call. It calls do for each, with any number of them in one
// transaction, and answer once for each, with the reason if it was refused or could not be stored.
// If changes cannot be stored together, it makes them again, one by one.
type Transactions func(ctx context.Context, n int, do func(tx Transaction, i int) error, answer func(i int, err error))

// AddAll adds tasks.
func (each Transactions) AddAll(ctx context.Context, drafts []Draft) []Added {
	answers := make([]Added, len(drafts))
	each(ctx, len(drafts), func(tx Transaction, i int) (err error) {
		answers[i].Entry, err = AddIn(tx, drafts[i])
		return err
	}, func(i int, err error) {
		if answers[i].Err = err; err != nil && !errors.Is(err, ErrKept) {
			answers[i].Entry = Entry{}
		}
	})
	return answers
}

// Apply applies rules to tasks.
func (each Transactions) Apply(ctx context.Context, changes ...Change) []Applied {
	answers := make([]Applied, len(changes))
	each(ctx, len(changes), func(tx Transaction, i int) (err error) {
		answers[i].Doc, err = ApplyIn(tx, changes[i])
		return err
	}, func(i int, err error) { answers[i].Err = err })
	return answers
}

// Holder returns the task that lives and has the key.
func (each Transactions) Holder(ctx context.Context, key string) (e Entry, err error) {
	each(ctx, 1, func(tx Transaction, _ int) (err error) {
		e, err = HolderIn(tx, key)
		return err
	}, func(_ int, refused error) { err = refused })
	return e, err
}

// Charge notes a creation of an origin.
func (each Transactions) Charge(ctx context.Context, origin string, now time.Time) (err error) {
	each(ctx, 1, func(tx Transaction, _ int) error { return tx.Charge(origin, now) }, func(_ int, refused error) { err = refused })
	return err
}

// Dry returns what TaskWriter.Dry of a store returns. transact calls its function with a
// transaction that is thrown away, and whose limits have what was planned. It may do so again if
// the store has changed meanwhile.
func Dry(transact func(context.Context, Planned, func(Transaction) error) error) TaskWriter {
	d := &dry{keys: map[string]Doc{}}
	planned := Planned{} // by earlier calls
	d.Transactions = func(ctx context.Context, n int, do func(tx Transaction, i int) error, answer func(i int, err error)) {
		refused := make([]error, n)
		var dry dryTransaction
		err := transact(ctx, planned, func(tx Transaction) error {
			dry = dryTransaction{Transaction: tx, earlier: d.keys, keys: map[string]Doc{}}
			for i := range n {
				refused[i] = do(&dry, i)
			}
			return ctx.Err()
		})
		maps.Copy(d.keys, dry.keys)
		for _, t := range dry.added {
			planned[t.Origin] = append(planned[t.Origin], t.Created)
		}
		for i, why := range refused {
			answer(i, cmp.Or(err, why))
		}
	}
	d.Verbs = Verbs{d}
	return d
}

// dry is the TaskWriter that Dry returns.
type dry struct {
	Transactions
	Verbs
	keys map[string]Doc // what earlier drafts with a key would be
}

func (d *dry) Dry() TaskWriter { return d }

// dryTransaction is a transaction in which the tasks that would be added have no ID and keep their
// keys.
type dryTransaction struct {
	Transaction
	earlier, keys map[string]Doc // of earlier transactions, and of this one
	added         []Task
}

func (t *dryTransaction) Holder(key string) (Doc, bool, error) {
	for _, keys := range []map[string]Doc{t.earlier, t.keys} {
		if d, taken := keys[key]; taken {
			return d, true, nil
		}
	}
	return t.Transaction.Holder(key)
}

func (t *dryTransaction) Put(before *Doc, after Doc, lines []Line, c Change) (Doc, error) {
	d, err := t.Transaction.Put(before, after, lines, c)
	if err == nil && before == nil {
		t.added = append(t.added, d.Task)
		if d.Task.ID = ""; d.Task.Key != "" {
			t.keys[d.Task.Key] = d
		}
	}
	return d, err
}
