package files

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/guard"
)

// said are the findings of one check.
func said(t *testing.T, dir, check string) (list []state.Finding) {
	t.Helper()
	return slices.DeleteFunc(findings(t, dir, nil), func(f state.Finding) bool { return f.Check != check })
}

// TestKeyOfATaskAside: while a task lies aside its key is kept, whatever mends; put back it is the one that has it, and given up the
// key is free.
func TestKeyOfATaskAside(t *testing.T) {
	for _, back := range []bool{true, false} {
		dir := t.TempDir()
		s := open(t, dir)
		task := once("k")
		task.Key = "news"
		e := must[state.Entry](t)(s.Add(ctx, task, day0))
		path := s.PathOf(e)
		whole := must[[]byte](t)(os.ReadFile(path))
		if err := os.WriteFile(path, whole[:len(whole)/2], 0o600); err != nil {
			t.Fatal(err)
		}
		aged(t, path)
		look := must[*Store](t)(Open(dir, Options{Inspect: true}))
		state.Examine(ctx, look.Inspections(), true, func(f state.Finding) {
			if f.Left != nil {
				t.Errorf("%+v", f)
			}
		})
		if list := said(t, dir, "keys"); len(list) > 0 {
			t.Errorf("of its key: %+v", list)
		}
		aside := must[[]string](t)(s.Quarantined(ctx))
		if len(aside) != 1 {
			t.Fatalf("aside: %v", aside)
		}
		_, err := s.Add(ctx, task, day1)
		if !errors.Is(err, state.ErrUnusable) || !strings.Contains(err.Error(), aside[0]) {
			t.Errorf("the key was given again: %v", err)
		}
		if results := s.AddAll(ctx, []state.Draft{{Task: task, Due: day1}}); !errors.Is(results[0].Err, state.ErrUnusable) {
			t.Errorf("the key was given again, with many: %+v", results)
		}
		if !back {
			if err := os.Remove(aside[0]); err != nil {
				t.Fatal(err)
			}
			must[state.Entry](t)(s.Add(ctx, task, day1))
			continue
		}
		if err := errors.Join(os.WriteFile(path, whole, 0o600), os.Remove(aside[0])); err != nil {
			t.Fatal(err)
		}
		if kept, err := s.Add(ctx, task, day1); !errors.Is(err, state.ErrKept) || kept.Task.ID != e.Task.ID {
			t.Errorf("put back: %+v %v", kept, err)
		}
	}
}

// TestTwoTasksWithOneKey: what only a hand can make is told.
func TestTwoTasksWithOneKey(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	var ids []string
	for _, key := range []string{"news", "olds"} {
		task := once(key)
		task.Key = key
		e := must[state.Entry](t)(s.Add(ctx, task, day0))
		text := strings.Replace(string(must[[]byte](t)(os.ReadFile(s.PathOf(e)))), `"olds"`, `"news"`, 1)
		if err := os.WriteFile(s.PathOf(e), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.Task.ID)
	}
	slices.Sort(ids)
	if list := said(t, dir, "files"); len(list) != 1 || list[0].Level != state.Wrong || !strings.Contains(list[0].Text, strings.Join(ids, " and ")+" have the same key") {
		t.Errorf("%+v", list)
	}
}

// TestOlderCopyAside: a copy whose task is there is worth a word of the examination, and no warning at each command; once its task
// has gone it is all that is left, and told again.
func TestOlderCopyAside(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	copied := s.path(corruptDir + "/" + filepath.Base(s.PathOf(e)))
	if err := os.WriteFile(copied, must[[]byte](t)(os.ReadFile(s.PathOf(e))), 0o600); err != nil {
		t.Fatal(err)
	}
	if names, err := s.Quarantined(ctx); err != nil || len(names) != 0 {
		t.Errorf("told at every command: %v %v", names, err)
	}
	if list := said(t, dir, "aside"); len(list) != 1 || list[0].Level != state.Odd || list[0].Hint != "rm "+copied {
		t.Errorf("%+v", list)
	}
	if err := os.Remove(s.PathOf(e)); err != nil {
		t.Fatal(err)
	}
	if names, err := s.Quarantined(ctx); err != nil || len(names) != 1 {
		t.Errorf("the only one left: %v %v", names, err)
	}
	if list := said(t, dir, "aside"); len(list) != 1 || list[0].Level != state.Wrong || !strings.HasPrefix(list[0].Hint, "mv ") {
		t.Errorf("%+v", list)
	}
}

