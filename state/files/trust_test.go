package files

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/guard"
)

// TestTaskOthersCanWrite: a task file that somebody else could have written is a problem to every reader, is not claimed, is not
// set aside, and is a task again once it is its owner's alone.
func TestTaskOthersCanWrite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not kept in modes here")
	}
	s := open(t, t.TempDir())
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	other := must[state.Entry](t)(s.Add(ctx, once("other"), day0))
	path := s.PathOf(e)
	for _, mode := range []os.FileMode{0o620, 0o602, 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		aged(t, path)
		l, problems, err := state.All(ctx, s)
		if err != nil || len(l) != 1 || l[0].Task.ID != other.Task.ID || len(problems) != 1 || !strings.Contains(problems[0].Error(), "chmod go-w "+path) {
			t.Errorf("%o: %v %v %v", mode, l, problems, err)
		}
		due, problems, err := dueBy(s, day1, 0)
		if err != nil || len(due) != 1 || len(problems) != 1 {
			t.Errorf("%o: due are %v %v %v", mode, due, problems, err)
		}
		if _, err := s.Find(ctx, e.Task.ID); !errors.Is(err, state.ErrUnusable) {
			t.Errorf("%o: %v", mode, err)
		}
		if _, err := s.Claim(ctx, e.Task.ID, day0, time.Time{}, state.Ident{PID: 1}, day0); !errors.Is(err, state.ErrUnusable) {
			t.Errorf("%o: a claim: %v", mode, err)
		}
		if moved, err := s.Quarantine(ctx, 0); err != nil || len(moved) != 0 {
			t.Errorf("%o: set aside: %v %v", mode, moved, err)
		}
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if l, problems, err := state.All(ctx, s); err != nil || len(l) != 2 || len(problems) != 0 {
		t.Errorf("%v %v %v", l, problems, err)
	}
	if err := guard.File(path, os.Geteuid()+1, 0o600); !errors.Is(err, state.ErrUnusable) || !strings.Contains(err.Error(), "chown ") {
		t.Errorf("another's: %v", err)
	}
}

// TestTornLineIsToldOnce: cutting it off is the mend, and is not told a second time as done on the way.
func TestTornLineIsToldOnce(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	f, err := os.OpenFile(s.path(ledgerFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("{torn")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	reported := 0
	look := must[*Store](t)(Open(dir, Options{Inspect: true, Report: func(state.Problem) { reported++ }}))
	mended := 0
	state.Examine(context.Background(), look.Inspections(), true, func(f state.Finding) {
		if f.Check == "ledger" && f.Done != "" {
			mended++
		}
	})
	if mended != 1 || reported != 0 {
		t.Errorf("mended %d, and reported %d", mended, reported)
	}
}

// TestOutOfFiles: what could not be opened for want of descriptors is not said to be at fault.
func TestOutOfFiles(t *testing.T) {
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE} {
		err = &os.PathError{Op: "open", Path: "x", Err: err}
		s := &Store{dir: t.TempDir()}
		if f := s.fault("x", err); !strings.Contains(f.Hint, "ulimit -n") {
			t.Errorf("%+v", f)
		}
		f := s.taskFault(queueDir+"/x", state.Problem{Path: "x", Err: err})
		if !strings.Contains(f.Hint, "ulimit -n") || strings.Contains(f.Text, "does not run") {
			t.Errorf("%+v", f)
		}
	}
}
