// Package nettest is for tests that need an address at which nobody listens.
package nettest

import (
	"net"
	"time"
)

// Close closes a listener, and returns once connections are refused: a child of this process that
// has not begun its program yet holds the socket open, and on a busy machine that may be for a
// while.
func Close(l net.Listener) {
	l.Close()
	for {
		c, err := net.Dial(l.Addr().Network(), l.Addr().String())
		if err != nil {
			return
		}
		c.Close()
		time.Sleep(time.Millisecond)
	}
}
