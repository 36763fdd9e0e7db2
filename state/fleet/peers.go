package fleet

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// releaseAfter is how long a runner is silent before others may take over what it has claimed and
// not begun.
const releaseAfter = 30 * time.Second

// peer is what is known about a node, by the clock of this process.
type peer struct {
	seen     time.Time   // when its runner was last heard of, or first looked for
	rev      uint64      // the revision of its last heartbeat
	runner   state.Ident // of which only Node is known when nothing was heard
	there    bool        // the servers have its heartbeat
	released bool        // it has said that it ends
}

// Leased reports whether the runner of a machine is alive. A silent runner counts as alive for a
// while, by the clock of this process, and for as long as our own heartbeats are not answered.
func (s *Store) Leased(ctx context.Context, node string, begun bool) (bool, error) {
	if err := s.look(ctx); err != nil {
		return true, err
	}
	most, cut := releaseAfter, s.Contact().Silent > state.CutOff
	if begun {
		most = state.LostAfter
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	released, its := false, heartbeatKey(node)
	for key, p := range s.peers {
		if p.runner.Node != node && key != its {
			continue
		}
		if !p.released && (cut || time.Since(p.seen) < most) {
			return true, nil
		}
		released = true
	}
	if !released { // it is missing from now on, as far as this process knows
		s.peers["\x00"+node] = peer{seen: time.Now(), runner: state.Ident{Node: node}}
	}
	return !released, nil
}

// Contact returns how long ago the last answered heartbeat was sent, and how far the clock of this
// machine is ahead.
func (s *Store) Contact() (c state.Contact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.heartbeatAt.IsZero() {
		c = state.Contact{Silent: elapsed(s.heartbeatAt), Ahead: s.ahead, Twin: s.twin}
	}
	return c
}

// elapsed returns how long ago t was, by the clock that shows more: the monotonic clock stops while
// the machine sleeps, and the wall clock may be set.
func elapsed(t time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(t), now.Round(0).Sub(t.Round(0)))
}

// heard records that our heartbeat was answered. After a long silence of the servers, nobody knows
// which other runners were alive meanwhile, so the time of all others begins anew.
func (s *Store) heard(begun time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.heartbeatAt.IsZero() && elapsed(s.heartbeatAt) > state.CutOff {
		for key, p := range s.peers {
			p.seen = time.Now()
			s.peers[key] = p
		}
	}
	s.heartbeatAt = begun
}

// look reads which runners live, at most once a second.
func (s *Store) look(ctx context.Context) error {
	s.mu.Lock()
	fresh := time.Since(s.peersRead) < time.Second && !s.peersRead.IsZero()
	s.mu.Unlock()
	if fresh {
		return nil
	}
	found := map[string]Cell{}
	if _, err := s.scan(ctx, heartbeats, 0, func(c Cell) { found[c.Key] = c }); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peersRead = time.Now()
	for key, c := range found {
		p := s.peers[key]
		if p.rev == c.Rev || len(c.Data) == 0 {
			continue
		}
		if r, ok := runnerIn(c); ok {
			p.runner = r.Leader.Ident
		}
		s.peers[key] = peer{seen: s.peersRead, rev: c.Rev, runner: p.runner}
	}
	for key, p := range s.peers {
		c, ok := found[key]
		p.there = len(c.Data) > 0
		p.released = p.released || ok && !p.there
		s.peers[key] = p
	}
	return nil
}
