package jet

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/nats"
)

// A server that is cut off from the others takes itself for the leader of the stream for up to 20 s
// more. Nothing can be committed there, but it answers what it has. Whoever was connected to it
// before has seen no more than that. Whoever changes to it from another server has: a claim of its
// own would not be there any more, nor a task that it was told of. So after each change of server,
// the leader must have all that was seen before.

// errBehind: the server that answers as the leader of the stream has less than was seen before.
var errBehind = errors.New("the server that answers is behind the others, which it may not reach")

// behindMost is how long such an answer is not believed. After that, no server takes itself wrongly
// for the leader, and the stream has really less, as from a backup.
const behindMost = 30 * time.Second

// leader is what is known of the leader of the stream. It may be used from any goroutine.
type leader struct {
	mu     sync.Mutex
	seen   uint64    // the highest revision that any server has sent
	by     string    // the server that was asked when the leader had it
	behind string    // a server that was asked since, when the leader had less
	since  time.Time // when that began
}

// saw notes a revision that a server has sent.
func (l *leader) saw(rev uint64) {
	l.mu.Lock()
	l.seen = max(l.seen, rev)
	l.mu.Unlock()
}

// check is errBehind if the leader that a server knows has less than was seen. It asks by last for
// the last revision that the leader has, but only after a change of server.
func (l *leader) check(server string, last func() (uint64, error)) (asked bool, err error) {
	l.mu.Lock()
	seen := l.seen
	if l.by == server || seen == 0 {
		l.by, l.behind = server, ""
		seen = 0
	}
	l.mu.Unlock()
	if seen == 0 {
		return false, nil
	}
	has, err := last()
	if err != nil {
		return true, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch now := time.Now(); {
	case has >= seen:
	case l.behind != server:
		l.behind, l.since = server, now
		return true, errBehind
	case now.Sub(l.since) < behindMost:
		return true, errBehind
	default:
		l.seen = has
	}
	l.by, l.behind = server, ""
	return true, nil
}

// checkLeader checks the leader that has just answered.
func (k *KV) checkLeader(ctx context.Context) (asked bool, err error) {
	server := k.nc.Info().Name
	return k.leader.check(server, func() (uint64, error) {
		var info streamInfo
		err := k.api(ctx, "STREAM.INFO."+k.stream, struct{}{}, &info)
		switch {
		case errors.Is(err, fleet.ErrDenied): // it cannot be known
			return ^uint64(0), nil
		case err == nil && k.nc.Info().Name != server: // perhaps by another
			return 0, nats.ErrBroken
		}
		return info.State.Last, err
	})
}
