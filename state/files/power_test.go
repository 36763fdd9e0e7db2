package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// step is one recorded step of an operation.
type step struct {
	kind     string
	path, to string
	data     []byte
	size     int64
}

// recorder is the real disk, and remembers its steps.
type recorder struct {
	osDisk
	root  string
	steps []step
}

func (d *recorder) note(err error, s step) error {
	if err == nil {
		s.path = strings.TrimPrefix(s.path, d.root)
		s.to = strings.TrimPrefix(s.to, d.root)
		d.steps = append(d.steps, s)
	}
	return err
}

func (d *recorder) mkdir(path string) error {
	return d.note(d.osDisk.mkdir(path), step{kind: "mkdir", path: path})
}
func (d *recorder) create(path string, data []byte) error {
	return d.note(d.osDisk.create(path, data), step{kind: "create", path: path, data: data})
}
func (d *recorder) createAll(files []newFile) error { return oneByOne(d, files) }
func (d *recorder) patch(path string, data []byte) error {
	return d.note(d.osDisk.patch(path, data), step{kind: "patch", path: path, data: data})
}
func (d *recorder) scribble(path string, data []byte) error {
	return d.note(d.osDisk.scribble(path, data), step{kind: "scribble", path: path, data: data})
}
func (d *recorder) extend(path string, size int64, data []byte) error {
	return d.note(d.osDisk.extend(path, size, data), step{kind: "extend", path: path, data: data, size: size})
}
func (d *recorder) cut(path string, size int64) error {
	return d.note(d.osDisk.cut(path, size), step{kind: "cut", path: path, size: size})
}
func (d *recorder) rename(from, to string) error {
	return d.note(d.osDisk.rename(from, to), step{kind: "rename", path: from, to: to})
}
func (d *recorder) remove(path string) error {
	return d.note(d.osDisk.remove(path), step{kind: "remove", path: path})
}
func (d *recorder) syncDir(path string) error {
	return d.note(d.osDisk.syncDir(path), step{kind: "syncDir", path: path})
}

// unsynced are the steps among the first n that a loss of power may undo: names until their folder is synced (of a
// rename, both), scribbles always. What create and extend write is synced by them.
func unsynced(steps []step) (pending []int) {
	synced := func(from int, dir string) bool {
		for _, s := range steps[from:] {
			if s.kind == "syncDir" && s.path == dir {
				return true
			}
		}
		return false
	}
	for i, s := range steps {
		switch s.kind {
		case "scribble", "patch":
			pending = append(pending, i)
		case "mkdir", "create", "remove":
			if !synced(i, filepath.Dir(s.path)) {
				pending = append(pending, i)
			}
		case "rename":
			if !synced(i, filepath.Dir(s.path)) || !synced(i, filepath.Dir(s.to)) {
				pending = append(pending, i)
			}
		}
	}
	return pending
}

// replay does the steps in dir, without those that were lost, and half of the one that was going on.
func replay(t *testing.T, dir string, steps []step, lost map[int]bool, half *step) {
	t.Helper()
	do := func(s step, part int) error {
		path := dir + s.path
		switch s.kind {
		case "mkdir":
			return os.Mkdir(path, 0o700)
		case "create":
			return os.WriteFile(path, s.data[:len(s.data)/part], 0o600)
		case "scribble":
			return osDisk{}.scribble(path, s.data)
		case "patch":
			return osDisk{}.patch(path, s.data)
		case "extend":
			return osDisk{}.extend(path, s.size, s.data[:len(s.data)/part])
		case "cut":
			return os.Truncate(path, s.size)
		case "rename":
			return os.Rename(path, dir+s.to)
		case "remove":
			return os.Remove(path)
		}
		return nil
	}
	for i, s := range steps {
		if lost[i] {
			continue
		}
		if err := do(s, 1); err != nil && !errors.Is(err, os.ErrNotExist) { // what it works on may have been lost
			t.Fatal(err)
		}
	}
	if half != nil {
		if err := do(*half, 2); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// TestPowerLoss records the steps of every operation and replays every beginning of them, each with every choice of the
// unsynced steps left out, and with half of the write that was going on: what was acknowledged is there, nothing is
// half done, and the next one can go on.
func TestPowerLoss(t *testing.T) {
	replays := 0
	for _, c := range scenarios {
		t.Run(c.name, func(t *testing.T) {
			dir, r, before, after := c.world(t)
			real := copyTree(t, dir)
			d := &recorder{root: real}
			s, err := Open(real, Options{disk: d})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.op(s, r); err != nil {
				t.Fatal(err)
			}
			for n := range len(d.steps) + 1 {
				steps := d.steps[:n]
				pending := unsynced(steps)
				for choice := range 1 << len(pending) {
					lost := map[int]bool{}
					for bit, i := range pending {
						lost[i] = choice>>bit&1 == 1
					}
					var half *step
					if n < len(d.steps) && (d.steps[n].kind == "create" || d.steps[n].kind == "extend") && choice%2 == 1 {
						half = &d.steps[n]
					}
					replays++
					after1 := copyTree(t, dir)
					replay(t, after1, steps, lost, half)
					s := open(t, after1)
					settle(t, s)
					got := dump(t, s)
					if got == after || got == before && n < len(d.steps) {
						if got == before {
							if err := c.op(s, r); err != nil || dump(t, s) != after {
								t.Errorf("%d steps, lost %v: done again: %v", n, lost, err)
							}
						}
						continue
					}
					// A task whose name was lost before it was confirmed is in the ledger as created and lost.
					lines := strings.Count(got, state.LineTask+" "+state.EventRemoved)
					if c.name == "add" && n < len(d.steps) && lines == 1 && !strings.Contains(got, "new "+string(state.Pending)) {
						continue
					}
					t.Errorf("%d of %d steps, lost %v\n%s\nbefore\n%s\nafter\n%s", n, len(d.steps), lost, got, before, after)
				}
			}
		})
	}
	t.Logf("%d operations, %d replays", len(scenarios), replays)
}
