package cli

import (
	"os"
	"sync"
	"syscall"
)

// Hangup is the effect of HUP on a call. A terminal that closes sends it, and that ends the call. A
// program without a terminal gets it from somebody who has changed the settings.
type Hangup struct {
	mu sync.Mutex
	// A value means that the settings are to be read again. It is nil when HUP ends the call, as it
	// does for most calls.
	again chan<- struct{}
	home  bool // a terminal controlled this process at its start
}

// Heed reports whether a signal does something other than end the call.
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
	default: // a reading is already to come
	}
	return true
}

// Rereads sends each HUP to a channel until over is called.
func Rereads(s *Call) (again <-chan struct{}, over func()) {
	c := make(chan struct{}, 1)
	h := s.Hangup
	if h == nil { // the call was not made by a process, and gets no signals
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
