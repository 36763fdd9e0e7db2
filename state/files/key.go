package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// A key's file says which task has the key and where that task's file was last, so that nothing has to be looked for in a
// long queue. It is a hint: what it says holds only when the task's own file says the same. When the file has moved since, the task is
// looked for by its ID.

// keyPlace is where a key's file is. Its name is a hash, as a key may be any text.
func keyPlace(key string) string {
	sum := sha256.Sum256([]byte(key))
	return fmt.Sprintf("%s/%x", keysDir, sum[:16])
}

// keyMost bounds what is read of a key's file.
const keyMost = 160

func keyText(id, place string) []byte { return fmt.Appendf(nil, "%s %s\n", id, place) }

// keyed finds the task that lives and has the key; false when there is none. The empty key is nobody's.
func (t *tx) keyed(key string) (*stored, bool, error) {
	if key == "" {
		return nil, false, nil
	}
	if id, taken := t.keys[key]; taken {
		d, ok := t.docs[id]
		return d, ok && d.Lives(), nil
	}
	data, err := readFile(t.path(keyPlace(key)), keyMost)
	if missing(err) {
		return nil, false, nil
	}
	if err != nil && !garbled(err) {
		return nil, false, fail("reading a key", err)
	}
	id, place, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	if !state.WholeID(id) {
		return t.searchKey(key) // the file is damaged
	}
	d, err := t.hinted(id, place)
	if errors.Is(err, state.ErrNotFound) {
		return nil, false, t.keptAside(key, id) // else it was forgotten, or never came to be
	}
	if err != nil {
		return nil, false, err
	}
	return d, d.Lives() && d.Task.Key == key, nil
}

// hinted reads a task from where the hint says, or else from wherever it is.
func (t *tx) hinted(id, place string) (*stored, error) {
	if d := t.docs[id]; d != nil && !d.part {
		return d, nil
	}
	dir, file, _ := cutLast(place)
	if f, ok := parseTask(dir, file); ok && f.id == id && slices.Contains(taskDirs[:], dir) {
		if d, err := t.read(f); !errors.Is(err, state.ErrNotFound) {
			return d, err
		}
	}
	return t.doc(state.Change{ID: id})
}

// keptAside refuses a key whose task lies in timers/corrupt: mended and moved back, it would be a second one with the key. A
// file that can be read and says another key keeps none.
func (t *tx) keptAside(key, id string) error {
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

func cutLast(place string) (dir, file string, ok bool) {
	i := strings.LastIndexByte(place, '/')
	if i < 0 {
		return "", place, false
	}
	return place[:i], place[i+1:], true
}

// searchKey looks for the task that has the key among all, after its file was damaged.
func (t *tx) searchKey(key string) (*stored, bool, error) {
	all, err := t.list(everything, "")
	if err != nil {
		return nil, false, err
	}
	for id, files := range all.byTask() {
		win, _ := t.winner(files)
		if task, err := t.readTask(win.place(), id); err != nil || task.Key != key {
			continue
		}
		if d, err := t.hinted(id, win.place()); err == nil && d.Lives() && d.Task.Key == key {
			return d, true, t.putKey(key, id, win.place()) // else each look would read all tasks
		}
	}
	return nil, false, nil
}

// putKey collects that the task has its key, and where its file is.
func (t *tx) putKey(key, id, place string) error {
	old, err := readFile(t.path(keyPlace(key)), keyMost)
	if err != nil && !missing(err) && !garbled(err) {
		return fail("taking the key", err)
	}
	if owner, _, _ := strings.Cut(string(old), " "); err == nil && owner != id && state.WholeID(owner) && t.keys[key] != id {
		return nil // another's by now
	}
	t.put(keyPlace(key), keyText(id, place), old)
	return nil
}