// TestMisnamedDue: the advice has the instant in the old name, else the one in the file or the ledger, else no command to paste.
func TestMisnamedDue(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	walled := once("w")
	walled.When.Zone, walled.When.Wall = "Europe/Warsaw", "2031-02-03T09:00:00"
	plain := once("p")
	for _, c := range []struct {
		task  state.Task
		named string
		want  string
	}{
		{plain, "20300405T060708.000000000Z-copy.toml", "20300405T060708.000000000Z"},
		{plain, "news 2030-04-05T06:07:08Z.toml", "20300405T060708.000000000Z"},
		{walled, "later.toml", "20310203T080000.000000000Z"},
		{plain, "later.toml", day0.Format(stamp)},
		{plain, "unknown.toml", ""},
	} {
		e := must[state.Entry](t)(s.Add(ctx, c.task, day0))
		path := s.path(queueDir + "/" + c.named)
		if err := os.Rename(s.PathOf(e), path); err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			if err := os.Remove(s.path(ledgerFile)); err != nil {
				t.Fatal(err)
			}
		}
		f, is := s.misnamed(queueDir, c.named)
		want := "mv " + quoted(path) + " " + s.path(queueDir+"/"+c.want+"."+e.Task.ID+suffix)
		if !is || c.want != "" && f.Hint != want || c.want == "" && (strings.Contains(f.Hint, "mv ") || !strings.Contains(f.Hint, "look")) {
			t.Errorf("%s: %+v, want %s", c.named, f, want)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNewerCopyThatMayNotBeRead: a file that could be the newer one is not told, nor set aside, as an older copy.
func TestNewerCopyThatMayNotBeRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not kept in modes here")
	}
	for _, broken := range []bool{false, true} {
		dir := t.TempDir()
		s := open(t, dir)
		e := must[state.Entry](t)(s.Add(ctx, daily("n"), day0))
		path := s.PathOf(e)
		old := must[[]byte](t)(os.ReadFile(path))
		if broken {
			old = old[:len(old)/2]
		}
		copied := s.path(queueDir + "/" + name{due: day1.Format(stamp), id: e.Task.ID}.queue())
		if err := errors.Join(os.WriteFile(copied, old, 0o600), os.Chmod(path, 0o666)); err != nil {
			t.Fatal(err)
		}
		aged(t, path)
		aged(t, copied)
		look := must[*Store](t)(Open(dir, Options{Inspect: true}))
		state.Examine(ctx, look.Inspections(), true, func(f state.Finding) {
			if f.Subject == path && (f.Reason != state.Reason(guard.OthersWrite) || f.Done == "") {
				t.Errorf("broken %v: %+v", broken, f)
			}
		})
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("broken %v: %v, %v", broken, info, err)
		}
	}
}

// TestWayBack: the command that puts a file back puts it where it was, so that what was paused or removed does not run.
func TestWayBack(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	folder := map[string]string{}
	for _, to := range []string{queueDir, pausedDir, removedDir} {
		id := must[state.Entry](t)(s.Add(ctx, once(to), day0)).Task.ID
		folder[id] = to
		switch to {
		case pausedDir:
			must[state.Entry](t)(s.Pause(ctx, id, day1, day0))
		case removedDir:
			must[state.Entry](t)(s.Remove(ctx, id, day0))
		}
		for _, file := range must[[]string](t)(readNames(s.path(to))) {
			if path := s.path(to + "/" + file); strings.Contains(file, id) {
				if err := os.WriteFile(path, []byte("broken"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if moved := must[[]state.Problem](t)(s.Quarantine(ctx, 0)); len(moved) != 3 {
		t.Fatalf("set aside: %v", moved)
	}
	for _, f := range said(t, dir, "aside") {
		n, _ := quarantineName(filepath.Base(f.Subject))
		if !strings.Contains(f.Hint, " "+s.path(folder[n.id]+"/"+n.queue())+";") {
			t.Errorf("%s was in %s: %s", n.id, folder[n.id], f.Hint)
		}
		delete(folder, n.id)
	}
	if len(folder) > 0 {
		t.Errorf("not told: %v", folder)
	}
}
