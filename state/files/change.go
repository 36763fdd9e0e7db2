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

// Add makes a task pending.
func (s *Store) Add(ctx context.Context, t state.Task, due time.Time) (state.Entry, error) {
	answer := s.AddAll(ctx, []state.Draft{{Task: t, Due: due}})[0]
	return answer.Entry, answer.Err
}

// AddAll adds many tasks.
func (s *Store) AddAll(ctx context.Context, drafts []state.Draft) []state.Added {
	answers := make([]state.Added, len(drafts))
	s.inBatches(ctx, len(drafts), func(t *tx, i int) (err error) {
		answers[i].Entry, err = t.add(drafts[i])
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
		answers[i].Doc, err = t.change(changes[i])
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

// add collects a new task.
func (t *tx) add(draft state.Draft) (state.Entry, error) {
	task := draft.Task
	if task.Created.IsZero() {
		task.Created = time.Now()
	}
	if err := state.Check(task, draft.Due); err != nil {
		return state.Entry{}, err
	}
	task.ID = state.ID(t.next.IDs)
	d, lines := state.Create(task, draft.Due)
	if other, err := t.admit(nil, d, d.Task.Created); other != nil {
		return other.Entry(), err
	} else if err != nil {
		return state.Entry{}, err
	}
	data, task, err := codec.EncodeTask(d.Task, nil)
	if err != nil {
		return state.Entry{}, err
	}
	d.Task = task
	t.next.IDs++
	if err := t.say(lines, nil, d, d.Task.Created); err != nil {
		t.next.IDs--
		return state.Entry{}, err
	}
	t.docs[d.Task.ID] = &stored{Doc: d, data: data}
	if d.Task.Key != "" {
		t.keys[d.Task.Key] = d.Task.ID
	}
	e := d.Entry()
	if t.dry {
		e.Task.ID = ""
	}
	return e, nil
}

// change collects a change of a task.
func (t *tx) change(c state.Change) (state.Doc, error) {
	d, err := t.doc(c)
	if err != nil {
		return state.Doc{}, err
	}
	after, lines, err := c.Rule(d.Doc)
	if err != nil {
		return state.Doc{}, err
	}
	if d.part {
		if err := t.say(lines, &d.Doc, after, c.Now); err != nil {
			return state.Doc{}, err
		}
		d.Doc, d.changed = after, true
		return after, nil
	}
	if _, err := foundOf(after); err != nil {
		return state.Doc{}, err
	}
	if c.Undone != nil && !t.dry {
		t.dropOutput(c.ID, d.Open[d.Claim(c.Undone.Due)].Number)
	}
	if other, err := t.admit(&d.Doc, after, c.Now); other != nil {
		return other.Doc, err
	} else if err != nil {
		return state.Doc{}, err
	}
	var data []byte
	if after.Task.Revision != d.Task.Revision {
		if data, after.Task, err = codec.EncodeTask(after.Task, d.unknown); err != nil {
			return state.Doc{}, err
		}
	}
	if err := t.say(lines, &d.Doc, after, c.Now); err != nil {
		return state.Doc{}, err
	}
	if after.Task.Key != "" && after.Lives() && !d.Lives() {
		t.keys[after.Task.Key] = after.Task.ID
	}
	d.Doc, d.changed = after, true
	if data != nil {
		d.data = data
	}
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

// admit refuses a change after which two tasks would have one key, with the other one, or there would be too many.
func (t *tx) admit(before *state.Doc, after state.Doc, now time.Time) (other *stored, err error) {
	if after.Lives() && (before == nil || !before.Lives()) {
		if other, taken, err := t.keyed(after.Task.Key); err != nil {
			return nil, err
		} else if taken {
			return other, state.ErrKept
		}
	}
	return nil, t.limits.Admit(before, after, census{t, now}, now)
}
