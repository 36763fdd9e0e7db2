package files

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/lease"
)

// attending is the place of the file whose shared lock says that somebody waits for a task. Unlike those of other locks it goes with
// the task: what happens to that is decided under the state lock, and never by this one.
func attending(id string) string { return waitsDir + "/" + id + ".lock" }

// Attend holds a shared lock, which the kernel gives back however the process ends, and watches the task's file.
func (s *Store) Attend(ctx context.Context, id string, due time.Time) (<-chan struct{}, func(), error) {
	if !state.WholeID(id) {
		return nil, nil, state.ErrNotFound
	}
	n, err := nameOf(id, due)
	if err != nil {
		return nil, nil, err
	}
	if err := s.guard(); err != nil {
		return nil, nil, err
	}
	if err := s.furnish(); err != nil {
		return nil, nil, err
	}
	h, err := lease.Attend(ctx, s.path(attending(id)), s.lock.Wait)
	if err != nil {
		return nil, nil, fail("saying that somebody waits", err)
	}
	watching, stop := context.WithCancel(ctx)
	changed := make(chan struct{}, 1)
	go s.watchTask(watching, s.path(queueDir+"/"+n.queue()), changed)
	return changed, sync.OnceFunc(func() {
		stop()
		if _, err := os.Lstat(s.path(queueDir + "/" + n.queue())); missing(err) {
			s.disk.remove(s.path(attending(id))) // nobody asks any more; what stays is swept away
		}
		h.Release()
	}), nil
}

// watchTask signals when a task's file is not, or no longer, at its path. Where nothing can be watched it looks every 2 s, and now and then
// in any case.
func (s *Store) watchTask(ctx context.Context, path string, changed chan<- struct{}) {
	tell := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer watcher.Close()
		err = watcher.Add(path)
	}
	every := watchCheck
	var events chan fsnotify.Event
	var lost chan error
	if err == nil {
		events, lost = watcher.Events, watcher.Errors
	} else {
		every = watchTick
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for gone := false; ; {
		// Looked at after the watch is in place: what happened before is seen here, and what happens later there.
		_, err := os.Lstat(path)
		if missing(err) && !gone {
			tell()
		}
		gone = missing(err)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case _, ok := <-events:
			if !ok {
				events = nil
				ticker.Reset(watchTick)
			}
		case <-lost:
			tell()
		}
	}
}

// sweepWaits removes what waiters left behind that were killed, of tasks for which nobody can wait any more.
func (t *tx) sweepWaits() error {
	files, err := readNames(t.path(waitsDir))
	if err != nil || len(files) == 0 {
		return err
	}
	living, err := t.list(queueOnly, "")
	if err != nil {
		return err
	}
	over := make(map[string]bool, len(files))
	for _, f := range files {
		if id, ok := strings.CutSuffix(f, ".lock"); ok && state.WholeID(id) {
			over[id] = true
		}
	}
	for f := range living.found() {
		delete(over, f.id)
	}
	for _, id := range slices.Sorted(maps.Keys(over)) {
		if !lease.Attended(t.path(attending(id))) {
			t.disk.remove(t.path(attending(id)))
		}
	}
	return nil
}
