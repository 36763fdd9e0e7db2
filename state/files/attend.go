package files

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/lease"
	"github.com/ouro-timer/ouro-timer/state/watch"
)

// attending is the place of the file whose shared lock says that somebody waits for a task. Unlike
// those of other locks it goes with the task: what happens to that is decided under the state lock,
// and never by this one.
func attending(id string) string { return waitsDir + "/" + id + ".lock" }

// Attend holds a shared lock, which the kernel gives back however the process ends, and watches the
// task's file.
func (s *Store) Attend(ctx context.Context, id string, due time.Time) (<-chan struct{}, func(), error) {
	if !state.WholeID(id) {
		return nil, nil, state.ErrNotFound
	}
	n, err := nameOf(id, due)
	if err != nil {
		return nil, nil, err
	}
	if err := s.ready(); err != nil {
		return nil, nil, err
	}
	h, err := lease.Attend(ctx, s.path(attending(id)), s.lock.Wait)
	if err != nil {
		return nil, nil, fail("saying that somebody waits", err)
	}
	watching, stop := context.WithCancel(ctx)
	place := s.path(queueDir + "/" + n.queue())
	if _, err := os.Lstat(place); missing(err) {
		held := s.path(pausedDir + "/" + n.queue())
		if _, err := os.Lstat(held); err == nil {
			place = held
		}
	}
	return watch.Gone(watching, place), sync.OnceFunc(func() {
		stop()
		if _, err := os.Lstat(s.path(queueDir + "/" + n.queue())); missing(err) {
			s.disk.remove(s.path(attending(id))) // nobody asks any more; what stays is swept away
		}
		h.Release()
	}), nil
}

// sweepWaits removes what waiters left behind that were killed, of tasks for which nobody can wait
// any more.
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
