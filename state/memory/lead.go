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
		var other *lease
		err := s.do(ctx, func() {
			if other = s.leases[r.Ident.Node]; other == nil {
				if r.Since.IsZero() {
					r.Since = time.Now()
				}
				mine.leader.Since = state.UTC(r.Since)
				s.leases[r.Ident.Node] = mine
			}
		})
		if err != nil {
			return nil, err
		}
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
func (s *Store) Led(ctx context.Context) (r state.Leader, led bool, err error) {
	err = s.do(ctx, func() {
		for _, node := range slices.Sorted(maps.Keys(s.leases)) {
			r, led = s.leases[node].leader, true
			return
		}
	})
	return r, led, err
}

// Leased reports whether a runner on the node has the lock there: each node has one of its own.
func (s *Store) Leased(ctx context.Context, node string, _ bool) (leased bool, err error) {
	err = s.do(ctx, func() { leased = s.leases[node] != nil })
	return leased, err
}

// Contact is that of a state that nobody else shares.
func (s *Store) Contact() state.Contact { return state.Contact{} }

// Standby is nobody: all who wait are of this process.
func (s *Store) Standby(context.Context) []int { return nil }

// Announce says that somebody waits for a task.
func (s *Store) Announce(ctx context.Context, id string, due time.Time) (<-chan struct{}, func(), error) {
	if !state.WholeID(id) {
		return nil, nil, state.ErrNotFound
	}
	attending, stop := context.WithCancel(ctx)
	changed, err := s.watch(attending, s.watchers)
	if err != nil {
		stop()
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, there := s.tasks[id]
	if !d.Waits() || !d.Due.Equal(due) {
		s.watchers.send() // it is no longer what the caller thinks
	}
	if !there {
		return changed, stop, nil
	}
	s.waiting[id]++
	return changed, sync.OnceFunc(func() {
		stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waiting[id]--
	}), nil
}
