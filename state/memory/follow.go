package memory

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
)

// follower is a queue that somebody follows.
type follower struct {
	store   *Store
	signal  <-chan struct{}
	told    map[string]place // where each task was; nil: it was not told yet
	changed map[string]bool  // since, by ID
}

// Follow tells of changes.
func (s *Store) Follow(ctx context.Context) (state.Queue, error) {
	signal, err := s.watch(ctx, &s.watchers)
	if err != nil {
		return nil, err
	}
	f := &follower{store: s, signal: signal, changed: map[string]bool{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.followers = append(s.followers, f)
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.followers = slices.DeleteFunc(s.followers, func(o *follower) bool { return o == f })
	})
	return f, nil
}

// Changed receives after changes.
func (f *follower) Changed() <-chan struct{} { return f.signal }

// place is where a task was when a follower was told of it. What runs of it makes no difference, as to a folder of files.
type place struct {
	state.Slot
	revision int64
}

// Take returns the places of the tasks that have changed.
func (f *follower) Take(ctx context.Context) (list iter.Seq[state.Slot], whole bool, err error) {
	unlock, err := f.store.lock(ctx)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	var slots []state.Slot
	ids := maps.Keys(f.changed)
	if whole = f.told == nil; whole {
		ids, f.told = maps.Keys(f.store.tasks), map[string]place{}
	}
	for _, id := range slices.Sorted(ids) {
		now := place{Slot: state.Slot{ID: id, Gone: true}}
		if t := f.store.tasks[id]; t != nil {
			now = place{t.Slot(), t.Task.Revision}
		}
		was, known := f.told[id]
		if known && was.revision == now.revision && was.Gone == now.Gone && was.Same(now.Slot) {
			continue
		}
		if known && !was.Same(now.Slot) {
			was.Gone = true
			slots = append(slots, was.Slot)
		}
		if delete(f.told, id); !now.Gone {
			slots = append(slots, now.Slot)
			f.told[id] = now
		}
	}
	clear(f.changed)
	return slices.Values(slots), whole, nil
}

// moved tells the followers of a task.
func (s *Store) moved(id string) {
	for _, f := range s.followers {
		f.changed[id] = true
	}
}
