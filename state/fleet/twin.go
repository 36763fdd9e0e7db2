package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Claims and heartbeats identify a machine by its name alone. Two runners with one name would each
// take the other's claims for those of its own predecessor. So a runner does not start while
// another machine has a runner with its name. A runner whose name was taken while it was cut off
// from the servers starts no tasks.

// ErrTwin: a runner of another machine is alive and has the name of this one.
const ErrTwin = unusable("the runner of another machine has the name of this one")

// twinPoll is the time between two looks whether another runner renews its heartbeat.
const twinPoll = 100 * time.Millisecond

// announce writes the first heartbeat of a lease. It replaces the heartbeat of a runner that is
// known to have ended, which was killed. It watches the heartbeat of any other runner: when that is
// renewed, the runner is alive; otherwise the servers drop it in time.
func (s *Store) announce(ctx context.Context, l *lease) error {
	me := l.heartbeat.Leader.Ident
	var first Cell
	for begun := time.Now(); ; {
		c, err := s.get(ctx, heartbeatKey(s.o.Node.Name))
		if err != nil {
			return err
		}
		r, there := runnerIn(c)
		other := r.Leader
		switch {
		case !there, other.Ident == me, s.ended(other.Ident, me), time.Since(begun) > heartbeatTTL+heartbeatEvery:
			l.predecessor = other.Ident
			if err := l.sendHeartbeat(ctx); !errors.Is(err, ErrMoved) {
				return err
			}
			first = Cell{}
		case first.Rev == 0:
			first = c
		case c.Rev != first.Rev:
			return fmt.Errorf("%w: %s (pid %d there, since %s)", ErrTwin, s.o.Node.Name, other.Ident.PID, other.Since.Format(time.RFC3339))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(twinPoll):
		}
	}
}

// ended reports whether an earlier runner is known to have ended. Without Options.Gone, that is so
// for every runner of this boot and PID namespace, because this process has the runner lock.
func (s *Store) ended(other, me state.Ident) bool {
	if s.o.Gone != nil {
		return s.o.Gone(other)
	}
	return other.Boot == me.Boot && other.NS == me.NS
}

// Twin returns the runner that has the name of this machine but runs on another machine, or for
// another state folder of this one.
func (s *Store) Twin(ctx context.Context) (l state.Leader, yes bool, err error) {
	c, err := s.get(ctx, heartbeatKey(s.o.Node.Name))
	if err != nil {
		return l, false, err
	}
	r, there := runnerIn(c)
	l = r.Leader
	own, led, err := s.Led(ctx)
	if err != nil || !there || led && own.Ident == l.Ident || s.o.Gone != nil && s.o.Gone(l.Ident) {
		return l, false, err
	}
	return l, true, nil
}

// markPast marks the claims of earlier boots of this machine. It asks the servers only when there
// are such claims, which the next runner ends. While the runner that has a claim sends heartbeats,
// that is another machine by this name, and the claim is none of them.
func (s *Store) markPast(ctx context.Context, open []state.Record) {
	for i, r := range open {
		earlier := r.Node == s.o.Node.Name && s.o.Boot != "" && r.Runner.Boot != "" && r.Runner.Boot != s.o.Boot
		if earlier && s.look(ctx) == nil {
			s.mu.Lock()
			namesake := s.peers[heartbeatKey(s.o.Node.Name)]
			s.mu.Unlock()
			open[i].Past = !namesake.there || namesake.runner != r.Runner
		}
	}
}
