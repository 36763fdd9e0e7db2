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

// announceFile is the place of the file whose shared lock says that somebody waits for a task. It
// is removed when nobody waits any more.
func announceFile(id string) string { return waitsDir + "/" + id + ".lock" }

// Announce holds a shared lock, which the kernel releases however the process ends, and watches the
// task's file.
func (s *Store) Announce(ctx context.Context, id string, due time.Time) (<-chan struct{}, func(), error) {
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
	h, err := lease.Announce(ctx, s.path(announceFile(id)), s.lock.Wait)
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
		h.Release()
		lease.Sweep(s.path(announceFile(id)), s.disk.remove)
	}), nil
}

// sweepWaits removes what killed waiters left behind, for tasks that nobody can wait for any more.
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
		lease.Sweep(t.path(announceFile(id)), t.disk.remove)
	}
	return nil
}
