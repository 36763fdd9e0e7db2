package files

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// names is what is in the folders at one moment, by name only. It is only read.
type names struct {
	tasks []listed
	open  map[string][]name // granted claims by task, oldest due first
}

// listed is a task's file as a listing has it: of these there may be very many, so there is no more to one than it takes to make a found.
type listed struct {
	file string // a task's name, as parseTask has it
	dir  uint8  // in taskDirs
	rank uint8  // of its phase, in a list
}

// taskDirs are the folders with files of tasks.
var taskDirs = [...]string{queueDir, pausedDir, endedDir, removedDir}

// found takes the name apart, which was looked at when it was listed.
func (l listed) found() (f found) {
	f.dir = taskDirs[l.dir]
	f.due = l.file[:len(stamp)]
	f.id = l.file[len(stamp)+1 : len(l.file)-len(suffix)]
	if dot := len(f.id) - len(stamp) - 1; dot > 0 { // no ID is so long
		f.id, f.extra = f.id[:dot], f.id[dot+1:]
	}
	return f
}

// found are the files of all tasks, in no order.
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

func (f found) place() string { return f.dir + "/" + f.file() }

// which folders a listing covers. Open records are always among them.
type which int

const (
	openOnly  which = iota
	queueOnly       // and the paused
	living          // and, of those that ended, what runs
	everything
)

// covering is what has to be listed for tasks of the phases.
func covering(phases []state.Phase) which {
	if len(phases) == 0 || slices.Contains(phases, state.Ended) || slices.Contains(phases, state.Removed) {
		return everything
	}
	return living
}

// list reads the names in the folders, of tasks whose ID begins with prefix. It needs the state lock, shared or exclusive.
func (s *Store) list(w which, prefix string) (*names, error) {
	all := &names{open: map[string][]name{}}
	for dir := range []int{0, 2, 2, 4}[w] {
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

// listStrays adds to what is in the queue and among the paused the one-shots that run, which have ended. Those that ended are many, and not listed
// but for these.
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

// listTasks adds the tasks in a folder of taskDirs whose name, from the ID on, fits; all when fits is nil.
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

// readNames reads the names in a folder, in no order; none when it is not there.
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

// ids are all IDs that are about, those of more among them.
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

// otherIDs are those of tasks of which only a tally, output, a set aside file or a line of the ledger is left, and the largest
// count of IDs that a line has.
func (s *Store) otherIDs() (ids []string, count uint64, err error) {
	for _, dir := range []string{tallyDir, outputDir, corruptDir} {
		files, err := readNames(s.path(dir))
		if err != nil {
			return nil, 0, err
		}
		for _, f := range files {
			for part := range strings.SplitSeq(f, ".") {
				if state.WholeID(part) {
					ids = append(ids, part)
				}
			}
		}
	}
	for _, dir := range []string{inboxDir, outboxDir} {
		files, err := readNames(s.path(dir))
		if err != nil {
			return nil, 0, err
		}
		for _, f := range files {
			if n, ok := parseItem(f); ok {
				ids = append(ids, n.id)
			} else if n, ok := parseNotice(f); ok {
				ids = append(ids, n.id)
			}
		}
	}
	err = s.history("", func(e ledger.Entry) bool {
		ids, count = append(ids, e.TaskID), max(count, e.Store.IDs)
		return true
	})
	return ids, count, err
}

// doubles are the files of each task that has more than one.
func (all *names) doubles() (doubles map[string][]found) {
	most := uint64(0)
	for _, l := range all.tasks {
		most = max(most, state.IDKey(l.found().id))
	}
	seen := make([]uint64, min(most, denseKeys)/64+1) // a bit for each of the keys below
	twice := map[uint64]bool{}
	var others []uint64
	for _, l := range all.tasks {
		key := state.IDKey(l.found().id)
		word, bit := key/64, uint64(1)<<(key%64)
		switch {
		case word >= uint64(len(seen)):
			others = append(others, key)
		case seen[word]&bit != 0:
			twice[key] = true
		default:
			seen[word] |= bit
		}
	}
	slices.Sort(others)
	for i := 1; i < len(others); i++ {
		if others[i] == others[i-1] {
			twice[others[i]] = true
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

// denseKeys is up to which key of an ID there is a bit for each, which takes 128 KiB: those of the first 900,000 IDs. For more there
// would be far more bits than tasks.
const denseKeys = 1 << 20

// byTask groups the files of each task. More than one is what a crash or a copy by hand can leave.
func (all *names) byTask() map[string][]found {
	groups := make(map[string][]found, len(all.tasks))
	for f := range all.found() {
		groups[f.id] = append(groups[f.id], f)
	}
	return groups
}

// winner is the one of a task's files that counts: the highest revision, then the latest due, then the queue's. Files
// that cannot be read count only when no other can.
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
		return files[0], nil // all have moved: the caller finds that out
	}
	order := []string{removedDir, endedDir, pausedDir, queueDir}
	slices.SortFunc(c, func(a, b candidate) int {
		if a.revision != b.revision {
			return int(min(max(b.revision-a.revision, -1), 1))
		}
		if d := strings.Compare(b.due, a.due); d != 0 {
			return d
		}
		return slices.Index(order, b.dir) - slices.Index(order, a.dir)
	})
	for _, l := range c[1:] {
		p := state.Problem{Path: s.path(l.place()), Err: state.ErrCopy, Hint: "the runner sets it aside"}
		if l.err != nil && (c[0].err != nil || !garbled(l.err)) { // it may be the newer one
			p = s.problem(l.found, l.err)
		}
		losers = append(losers, p)
	}
	return c[0].found, losers
}

// phase is where the task of a file stands.
func (all *names) phase(f found) state.Phase { return f.phase(len(all.open[f.id]) > 0) }

// phase is where a task stands by its file and its claims.
func (f found) phase(open bool) state.Phase {
	switch {
	case f.dir == removedDir:
		return state.Removed
	case open:
		return state.Running
	case f.dir == endedDir:
		return state.Ended
	case f.dir == pausedDir:
		return state.Paused
	}
	return state.Pending
}

// stampOf is an instant as it compares with the due instants in names; sorts first or last when names cannot say it.
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
