package files

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ouro-timer/ouro-timer/state/plainfile"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// step is one recorded step of an operation.
type step struct {
	kind     string
	path, to string
	data     []byte
	size     int64 // of a cut; else the offset
}

// recorder is a disk that remembers its steps.
type recorder struct {
	lazyDisk
	root  string
	steps []step
}

func (d *recorder) note(err error, s step) error {
	if err == nil {
		s.path, s.to = below(d.root, s.path), below(d.root, s.to)
		d.steps = append(d.steps, s)
	}
	return err
}

// below is a path as seen from the state folder, which is "" itself; the folder it is in is "..".
func below(root, path string) string {
	if path == filepath.Dir(root) {
		return ".."
	}
	return strings.TrimPrefix(path, root)
}

// above is the folder that a path seen from the state folder is in.
func above(path string) string {
	if path == "" {
		return ".."
	}
	return path[:strings.LastIndexByte(path, '/')]
}

func (d *recorder) mkdir(path string) error {
	return d.note(d.lazyDisk.mkdir(path), step{kind: "mkdir", path: path})
}
func (d *recorder) create(path string, data []byte) error {
	return d.note(d.lazyDisk.create(path, data), step{kind: "create", path: path, data: data})
}
func (d *recorder) sync(paths []string) error {
	for _, p := range paths {
		if err := d.note(nil, step{kind: "sync", path: p}); err != nil {
			return err
		}
	}
	return nil
}
func (d *recorder) patch(path string, data []byte) error {
	return d.note(d.lazyDisk.patch(path, data), step{kind: "patch", path: path, data: data})
}
func (d *recorder) write(path string, at int64, data []byte) error {
	return d.note(d.lazyDisk.write(path, at, data), step{kind: "write", path: path, data: data, size: at})
}
func (d *recorder) log(f *plainfile.Handle, at int64, data []byte) error {
	return d.note(d.lazyDisk.log(f, at, data), step{kind: "log", path: f.Name(), data: data, size: at})
}
func (d *recorder) mark(f *plainfile.Handle, at int64, data []byte) error {
	return d.note(d.lazyDisk.mark(f, at, data), step{kind: "mark", path: f.Name(), data: data, size: at})
}
func (d *recorder) cut(path string, size int64) error {
	return d.note(d.lazyDisk.cut(path, size), step{kind: "cut", path: path, size: size})
}
func (d *recorder) rename(from, to string) error {
	return d.note(d.lazyDisk.rename(from, to), step{kind: "rename", path: from, to: to})
}
func (d *recorder) link(from, to string) error {
	return d.note(d.lazyDisk.link(from, to), step{kind: "link", path: from, to: to})
}
func (d *recorder) remove(path string) error {
	return d.note(d.lazyDisk.remove(path), step{kind: "remove", path: path})
}
func (d *recorder) syncDir(path string) error {
	return d.note(nil, step{kind: "syncDir", path: path})
}

// unwritten reports whether what a step wrote was not synced after it, under whatever name the file had by then.
func unwritten(steps []step) bool {
	at := steps[0].path
	for _, s := range steps[1:] {
		switch {
		case s.path == at && (s.kind == "sync" || s.kind == "log" || s.kind == "cut"):
			return false
		case s.kind == "rename" && s.path == at:
			at = s.to
		case s.kind == "remove" && s.path == at, s.kind == "rename" && s.to == at:
			return true
		}
	}
	return true
}

// unsynced are the steps among the first n that a loss of power may undo: names until their folder is synced (of a
// rename, both), and what was written until its file is. What log writes is synced by it.
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
		case "write", "patch", "mark":
			if unwritten(steps[i:]) {
				pending = append(pending, i)
			}
		case "create":
			if unwritten(steps[i:]) || !synced(i, above(s.path)) {
				pending = append(pending, i)
			}
		case "mkdir", "remove":
			if !synced(i, above(s.path)) {
				pending = append(pending, i)
			}
		case "link":
			if !synced(i, filepath.Dir(s.to)) {
				pending = append(pending, i)
			}
		case "rename":
			if !synced(i, above(s.path)) || !synced(i, above(s.to)) {
				pending = append(pending, i)
			}
		}
	}
	return pending
}

// loss is what becomes of a step when the power goes.
type loss struct {
	lost bool
	// torn: of what it wrote the first part is there, then zeros up to the whole if filled.
	torn   bool
	part   int
	filled bool
}

// losses are the ways in which a write can be torn: a file in the middle, lines after each of them and in it.
func (s step) losses() (list []loss) {
	switch s.kind {
	case "create", "patch", "mark":
		list = append(list, loss{torn: true, part: len(s.data) / 2})
		if s.kind == "create" { // what is written over in place has no hole
			list = append(list, loss{torn: true, filled: true})
		}
	case "write", "log":
		at := 0
		for line := range bytes.Lines(s.data) {
			list = append(list, loss{torn: true, part: at + len(line)/2}, loss{torn: true, part: at + len(line)/2, filled: true})
			if at += len(line); at < len(s.data) {
				list = append(list, loss{torn: true, part: at})
			}
		}
	}
	return list
}

