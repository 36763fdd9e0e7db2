package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestTornLedger: a last line that was cut short is reported by readers, cut off and reported by the next writer, and costs
// no other line.
func TestTornLedger(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	e := must[state.Entry](t)(s.Add(ctx, daily("n"), day0))
	whole := must[[]byte](t)(os.ReadFile(s.path(ledgerFile)))
	r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, day1, state.Ident{}, day0))
	if err := s.End(ctx, r, state.Line{At: day0, Outcome: state.OK}); err != nil {
		t.Fatal(err)
	}
	both := must[[]byte](t)(os.ReadFile(s.path(ledgerFile)))
	for _, torn := range [][]byte{[]byte("{"), both[len(whole) : len(both)-1], bytes.Repeat([]byte{0}, 70_000), []byte("\xff\xfe")} {
		if err := os.WriteFile(s.path(ledgerFile), append(slices.Clone(both), torn...), 0o600); err != nil {
			t.Fatal(err)
		}
		lines := 0
		_, problems, err := s.Log(ctx, "", func(state.Line) bool { lines++; return true })
		if err != nil || lines != 2 || len(problems) != 1 {
			t.Errorf("read: %d lines, %v, %v", lines, problems, err)
		}
		var reported []state.Problem
		w := must[*Store](t)(Open(dir, Options{Report: func(p state.Problem) { reported = append(reported, p) }}))
		settle(t, w)
		if len(reported) != 1 || reported[0].Path != s.path(ledgerFile) {
			t.Errorf("reported: %v", reported)
		}
		if got := must[[]byte](t)(os.ReadFile(s.path(ledgerFile))); !bytes.Equal(got, both) {
			t.Errorf("the ledger is\n%s\nwant\n%s", got, both)
		}
	}
	// A damaged line in the middle is reported; the others are read, and writing goes on.
	damaged := slices.Clone(both)
	copy(damaged[10:], "\x00\x00\x00")
	os.WriteFile(s.path(ledgerFile), damaged, 0o600)
	lines := 0
	_, problems, err := s.Log(ctx, "", func(state.Line) bool { lines++; return true })
	if err != nil || lines != 1 || len(problems) != 1 {
		t.Errorf("damaged: %d lines, %v, %v", lines, problems, err)
	}
	last := slices.Clone(both)
	copy(last[len(last)-10:], "\x00\x00\x00")
	os.WriteFile(s.path(ledgerFile), last, 0o600)
	os.Remove(s.path(commitsFile))
	next := must[state.Entry](t)(open(t, dir).Add(ctx, once("n"), day0))
	if next.Task.ID == e.Task.ID {
		t.Error("an ID came twice")
	}
}

// TestBusy: a writer and a reader that cannot have the lock in time say who has it; both go on when it is free.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	unlock, err := s.exclusive(ctx)
	if err != nil {
		t.Fatal(err)
	}
	impatient := must[*Store](t)(Open(dir, Options{LockWait: 30 * time.Millisecond}))
	_, errAdd := impatient.Add(ctx, once("n"), day0)
	_, _, errList := state.All(ctx, impatient)
	for _, err := range []error{errAdd, errList} {
		if !errors.Is(err, state.ErrBusy) {
			t.Errorf("%v, want ErrBusy", err)
		}
		if me := fmt.Sprintf("process %d (", os.Getpid()); runtime.GOOS == "linux" && !strings.Contains(err.Error(), me) {
			t.Errorf("%v does not name %s", err, me)
		}
	}
	unlock()
	if _, err := impatient.Add(ctx, once("n"), day0); err != nil {
		t.Error(err)
	}
	// Readers do not keep each other out.
	err = s.look(ctx, func() error {
		_, _, err := state.All(ctx, impatient)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestChildrenKeepNoLock: a command that was started under a lock does not keep it.
func TestChildrenKeepNoLock(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	s := open(t, dir)
	l := must[state.Lease](t)(s.Lead(ctx, state.Leader{}))
	unlock, err := s.exclusive(ctx)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(sleep, "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	unlock()
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir).Add(ctx, once("n"), day0); err != nil {
		t.Error(err)
	}
	if _, led, err := s.Led(ctx); led || err != nil {
		t.Errorf("led %v, %v", led, err)
	}
}

// TestReadOnlyFolder: everything can be read where nothing can be written, with and without a lock file, and writing says why not.
func TestReadOnlyFolder(t *testing.T) {
	dir := mountTmpfs(t, "64k", 0)
	s := open(t, filepath.Join(dir, "ouro"))
	e := must[state.Entry](t)(s.Add(ctx, daily("n"), day0))
	must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, day1, state.Ident{}, day0))
	for _, lock := range []bool{true, false} {
		if !lock {
			os.Remove(s.path(lockFile))
		}
		remount(t, dir, true)
		before := tree(t, dir)
		reader := open(t, s.Dir())
		dump(t, reader)
		if l, err := reader.Find(ctx, e.Task.ID); err != nil || len(l) != 1 || len(l[0].Open) != 1 {
			t.Errorf("%+v %v", l, err)
		}
		if _, led, err := reader.Led(ctx); led || err != nil {
			t.Errorf("%v %v", led, err)
		}
		_, errAdd := reader.Add(ctx, once("n"), day0)
		_, errClaim := reader.Claim(ctx, e.Task.ID, day1, day2, state.Ident{}, day1)
		_, errLead := reader.Lead(ctx, state.Leader{})
		for _, err := range []error{errAdd, errClaim, errLead} {
			if !errors.Is(err, state.ErrUnusable) || !strings.Contains(err.Error(), "read-only") {
				t.Errorf("%v, want ErrUnusable for a read-only folder", err)
			}
		}
		if after := tree(t, dir); !slices.Equal(before, after) {
			t.Errorf("it was changed:\n%v\n%v", before, after)
		}
		remount(t, dir, false)
	}
}

