package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

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
	t, err := s.beginLimited(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	count, err := t.nextID()
	if err != nil {
		return err
	}
	b := batch{turn: t, count: count, keys: map[string]state.Entry{}}
	var waiting []int // drafts whose answer is not known before the disk has taken the others
	for i, d := range drafts {
		var waits bool
		if results[i], waits = b.prepare(d); waits {
			waiting = append(waiting, i)
		}
	}
	if len(b.tasks) == 0 {
		return nil
	}
	if err = b.write(); err == nil {
		for k, i := range slices.DeleteFunc(waiting, func(i int) bool { return results[i].Err != nil }) {
			results[i].Entry = b.tasks[k].Entry
		}
		return nil
	}
	for _, i := range waiting {
		if errors.Is(err, errStands) {
			results[i] = state.Added{Err: err}
			continue
		}
		// Something did not go through, such as the last free block. One by one, each gets an answer of its own.
		results[i].Entry, results[i].Err = t.add(drafts[i].Task, drafts[i].Due)
	}
	return nil
}

// batch is what one turn adds.
type batch struct {
	*turn
	count uint64 // the next task's
	tasks []prepared
	keys  map[string]state.Entry
}

// prepare makes one draft ready, unless it cannot be kept or its key is taken. It reports whether the answer is not final.
func (b *batch) prepare(d state.Draft) (a state.Added, waits bool) {
	if a.Err = state.Check(d.Task, d.Due); a.Err != nil {
		return a, false
	}
	if e, taken := b.keys[d.Task.Key]; taken {
		return state.Added{Entry: e, Err: state.ErrKept}, true
	}
	e, taken, err := b.keyed(d.Task.Key)
	if err != nil {
		return state.Added{Err: err}, false
	}
	if taken {
		return state.Added{Entry: e, Err: state.ErrKept}, false
	}
	if d.Task.Created.IsZero() {
		d.Task.Created = time.Now()
	}
	if err := b.admit(d.Task, true, d.Task.Created); err != nil {
		return state.Added{Err: err}, false
	}
	p, err := prepare(d.Task, d.Due, b.count)
	if err == nil {
		err = b.enter(p.Task, p.place(), true, p.Task.Created)
	}
	if err != nil {
		return state.Added{Err: err}, false
	}
	b.count++
	if p.Task.Key != "" {
		b.keys[p.Task.Key] = p.Entry
	}
	b.tasks = append(b.tasks, p)
	return a, true
}

// errStands is a batch that is in the ledger and could be neither finished nor taken back: the next turn finishes it.
var errStands = errors.New("the tasks may be added later")

// write makes the tasks durable. On an error other than errStands none of them is there.
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
		err = b.keepBooks()
	}
	if err == nil {
		err = b.commit(temps)
	}
	if err != nil && !errors.Is(err, errStands) { // else the next turn needs the files
		for _, f := range append(temps, keys...) {
			b.disk.remove(f)
		}
		b.dropBooks()
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
		entries[i] = entry{Line: p.line, Store: redo{IDs: b.count - uint64(len(b.tasks)-i), From: inQueue(temps[i]), To: p.place()}}
	}
	end, err := b.appendLines(before, entries...)
	if err != nil {
		return err
	}
	b.end = end
	if err = b.apply(); err == nil {
		b.remember()
		return nil
	}
	// None has been seen by anybody: the lock is held. They go back, durably, and then the lines.
	for i, p := range b.tasks {
		if _, gone := os.Lstat(b.path(p.place())); gone == nil && b.disk.rename(b.path(p.place()), temps[i]) != nil {
			return fmt.Errorf("%w; %w", fail("adding tasks", err), errStands)
		}
	}
	if b.disk.syncDir(b.path(queueDir)) != nil || b.disk.cut(b.path(ledgerFile), before.size) != nil {
		return fmt.Errorf("%w; %w", fail("adding tasks", err), errStands)
	}
	b.end = before
	return err
}
