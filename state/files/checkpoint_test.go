package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
	"github.com/ouro-timer/ouro-timer/state/storetest"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// TestSyncLeavesNothing: once the log's records have gone, by Sync or because it was full, the disk has all that they stood for: nothing that a
// loss of power then takes is missed.
func TestSyncLeavesNothing(t *testing.T) {
	clocktest.Alone(t)
	base := scratch(t)
	for _, full := range []bool{false, true} {
		for _, c := range scenarios {
			if c.row || spared(fmt.Sprint(c.name, full)) {
				continue
			}
			dir, copied := filepath.Join(base, "state"), filepath.Join(base, "copy")
			folder{}.unpack(t, dir)
			d := &recorder{root: dir}
			s := lazy(t, dir, d)
			r := c.prepare(t, s)
			s = lazy(t, dir, d) // some prepare with a handle that rotates the ledger at each change
			if full {
				s.commitsMost = 1
			}
			before := len(d.steps)
			if err := c.op(s, r); err != nil {
				t.Fatal(c.name, err)
			}
			if full && !slices.ContainsFunc(d.steps[before:], func(s step) bool { return s.kind == "log" }) {
				continue // it has committed nothing
			}
			if !full {
				if err := s.Sync(ctx); err != nil {
					t.Fatal(c.name, err)
				}
			}
			list, head := records(t, s)
			if len(list) > 0 || head.Size != headSize {
				t.Errorf("%s, full %v: the log has %d records, its head is %+v", c.name, full, len(list), head)
			}
			want := dump(t, s)
			pending := unsynced(d.steps)
			losses := []map[int]loss{{}}
			for _, i := range pending {
				losses[0][i] = loss{lost: true}
				losses = append(losses, map[int]loss{i: {lost: true}})
			}
			known := map[string]bool{}
			for _, fates := range losses {
				folder{}.unpack(t, copied)
				if err := os.Mkdir(copied, 0o700); err != nil {
					t.Fatal(err)
				}
				for i, s := range d.steps {
					if err := s.do(copied, fates[i]); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrExist) {
						t.Fatal(c.name, err)
					}
				}
				left := fmt.Sprint(pack(t, copied))
				if known[left] {
					continue
				}
				known[left] = true
				if got := dump(t, rebooted(t, copied)); got != want {
					t.Errorf("%s, full %v: without %v of the steps the disk has\n%s\nwant\n%s", c.name, full, fates, got, want)
				}
			}
		}
	}
}

// TestLogIsBounded: without a runner, too, the log does not grow beyond its size.
func TestLogIsBounded(t *testing.T) {
	dir := scratch(t)
	s := lazy(t, dir, nil)
	s.commitsMost = 8 << 10
	var most int64
	for i := range 100 {
		must[state.Entry](t)(s.Add(ctx, once(fmt.Sprint(i)), day0))
		most = max(most, must[os.FileInfo](t)(os.Stat(s.path(commitsFile))).Size())
	}
	if most > 10<<10 || most < 4<<10 {
		t.Errorf("the log was %d bytes long", most)
	}
	if list, _, err := state.All(ctx, rebooted(t, dir)); err != nil || len(list) != 100 {
		t.Errorf("%d tasks, %v", len(list), err)
	}
}

// stubbornDisk takes no file that it is asked to sync at its place; new ones beside them it does.
type stubbornDisk struct {
	*recorder
	asked []string
}

func (d *stubbornDisk) sync(paths []string) error {
	for _, p := range paths {
		if !strings.HasPrefix(filepath.Base(p), tempPrefix) {
			d.asked = append(d.asked, p)
			return fmt.Errorf("%w: %w", plainfile.ErrSync, syscall.EIO)
		}
	}
	return d.recorder.sync(paths)
}

