package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// errCrash is what a disk answers after the process has died, so to speak.
var errCrash = errors.New("the process is dead")

// faultDisk fails at one step: with an error at this step alone, or, as a crash, from there on for ever. A crash in the middle of writing
// leaves half of the data.
type faultDisk struct {
	disk
	at, n int
	crash bool
	half  bool
	err   error
	hit   bool
	kind  string // of the step that was hit
}

// step reports the error of the next step, and whether it is the one that is torn.
func (d *faultDisk) step(kind string) (err error, torn bool) {
	d.n++
	switch {
	case d.n == d.at:
		d.hit, d.kind = true, kind
		return d.err, d.half
	case d.n > d.at && d.crash:
		return d.err, false
	}
	return nil, false
}

func (d *faultDisk) mkdir(path string) error {
	if err, _ := d.step("mkdir"); err != nil {
		return err
	}
	return d.disk.mkdir(path)
}

func (d *faultDisk) create(path string, data []byte) error {
	err, torn := d.step("create")
	if torn {
		os.WriteFile(path, data[:len(data)/2], 0o600)
	}
	if err != nil {
		return err
	}
	return d.disk.create(path, data)
}

func (d *faultDisk) sync(paths []string) error {
	for _, p := range paths {
		if err, _ := d.step("sync"); err != nil {
			return err
		}
		if err := d.disk.sync([]string{p}); err != nil {
			return err
		}
	}
	return nil
}

func (d *faultDisk) patch(path string, data []byte) error {
	if err, _ := d.step("patch"); err != nil {
		return err
	}
	return d.disk.patch(path, data)
}

func (d *faultDisk) write(path string, at int64, data []byte) error {
	err, torn := d.step("write")
	if torn {
		d.disk.write(path, at, data[:len(data)/2])
	}
	if err != nil {
		return err
	}
	return d.disk.write(path, at, data)
}

func (d *faultDisk) log(f *plainfile.Handle, at int64, data []byte) error {
	err, torn := d.step("log")
	if torn {
		d.disk.log(f, at, data[:len(data)/2])
	}
	if err != nil {
		return err
	}
	return d.disk.log(f, at, data)
}

func (d *faultDisk) mark(f *plainfile.Handle, at int64, data []byte) error {
	err, torn := d.step("mark")
	if torn {
		d.disk.mark(f, at, data[:len(data)/2])
	}
	if err != nil {
		return err
	}
	return d.disk.mark(f, at, data)
}

func (d *faultDisk) cut(path string, size int64) error {
	if err, _ := d.step("cut"); err != nil {
		return err
	}
	return d.disk.cut(path, size)
}

func (d *faultDisk) rename(from, to string) error {
	if err, _ := d.step("rename"); err != nil {
		return err
	}
	return d.disk.rename(from, to)
}

func (d *faultDisk) link(from, to string) error {
	if err, _ := d.step("link"); err != nil {
		return err
	}
	return d.disk.link(from, to)
}

func (d *faultDisk) remove(path string) error {
	if err, _ := d.step("remove"); err != nil {
		return err
	}
	return d.disk.remove(path)
}

func (d *faultDisk) syncDir(path string) error {
	if err, _ := d.step("syncDir"); err != nil {
		return err
	}
	return d.disk.syncDir(path)
}

// TestCrashAtEachStep lets the process die at every step of every operation, also in the middle of a write: the
// operation has happened whole or not at all (of many, a beginning has), nothing stays half done for the next, and it can be
// done again.
func TestCrashAtEachStep(t *testing.T) {
	clocktest.Alone(t)
	var crashes atomic.Int64
	t.Run("each", func(t *testing.T) {
		for _, c := range scenarios {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				w := c.world(t)
				known := map[string]bool{}                       // folders that were looked at
				cut := w.copy(t, lazyDisk{}).cutOff(t.Context()) // by the scenario
				for n := 2; ; n++ {
					at, half := n/2, n%2 == 1
					d := &faultDisk{disk: lazyDisk{}, at: at, crash: true, half: half, err: errCrash}
					err := c.op(w.copy(t, d), w.record)
					if !d.hit {
						break
					}
					crashes.Add(1)
					left := fmt.Sprint(err == nil, pack(t, w.at))
					if known[left] {
						continue
					}
					known[left] = true
					if spared(left) {
						continue
					}
					where := fmt.Sprintf("step %d, half %v, error %v", at, half, err)
					s := lazy(t, w.at, nil)
					if n := s.cutOff(t.Context()); n > cut {
						t.Errorf("%s: doctor would say that the ledger is %d bytes shorter", where, n)
					}
					seen := dump(t, s) // a reader that comes before any writer is not harmed
					settle(t, s)
					got := look(t, s)
					if !w.prefix[got.text] || got.lost > 0 {
						t.Fatalf("%s\nseen at once\n%s\nthen\n%s\nbefore\n%s\nafter\n%s", where, seen, got.text, w.before, w.after)
					}
					if seen != got.text {
						t.Errorf("%s: seen at once\n%s\nand, once somebody had written\n%s", where, seen, got.text)
					}
					if err == nil && got.text != w.after {
						t.Errorf("%s: acknowledged and not done\n%s", where, got.text)
					}
					w.goesOn(t, s, got, where)
				}
			})
		}
	})
	t.Logf("%d operations, %d crashes", len(scenarios), crashes.Load())
	if len(scenarios) < 50 || crashes.Load() < 700 {
		t.Error("that is less than there was")
	}
}