// TestFullDisk fills a small file system: what was acknowledged stays, what was not leaves nothing, and with room
// again all goes on.
func TestFullDisk(t *testing.T) {
	for _, limit := range []struct {
		size   string
		inodes int
	}{{"256k", 0}, {"16m", 60}} {
		dir := mountTmpfs(t, limit.size, limit.inodes)
		s := open(t, filepath.Join(dir, "ouro"))
		run := must[state.Entry](t)(s.Add(ctx, daily("run"), day0))
		r := must[state.Record](t)(s.Claim(ctx, run.Task.ID, day0, day1, state.Ident{}, day0))
		skip := must[state.Entry](t)(s.Add(ctx, daily("skip"), day0))
		gone := must[state.Entry](t)(s.Add(ctx, daily("gone"), day0))
		want := []string{gone.Task.ID, run.Task.ID, skip.Task.ID}
		var err error
		for n := 0; err == nil; n++ {
			var e state.Entry
			if e, err = s.Add(ctx, once(strings.Repeat("x", 500)), day1); err == nil {
				want = append(want, e.Task.ID)
			}
			if n > 5000 {
				t.Fatal("it does not fill up")
			}
		}
		full := func(err error) {
			t.Helper()
			if err != nil && (!errors.Is(err, state.ErrUnusable) || !strings.Contains(err.Error(), "no space left")) {
				t.Errorf("%v, want ErrUnusable for a full disk", err)
			}
		}
		full(err)
		// Each of these is done or not; which depends on the last few bytes.
		before := dump(t, s)
		_, err = s.Claim(ctx, skip.Task.ID, day0, day1, state.Ident{}, day0)
		full(err)
		if after := dump(t, s); err != nil && after != before {
			t.Errorf("refused and half done\n%s\nbefore\n%s", after, before)
		}
		claimed := err == nil
		before = dump(t, s)
		errEnd := s.End(ctx, r, state.Line{At: day0, Outcome: state.OK, Reason: strings.Repeat("r", 6000)})
		full(errEnd)
		if after := dump(t, s); errEnd != nil && after != before {
			t.Errorf("refused and half done\n%s\nbefore\n%s", after, before)
		}
		list, problems, err := state.All(ctx, s)
		if err != nil || len(problems) > 0 {
			t.Errorf("%v %v", problems, err)
		}
		var got []string
		for _, e := range list {
			got = append(got, e.Task.ID)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("there are %d tasks, %d were acknowledged", len(got), len(want))
		}
		// Room again.
		for _, e := range list {
			if e.Phase == state.Pending && len(e.Task.Description) > 100 {
				os.Remove(s.path(queueDir + "/" + name{due: e.Due.Format(stamp), id: e.Task.ID}.queue()))
			}
		}
		if _, err := s.Remove(ctx, gone.Task.ID, day0); err != nil {
			t.Error(err)
		}
		if err := s.End(ctx, r, state.Line{At: day0, Outcome: state.OK}); errEnd != nil && err != nil || errEnd == nil && !errors.Is(err, state.ErrEnded) {
			t.Error(err)
		}
		if _, err := s.Claim(ctx, skip.Task.ID, day0, day1, state.Ident{}, day0); !claimed && err != nil || claimed && !errors.Is(err, state.ErrTaken) {
			t.Error(err)
		}
		clean(t, s)
	}
}

// TestUnreadableFolder: EACCES is an error that says so, not an empty list.
func TestUnreadableFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	s := open(t, t.TempDir())
	must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	os.Chmod(s.path(queueDir), 0)
	defer os.Chmod(s.path(queueDir), 0o700)
	if _, _, err := state.All(ctx, s); !errors.Is(err, state.ErrUnusable) {
		t.Error(err)
	}
	if _, err := s.Add(ctx, once("n"), day0); !errors.Is(err, state.ErrUnusable) {
		t.Error(err)
	}
}

