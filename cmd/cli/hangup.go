package cli

import (
	"os"
	"sync"
	"syscall"
)

// Hangup is what HUP does to a call. A terminal that goes away sends it, and that is the end of
// what was called there. To a program that has no terminal somebody says by it that the settings
// have changed.
type Hangup struct {
	mu sync.Mutex
	// receives when the settings are to be read again; nil: HUP is the end, as it is for most calls
	again chan<- struct{}
	home  bool // there was a terminal that controls us
}

// Heed reports whether a signal is not the end of the call: something else comes of it.
func (s *Call) Heed(sig os.Signal) bool {
	h := s.Hangup
	if sig != syscall.SIGHUP || h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.again == nil || h.home && !ownsTerminal() {
		return false
	}
	select {
	case h.again <- struct{}{}:
	default: // they are about to be
	}
	return true
}

// Rereads has HUP be told by the channel from now on, until over is called.
func Rereads(s *Call) (again <-chan struct{}, over func()) {
	c := make(chan struct{}, 1)
	h := s.Hangup
	if h == nil { // there are no signals where this is called
		return c, func() { close(c) }
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.again, h.home = c, hasTerminal()
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.again = nil
		close(c)
	}
}