// TestSyncRefused: what the disk has once not taken is written anew before the log's records go, and never synced again.
func TestSyncRefused(t *testing.T) {
	for _, how := range []string{"sync", "full", "rebooted"} {
		dir := filepath.Join(scratch(t), "state")
		d := &stubbornDisk{recorder: &recorder{root: dir}}
		s := busy(t, dir, d)
		want := dump(t, s)
		list, _ := records(t, s)
		files, _ := s.touched(list)
		d.steps = nil
		switch how {
		case "sync":
			if err := s.Sync(ctx); err != nil {
				t.Fatal(err)
			}
		case "full":
			s.commitsMost = 1
			settle(t, s)
			must[state.Entry](t)(s.Add(ctx, once("n"), day2))
			want = dump(t, s)
		case "rebooted":
			s = must[*Store](t)(Open(dir, Options{disk: d, boot: func() string { return "another" }}))
			settle(t, s)
		}
		gone := slices.IndexFunc(d.steps, func(s step) bool { return s.kind == "cut" && s.path == "/"+commitsFile })
		anew := map[string]bool{}
		for i, s := range d.steps[:max(gone, 0)] {
			if s.kind != "rename" || !strings.Contains(s.path, tempPrefix) {
				continue
			}
			for _, before := range d.steps[:i] {
				if before.kind == "sync" && before.path == s.path {
					anew[dir+s.to] = true
				}
			}
		}
		for _, f := range files {
			if _, err := os.Lstat(f); err == nil && !anew[f] {
				t.Errorf("%s: %s was not written anew before the log went", how, below(dir, f))
			}
		}
		slices.Sort(d.asked)
		if again := slices.Compact(slices.Clone(d.asked)); len(again) != len(d.asked) {
			t.Errorf("%s: synced again: %v", how, d.asked)
		}
		if got := dump(t, s); got != want {
			t.Errorf("%s: then\n%s\nbefore\n%s", how, got, want)
		}
		if list, _ := records(t, s); len(list) > 0 {
			t.Errorf("%s: %d records are left", how, len(list))
		}
	}
}

// meanwhile is a disk on which something happens while files are synced.
type meanwhile struct {
	disk
	do func()
}

func (d *meanwhile) sync(paths []string) error {
	if do := d.do; do != nil {
		d.do = nil
		do()
	}
	return d.disk.sync(paths)
}

// TestSyncBesideWriters: what is committed while Sync waits for the disk stays in the log, whoever commits it, and whatever becomes of the log.
func TestSyncBesideWriters(t *testing.T) {
	for what, do := range map[string]func(other *Store) error{
		"a change": func(other *Store) error { _, err := other.Add(ctx, once("beside"), day0); return err },
		"a rotation": func(other *Store) error {
			other.partMost = 1
			_, err := other.Add(ctx, once("beside"), day0)
			return err
		},
		"a checkpoint and a change": func(other *Store) error {
			other.commitsMost = 1
			_, err := other.Add(ctx, once("beside"), day0)
			other.commitsMost = commitsMost
			if err == nil {
				_, err = other.Add(ctx, once("beside"), day0)
			}
			return err
		},
		"a sync": func(other *Store) error { return other.Sync(ctx) },
	} {
		dir := scratch(t)
		d := &meanwhile{disk: lazyDisk{}}
		s := busy(t, dir, d)
		other := lazy(t, dir, nil)
		d.do = func() {
			if err := do(other); err != nil {
				t.Error(what, err)
			}
		}
		if err := s.Sync(ctx); err != nil || d.do != nil {
			t.Errorf("%s: %v", what, err)
		}
		list, _ := records(t, s)
		if what != "a sync" && len(list) == 0 {
			t.Errorf("%s: what was committed meanwhile is not in the log", what)
		}
		seen := dump(t, s)
		if strings.Contains(seen, "beside 1") != (what != "a sync") {
			t.Errorf("%s: seen\n%s", what, seen)
		}
		if err := s.Sync(ctx); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if list, _ := records(t, s); len(list) != 0 {
			t.Errorf("%s: %d records after another sync", what, len(list))
		}
		if again := rebooted(t, dir); dump(t, again) != seen {
			t.Errorf("%s: after a start of the machine\n%s\nbefore\n%s", what, dump(t, again), seen)
		}
	}
}

