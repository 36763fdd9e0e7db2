// Package nettest is for tests that need an address at which nobody listens.
package nettest

import (
	"net"
	"testing"
	"time"
)

// Refused returns an address of this machine that refuses connections as long as the test lasts.
// Its port is that of the other end of a connection, so no other program is given it meanwhile.
func Refused(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.LocalAddr().String()
}

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
