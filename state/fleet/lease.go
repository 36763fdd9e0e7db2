package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

const (
	heartbeatEvery = 5 * time.Second
	heartbeatTTL   = 4 * heartbeatEvery // the servers drop a heartbeat after this time
	quickWrite     = time.Second / 2    // a slower write says little about the clock
)

// heartbeatKey returns the key of the heartbeat of a node, whose name may have any characters.
func heartbeatKey(name string) string { return hashKey(heartbeats, name) }

// lease is the runner lock of this machine, with the heartbeats of its runner.
type lease struct {
	state.Lease
	s         *Store
	mu        sync.Mutex
	heartbeat Runner        // what the next heartbeat says
	stop      func()        // ends the heartbeats; nil once the lease is released
	done      chan struct{} // closed after the last heartbeat
	// sent is the instant of the last write, halfway to its answer; zero when the write was slow
	sent time.Time
	// predecessor is the runner whose heartbeat the first one of this lease replaces
	predecessor state.Ident
}

// Lead takes the runner lock of this machine and announces it to the fleet.
func (s *Store) Lead(ctx context.Context, r state.Leader) (state.Lease, error) {
	l, err := s.Local.Lead(ctx, r)
	return s.lead(ctx, l, r, err)
}

// LeadNext waits until the lock is free, and is then Lead.
func (s *Store) LeadNext(ctx context.Context, r state.Leader) (state.Lease, error) {
	l, err := s.Local.LeadNext(ctx, r)
	return s.lead(ctx, l, r, err)
}

func (s *Store) lead(ctx context.Context, local state.Lease, r state.Leader, err error) (state.Lease, error) {
	if err != nil {
		return nil, err
	}
	if r.Since.IsZero() {
		r.Since = time.Now()
	}
	r.Since = state.UTC(r.Since)
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	first := Runner{Node: s.o.Node, Leader: r, Rules: s.o.Rules(), Free: 1}
	l := &lease{Lease: local, s: s, heartbeat: first, stop: stop, done: make(chan struct{})}
	// The heartbeat comes last. That of a runner that cannot begin would have others wait for it,
	// and if it took it back, they would at once end what its predecessor has left running here.
	if err = s.tellSpooled(ctx); err == nil {
		err = s.announce(ctx, l)
	}
	if err != nil {
		stop()
		return nil, errors.Join(err, local.Release())
	}
	go func() {
		defer close(l.done)
		regularly(sending, heartbeatEvery, func() {
			_ = l.sendHeartbeat(sending) // Contact shows how long none was answered
		})
	}()
	return l, nil
}

// sendHeartbeat writes the heartbeat as it is now.
func (l *lease) sendHeartbeat(ctx context.Context) error {
	l.mu.Lock()
	data, err := json.Marshal(l.heartbeat)
	l.mu.Unlock()
	if err != nil {
		return err
	}
	return l.replaceHeartbeat(ctx, data)
}

// replaceHeartbeat sets the content of the key of our heartbeat; nil drops it. It is ErrTwin when
// another runner has taken that key.
func (l *lease) replaceHeartbeat(ctx context.Context, data []byte) error {
	c, err := l.s.get(ctx, heartbeatKey(l.s.o.Node.Name))
	if err != nil {
		return err
	}
	r, there := runnerIn(c)
	other := r.Leader.Ident
	twin := there && other != l.heartbeat.Leader.Ident && other != l.predecessor
	l.s.mu.Lock()
	l.s.twin = twin
	l.s.mu.Unlock()
	if twin {
		return ErrTwin
	}
	if !l.sent.IsZero() && !c.At.IsZero() { // both are of the previous write
		l.s.mu.Lock()
		l.s.ahead = l.sent.Sub(c.At)
		l.s.mu.Unlock()
	}
	op := c.with(data)
	op.TTL = heartbeatTTL
	begun := time.Now()
	_, err = l.s.commit(ctx, []Op{op})
	l.sent = time.Time{}
	if took := time.Since(begun); took < quickWrite {
		l.sent = begun.Round(0).Add(took / 2)
	}
	if err == nil {
		l.s.heard(begun)
	}
	return err
}

// Delay sets what Leader shows as postponed.
func (l *lease) Delay(list []state.Delay) error {
	l.mu.Lock()
	l.heartbeat.Leader.Delays = slices.Clone(list)
	l.mu.Unlock()
	return l.Lease.Delay(list)
}

// Free sets the number of free places for commands in the next heartbeat. Until then it is 1.
func (l *lease) Free(n int) {
	l.mu.Lock()
	l.heartbeat.Free = n
	l.mu.Unlock()
}

// Release gives the lock back and says so to the fleet, so that others may take over open claims at
// once.
func (l *lease) Release() error {
	l.mu.Lock()
	first := l.stop != nil
	if first {
		l.stop()
		l.stop = nil
	}
	l.mu.Unlock()
	if !first {
		return nil
	}
	<-l.done
	// Others that do not see this wait for state.LostAfter. It is repeated when it meets an earlier
	// heartbeat that was still on its way.
	for errors.Is(l.replaceHeartbeat(context.Background(), nil), ErrMoved) {
	}
	return l.Lease.Release()
}
