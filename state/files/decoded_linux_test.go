package files

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestKeptTasksAreAsTheirFiles changes a task's file in every way that there is, and reads it by a handle that keeps what it has read.
func TestKeptTasksAreAsTheirFiles(t *testing.T) {
	dir := t.TempDir()
	s, other := watching(t, dir), open(t, dir)
	s.decoded.tick = -time.Hour // what has changed within one tick has another size or inode here
	first := once("first")
	first.Run.Argv, first.Run.Env = []string{"true"}, map[string]string{"PATH": "/bin"}
	e, err := other.Add(ctx, first, day0)
	if err != nil {
		t.Fatal(err)
	}
	id := e.Task.ID
	n, err := nameOf(id, day0)
	if err != nil {
		t.Fatal(err)
	}
	file := found{n, queueDir}
	path := s.path(file.place())
	read := func(when string, hit bool) {
		t.Helper()
		_, _, _, found := s.decodedAt(file.place())
		if found != hit {
			t.Errorf("%s: kept is %v", when, found)
		}
		got, err := s.readTask(file.place(), id)
		want, wantErr := other.readTask(file.place(), id)
		if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: %+v, %v; want %+v, %v", when, got, err, want, wantErr)
		}
	}
	read("when new", false)
	read("again", true)
	if got, err := s.readTask(file.place(), id); err != nil {
		t.Error(err)
	} else {
		got.Run.Env["PATH"], got.Run.Env["MORE"] = "changed", "changed"
	}
	read("after the answer was changed", true)
	task := e.Task
	task.Description = "edited"
	if _, err := other.Update(ctx, task, time.Time{}, day0); err != nil {
		t.Fatal(err)
	}
	read("after an edit", false)
	read("after an edit, again", true)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), `"edited"`, `"edited by hand"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	read("after it was written over", false)
	if err := os.Chmod(path, 0o622); err != nil {
		t.Fatal(err)
	}
	read("when others may write", false)
	if _, err := s.readTask(file.place(), id); err == nil {
		t.Error("what others may write is read")
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	read("when they may not any more", false)
	if err := os.WriteFile(path, []byte("no task"), 0o600); err != nil {
		t.Fatal(err)
	}
	read("when it is damaged", false)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	read("when it is gone", false)
	if err := os.Symlink(s.path(ledgerFile), path); err != nil {
		t.Fatal(err)
	}
	read("when it is a link", false)
}

// TestYoungFilesAreNotKept: one that has just changed may change once more without looking any different. Neither does a handle that does not
// watch keep anything, and those that do keep only so many.
func TestYoungFilesAreNotKept(t *testing.T) {
	dir := t.TempDir()
	s, other := watching(t, dir), open(t, dir)
	other.decoded.tick = -time.Hour
	s.decoded.tick = time.Hour
	var drafts []state.Draft
	for i := range decodedMost + 10 {
		drafts = append(drafts, state.Draft{Task: once("n"), Due: day0.Add(time.Duration(i))})
	}
	added := other.AddAll(ctx, drafts)
	for range 2 {
		for _, h := range []*Store{s, other} {
			if list, _, err := h.DueBy(ctx, day0.Add(time.Hour), 0); err != nil || len(list) != len(added) {
				t.Fatal(len(list), err)
			}
			if n := len(h.decoded.tasks); n != 0 {
				t.Errorf("%d are kept", n)
			}
		}
	}
	s.decoded.tick = -time.Hour
	if _, _, err := s.DueBy(ctx, day0.Add(time.Hour), 0); err != nil {
		t.Fatal(err)
	}
	if n := len(s.decoded.tasks); n == 0 || n > decodedMost {
		t.Errorf("%d are kept", n)
	}
}
