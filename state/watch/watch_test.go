package watch

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// heard waits for a signal; how long decides nothing.
func heard(t *testing.T, signal <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-signal:
	case <-time.After(5 * time.Minute):
		t.Fatalf("nothing was heard of %s", what)
	}
}

// add makes a file in a folder.
func add(t *testing.T, folder, file string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, file), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// watching begins to watch a folder, and ends before that is removed.
func watching(t *testing.T, run func(context.Context)) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
}

func all(Event) bool { return true }

// TestWithoutAWatch: where none can be had there is a tick, and a watch as soon as one can.
func TestWithoutAWatch(t *testing.T) {
	dir := t.TempDir()
	w := &Watch{Paths: []string{filepath.Join(dir, "later")}, Tells: all}
	signal := w.Set()
	watching(t, w.Run)
	heard(t, signal, "a tick")
	if err := os.Mkdir(w.Paths[0], 0o700); err != nil {
		t.Fatal(err)
	}
	heard(t, signal, "the folder")
	add(t, w.Paths[0], "n")
	heard(t, signal, "an addition")
	p := &Watch{Paths: []string{dir}, Tells: all}
	polled := p.Set()
	p.last = p.changed()
	watching(t, p.poll)
	add(t, dir, "n")
	heard(t, polled, "an addition, by polling")
}

// TestPollingEnds: with its context, and leaves nothing behind.
func TestPollingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Watch{Content: true, signal: make(chan struct{}, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		go w.poll(ctx)
		for range 3 {
			<-w.signal
		}
		cancel()
	})
}

// TestLost: a watch whose folder is gone is set anew, on what is made in its place.
func TestLost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "watched")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w := &Watch{Paths: []string{dir}, Tells: func(e Event) bool { return e.Folder == dir && e.File == "told" && e.Made },
		Lost: func() { os.Mkdir(dir, 0o700) }, Check: 50 * time.Millisecond}
	signal := w.Set()
	watching(t, w.Run)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Skip(err) // where what is watched cannot be moved
	}
	heard(t, signal, "the folder's end")
	for { // it is made a Tick later
		if _, err := os.Stat(dir); err == nil {
			break
		}
		heard(t, signal, "the folder's end, again")
	}
	add(t, dir, "other")
	add(t, dir, "told")
	heard(t, signal, "an addition to the new folder")
}

// TestLostIsNotMadeAtOnce: whoever removes a folder that is watched removes, perhaps, the one above it, and must not find there what was just made.
func TestLostIsNotMadeAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "watched")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w := &Watch{Paths: []string{dir}, Tells: func(Event) bool { return false }, Lost: func() { t.Error("it is made at once") }}
	signal := w.Set()
	defer w.drop()
	if w.watcher == nil {
		t.Skip("nothing tells of changes here")
	}
	if err := os.Remove(dir); err != nil {
		t.Skip(err) // where what is watched cannot be removed
	}
	soonest := time.Now().Add(Tick)
	w.take(t.Context(), fsnotify.Event{Name: dir, Op: fsnotify.Remove})
	heard(t, signal, "the folder's end")
	if w.watcher != nil || w.next.Before(soonest) {
		t.Errorf("it is tried again at %v, want no sooner than %v", w.next, soonest)
	}
}

// TestGone: a file that goes or is replaced is told of, and one that is not there, too.
func TestGone(t *testing.T) {
	dir := t.TempDir()
	add(t, dir, "n")
	path := filepath.Join(dir, "n")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	signal := Gone(ctx, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	heard(t, signal, "its end")
	heard(t, Gone(ctx, path), "one that is not there")
	add(t, dir, "n")
	signal = Gone(ctx, path)
	add(t, dir, "other")
	if err := os.Rename(filepath.Join(dir, "other"), path); err != nil {
		t.Fatal(err)
	}
	heard(t, signal, "another file in its place")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	heard(t, signal, "the end of that one")
}

// TestChecksBesideEvents: what happens here again and again puts off no check, by which it is seen what other machines do.
func TestChecksBesideEvents(t *testing.T) {
	dir := t.TempDir()
	missed := make(chan struct{})
	w := &Watch{Paths: []string{dir}, Tells: all, Check: time.Second, Missed: sync.OnceFunc(func() { close(missed) })}
	w.Set()
	watching(t, w.run)
	for latest := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		add(t, dir, "n")
		select {
		case <-missed:
			return
		default:
		}
		if time.Now().After(latest) {
			t.Fatal("there was no check for a minute")
		}
	}
}