// TestFailAtEachStep lets the disk refuse every step of every operation once: with an error nothing has happened, unless
// only the last sync failed; without one it has; and the same process can go on.
func TestFailAtEachStep(t *testing.T) {
	clocktest.Alone(t)
	var refusals atomic.Int64
	t.Run("each", func(t *testing.T) {
		for i, refusal := range []error{syscall.ENOSPC, fmt.Errorf("%w: %w", plainfile.ErrSync, syscall.EIO)} {
			for _, c := range scenarios {
				t.Run(c.name+" "+refusal.Error(), func(t *testing.T) {
					t.Parallel()
					w := c.world(t)
					for at := 1; ; at++ {
						if !thorough && at%2 != i && !strings.Contains(c.name, "rotate") { // the other one is tried there
							continue
						}
						d := &faultDisk{disk: lazyDisk{}, at: at, err: refusal}
						s := w.copy(t, d)
						err := c.op(s, w.record)
						if !d.hit {
							break
						}
						refusals.Add(1)
						where := fmt.Sprintf("step %d, a %s: %v", at, d.kind, err)
						got := look(t, s)
						switch {
						case err == nil && got.text != w.after:
							t.Errorf("%s: acknowledged and not done\n%s\nwant\n%s", where, got.text, w.after)
						case err != nil && !errors.Is(err, state.ErrUnusable):
							t.Error(where)
						case err != nil && got.text != w.before && got.text != w.after && (w.parts == nil || !w.subsets[got.text]):
							t.Errorf("%s, and half done\n%s\nbefore\n%s\nafter\n%s", where, got.text, w.before, w.after)
						case err != nil && got.text == w.after && w.before != w.after && d.kind != "syncDir" && !w.row:
							t.Errorf("%s, and done all the same", where)
						}
						w.goesOn(t, s, got, where)
					}
				})
			}
		}
	})
	t.Logf("%d operations, %d refusals", len(scenarios), refusals.Load())
	if refusals.Load() < 600 {
		t.Error("that is less than there was")
	}
}

// TestIDsAfterCrashes adds among crashes at every step: no ID comes twice.
func TestIDsAfterCrashes(t *testing.T) {
	dir := t.TempDir()
	var given []string
	add := func(s *Store) {
		if e, err := s.Add(ctx, once("n"), day0); err == nil {
			given = append(given, e.Task.ID)
			if _, err := s.Remove(ctx, e.Task.ID, day0); err == nil {
				os.Remove(s.path(removedDir + "/" + name{day0.Format(stamp), e.Task.ID, day0.Format(stamp)}.file())) // pruned
			}
		}
	}
	for at := 1; at < 20; at++ {
		dying, err := Open(dir, Options{disk: &faultDisk{disk: osDisk{}, at: at, crash: true, half: true, err: errCrash}})
		if err != nil {
			t.Fatal(err)
		}
		add(dying)
		switch at % 3 { // either source of the count may be lost
		case 0:
			os.Remove(filepath.Join(dir, commitsFile))
		case 1:
			os.WriteFile(filepath.Join(dir, commitsFile), []byte("\x00\x00"), 0o600)
		}
		add(open(t, dir))
	}
	if len(given) < 19 {
		t.Fatalf("only %d IDs were given", len(given))
	}
	last := given[len(given)-1]
	os.Remove(filepath.Join(dir, commitsFile))
	os.Remove(filepath.Join(dir, ledgerFile))
	os.MkdirAll(filepath.Join(dir, outputDir, last), 0o700) // all that is left of it
	add(open(t, dir))
	slices.Sort(given)
	if all := len(given); len(slices.Compact(given)) != all {
		t.Errorf("an ID was given twice: %v", given)
	}
}
