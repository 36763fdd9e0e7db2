package files

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// pruneMost is the most files of tasks or of output that one transaction removes.
const pruneMost = 256

// Prune looks for what is old without the state lock, and removes it in short transactions, each of
// which looks again. The files of a task go in one commit, and its output after that. The next
// Prune finds what a process that dies has left.
func (s *Store) Prune(ctx context.Context, keep state.Keep, now time.Time) (p state.Pruned, err error) {
	if err := s.guard(); err != nil {
		return p, err
	}
	if _, err := os.Lstat(s.path(runsDir)); missing(err) {
		return p, ctx.Err()
	}
	before := time.Time{}
	if keep.Ended > 0 {
		before = now.Add(-keep.Ended)
		err = s.pruneTasks(ctx, before, now, &p)
	}
	if err == nil && (keep.Ended > 0 || keep.Ledger > 0) {
		err = s.pruneLedger(ctx, before, keep.Ledger, &p)
	}
	if err == nil && (keep.Runs > 0 || keep.Output > 0) {
		err = s.pruneOutput(ctx, keep, &p)
	}
	if err == nil {
		err = s.pruneInbox(ctx, keep, now, &p)
	}
	if err == nil {
		err = s.pruneQuotas(ctx, now)
	}
	return p, err
}

// former is a task that is over, or what a process that died in Prune has left of one.
type former struct {
	found        // zero if its file is gone
	id    string // of the task
	key   string
	files []string // of its output
}

// pruneTasks drops the tasks that ended or were removed before the instant.
func (s *Store) pruneTasks(ctx context.Context, before, now time.Time, p *state.Pruned) error {
	old, err := s.formers(ctx, before, now)
	if err != nil {
		return err
	}
	for len(old) > 0 {
		n, files := 0, 0
		for n < len(old) && (n == 0 || files < pruneMost) {
			f := &old[n]
			if f.files, err = s.outputNames(f.id); err != nil {
				return err
			}
			files += 2 + len(f.files)
			n++
		}
		if err := s.transact(ctx, func(t *tx) error { return t.prune(old[:n], p) }); err != nil {
			return err
		}
		old = old[n:]
	}
	return nil
}

