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

// holder returns the runner whose heartbeat is in a cell.
func holder(c Cell) (l state.Leader, there bool) {
	var r Runner
	if len(c.Data) == 0 || decode(c, &r) != nil {
		return state.Leader{}, false
	}
	return r.Leader, true
}

// announce writes the first heartbeat of a lease. It replaces the heartbeat of a runner that is
// known to have ended, which was killed. It watches the heartbeat of any other runner: when that is
// renewed, the runner is alive; otherwise the servers drop it in time.
func (s *Store) announce(ctx context.Context, l *lease) error {
	me := l.heartbeat.Leader.Ident
	var first Cell
	for begun := time.Now(); ; {
		c, err := s.get(ctx, heartbeatKey(s.node.Name))
		if err != nil {
			return err
		}
		other, there := holder(c)
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
			return fmt.Errorf("%w: %s (pid %d there, since %s)", ErrTwin, s.node.Name, other.Ident.PID, other.Since.Format(time.RFC3339))
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
	if s.gone != nil {
		return s.gone(other)
	}
	return other.Boot == me.Boot && other.NS == me.NS
}

// Twin returns the runner that has the name of this machine but runs on another machine, or for
// another state folder of this one.
func (s *Store) Twin(ctx context.Context) (l state.Leader, yes bool, err error) {
	c, err := s.get(ctx, heartbeatKey(s.node.Name))
	if err != nil {
		return l, false, err
	}
	l, there := holder(c)
	own, led, err := s.Led(ctx)
	if err != nil || !there || led && own.Ident == l.Ident || s.gone != nil && s.gone(l.Ident) {
		return l, false, err
	}
	return l, true, nil
}

// markPast marks the claims of earlier boots of this machine. It asks the servers only when there
// are such claims, which the next runner ends, and at most once a second. While the runner that has
// a claim sends heartbeats, that is another machine by this name, and the claim is none of them.
func (s *Store) markPast(ctx context.Context, open []state.Record) {
	for i, r := range open {
		earlier := r.Node == s.node.Name && s.boot != "" && r.Runner.Boot != "" && r.Runner.Boot != s.boot
		if earlier {
			living, err := s.lookForNamesake(ctx)
			open[i].Past = err == nil && living != r.Runner
		}
	}
}

// lookForNamesake returns the runner whose heartbeats have the name of this machine; the zero value
// if there is none.
func (s *Store) lookForNamesake(ctx context.Context) (state.Ident, error) {
	s.mu.Lock()
	living, fresh := s.namesake, !s.namesakeAt.IsZero() && time.Since(s.namesakeAt) < time.Second
	s.mu.Unlock()
	if fresh {
		return living, nil
	}
	c, err := s.get(ctx, heartbeatKey(s.node.Name))
	if err != nil {
		return state.Ident{}, err
	}
	l, _ := holder(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.namesake, s.namesakeAt = l.Ident, time.Now()
	return l.Ident, nil
}
