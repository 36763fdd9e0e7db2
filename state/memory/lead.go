package memory

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// lease is the runner lock of one node.
type lease struct {
	store    *Store
	leader   state.Leader
	released chan struct{} // closed by Release
}

// Lead takes the runner lock. It waits at most state.LeadWait for it.
func (s *Store) Lead(ctx context.Context, r state.Leader) (state.Lease, error) {
	limit := time.NewTimer(state.LeadWait)
	defer limit.Stop()
	return s.lead(ctx, r, limit.C)
}

// LeadNext waits for the runner lock and takes it.
func (s *Store) LeadNext(ctx context.Context, r state.Leader) (state.Lease, error) {
	return s.lead(ctx, r, nil)
}

// lead takes the runner lock of the node of r. It returns ErrLed when limit receives.
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

// Release gives up the lock. A second call does nothing.
func (l *lease) Release() error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if node := l.leader.Ident.Node; l.store.leases[node] == l {
		delete(l.store.leases, node)
		close(l.released)
	}
	return nil
}

// Lost is false: nobody else can remove the lock.
func (l *lease) Lost() bool { return false }

// Delay notes the postponed occurrences for Led.
func (l *lease) Delay(list []state.Delay) error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.leader.Delays = slices.Clone(list)
	return nil
}

// Led returns the leader and whether there is one. If several nodes have one, it is that of the
// node whose name comes first.
func (s *Store) Led(ctx context.Context) (r state.Leader, led bool, err error) {
	err = s.do(ctx, func() {
		for _, node := range slices.Sorted(maps.Keys(s.leases)) {
			r, led = s.leases[node].leader, true
			return
		}
	})
	return r, led, err
}

// Leased reports whether a runner on the node has the lock of that node.
func (s *Store) Leased(ctx context.Context, node string, _ bool) (leased bool, err error) {
	err = s.do(ctx, func() { leased = s.leases[node] != nil })
	return leased, err
}

// Contact is empty, because no other machine shares the store.
func (s *Store) Contact() state.Contact { return state.Contact{} }

// Standby is empty, because all that wait belong to this process.
func (s *Store) Standby(context.Context) []int { return nil }

// Announce notes that the caller waits for a task, until it calls the function or ctx ends. The
// channel receives after changes. It also receives at once if the task is no longer due then.
func (s *Store) Announce(ctx context.Context, id string, due time.Time) (<-chan struct{}, func(), error) {
	if !state.WholeID(id) {
		return nil, nil, state.ErrNotFound
	}
	watching, stop := context.WithCancel(ctx)
	changed, err := s.watch(watching, s.watchers)
	if err != nil {
		stop()
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, exists := s.tasks[id]
	if !d.Waits() || !d.Due.Equal(due) {
		s.watchers.send() // the task is not as the caller read it
	}
	if !exists {
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
