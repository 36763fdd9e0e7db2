package fleet

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// arrival is a heartbeat, and when it arrived.
type arrival struct {
	Runner
	at time.Time
}

// Rank returns the position of this machine among those that may start an occurrence. Each machine
// has a weight for it, which all machines compute alike (rendezvous hashing). So occurrences are
// spread evenly, and few move when a machine joins or leaves.
func (s *Store) Rank(id string, due time.Time) (rank int) {
	f := s.followed.Load()
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, _ := state.IDNumber(id)
	words, elsewhere := f.elsewhere[n]
	if !elsewhere {
		return 0
	}
	on := strings.Fields(words.Value())
	ours := weight(s.o.Node.Name, id, due)
	for _, p := range f.heartbeats {
		starts := p.Name != s.o.Node.Name && p.Free > 0 && time.Since(p.at) <= heartbeatTTL && p.Fits(on) && !f.drains[hashKey(drains, p.Name)]
		if starts && weight(p.Name, id, due) > ours {
			rank++
		}
	}
	return rank
}

// weight returns the weight of a machine for an occurrence.
func weight(node, id string, due time.Time) uint64 {
	sum := sha256.Sum256([]byte(node + " " + id + " " + strconv.FormatInt(due.UnixNano(), 10)))
	return binary.BigEndian.Uint64(sum[:])
}
