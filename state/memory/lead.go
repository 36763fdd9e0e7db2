package memory

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// lease is the runner lock.
type lease struct {
	store    *Store
	leader   state.Leader
	released chan struct{} // closed when it is
}

// Lead takes the runner lock, or waits state.LeadWait for it.
func (s *Store) Lead(ctx context.Context, r state.Leader) (state.Lease, error) {
	limit := time.NewTimer(state.LeadWait)
	defer limit.Stop()
	return s.lead(ctx, r, limit.C)
}

// LeadNext takes the runner lock when it is free.
func (s *Store) LeadNext(ctx context.Context, r state.Leader) (state.Lease, error) {
	return s.lead(ctx, r, nil)
}

func (s *Store) lead(ctx context.Context, r state.Leader, limit <-chan time.Time) (state.Lease, error) {
	mine := &lease{store: s, leader: r, released: make(chan struct{})}
	for {
		unlock, err := s.lock(ctx)
		if err != nil {
			return nil, err
		}
		other := s.leases[r.Ident.Node]
		if other == nil {
			if r.Since.IsZero() {
				r.Since = time.Now()
			}
			mine.leader.Since = state.UTC(r.Since)
			s.leases[r.Ident.Node] = mine
		}
		unlock()
		if other == nil {
			return mine, nil
		}
		select {
		case <-other.released:
		case <-limit:
			return nil, state.ErrLed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Release gives the lock back. A second call does nothing.
func (l *lease) Release() error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if node := l.leader.Ident.Node; l.store.leases[node] == l {
		delete(l.store.leases, node)
		close(l.released)
	}
	return nil
}

// Delay has Led say what is put off.
func (l *lease) Delay(list []state.Delay) error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.leader.Delays = slices.Clone(list)
	return nil
}

// Led says who has the runner lock: of runners on several nodes, the first by the name of its node.
func (s *Store) Led(ctx context.Context) (state.Leader, bool, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return state.Leader{}, false, err
	}
	defer unlock()
	for _, node := range slices.Sorted(maps.Keys(s.leases)) {
		return s.leases[node].leader, true, nil
	}
	return state.Leader{}, false, nil
}

// Leased reports whether a runner on the node has the lock there: each node has one of its own.
func (s *Store) Leased(ctx context.Context, node string) (bool, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	return s.leases[node] != nil, nil
}

// Standby is nobody: all who wait are of this process.
func (s *Store) Standby(context.Context) []int { return nil }

// Attend says that somebody waits for a task.
func (s *Store) Attend(ctx context.Context, id string, due time.Time) (<-chan struct{}, func(), error) {
	if !state.WholeID(id) {
		return nil, nil, state.ErrNotFound
	}
	attending, stop := context.WithCancel(ctx)
	changed, err := s.watch(attending, &s.watchers)
	if err != nil {
		stop()
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.tasks[id]
	if e == nil || e.Phase != state.Pending && e.Phase != state.Paused || !e.Due.Equal(due) {
		signal(s.watchers) // it is no longer what the caller thinks
	}
	if e == nil {
		return changed, stop, nil
	}
	e.waiting++
	return changed, sync.OnceFunc(func() {
		stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		e.waiting--
	}), nil
}

// watch makes a channel that is among the watchers until ctx ends.
func (s *Store) watch(ctx context.Context, watchers *map[chan struct{}]bool) (<-chan struct{}, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	signal := make(chan struct{}, 1)
	if *watchers == nil {
		*watchers = map[chan struct{}]bool{}
	}
	(*watchers)[signal] = true
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(*watchers, signal)
	})
	return signal, nil
}

// signal puts a signal into every channel unless one is waiting there.
func signal(watchers map[chan struct{}]bool) {
	for w := range watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}