// formers finds them. It lists the names first, and reads only the tallies of those that were due
// long enough ago.
func (s *Store) formers(ctx context.Context, before, now time.Time) (list []former, err error) {
	// Very many names are read without the lock. In this order no living task is missed, except one
	// that moves meanwhile. That one looks gone, and prune looks again.
	tallied, err := s.tallied()
	if err != nil {
		return nil, err
	}
	outputs, err := readNames(s.path(outputDir))
	if err != nil {
		return nil, err
	}
	var over names
	for dir := range taskDirs {
		if taskDirs[dir] != endedDir && taskDirs[dir] != removedDir {
			continue
		}
		if err := s.listTasks(dir, &over, nil); err != nil {
			return nil, err
		}
	}
	living, err := s.snapshot(ctx, queueOnly, "")
	if err != nil {
		return nil, err
	}
	remains := slices.AppendSeq(outputs, maps.Keys(tallied))
	known, err := s.filesOf(living, &over, remains)
	if err != nil {
		return nil, err
	}
	for f := range over.found() {
		if known[f.id] > 1 {
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !s.outdated(f, before, now) {
			continue
		}
		task, err := s.readTask(f.place(), f.id)
		if err != nil {
			continue // it has moved, or is set aside
		}
		list = append(list, former{found: f, id: f.id, key: task.Key})
	}
	// Tasks whose file is gone, and what is left of them.
	left := map[string]bool{}
	for _, id := range remains {
		if state.WholeID(id) && known[id] == 0 {
			left[id] = true
		}
	}
	for id := range left {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if s.leftFor(id).Before(before) {
			list = append(list, former{id: id})
		}
	}
	// for one replay to be like another
	slices.SortFunc(list, func(a, b former) int { return strings.Compare(a.id, b.id) })
	return list, nil
}

// filesOf returns how many files or claims each task has that is over or of which something
// remains: 0, 1, or 2 for more. Very many tasks may wait, and most of them do not matter here. A
// task with a file in corruptDir has 2: its user may mend the file and move it back.
func (s *Store) filesOf(living, over *names, remains []string) (map[string]uint8, error) {
	known := make(map[string]uint8, len(over.tasks)+len(remains))
	for f := range over.found() {
		known[f.id] = 0
	}
	for _, id := range remains {
		known[id] = 0
	}
	for _, all := range []*names{living, over} {
		for id := range all.ids(nil) {
			if n, asked := known[id]; asked {
				known[id] = min(n+1, 2)
			}
		}
	}
	aside, err := s.idsIn(corruptDir)
	if err != nil {
		return nil, err
	}
	for _, id := range aside {
		known[id] = 2
	}
	return known, nil
}

// outdated reports whether a task ended or was removed before the instant.
func (s *Store) outdated(f found, before, now time.Time) bool {
	d := f.doc(state.Task{ID: f.id})
	// A task can have ended before it was due, as by a stop condition. Those are few.
	if d.Phase == state.Ended && !d.Due.Before(before) && !d.Due.After(now) {
		return false
	}
	since := d.RemovedAt
	if d.Phase == state.Ended {
		v, err := s.readTally(f.id)
		if err != nil {
			return false
		}
		since = v.LastEnd
	}
	if !since.IsZero() {
		return since.Before(before)
	}
	// It never had an occurrence, or a version that did not note the instant removed it. Either
	// happened after the file was written.
	info, err := os.Lstat(s.path(f.place()))
	return err == nil && d.Due.Before(before) && info.ModTime().Before(before)
}

// leftFor is when what is left of a task was last written.
func (s *Store) leftFor(id string) (t time.Time) {
	v, err := s.readTally(id)
	if err == nil && !v.LastEnd.IsZero() {
		return v.LastEnd
	}
	for _, place := range []string{tallyPlace(id), outputDir + "/" + id} {
		if info, err := os.Lstat(s.path(place)); err == nil && info.ModTime().After(t) {
			t = info.ModTime()
		}
	}
	return t
}

// prune is one transaction of pruneTasks.
func (t *tx) prune(list []former, p *state.Pruned) error {
	which := openOnly
	if slices.ContainsFunc(list, func(f former) bool { return f.dir == "" }) { // rare
		which = everything
	}
	all, err := t.list(which, "")
	if err != nil {
		return err
	}
	there, err := t.existingIn(all)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(slices.Clone(list), func(f former) bool {
		if f.dir == "" {
			return there[f.id]
		}
		_, err := os.Lstat(t.path(f.place()))
		// restored, pruned by another process, or run by hand
		return err != nil || len(all.open[f.id]) > 0
	})
	n := 0
	for _, f := range list {
		t.forgetTask(f)
		if f.dir != "" {
			n++
		}
	}
	if err := t.commit(); err != nil {
		return err
	}
	p.Tasks += n
	for _, f := range list {
		if err := t.forgetOutput(f, p); err != nil && f.dir == "" {
			return err // the next Prune finds what is left of the others
		}
	}
	return nil
}

// forgetTask collects the removal of a task's file, of its tally, and of its key's file if that
// still names the task. A task that is over has no right to its key; a restore makes the file
// again.
func (t *tx) forgetTask(f former) {
	places := []string{tallyPlace(f.id)}
	if f.dir != "" {
		places = append(places, f.place())
	}
	if f.key != "" {
		if id, _, err := t.readKey(keyPlace(f.key)); err == nil && id == f.id {
			places = append(places, keyPlace(f.key))
		}
	}
	for _, place := range places {
		t.drop(place)
	}
}

// forgetOutput removes the output of a task whose file is gone. It does not wait for the disk: what
// a loss of power brings back is removed again.
func (t *tx) forgetOutput(f former, p *state.Pruned) error {
	runs := map[int]bool{}
	for _, file := range f.files {
		if err := t.removeOutput(f.id, file, p); err != nil {
			return err
		}
		if n, ok := runOf(file); ok && !runs[n] {
			runs[n] = true
			p.Runs++
		}
	}
	err := t.disk.remove(t.path(outputDir + "/" + f.id))
	// other files in the folder are the user's own
	if err != nil && !missing(err) && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.EEXIST) {
		return fail("pruning", err)
	}
	return nil
}

// removeOutput removes a file of a task's output.
func (t *tx) removeOutput(id, file string, p *state.Pruned) error {
	path := t.path(outputDir + "/" + id + "/" + file)
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() {
		return nil
	}
	if err := t.disk.remove(path); err != nil && !missing(err) {
		return fail("pruning output", err)
	}
	p.Bytes += info.Size()
	return nil
}
