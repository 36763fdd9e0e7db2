package files

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// batchMost is the most changes of a transaction. More changes share one wait for the disk, but
// keep others waiting longer.
const batchMost = 256

// inBatches does n things in as few transactions as possible. If a transaction cannot be committed,
// each of its things is done alone and gets its own answer. After ctx has ended, no further one is
// begun.
func (s *Store) inBatches(ctx context.Context, n int, do func(tx state.Transaction, i int) error, answer func(i int, err error)) {
	for from := 0; from < n; {
		limits, err := s.limited() // before the lock is taken
		var t *tx
		if err == nil {
			t, err = s.begin(ctx)
		}
		if err != nil {
			for ; from < n; from++ {
				answer(from, err)
			}
			return
		}
		t.limits = limits
		from, _ = t.batch(from, min(n, from+batchMost), do, answer)
		t.done()
	}
}

// batch does the things from one on, and returns the first that is left to do, and why the last
// commit failed.
func (t *tx) batch(from, to int, do func(tx state.Transaction, i int) error, answer func(i int, err error)) (next int, err error) {
	var refused []error // nil for one that is collected
	i := from
	for ; i < to; i++ {
		err := do(t, i)
		if errors.Is(err, errPart) && slices.Contains(refused, nil) {
			break
		}
		refused = append(refused, err)
	}
	if err = t.collect(); err == nil {
		err = t.commit()
	}
	if err == nil || i == from+1 || errors.Is(err, errLater) {
		for k, why := range refused {
			answer(from+k, cmp.Or(why, err))
		}
		return i, err
	}
	// also those refused because of another one, which may not be committed
	for k := from; k < i; k++ {
		t.forget()
		if _, err := t.batch(k, k+1, do, answer); errors.Is(err, errLater) {
			return k + 1, err // the rest is for the next transaction
		}
	}
	return i, nil
}

// Dry returns a handle that answers what changes would do. It takes the lock that readers share,
// and creates nothing in a folder that is still empty.
func (s *Store) Dry() state.TaskWriter {
	return state.Dry(func(ctx context.Context, planned state.Planned, do func(state.Transaction) error) error {
		limits, err := s.limited()
		if err != nil {
			return err
		}
		limits.Planned = planned
		return s.look(ctx, func() error {
			t := &tx{Store: s, limits: limits, dry: true}
			t.forget()
			t.next.Mail = "-" // nobody is told
			return do(t)
		})
	})
}

// NextID returns the ID of the next new task.
func (t *tx) NextID() string { return state.ID(t.next.IDs) }

// Load reads a task.
func (t *tx) Load(c state.Change) (state.Doc, error) {
	d, err := t.doc(c)
	if err != nil {
		return state.Doc{}, err
	}
	return d.Doc, nil
}

// Holder finds the task that has a key.
func (t *tx) Holder(key string) (state.Doc, bool, error) {
	d, taken, err := t.keyed(key)
	if err != nil || !taken {
		return state.Doc{}, false, err
	}
	return d.Doc, true, nil
}

// Admit refuses a change beyond the limits.
func (t *tx) Admit(before *state.Doc, after state.Doc, now time.Time) error {
	return t.limits.Admit(before, after, census{t, now}, now)
}

// Put collects how a task is to stand, and the lines about it.
func (t *tx) Put(before *state.Doc, after state.Doc, lines []state.Line, c state.Change) (_ state.Doc, err error) {
	d := t.docs[after.Task.ID]
	if before == nil {
		d = &stored{}
	}
	var data []byte
	if !d.part {
		if _, err := foundOf(after); err != nil {
			return state.Doc{}, err
		}
		if before == nil || after.Task.Revision != before.Task.Revision {
			if data, after.Task, err = codec.EncodeTask(after.Task, d.unknown); err != nil {
				return state.Doc{}, err
			}
		}
	}
	if c.Undone != nil && !t.dry {
		// A number that still has output is not used again. If the output cannot be removed, the
		// number is skipped.
		t.removeRun(c.ID, before.Open[before.Claim(c.Undone.Due)].Number, &state.Pruned{})
	}
	ids := t.next.IDs
	if before == nil {
		t.next.IDs++
	}
	if err := t.collectLines(lines, before, after, c.Now); err != nil {
		t.next.IDs = ids
		return state.Doc{}, err
	}
	if after.Task.Key != "" && after.Lives() && (before == nil || !before.Lives()) {
		t.keys[after.Task.Key] = after.Task.ID
	}
	d.Doc, d.changed = after, true
	if data != nil {
		d.data = data
	}
	t.docs[after.Task.ID] = d
	return after, nil
}

// collectLines collects the lines of a change, and those of its origin's quota. On an error it has
// collected nothing.
func (t *tx) collectLines(lines []state.Line, before *state.Doc, after state.Doc, now time.Time) (err error) {
	ops, said, next := len(t.ops), len(t.lines), t.next
	for _, l := range lines {
		if err == nil {
			err = t.write(l)
		}
	}
	if err == nil {
		err = t.enter(before, after, now)
	}
	if err != nil {
		t.ops, t.lines, t.next = t.ops[:ops], t.lines[:said], next
	}
	return err
}
