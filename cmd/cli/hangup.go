package cli

import (
	"os"
	"sync"
	"syscall"
)

// Hangup is the effect of HUP on a call. A terminal that closes sends HUP to end the call. A
// program without a terminal gets it from somebody who has changed the settings.
type Hangup struct {
	mu sync.Mutex
	// reload gets a value when the settings are to be read again. It is nil when HUP ends the call,
	// as it does for most calls.
	reload      chan<- struct{}
	hadTerminal bool // a terminal controlled this process at its start
}

// HandleSignal handles a signal that does not end the call, and reports whether it did.
func (s *Call) HandleSignal(sig os.Signal) bool {
	h := s.Hangup
	if sig != syscall.SIGHUP || h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reload == nil || h.hadTerminal && !leadsTerminal() {
		return false
	}
	select {
	case h.reload <- struct{}{}:
	default: // a reload is already pending
	}
	return true
}

// ReloadOnHangup sends each HUP to the channel reload, until stop is called.
func ReloadOnHangup(s *Call) (reload <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	h := s.Hangup
	if h == nil { // the call was not made by a process, and gets no signals
		return c, func() { close(c) }
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reload, h.hadTerminal = c, hasTerminal()
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.reload = nil
		close(c)
	}
}
