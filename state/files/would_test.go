package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestWould asks for what would be done, and then does it: the answers are alike, and asking has changed nothing.
func TestWould(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	limits := state.Limits{}
	s, err := Open(dir, Options{Limits: func() (state.Limits, error) { return limits, nil }})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	task := func(key, origin string) state.Task {
		return state.Task{Text: "tea", Key: key, Origin: origin, Created: now, When: state.Timing{Text: "1h", Kind: "once", Zone: "UTC", Start: now}}
	}
	alike := func(what string, would, does state.Entry, wouldErr, err error) {
		t.Helper()
		for _, known := range []error{state.ErrKept, state.ErrLimit, state.ErrEnded, state.ErrTaken, state.ErrConflict, state.ErrNotFound, state.ErrInvalid} {
			if errors.Is(wouldErr, known) != errors.Is(err, known) {
				t.Errorf("%s would fail with %v, and fails with %v", what, wouldErr, err)
			}
		}
		if (wouldErr == nil) != (err == nil) {
			t.Errorf("%s would fail with %v, and fails with %v", what, wouldErr, err)
		}
		if err == nil && (!would.Due.Equal(does.Due) || would.Phase != does.Phase || would.Task.Revision != does.Task.Revision || would.Task.Text != does.Task.Text) {
			t.Errorf("%s would be\n%+v\nand is\n%+v", what, would, does)
		}
	}
	asked := func(what string, ask func()) {
		t.Helper()
		before := everythingIn(t, dir)
		ask()
		if after := everythingIn(t, dir); after != before {
			t.Errorf("asking whether %s has changed\n%s\nto\n%s", what, before, after)
		}
	}
	add := func(what string, task state.Task, due time.Time) state.Entry {
		t.Helper()
		var would state.Added
		asked(what, func() {
			would = s.Dry().AddAll(t.Context(), []state.Draft{{Task: task, Due: due}})[0]
		})
		e, err := s.Add(t.Context(), task, due)
		alike(what, would.Entry, e, would.Err, err)
		return e
	}
	replace := func(what string, task state.Task, due time.Time) {
		t.Helper()
		var would state.Entry
		var wouldErr error
		asked(what, func() { would, wouldErr = s.Dry().Update(t.Context(), task, due, now, nil) })
		e, err := s.Update(t.Context(), task, due, now, nil)
		alike(what, would, e, wouldErr, err)
	}
	restore := func(what, id string, due time.Time) {
		t.Helper()
		var would state.Entry
		var wouldErr error
		asked(what, func() { would, wouldErr = s.Dry().Restore(t.Context(), id, due, now) })
		e, err := s.Restore(t.Context(), id, due, now)
		alike(what, would, e, wouldErr, err)
	}
	due := now.Add(time.Hour)
	first := add("the first is added", task("tea", ""), due)
	add("a second with the key is added", task("tea", ""), due)
	add("one without a due instant is added", task("", ""), time.Time{})
	other := add("another one is added", task("coffee", ""), due)

	changed := first.Task
	changed.Text = "green tea"
	replace("it is changed and moved", changed, due.Add(time.Hour))
	replace("an older revision is changed", changed, time.Time{})
	gone := changed
	gone.ID = "zzzz"
	replace("one that never was is changed", gone, time.Time{})

	restore("one that was not removed is restored", other.Task.ID, due)
	if _, err := s.Remove(t.Context(), other.Task.ID, now); err != nil {
		t.Fatal(err)
	}
	replace("one that was removed is changed", other.Task, time.Time{})
	restore("one that was removed is restored", other.Task.ID, due.Add(time.Minute))
	if _, err := s.Remove(t.Context(), other.Task.ID, now); err != nil {
		t.Fatal(err)
	}
	add("another takes its key", task("coffee", ""), due)
	restore("one whose key was taken is restored", other.Task.ID, due)

	limits.Pending = 2
	origin := first.Task.ID
	for _, what := range []string{"one of an origin is added", "two of an origin are added", "three of an origin are added"} {
		add(what, task("", origin), due)
	}
	limits = state.Limits{Tasks: 3}
	add("more than all are added", task("", ""), due)
}

// everythingIn is everything in a folder: names, sizes, and when they were changed.
func everythingIn(t *testing.T, dir string) (all string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			all += path + " " + info.Mode().String() + " " + info.ModTime().String() + "\n"
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
