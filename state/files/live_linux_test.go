package files

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// watching is a handle that watches the folder.
func watching(t *testing.T, dir string) *Store {
	t.Helper()
	s := open(t, dir)
	if _, err := s.Watch(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// same holds the names that a handle keeps to those that are there.
func same(t *testing.T, s *Store, when string) {
	t.Helper()
	kept, err := s.queue(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	there, err := s.snapshot(ctx, queueOnly, "")
	if err != nil {
		t.Fatal(err)
	}
	order := func(a, b found) int { return strings.Compare(a.place(), b.place()) }
	got, want := slices.SortedFunc(kept.found(), order), slices.SortedFunc(there.found(), order)
	if !slices.Equal(got, want) || len(kept.open) != len(there.open) {
		t.Fatalf("%s: %d names and %d claims are kept, %d and %d are there", when, len(got), len(kept.open), len(want), len(there.open))
	}
}

// TestKeptNamesAreThoseThatAreThere changes the queue in every way, from another handle and by hand, and looks after each.
func TestKeptNamesAreThoseThatAreThere(t *testing.T) {
	dir := t.TempDir()
	s, other := watching(t, dir), open(t, dir)
	r := rand.New(rand.NewPCG(1, 2))
	var ids []string
	for i := range 300 {
		id := ""
		if len(ids) > 0 {
			id = ids[r.IntN(len(ids))]
		}
		due := day0.Add(time.Duration(r.IntN(1e6)) * time.Second)
		what := r.IntN(8)
		switch e, _ := other.Find(ctx, cmp.Or(id, "none")); {
		case what < 3 || len(e) == 0:
			e, err := other.Add(ctx, daily("n"), due)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, e.Task.ID)
		case what == 3:
			other.Remove(ctx, id, day0)
		case what == 4:
			other.Pause(ctx, id, due, day0)
		case what == 5:
			other.Resume(ctx, id, day0)
		case what == 6:
			other.Claim(ctx, id, e[0].Due, e[0].Due.Add(time.Hour), state.Ident{}, day0)
		case what == 7: // by hand
			place := found{name: name{due: e[0].Due.Format(stamp), id: id}, dir: queueDir}
			os.Rename(s.path(place.place()), s.path(queueDir+"/"+name{due: due.Format(stamp), id: id}.queue()))
			os.WriteFile(s.path(queueDir+"/notes.txt"), nil, 0o600)
		}
		same(t, s, fmt.Sprint("after change ", i))
	}
	if s.live.listed != 1 {
		t.Errorf("listed %d times, want once", s.live.listed)
	}
	// What was handed out stays as it was.
	before, err := s.queue(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	held := slices.Clone(before.tasks)
	for _, id := range ids {
		other.Remove(ctx, id, day0)
	}
	same(t, s, "when all are gone")
	if !slices.Equal(before.tasks, held) {
		t.Error("names that somebody reads have changed")
	}
}

// TestKeptNamesAreListedAnew makes the watch useless.
func TestKeptNamesAreListedAnew(t *testing.T) {
	dir := t.TempDir()
	s := watching(t, dir)
	for range 20 {
		if _, err := s.Add(ctx, once("n"), day0); err != nil {
			t.Fatal(err)
		}
	}
	same(t, s, "at first")
	queue := s.path(queueDir)
	exchange := func() {
		err := os.Rename(queue, queue+".old")
		if err == nil {
			err = os.CopyFS(queue, os.DirFS(queue+".old"))
		}
		if err == nil {
			err = os.Remove(filepath.Join(queue, firstOf(t, queue)))
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range append([]string{queueDir}, folders...) {
			os.Chmod(s.path(f), 0o700)
		}
	}
	noted := 0 // so many changes are noted; each of the steps below is two
	if text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events"); err == nil {
		fmt.Sscan(string(text), &noted)
	}
	overflow := func() {
		for i := range noted {
			p := filepath.Join(queue, fmt.Sprint("x", i%2))
			if err := os.WriteFile(p, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			os.Remove(p)
		}
		os.Remove(filepath.Join(queue, firstOf(t, queue)))
	}
	for _, c := range []struct {
		what string
		do   func()
	}{
		{"another folder in its place", exchange},
		{"more changes than are noted", overflow},
		{"the watch is gone", func() { s.live.mu.Lock(); s.live.forget(); s.live.mu.Unlock() }},
		{"the folder was touched", func() { os.Chtimes(queue, day0, day0) }},
	} {
		if c.what == "more changes than are noted" && (noted == 0 || noted > 100_000) {
			continue
		}
		before := s.live.listed
		c.do()
		same(t, s, c.what)
		if s.live.listed != before+1 {
			t.Errorf("%s: listed %d times, want once", c.what, s.live.listed-before)
		}
	}
}

func firstOf(t *testing.T, dir string) string {
	t.Helper()
	files, err := readNames(dir)
	for _, f := range files {
		if _, ok := parseName(f); ok {
			return f
		}
	}
	t.Fatal("no task in", dir, err)
	return ""
}

// TestKeptNamesUnderWriters looks while others write: whoever has added a task and asks then, finds it.
func TestKeptNamesUnderWriters(t *testing.T) {
	dir := t.TempDir()
	s := watching(t, dir)
	var wg sync.WaitGroup
	for w := range 4 {
		other := open(t, dir)
		wg.Go(func() {
			for i := range 15 {
				due := day0.Add(time.Duration(w*100+i) * time.Second)
				e, err := other.Add(ctx, once("n"), due)
				if err != nil {
					t.Error(err)
					return
				}
				if next, ok, err := s.Next(ctx, due.Add(-1)); err != nil || !ok || !next.Equal(due) {
					t.Errorf("added %v and found %v, %v", due, next, err)
				}
				if i%3 == 0 {
					other.Remove(ctx, e.Task.ID, day0)
				}
			}
		})
	}
	wg.Wait()
	same(t, s, "after all")
}

// TestNothingIsKeptWithoutAWatch looks at a handle whose watch has ended.
func TestNothingIsKeptWithoutAWatch(t *testing.T) {
	var l live
	s := open(t, t.TempDir())
	if err := s.furnish(); err != nil {
		t.Fatal(err)
	}
	one, two := l.keep(s), l.keep(s)
	if _, ok, err := l.known(s); !ok || err != nil || l.fd == 0 {
		t.Errorf("nothing is kept: %v", err)
	}
	one()
	one()
	if _, ok, _ := l.known(s); !ok {
		t.Error("nothing is kept while one watches")
	}
	two()
	if _, ok, _ := l.known(s); ok || l.fd != 0 {
		t.Error("names are kept after the last watch has ended")
	}
}