// TestCheckpointFails: a change that has been committed has happened, and is answered so, also when the disk then does not take what is in the
// log, be it because it has become full; of many nothing is done twice.
func TestCheckpointFails(t *testing.T) {
	for _, why := range []error{syscall.EIO, syscall.ENOSPC, fmt.Errorf("%w: %w", plainfile.ErrSync, syscall.EIO)} {
		dir := scratch(t)
		d := &failingSync{disk: lazyDisk{}}
		s := lazy(t, dir, d)
		must[state.Entry](t)(s.Add(ctx, once("first"), day0))
		s.commitsMost, d.err = 1, why
		drafts := make([]state.Draft, 5)
		for i := range drafts {
			drafts[i] = state.Draft{Task: daily(fmt.Sprint(i)), Due: day0}
		}
		added := map[string]bool{}
		var wants []storetest.Want
		for _, a := range s.AddAll(ctx, drafts) {
			if a.Err == nil {
				added[a.Entry.Task.ID] = true
				wants = append(wants, storetest.Want{ID: a.Entry.Task.ID, Due: day0, Next: day1})
			}
		}
		list, _, err := state.All(ctx, s)
		if err != nil || len(list) != 1+len(added) {
			t.Errorf("%v: %d were answered to be added, and %d are there, %v", why, len(added), len(list)-1, err)
		}
		granted := 0
		for _, g := range storetest.ClaimAll(ctx, s, wants, state.Ident{PID: 1}, day0) {
			if g.Err == nil {
				granted++
			}
		}
		open, _, err := s.Open(ctx)
		if err != nil || len(open) != granted {
			t.Errorf("%v: %d were answered to be granted, and %d are open, %v", why, granted, len(open), err)
		}
		d.err = nil
		must[state.Entry](t)(s.Add(ctx, once("last"), day0))
		if list, _ := records(t, s); len(list) > 0 {
			t.Errorf("%v: %d records are left when the disk takes them again", why, len(list))
		}
	}
}

// failingSync is a disk on which no file can be synced, except for the log of commits.
type failingSync struct {
	disk
	err error
}

func (d *failingSync) sync(paths []string) error {
	if d.err != nil {
		return d.err
	}
	return d.disk.sync(paths)
}

// TestSyncWithoutAFolder: somebody has removed a folder of the state with what was in it. What the log stands for outside it is synced all the same, and
// the log does not grow until the folder is there again.
func TestSyncWithoutAFolder(t *testing.T) {
	s := open(t, scratch(t))
	task := once("n")
	task.Key = "k"
	e := must[state.Entry](t)(s.Add(ctx, task, day0))
	if _, err := s.Remove(ctx, e.Task.ID, e.Due); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(s.path(removedDir)), os.RemoveAll(s.path(keysDir))); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(ctx); err != nil {
		t.Error(err)
	}
	if list, head := records(t, s); len(list) > 0 || head.Size != headSize {
		t.Errorf("the log has %d records, its head is %+v", len(list), head)
	}
}

// TestSyncWithoutTheQueue: somebody has moved the queue away. It is not made again, as long as the ledger knows of tasks: an empty one would say that nothing
// is pending.
func TestSyncWithoutTheQueue(t *testing.T) {
	s := open(t, scratch(t))
	must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	queue, aside := s.path(queueDir), s.path("aside")
	if err := os.Rename(queue, aside); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(ctx); !errors.Is(err, state.ErrUnusable) {
		t.Errorf("with an empty queue: %v", err)
	}
	if _, err := os.Lstat(queue); !os.IsNotExist(err) {
		t.Fatalf("the queue is made again: %v", err)
	}
	if err := os.Rename(aside, queue); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(ctx); err != nil || list.Len != 1 {
		t.Errorf("%d tasks: %v", list.Len, err)
	}
	if err := s.Sync(ctx); err != nil {
		t.Error(err)
	}
	if list, _ := records(t, s); len(list) > 0 {
		t.Errorf("the log has %d records", len(list))
	}
}
