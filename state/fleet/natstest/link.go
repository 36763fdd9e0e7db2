package natstest

import (
	"io"
	"net"
	"sync"
	"time"
)

// Link is a wire to a port of this machine that can be cut, that can lose what it carries, and that can be slow.
type Link struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	deaf  bool          // what it carries is lost
	cut   bool          // it takes no connection
	slow  time.Duration // for each piece that it carries
	conns map[net.Conn]bool
}

// NewLink makes a link to HOST:PORT.
func NewLink(to string) (*Link, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	k := &Link{listener: l, to: to, conns: map[net.Conn]bool{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go k.carry(c)
		}
	}()
	return k, nil
}

// Addr is where the link begins.
func (k *Link) Addr() string { return k.listener.Addr().String() }

// Close ends it.
func (k *Link) Close() {
	_ = k.listener.Close()
	k.Cut()
}

// Cut ends what goes through it, and lets nothing through.
func (k *Link) Cut() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut = true
	k.end()
}

func (k *Link) end() {
	for c := range k.conns {
		_ = c.Close()
	}
	clear(k.conns)
}

// Deafen has it lose all that it carries. Nobody is told so.
func (k *Link) Deafen() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.deaf = true
}

// Slow has each piece take so long.
func (k *Link) Slow(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.slow = d
}

// Mend has it carry again. Connections of which something was lost end.
func (k *Link) Mend() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.deaf {
		k.end()
	}
	k.deaf, k.cut, k.slow = false, false, 0
}

// carry carries a connection, both ways, until one of its ends closes.
func (k *Link) carry(from net.Conn) {
	to, err := net.DialTimeout("tcp", k.to, time.Second)
	if err != nil {
		_ = from.Close()
		return
	}
	k.mu.Lock()
	if k.cut {
		k.mu.Unlock()
		_, _ = from.Close(), to.Close()
		return
	}
	k.conns[from], k.conns[to] = true, true
	k.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { k.copy(to, from) })
	both.Go(func() { k.copy(from, to) })
	both.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.conns, from)
	delete(k.conns, to)
}

func (k *Link) copy(to io.WriteCloser, from io.ReadCloser) {
	piece := make([]byte, 64<<10)
	for {
		n, err := from.Read(piece)
		k.mu.Lock()
		deaf, slow := k.deaf, k.slow
		k.mu.Unlock()
		time.Sleep(slow)
		if err == nil && !deaf {
			_, err = to.Write(piece[:n])
		}
		if err != nil {
			_, _ = to.Close(), from.Close()
			return
		}
	}
}