// TestVanishedFolder: a folder that is removed under a running store is empty, and made again by the next writer. No ID comes
// twice as long as the process that gave them lives or the ledger does.
func TestVanishedFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ouro")
	s := open(t, dir)
	must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if l, p, err := state.All(ctx, s); err != nil || len(l)+len(p) > 0 {
		t.Errorf("%v %v %v", l, p, err)
	}
	e := must[state.Entry](t)(s.Add(ctx, once("again"), day0))
	if l, _, err := state.All(ctx, s); err != nil || len(l) != 1 || l[0].Task.ID != e.Task.ID {
		t.Errorf("%+v %v", l, err)
	}
	n := 0
	if _, _, err := s.Log(ctx, "", func(state.Line) bool { n++; return true }); err != nil || n != 1 {
		t.Errorf("%d lines, %v", n, err)
	}
}

// heard waits for a signal; the bound is generous, a machine may be busy.
func heard(t *testing.T, signal <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-signal:
	case <-time.After(5 * time.Minute):
		t.Fatalf("nothing was heard of %s", what)
	}
}

// TestWatchOfAVanishedFolder: the watch is set anew, on a new folder, also when it was a folder above that went away.
func TestWatchOfAVanishedFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ouro")
	s := open(t, dir)
	if err := s.furnish(); err != nil {
		t.Fatal(err)
	}
	watching, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait() // before the folder is cleaned up
	defer stop()
	_, w := s.queueWatch(watching)
	w.Check = 50 * time.Millisecond
	signal := w.Set()
	running.Go(func() { w.Run(watching) })
	away := filepath.Join(t.TempDir(), "away") // a folder removed where it is would be made again meanwhile
	for _, drop := range []func() error{
		func() error { return errors.Join(os.Rename(dir, away+"1"), os.RemoveAll(away+"1")) },
		func() error { return os.Rename(dir, away+"2") },
		func() error { // the queue alone, and its owner goes on without it
			return errors.Join(os.Rename(s.path(queueDir), away+"3"), os.Mkdir(s.path(queueDir), 0o700))
		},
	} {
		if err := drop(); err != nil {
			t.Fatal(err)
		}
		heard(t, signal, "the folder's end")
		for range 3 { // the first may be told by the signal before it
			must[state.Entry](t)(s.Add(ctx, once("n"), day0))
			heard(t, signal, "an addition to the new folder")
		}
	}
}

// TestVanishedQueue: a queue that is gone while the ledger is there is no empty one: readers and writers refuse, nobody makes it, and
// once it is back, or made by hand, all goes on. The examination counts what is missed.
func TestVanishedQueue(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ouro")
	s := open(t, dir)
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	must[state.Entry](t)(s.Add(ctx, daily("d"), day0))
	gone := must[state.Entry](t)(s.Add(ctx, once("r"), day0))
	must[state.Entry](t)(s.Remove(ctx, gone.Task.ID, day0))
	watching, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	_, w := s.queueWatch(watching)
	w.Check = 50 * time.Millisecond
	signal := w.Set()
	running.Go(func() { w.Run(watching) })
	away := s.path(queueDir) + ".away"
	if err := os.Rename(s.path(queueDir), away); err != nil {
		t.Fatal(err)
	}
	heard(t, signal, "the queue's end")
	_, _, errList := state.All(ctx, s)
	_, _, errNext := state.Next(ctx, s, time.Time{})
	_, errFind := s.Find(ctx, e.Task.ID)
	_, errAdd := s.Add(ctx, once("n"), day0)
	_, errLead := s.Lead(ctx, state.Leader{})
	for i, err := range []error{errList, errNext, errFind, errAdd, errLead} {
		if !errors.Is(err, state.ErrUnusable) || !strings.Contains(err.Error(), "mkdir -m 700 ") {
			t.Errorf("%d: %v, want ErrUnusable", i, err)
		}
	}
	if _, _, err := s.Log(ctx, "", func(state.Line) bool { return true }); err != nil {
		t.Errorf("the ledger can be read all the same: %v", err)
	}
	if got := findings(t, dir, nil); len(got) == 0 || got[0].Level != state.Wrong || !strings.Contains(got[0].Text, "of 2 tasks that were made and have not ended") {
		t.Errorf("found %+v", got)
	}
	if _, err := os.Lstat(s.path(queueDir)); !missing(err) {
		t.Fatalf("it was made: %v", err)
	}
	if err := os.Rename(away, s.path(queueDir)); err != nil {
		t.Fatal(err)
	}
	if l, _, err := state.All(ctx, s, state.Pending); err != nil || len(l) != 2 {
		t.Errorf("after it was put back: %v %v", l, err)
	}
	if err := errors.Join(os.RemoveAll(s.path(queueDir)), os.Mkdir(s.path(queueDir), 0o700)); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Add(ctx, once("n"), day0); err != nil || again.Task.ID == e.Task.ID {
		t.Errorf("going on without it: %+v %v", again, err)
	}
}
