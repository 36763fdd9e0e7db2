package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Claims and heartbeats know a machine by its name alone. Two runners by one name would take each
// other's claims for those of a runner before them. So one by a name that lives elsewhere does not
// start, and one whose name was taken while it was cut off starts nothing.

// ErrTwin: the runner of another machine lives by the name of this one.
const ErrTwin = unusable("the runner of another machine has the name of this one")

// twinNap is how often is looked whether a heartbeat of another runner is renewed.
const twinNap = 100 * time.Millisecond

// holder returns the runner whose heartbeat a cell is.
func holder(c Cell) (l state.Leader, there bool) {
	var r Runner
	if len(c.Data) == 0 || decode(c, &r) != nil {
		return state.Leader{}, false
	}
	return r.Leader, true
}

// own writes the first heartbeat of a lease. The heartbeat of another runner that would be seen
// here if it lived, and is not, was left by one that was killed. Any other is watched: if it is
// renewed, the runner lives, and otherwise it goes by itself.
func (s *Store) own(ctx context.Context, l *lease) error {
	me := l.says.Leader.Ident
	var first Cell
	for begun := time.Now(); ; {
		c, err := s.get(ctx, heart(s.node.Name))
		if err != nil {
			return err
		}
		other, there := holder(c)
		switch {
		case !there, other.Ident == me, s.ended(other.Ident, me), time.Since(begun) > beatMost+beat:
			l.before = other.Ident
			if err := l.beat(ctx); !errors.Is(err, ErrMoved) {
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
		case <-time.After(twinNap):
		}
	}
}

// ended reports whether a runner before us is known to have ended. Without Options.Gone, that is so
// for whoever we would see, because the lock of this machine is ours.
func (s *Store) ended(other, me state.Ident) bool {
	if s.gone != nil {
		return s.gone(other)
	}
	return other.Boot == me.Boot && other.NS == me.NS
}

// Twin returns the runner that has the name of this machine and is one of another machine, or of
// another folder of this one.
func (s *Store) Twin(ctx context.Context) (l state.Leader, yes bool, err error) {
	c, err := s.get(ctx, heart(s.node.Name))
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
