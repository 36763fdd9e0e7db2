package files

import (
	"cmp"
	"context"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// names is what the folders contain at one moment, by name only. It does not change.
type names struct {
	tasks []listed
	open  map[string][]name // open claims by task, oldest due first
}

// listed is a task's file in a listing. There may be very many, so it has only what found needs.
type listed struct {
	file string // a task's name, as parseTask has it
	dir  uint8  // in taskDirs
	rank uint8  // of its phase, in a list
}

// taskDirs are the folders with files of tasks, and taskPhases the phases of the tasks in each.
var (
	taskDirs   = [...]string{queueDir, pausedDir, endedDir, removedDir}
	taskPhases = [...]state.Phase{state.Pending, state.Paused, state.Ended, state.Removed}
)

// found parses the name, which was checked when it was listed.
func (l listed) found() (f found) {
	f.dir = taskDirs[l.dir]
	f.due = l.file[:len(stamp)]
	f.id = l.file[len(stamp)+1 : len(l.file)-len(suffix)]
	if dot := len(f.id) - len(stamp) - 1; dot > 0 { // no ID is so long
		f.id, f.extra = f.id[:dot], f.id[dot+1:]
	}
	return f
}

// found yields the files of all tasks, in no order.
func (all *names) found() iter.Seq[found] {
	return func(yield func(found) bool) {
		for _, l := range all.tasks {
			if !yield(l.found()) {
				return
			}
		}
	}
}

// found is a task's file: its name, and the folder it is in.
type found struct {
	name
	dir string
}

// parseTask reads the name of a task's file in a folder.
func parseTask(dir, file string) (found, bool) {
	n, ok := parseName(file)
	return found{n, dir}, ok && (n.extra == "" || dir == pausedDir || dir == removedDir)
}

// placed is the file of a task at a place, by its name. It is false if the name is not a task's.
func placed(place string) (found, bool) {
	f, ok := parseTask(path.Dir(place), path.Base(place))
	return f, ok && slices.Contains(taskDirs[:], f.dir)
}

func (f found) place() string { return f.dir + "/" + f.file() }

// which is the set of folders that a listing covers. Open records are always part of it.
type which int

const (
	openOnly  which = iota
	queueOnly       // and the paused
	living          // and the ended tasks that run
	everything
)

// taskDirsOf is how many of taskDirs, from the first, are read for each.
var taskDirsOf = [...]int{openOnly: 0, queueOnly: 2, living: 2, everything: 4}

// covering returns what to list for tasks of the phases.
func covering(phases []state.Phase) which {
	if len(phases) == 0 || slices.Contains(phases, state.Ended) || slices.Contains(phases, state.Removed) {
		return everything
	}
	return living
}

// list reads the names in the folders, of tasks whose ID begins with prefix. The caller holds the
// state lock, shared or exclusive.
func (s *Store) list(w which, prefix string) (*names, error) {
	all := &names{open: map[string][]name{}}
	for dir := range taskDirsOf[w] {
		var fits func(rest string) bool
		if prefix != "" {
			fits = func(rest string) bool { return strings.HasPrefix(rest, prefix) }
		}
		if err := s.listTasks(dir, all, fits); err != nil {
			return nil, err
		}
	}
	err := s.listOpen(all, prefix)
	if err == nil && w == living {
		err = s.listStrays(all)
	}
	return all, err
}

// listStrays adds the one-shots that still run, which have ended and are neither in the queue nor
// paused. The ended tasks are many, and are listed only if there are such claims.
func (s *Store) listStrays(all *names) error {
	if len(all.open) == 0 {
		return nil
	}
	strays := make(map[string]bool, len(all.open))
	for id := range all.open {
		strays[id] = true
	}
	for f := range all.found() {
		delete(strays, f.id)
	}
	if len(strays) == 0 {
		return nil
	}
	return s.listTasks(slices.Index(taskDirs[:], endedDir), all, func(rest string) bool {
		id, _, _ := strings.Cut(rest, ".")
		return strays[id]
	})
}

// listTasks adds the tasks in a folder of taskDirs whose name, from the ID on, fits. A nil fits
// accepts all.
func (s *Store) listTasks(dir int, all *names, fits func(rest string) bool) error {
	files, err := readNames(s.path(taskDirs[dir]))
	if err != nil {
		return err
	}
	if fits == nil {
		all.tasks = slices.Grow(all.tasks, len(files))
	}
	for _, f := range files {
		if len(f) <= len(stamp) || fits != nil && !fits(f[len(stamp)+1:]) {
			continue
		}
		if _, ok := parseTask(taskDirs[dir], f); ok {
			all.tasks = append(all.tasks, listed{file: f, dir: uint8(dir)})
		}
	}
	return nil
}

// listOpen adds the open claims.
func (s *Store) listOpen(all *names, prefix string) error {
	files, err := readNames(s.path(openDir))
	if err != nil {
		return err
	}
	for _, f := range files {
		if n, ok := parseRecordName(f); ok && strings.HasPrefix(n.id, prefix) {
			all.open[n.id] = append(all.open[n.id], n)
		}
	}
	for _, open := range all.open {
		slices.SortFunc(open, func(a, b name) int { return strings.Compare(a.due, b.due) })
	}
	return nil
}

// snapshot is list under the shared lock.
func (s *Store) snapshot(ctx context.Context, w which, prefix string) (all *names, err error) {
	err = s.look(ctx, func() (err error) {
		all, err = s.list(w, prefix)
		return err
	})
	return all, err
}

// readNames reads the names in a folder, in no order. A missing folder has none.
func readNames(dir string) ([]string, error) {
	d, err := plainfile.Folder(dir)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fail("reading a folder", err)
	}
	defer d.Close()
	files, err := d.Readdirnames(-1)
	return files, fail("reading a folder", err)
}