// do is what is found of a step after its fate.
func (s step) do(dir string, f loss) error {
	if f.lost {
		return nil
	}
	path, data := dir+s.path, s.data
	if f.torn {
		data = bytes.Clone(s.data[:f.part])
		if f.filled {
			data = append(data, make([]byte, len(s.data)-f.part)...)
		}
	}
	switch s.kind {
	case "mkdir":
		return os.Mkdir(path, 0o700)
	case "create":
		return os.WriteFile(path, data, 0o600)
	case "patch":
		return lazyDisk{}.patch(path, data)
	case "write", "log", "mark":
		return lazyDisk{}.write(path, s.size, data)
	case "cut":
		return os.Truncate(path, s.size)
	case "rename":
		return os.Rename(path, dir+s.to)
	case "link":
		return os.Link(path, dir+s.to)
	case "remove":
		return os.Remove(path)
	}
	return nil
}

// choicesMost bounds the choices that are played out of one beginning: beyond it, by lot; of a row of operations, which has many
// beginnings, rowMost.
const choicesMost, rowMost = 16, 8

// endings calls yield with what may have become of each of the first n steps, and of the next one, if the power goes there.
// Steps that are not named came to pass.
func endings(steps []step, n, most int, yield func(map[int]loss)) {
	pending := unsynced(steps[:n])
	choices := func(yield func(uint64)) {
		if len(pending) < 63 && 1<<len(pending) <= most {
			for choice := range uint64(1) << len(pending) {
				yield(choice)
			}
			return
		}
		rng := rand.New(rand.NewPCG(uint64(n), uint64(len(steps))))
		yield(0)
		yield(1<<len(pending) - 1)
		for range most {
			yield(rng.Uint64() & (1<<len(pending) - 1))
		}
	}
	lost := func(choice uint64) map[int]loss {
		fates := map[int]loss{}
		for bit, i := range pending {
			if choice>>bit&1 == 1 {
				fates[i] = loss{lost: true}
			}
		}
		return fates
	}
	choices(func(choice uint64) { yield(lost(choice)) })
	for _, i := range pending { // a hint may also be torn
		if k := steps[i].kind; k != "write" && k != "patch" && k != "mark" && k != "create" || !unwritten(steps[i:n]) {
			continue
		}
		for _, f := range steps[i].losses() {
			for _, choice := range []uint64{0, 1<<len(pending) - 1} {
				fates := lost(choice)
				fates[i] = f
				yield(fates)
			}
		}
	}
	if n == len(steps) {
		return
	}
	for _, f := range steps[n].losses() {
		for _, choice := range []uint64{0, 1<<len(pending) - 1} {
			fates := lost(choice)
			fates[n] = f
			yield(fates)
		}
	}
}

// TestPowerLoss records the steps of every operation and replays every beginning of them, each with every choice of the
// unsynced steps left out, and with parts of the write that was going on: what was acknowledged is there, nothing is half
// done, and the next one can go on. Files that are made side by side are there in every choice, whole and torn. Many choices leave
// the same folder, which is looked at once.
func TestPowerLoss(t *testing.T) {
	clocktest.Alone(t)
	var prefixes, replays, twins, told atomic.Int64
	t.Run("each", func(t *testing.T) {
		for _, c := range scenarios {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				w := c.world(t)
				d := &recorder{root: w.at}
				if err := c.op(w.copy(t, d), w.record); err != nil {
					t.Fatal(err)
				}
				known := map[string]bool{} // folders that were looked at
				most := choicesMost
				if c.row {
					most = rowMost
				}
				if !thorough {
					most /= glance
				}
				for n := range len(d.steps) + 1 {
					prefixes.Add(1)
					if n < len(d.steps) && spared(fmt.Sprint(c.name, n)) {
						continue
					}
					endings(d.steps, n, most, func(fates map[int]loss) {
						where := fmt.Sprintf("%d of %d steps, fates %v", n, len(d.steps), fates)
						// What was acknowledged is looked at more.
						if n < len(d.steps) && (spared(c.name+where) || spared(where+c.name) || thorough && hashOf(where)%2 == 0) {
							return
						}
						replays.Add(1)
						w.unpack(t, w.at)
						for i, s := range d.steps {
							f, ok := fates[i]
							if i >= n && !ok {
								continue
							}
							if err := s.do(w.at, f); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) { // what it works on may have been lost
								t.Fatal(err)
							}
						}
						left := fmt.Sprint(n == len(d.steps), pack(t, w.at))
						if known[left] {
							twins.Add(1)
							return
						}
						known[left] = true
						s := rebooted(t, w.at)
						settle(t, s)
						got := look(t, s)
						told.Add(int64(got.lost))
						if got.text != w.after && (n == len(d.steps) || !w.subsets[got.text]) {
							for i, s := range d.steps {
								t.Logf("step %d: %s %s %s", i, s.kind, s.path, s.to)
							}
							t.Fatalf("%s\n%s\nbefore\n%s\nafter\n%s", where, got.text, w.before, w.after)
						}
						if n == len(d.steps) && got.lost > 0 {
							t.Errorf("%s: acknowledged, and told to be lost", where)
						}
						w.goesOn(t, s, got, where)
					})
				}
			})
		}
	})
	t.Logf("%d operations, %d beginnings of their steps, %d replays, of which %d left what another had; in %d a task that was not acknowledged is told to be lost",
		len(scenarios), prefixes.Load(), replays.Load(), twins.Load(), told.Load())
	if len(scenarios) < 50 || prefixes.Load() < 400 || replays.Load() < 2000 || thorough && replays.Load() < 30000 {
		t.Error("that is less than there was")
	}
}

// waits reports whether a step waits for the disk.
func (s step) waits() bool {
	return s.kind == "log" || s.kind == "sync" || s.kind == "syncDir" || s.kind == "cut"
}
