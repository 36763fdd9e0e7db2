package jet

import (
	"sync"
	"time"
)

// A server that is cut off from the others still takes connections, and every machine of a fleet
// may have it as the first of its list. Whoever is connected to it goes on to the next one.

// aloneMost is how long a server that does not reach the leaders of the streams keeps its clients.
// While a new leader is elected they change in vain, which costs little.
const aloneMost = 2500 * time.Millisecond

// contact is what is known of the present server. It may be used from any goroutine.
type contact struct {
	mu     sync.Mutex
	since  time.Time // when a leader last answered, or the server was changed
	failed int       // requests without such an answer since then
}

// note notes whether a leader has answered a request, and reports whether to go on to another
// server.
func (c *contact) note(answered bool) (leave bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.failed++; answered || c.failed > 1 && now.Sub(c.since) > aloneMost {
		c.since, c.failed = now, 0
		return !answered
	}
	return false
}

// reached notes whether the leader of a stream has answered a request.
func (k *KV) reached(yes bool) {
	if k.contact.note(yes) {
		k.nc.Leave()
	}
}
