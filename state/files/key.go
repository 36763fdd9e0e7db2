package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// A key's file says which task has the key and where that task's file was last, so that nobody has
// to search a long queue. It is a hint, which counts only if the task's own file agrees. If the
// file has moved since, the task is found by its ID.

// keyPlace is the place of a key's file. Its name is a hash, because a key may be any text.
func keyPlace(key string) string {
	sum := sha256.Sum256([]byte(key))
	return fmt.Sprintf("%s/%x", keysDir, sum[:16])
}

// keyMost bounds what is read of a key's file.
const keyMost = 160

func keyText(id, place string) []byte { return fmt.Appendf(nil, "%s %s\n", id, place) }

// readKey reads a key's file: which task has the key, and where that task's file was.
// codec.ErrBroken: it names no task.
func (s *Store) readKey(file string) (id, place string, err error) {
	data, err := readFile(s.path(file), keyMost)
	return parseKey(data, err)
}

// parseKey reads what a key's file has.
func parseKey(data []byte, err error) (id, place string, _ error) {
	if err != nil {
		return "", "", err
	}
	id, place, _ = strings.Cut(strings.TrimSpace(string(data)), " ")
	if !state.WholeID(id) {
		return "", "", codec.ErrBroken
	}
	return id, place, nil
}

// keyFile returns what a key's file has. A transaction reads it once.
func (t *tx) keyFile(key string) ([]byte, error) {
	f, known := t.keyFiles[key]
	if !known {
		f.data, f.err = readFile(t.path(keyPlace(key)), keyMost)
		t.keyFiles[key] = f
	}
	return f.data, f.err
}

// fileRead is the result of reading a file.
type fileRead struct {
	data []byte
	err  error
}

// keyed finds the task that lives and has the key. It is false if there is none. No task has the
// empty key.
func (t *tx) keyed(key string) (*stored, bool, error) {
	if key == "" {
		return nil, false, nil
	}
	if id, taken := t.keys[key]; taken {
		d, ok := t.docs[id]
		return d, ok && d.Lives(), nil
	}
	id, place, err := parseKey(t.keyFile(key))
	switch {
	case missing(err):
		return nil, false, nil
	case garbled(err):
		return t.searchKey(key)
	case err != nil:
		return nil, false, fail("reading a key", err)
	}
	d, err := t.hinted(id, place)
	if errors.Is(err, state.ErrNotFound) {
		// otherwise the task was pruned, or was never made
		return nil, false, t.checkQuarantined(key, id)
	}
	if err != nil {
		return nil, false, err
	}
	return d, d.Lives() && d.Task.Key == key, nil
}

// hinted reads a task from the hinted place, or from wherever it is.
func (t *tx) hinted(id, place string) (*stored, error) {
	if d := t.docs[id]; d != nil && !d.part {
		return d, nil
	}
	if f, ok := placed(place); ok && f.id == id {
		if d, err := t.readDoc(f); !errors.Is(err, state.ErrNotFound) {
			return d, err
		}
	}
	return t.doc(state.Change{ID: id})
}

// checkQuarantined refuses a key whose task lies in timers/corrupt. Mended and moved back, it would
// be a second task with the key. A file that can be read and has another key does not count.
func (t *tx) checkQuarantined(key, id string) error {
	aside, err := t.quarantinedOf(id)
	if err != nil {
		return err
	}
	for _, file := range aside {
		if task, err := t.readTask(corruptDir+"/"+file, id); err == nil && task.Key != key {
			continue
		}
		path := quoted(t.path(corruptDir + "/" + file))
		return fmt.Errorf("%w: the key %q is that of task %s, whose file was set aside; mend it and move it back to %s, or give it up: rm %s",
			state.ErrUnusable, key, id, t.path(t.folderBefore(id)), path)
	}
	return nil
}

// searchKey searches all tasks for the one with the key, after the key's file was damaged.
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
			// otherwise each call would read all tasks
			return d, true, t.putKey(key, id, win.place())
		}
	}
	return nil, false, nil
}

// putKey collects the file that says that the task has its key, and where its file is.
func (t *tx) putKey(key, id, place string) error {
	old, err := t.keyFile(key)
	if missing(err) {
		t.make(keyPlace(key), keyText(id, place))
		return nil
	}
	if err != nil && !garbled(err) {
		return fail("taking the key", err)
	}
	if owner, _, _ := strings.Cut(string(old), " "); err == nil && owner != id && state.WholeID(owner) && t.keys[key] != id {
		return nil // another's by now
	}
	t.put(keyPlace(key), keyText(id, place), old)
	return nil
}
