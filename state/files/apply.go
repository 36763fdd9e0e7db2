package files

import (
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/ouro-timer/ouro-timer/state/guard"
)

// stage writes the new content of files beside them, where no reader looks. So a lack of room is
// noticed before anything has happened. A new file that is only found by its name is made when the
// change is applied.
func (t *tx) stage() error {
	if err := t.guardOps(); err != nil {
		return err
	}
	for i, o := range t.ops {
		if o.kind != opPut || o.new {
			continue
		}
		temp := fresh(t.path(path.Dir(o.place)))
		if err := t.create(temp, o.data); err != nil {
			return fail("writing "+o.place, err)
		}
		t.ops[i].temp = temp
	}
	return nil
}

// create makes a file, and its folder if that is gone.
func (t *tx) create(path string, data []byte) error {
	err := t.disk.create(path, data)
	if missing(err) {
		if err = t.furnish(); err == nil {
			err = t.disk.create(path, data)
		}
	}
	return err
}

// guardOps checks the folders that this change writes to, besides those of every writer, and makes
// the missing ones. If all were there just now, it checks only those that a file is moved to:
// create notices a missing one itself.
func (t *tx) guardOps() error {
	looked := []string{queueDir, runsDir}
	_, whole := t.lately()
	for _, o := range t.ops {
		for _, place := range []string{o.place, o.to} {
			dir := path.Dir(place)
			if place == "" || slices.Contains(looked, dir) || whole && o.kind != opMove {
				continue
			}
			looked = append(looked, dir)
			if err := t.guardDir(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// guardDir checks a folder, and makes it if it is missing.
func (t *tx) guardDir(dir string) error {
	err := guard.Folder(t.path(dir))
	if missing(err) {
		return t.furnish()
	}
	return err
}

// unstage removes what was staged for operations.
func (t *tx) unstage(ops []op) {
	for _, o := range ops {
		if o.temp != "" {
			t.disk.remove(o.temp)
		}
	}
}

// apply does what was committed. If it fails, it undoes all of it; errLater: that was not possible.
func (t *tx) apply() error {
	for i, o := range t.ops {
		var err error
		switch o.kind {
		case opAppend:
			if err = t.disk.write(t.path(o.place), o.at, o.data); err != nil {
				i++ // a part of it may be there
			}
		case opPut:
			err = t.applyPut(o)
		case opMove:
			err = t.disk.rename(t.path(o.place), t.path(o.to))
		case opRemove:
			if err = t.disk.remove(t.path(o.place)); missing(err) {
				err = nil
			}
		}
		if err != nil {
			return t.undo(i, fail("changing "+o.place, err))
		}
	}
	return nil
}

// applyPut gives a file its content.
func (t *tx) applyPut(o op) error {
	if !o.new {
		return t.disk.rename(o.temp, t.path(o.place))
	}
	err := t.create(t.path(o.place), o.data)
	if os.IsExist(err) { // somebody has put something there by hand
		err = exchange(t.disk, t.path(o.place), o.data)
	}
	return err
}

// undo takes back the first n operations, the last one first, and returns why. errLater: it could
// not.
func (t *tx) undo(n int, why error) error {
	later := fmt.Errorf("%w; %w", why, errLater)
	for _, o := range slices.Backward(t.ops[:n]) {
		var err error
		switch {
		case o.kind == opAppend:
			if err = t.disk.cut(t.path(o.place), o.at); missing(err) {
				err = nil
			}
		case o.kind == opMove:
			err = t.disk.rename(t.path(o.to), t.path(o.place))
		case o.kind == opPut && o.old == nil:
			err = t.disk.remove(t.path(o.place))
		case o.kind == opPut, o.kind == opRemove && o.old != nil:
			err = exchange(t.disk, t.path(o.place), o.old)
		case o.kind == opRemove: // what it had nobody knows
			return later
		}
		if err != nil {
			return later
		}
	}
	t.unstage(t.ops[n:])
	return why
}
