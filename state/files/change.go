package files

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// batchMost is how many changes share one transaction: enough to share the wait for the disk, few enough that others do not wait long for theirs.
const batchMost = 256

// AddAll adds many tasks.
func (s *Store) AddAll(ctx context.Context, drafts []state.Draft) []state.Added {
	answers := make([]state.Added, len(drafts))
	s.inBatches(ctx, len(drafts), func(t *tx, i int) (err error) {
		answers[i].Entry, err = state.AddIn(t, drafts[i])
		return err
	}, func(i int, err error) { answers[i].Err = err })
	for i, a := range answers {
		if a.Err != nil && !errors.Is(a.Err, state.ErrKept) {
			answers[i].Entry = state.Entry{}
		}
	}
	return answers
}

// Change applies rules to tasks.
func (s *Store) Change(ctx context.Context, changes ...state.Change) []state.Changed {
	answers := make([]state.Changed, len(changes))
	s.inBatches(ctx, len(changes), func(t *tx, i int) (err error) {
		answers[i].Doc, err = state.ChangeIn(t, changes[i])
		return err
	}, func(i int, err error) { answers[i].Err = err })
	return answers
}

// inBatches does n things in as few transactions as there is room for. When one cannot be committed each of its things is done alone, and gets an
// answer of its own. Once ctx has ended no more are begun.
func (s *Store) inBatches(ctx context.Context, n int, do func(t *tx, i int) error, answer func(i int, err error)) {
	for from := 0; from < n; {
		t, err := s.beginLimited(ctx)
		if err != nil {
			for ; from < n; from++ {
				answer(from, err)
			}
			return
		}
		from = t.batch(from, min(n, from+batchMost), do, answer)
		t.done()
	}
}

// batch does the things from one on, and returns the first that is left to be done.
func (t *tx) batch(from, to int, do func(t *tx, i int) error, answer func(i int, err error)) int {
	var done []int
	i := from
	for ; i < to; i++ {
		err := do(t, i)
		if errors.Is(err, errPart) && len(done) > 0 {
			break
		}
		if answer(i, err); err == nil {
			done = append(done, i)
		}
	}
	err := t.finish()
	if err == nil {
		return i
	}
	if i == from+1 || errors.Is(err, errLater) {
		for _, k := range done {
			answer(k, err)
		}
		return i
	}
	for k := from; k < i; k++ { // also what was refused because of another one, which may not come to be
		t.forget()
		err := do(t, k)
		if err == nil {
			err = t.finish()
		}
		answer(k, err)
		if errors.Is(err, errLater) {
			return k + 1 // what it has left is for the next transaction to see to
		}
	}
	return i
}

// finish commits what was collected of tasks.
func (t *tx) finish() error {
	if err := t.collect(); err != nil {
		return err
	}
	return t.commit()
}

// Dry returns a handle that says what would become of changes. It has the lock that readers share, and makes nothing where there is nothing yet.
func (s *Store) Dry() state.Changes {
	return state.Dry(func(ctx context.Context, do func(state.Transaction) error) error {
		limits, err := s.limited()
		if err != nil {
			return err
		}
		return s.look(ctx, func() error {
			t := &tx{Store: s, limits: limits, dry: true}
			t.forget()
			t.next.Mail = "-" // nobody is told
			return do(t)
		})
	})
}

// NextID is what the next task is called.
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

// Admit refuses what is more than the limits let be.
func (t *tx) Admit(before *state.Doc, after state.Doc, now time.Time) error {
	return t.limits.Admit(before, after, census{t, now}, now)
}

// Put collects how a task is to stand, and the lines that say so.
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
		t.dropOutput(c.ID, before.Open[before.Claim(c.Undone.Due)].Number)
	}
	ids := t.next.IDs
	if before == nil {
		t.next.IDs++
	}
	if err := t.say(lines, before, after, c.Now); err != nil {
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

// dropOutput removes the files for the output of a run for which nothing was started: a number that has some is not given again.
func (t *tx) dropOutput(id string, number int) {
	files, err := t.outputNames(id)
	if err != nil {
		return // a number is left out, then
	}
	for _, f := range files {
		if n, ok := runOf(f); ok && n == number {
			t.disk.remove(t.path(outputDir + "/" + id + "/" + f))
		}
	}
}

// say collects the lines of a change, and what its origin's book gets. On error nothing was collected.
func (t *tx) say(lines []state.Line, before *state.Doc, after state.Doc, now time.Time) (err error) {
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
