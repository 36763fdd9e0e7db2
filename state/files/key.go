package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// A key's file says which task has the key and where that task's file was last, so that nothing has to be looked for in a
// long queue. It is durable before the task is, and from then on a hint: what it says holds only when the task's own file
// says the same. When the file has moved since, the task is looked for by its ID.

// keyPlace is where a key's file is. Its name is a hash, as a key may be any text.
func keyPlace(key string) string {
	sum := sha256.Sum256([]byte(key))
	return fmt.Sprintf("%s/%x", keysDir, sum[:16])
}

// keyWidth is the size of a key's file: fixed, so that one is written over the other.
const keyWidth = 160

func keyText(id, place string) []byte { return fmt.Appendf(nil, "%-*s\n", keyWidth-1, id+" "+place) }

// keyed finds the task that lives and has the key; false when there is none. The empty key is nobody's.
func (t *turn) keyed(key string) (state.Entry, bool, error) {
	if key == "" {
		return state.Entry{}, false, nil
	}
	data, err := readFile(t.path(keyPlace(key)), keyWidth)
	if missing(err) {
		return state.Entry{}, false, nil
	}
	if err != nil && !errors.Is(err, errDecode) && !errors.Is(err, errOdd) {
		return state.Entry{}, false, fail("reading a key", err)
	}
	id, place, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	if !state.WholeID(id) {
		return t.searchKey(key) // the file is damaged
	}
	f, open, err := t.hinted(id, place)
	if errors.Is(err, state.ErrNotFound) {
		return state.Entry{}, false, t.keptAside(key, id) // else it was forgotten, or never came to be
	}
	if err != nil {
		return state.Entry{}, false, err
	}
	if alive, err := t.lives(f, open); err != nil || !alive {
		return state.Entry{}, false, err
	}
	e, err := t.entry(f, open)
	if err != nil {
		return state.Entry{}, false, fail("reading the task that has the key", err)
	}
	if e.Task.Key != key {
		return state.Entry{}, false, nil
	}
	if f.place() != place { // so that it is not looked for again
		t.noteKey(e.Task, f.place())
	}
	return e, true, nil
}

// keptAside refuses a key whose task lies in timers/corrupt: mended and moved back, it would be a second one with the key. A
// file that can be read and says another key keeps none.
func (t *turn) keptAside(key, id string) error {
	aside, err := t.asideOf(id)
	if err != nil {
		return err
	}
	for _, file := range aside {
		if task, err := t.readTask(corruptDir+"/"+file, id); err == nil && task.Key != key {
			continue
		}
		path := quoted(t.path(corruptDir + "/" + file))
		return fmt.Errorf("%w: the key %q is that of task %s, whose file was set aside; mend it and move it back to %s, or give it up: rm %s",
			state.ErrUnusable, key, id, t.path(queueDir), path)
	}
	return nil
}

// asideOf are the files of a task that were set aside.
func (s *Store) asideOf(id string) (files []string, err error) {
	all, err := readNames(s.path(corruptDir))
	for _, file := range all {
		if n, ok := asideName(file); ok && n.id == id {
			files = append(files, file)
		}
	}
	return files, err
}

// asideName reads the name of a file in timers/corrupt: a task's, perhaps with a number behind it.
func asideName(file string) (name, bool) {
	base, _, _ := strings.Cut(file, suffix)
	return parseName(base + suffix)
}

// lives reports whether a task's key is taken. That of one that has ended is not, also while somebody runs the task by hand.
func (t *turn) lives(f found, open []name) (bool, error) {
	switch f.dir {
	case queueDir, pausedDir:
		return true, nil
	case removedDir:
		return false, nil
	}
	for _, n := range open {
		r, err := t.readRecord(n)
		switch {
		case err == nil && r.Manual:
		case err == nil, errors.Is(err, errDecode), errors.Is(err, errOdd): // a damaged claim may be one of the schedule
			return true, nil
		default:
			return false, fail("reading an open claim", err)
		}
	}
	return false, nil
}

// hinted finds a task's file where the hint says, or else among all names.
func (t *turn) hinted(id, place string) (found, []name, error) {
	dir, file, _ := cutLast(place)
	n, ok := parseName(file)
	if !ok || n.id != id || !slices.Contains([]string{queueDir, pausedDir, endedDir, removedDir}, dir) {
		return t.whereIs(id)
	}
	if _, err := os.Lstat(t.path(place)); err != nil {
		return t.whereIs(id)
	}
	names, err := t.list(openOnly, id)
	if err != nil {
		return found{}, nil, err
	}
	return found{n, dir}, names.open[id], nil
}

func cutLast(place string) (dir, file string, ok bool) {
	i := strings.LastIndexByte(place, '/')
	if i < 0 {
		return "", place, false
	}
	return place[:i], place[i+1:], true
}

// searchKey looks for the task that has the key among all, after its file was damaged.
func (t *turn) searchKey(key string) (state.Entry, bool, error) {
	all, err := t.list(everything, "")
	if err != nil {
		return state.Entry{}, false, err
	}
	for id, files := range all.byTask() {
		win, _ := t.winner(files)
		if alive, err := t.lives(win, all.open[id]); err != nil || !alive {
			continue
		}
		if e, err := t.entry(win, all.open[id]); err == nil && e.Task.Key == key {
			t.noteKey(e.Task, win.place())
			return e, true, nil
		}
	}
	return state.Entry{}, false, nil
}

// takeKey writes, durably, that the task has its key and where its file will be.
func (t *turn) takeKey(task state.Task, place string) error {
	if task.Key == "" {
		return nil
	}
	return fail("taking the key", replace(t.disk, t.path(keyPlace(task.Key)), keyText(task.ID, place)))
}

// noteKey notes where the file of a task with a key has gone, unless the key is another's by now. The note is not awaited by
// the disk.
func (t *turn) noteKey(task state.Task, place string) {
	if task.Key == "" {
		return
	}
	data, _ := readFile(t.path(keyPlace(task.Key)), keyWidth)
	if id, _, _ := strings.Cut(string(data), " "); id == task.ID || !state.WholeID(id) {
		err := t.disk.scribble(t.path(keyPlace(task.Key)), keyText(task.ID, place))
		if errors.Is(err, errOdd) { // as long as it is something else each look at the key reads all tasks
			replace(t.disk, t.path(keyPlace(task.Key)), keyText(task.ID, place))
		}
	}
}