// ids yields all IDs of tasks with a file or a claim, and those of more.
func (all *names) ids(more []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for f := range all.found() {
			if !yield(f.id) {
				return
			}
		}
		for id := range all.open {
			if !yield(id) {
				return
			}
		}
		for _, id := range more {
			if !yield(id) {
				return
			}
		}
	}
}

// otherIDs returns the IDs of tasks of which only a tally, output, a set aside file, mail or a line
// of the ledger is left, and the largest count of IDs that a line has.
func (s *Store) otherIDs() (ids []string, count uint64, err error) {
	for _, dir := range []string{tallyDir, outputDir, corruptDir, inboxDir, outboxDir} {
		more, err := s.idsIn(dir)
		if err != nil {
			return nil, 0, err
		}
		ids = append(ids, more...)
	}
	err = s.history("", func(e ledger.Entry) bool {
		ids, count = append(ids, e.TaskID), max(count, e.Store.IDs)
		return true
	})
	return ids, count, err
}

// idsIn returns the IDs in the names in a folder.
func (s *Store) idsIn(dir string) (ids []string, err error) {
	files, err := readNames(s.path(dir))
	for _, f := range files {
		for part := range strings.SplitSeq(f, ".") {
			if state.WholeID(part) {
				ids = append(ids, part)
			}
		}
	}
	return ids, err
}

// existing returns the IDs of the tasks that have a file or a claim, or were set aside.
func (s *Store) existing(ctx context.Context) (map[string]bool, error) {
	all, err := s.snapshot(ctx, everything, "")
	if err != nil {
		return nil, err
	}
	return s.existingIn(all)
}

// existingIn is existing for names that were listed.
func (s *Store) existingIn(all *names) (map[string]bool, error) {
	aside, err := s.idsIn(corruptDir)
	there := map[string]bool{}
	for id := range all.ids(aside) {
		there[id] = true
	}
	return there, err
}

// doubles returns the files of each task that has more than one.
func (all *names) doubles() (doubles map[string][]found) {
	keys := make([]uint64, len(all.tasks))
	for i, l := range all.tasks {
		keys[i] = state.IDKey(l.found().id)
	}
	slices.Sort(keys)
	twice := map[uint64]bool{}
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] {
			twice[keys[i]] = true
		}
	}
	if len(twice) == 0 {
		return nil
	}
	doubles = map[string][]found{}
	for _, l := range all.tasks {
		if f := l.found(); twice[state.IDKey(f.id)] {
			doubles[f.id] = append(doubles[f.id], f)
		}
	}
	return doubles
}

// byTask groups the files by task. A crash or a copy by hand can leave more than one.
func (all *names) byTask() map[string][]found {
	groups := make(map[string][]found, len(all.tasks))
	for f := range all.found() {
		groups[f.id] = append(groups[f.id], f)
	}
	return groups
}

// winner returns the one of a task's files that counts: the highest revision, then the latest due,
// then the one in the queue. A file that cannot be read counts only if no other can be read.
func (s *Store) winner(files []found) (win found, losers []state.Problem) {
	if len(files) == 1 {
		return files[0], nil
	}
	type candidate struct {
		found
		revision int64
		err      error // why it cannot be read
	}
	var c []candidate
	for _, f := range files {
		t, err := s.readTask(f.place(), f.id)
		switch {
		case missing(err):
			continue
		case err != nil:
			t.Revision = -1
		}
		c = append(c, candidate{f, t.Revision, err})
	}
	if len(c) == 0 {
		return files[0], nil // all have moved, which the caller notices
	}
	slices.SortFunc(c, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.revision, a.revision), strings.Compare(b.due, a.due),
			slices.Index(taskDirs[:], a.dir)-slices.Index(taskDirs[:], b.dir))
	})
	for _, l := range c[1:] {
		p := state.Problem{Path: s.path(l.place()), Err: state.ErrCopy, Hint: "ouro-timer doctor --fix sets it aside, and so does a runner that starts"}
		if l.err != nil && (c[0].err != nil || !garbled(l.err)) { // it may be the newer one
			p = s.problem(l.found, l.err)
		}
		losers = append(losers, p)
	}
	return c[0].found, losers
}

// phase is where the task of a file stands.
func (all *names) phase(f found) state.Phase { return f.phase(len(all.open[f.id]) > 0) }

// phase is where a task stands by its file and by whether it has open claims.
func (f found) phase(open bool) state.Phase {
	if open && f.dir != removedDir {
		return state.Running
	}
	return taskPhases[slices.Index(taskDirs[:], f.dir)]
}

// stampOf writes an instant so that it compares with the due instants in names. An instant that
// names cannot express sorts first or last.
func stampOf(t time.Time) string {
	t = t.UTC()
	switch y := t.Year(); {
	case y < 1:
		return ""
	case y > 9999:
		return "~"
	}
	return t.Format(stamp)
}
