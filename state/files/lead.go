package files

import (
	"context"
	"os"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/lease"
)

// runner is the runner's lease. The note of its holder does not wait for the disk.
func (s *Store) runner() lease.Runner {
	return lease.Runner{Lock: s.path(leadFile), Write: s.writeLeader, Read: s.leader, Remove: func() error { return s.disk.remove(s.path(leaderFile)) }}
}

// Lead tries for 250 ms, because a process that only looks may hold the lock for a moment.
func (s *Store) Lead(ctx context.Context, r state.Leader) (state.Lease, error) {
	return s.lead(ctx, r, lease.Runner.Take)
}

// LeadNext waits inside the kernel, in line with others.
func (s *Store) LeadNext(ctx context.Context, r state.Leader) (state.Lease, error) {
	return s.lead(ctx, r, lease.Runner.Next)
}

// Standby returns the processes that wait for the runner lock. Only Linux knows them.
func (s *Store) Standby(context.Context) []int { return s.runner().Waiters() }

// lead makes the caller the leader, and removes what earlier ones have left.
func (s *Store) lead(ctx context.Context, r state.Leader, take func(lease.Runner, context.Context, state.Leader) (*lease.Lease, error)) (state.Lease, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	l, err := take(s.runner(), ctx, r)
	if err != nil {
		return nil, fail("taking the runner lock", err)
	}
	if err := s.sweep(ctx); err != nil {
		l.Release()
		return nil, err
	}
	if is, err := os.Stat(s.path(leadFile)); err == nil {
		s.mu.Lock()
		s.led = is
		s.mu.Unlock()
	}
	return l, nil
}

// Led looks without delaying a runner that is starting.
func (s *Store) Led(ctx context.Context) (state.Leader, bool, error) {
	if err := ctx.Err(); err != nil {
		return state.Leader{}, false, err
	}
	if err := s.guardWriter(); err != nil {
		return state.Leader{}, false, err
	}
	r, led, err := s.runner().Who()
	return r, led, fail("looking for a runner", err)
}

// Leased reports whether the runner is one on that node: here there is one runner, on whichever
// node it is.
func (s *Store) Leased(ctx context.Context, node string, _ bool) (bool, error) {
	leader, led, err := s.Led(ctx)
	return led && leader.Ident.Node == node, err
}

// Contact is that of a state that nobody else shares.
func (s *Store) Contact() state.Contact { return state.Contact{} }

// writeLeader notes who the runner is.
func (s *Store) writeLeader(r state.Leader) error {
	r.Since = r.Since.UTC()
	r.Delays = slices.Clone(r.Delays)
	for i := range r.Delays {
		r.Delays[i].Since = r.Delays[i].Since.UTC()
	}
	return s.note(leaderFile, r)
}

// LastLed returns who has last said that it is the runner; the zero value for nobody. It takes no
// lock, so it never keeps a runner from starting, however often it is called.
func (s *Store) LastLed() state.Leader {
	r, _ := s.leader()
	return r
}

// leader reads who the runner is. It is zero if the runner has not said so.
func (s *Store) leader() (r state.Leader, err error) {
	if err := s.load(leaderFile, &r); err != nil {
		return state.Leader{}, err
	}
	r.Since = state.UTC(r.Since)
	for i := range r.Delays {
		r.Delays[i].Since = state.UTC(r.Delays[i].Since)
	}
	return r, nil
}
