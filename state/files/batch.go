package files

import (
	"context"
	"fmt"

	"github.com/ouro-timer/ouro-timer/state"
)

// batchMost is how many tasks are added in one turn: enough to share the waits for the disk, few enough that others do not
// wait long for theirs.
const batchMost = 256

// AddAll writes the files of many tasks side by side, appends their lines to the ledger at once, and renames the files to
// where the runner sees them. After a crash in between the next change finishes those whose lines are there; the others
// never were.
func (s *Store) AddAll(ctx context.Context, drafts []state.Draft) []state.Added {
	results := make([]state.Added, len(drafts))
	for from := 0; from < len(drafts); from += batchMost {
		to := min(from+batchMost, len(drafts))
		if err := s.addSome(ctx, drafts[from:to], results[from:to]); err != nil {
			for i := from; i < len(drafts); i++ {
				if results[i].Err == nil && results[i].Entry.Task.ID == "" {
					results[i].Err = err
				}
			}
			break
		}
	}
	return results
}

// addSome is one turn of AddAll. Its error is of all the drafts that have no result yet.
func (s *Store) addSome(ctx context.Context, drafts []state.Draft, results []state.Added) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	count, err := t.nextID()
	if err != nil {
		return err
	}
	b := batch{turn: t, count: count}
	for i, d := range drafts {
		if err := b.prepare(d, &results[i]); err != nil {
			results[i].Err = err
		}
	}
	if len(b.tasks) == 0 {
		return nil
	}
	if b.write() == nil {
		return nil
	}
	// Something did not go through, such as the last free block. One by one, each gets an answer of its own.
	for _, p := range b.tasks {
		e, err := t.add(p.draft.Task, p.draft.Due)
		*p.result = state.Added{Entry: e, Err: err}
	}
	return nil
}

// batch is what one turn adds.
type batch struct {
	*turn
	count uint64 // the next task's
	tasks []batched
	keys  map[string]state.Entry
}

type batched struct {
	prepared
	draft  state.Draft
	result *state.Added
}

// prepare makes one draft ready, unless it cannot be kept or its key is taken.
func (b *batch) prepare(d state.Draft, result *state.Added) error {
	if err := state.Check(d.Task, d.Due); err != nil {
		return err
	}
	if key := d.Task.Key; key != "" {
		e, taken := b.keys[key]
		if !taken {
			var err error
			if e, taken, err = b.keyed(key); err != nil {
				return err
			}
		}
		if taken {
			result.Entry = e
			return state.ErrKept
		}
	}
	p, err := prepare(d.Task, d.Due, b.count)
	if err != nil {
		return err
	}
	b.count++
	if p.Task.Key != "" {
		if b.keys == nil {
			b.keys = map[string]state.Entry{}
		}
		b.keys[p.Task.Key] = p.Entry
	}
	b.tasks = append(b.tasks, batched{p, d, result})
	return nil
}

// write makes the tasks durable. On error none of them is there.
func (b *batch) write() error {
	var files []newFile
	var temps, keys []string
	for _, p := range b.tasks {
		temps = append(temps, fresh(b.path(queueDir)))
		files = append(files, newFile{temps[len(temps)-1], p.data})
	}
	for _, p := range b.tasks {
		if p.Task.Key != "" {
			keys = append(keys, fresh(b.path(keysDir)))
			files = append(files, newFile{keys[len(keys)-1], keyText(p.Task.ID, p.place())})
		}
	}
	err := b.disk.createAll(files)
	if err == nil && len(keys) > 0 {
		err = b.takeKeys(keys)
	}
	if err == nil {
		err = b.commit(temps)
	}
	if err != nil {
		for _, f := range append(temps, keys...) {
			b.disk.remove(f)
		}
	}
	return err
}

// takeKeys renames the keys' files, in the order of the tasks that have one, to where they are read.
func (b *batch) takeKeys(files []string) error {
	for _, p := range b.tasks {
		if p.Task.Key == "" {
			continue
		}
		if err := b.disk.rename(files[0], b.path(keyPlace(p.Task.Key))); err != nil {
			return err
		}
		files = files[1:]
	}
	return b.disk.syncDir(b.path(keysDir))
}

// commit appends the lines and renames the files. On error nothing has happened.
func (b *batch) commit(temps []string) error {
	before := b.end
	entries := make([]entry, len(b.tasks))
	for i, p := range b.tasks {
		entries[i] = entry{p.line, redo{IDs: b.count - uint64(len(b.tasks)-i), From: inQueue(temps[i]), To: p.place()}}
	}
	end, err := b.appendLines(before, entries...)
	if err != nil {
		return err
	}
	b.end = end
	if err := b.apply(); err != nil {
		// None has been seen by anybody: the lock is held. They go back, and the lines with them.
		for i, p := range b.tasks {
			if b.disk.rename(b.path(p.place()), temps[i]) != nil {
				continue
			}
		}
		if b.disk.cut(b.path(ledgerFile), before.size) != nil {
			for _, p := range b.tasks { // the lines stand, and the next turn finishes them
				p.result.Err = fmt.Errorf("%w; the task may be added later", fail("adding tasks", err))
			}
			return nil
		}
		b.end = before
		return err
	}
	b.remember()
	for _, p := range b.tasks {
		p.result.Entry = p.Entry
	}
	return nil
}
