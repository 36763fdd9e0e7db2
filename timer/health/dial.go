package health

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	slowConnect  = 250 * time.Millisecond // then the next address is tried as well
	slowAnswer   = time.Second            // the same, for a peer that has connected
	maxAddresses = 16                     // of one host
)

// progress is how far a probe of one address has got.
type progress struct {
	phase atomic.Int32
	proxy atomic.Bool            // a connection through a proxy is being made
	away  atomic.Pointer[string] // where a redirect has led; nil for nowhere
}

func (p *progress) reach(to phase) { p.phase.Store(int32(to)) }
func (p *progress) at() phase      { return phase(p.phase.Load()) }

// explain is explain for an error in the present phase: at a proxy, which says nothing about the
// target, or after a redirect.
func (p *progress) explain(err error) *fault {
	f := *explain(err, p.at())
	if p.proxy.Load() {
		f.inconclusive, f.present, f.Proxy = true, false, true
	}
	if to := p.away.Load(); to != nil {
		f.Away = *to
	}
	return &f
}

// further returns the one of two that has got further.
func further(a, b *progress) *progress {
	if to := b.away.Load() != nil; to != (a.away.Load() != nil) && to || to == (a.away.Load() != nil) && b.at() > a.at() {
		return b
	}
	return a
}

// race runs try on each address until one returns nil. It starts with the first, and with the next
// when the one before has failed or is slow. So a dead address never hides a live one, and no other
// address is tried when the first one is quick. An answer of the service ends the race, even a bad
// one. When all have failed, race returns the most telling fault.
func race(ctx context.Context, addrs []netip.Addr, try func(context.Context, netip.Addr, *progress) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	outcomes := make(chan *fault, len(addrs))
	var (
		next, running int
		latest        *progress
		started       time.Time
		worst         *fault
		all           []*progress
	)
	launch := func() {
		p, addr := &progress{}, addrs[next]
		p.reach(connecting)
		latest, started, all = p, time.Now(), append(all, p)
		next, running = next+1, running+1
		go func() {
			if err := try(ctx, addr, p); err != nil {
				outcomes <- explain(err, p.at())
			} else {
				outcomes <- nil
			}
		}()
	}
	for launch(); ; {
		var slow <-chan time.Time
		if next < len(addrs) {
			slow = time.After(time.Until(started.Add(slowConnect)))
			if latest.at() > connecting {
				slow = time.After(time.Until(started.Add(slowAnswer)))
			}
		}
		select {
		case f := <-outcomes:
			running--
			switch {
			case f == nil:
				return nil
			case f.answered:
				return f
			case worst == nil || f.rank > worst.rank:
				worst = f
			}
			if next < len(addrs) {
				launch()
			} else if running == 0 {
				return worst
			}
		case <-slow:
			if latest.at() <= connecting || time.Since(started) >= slowAnswer {
				launch()
			}
		case <-ctx.Done():
			furthest := all[0]
			for _, p := range all[1:] {
				furthest = further(furthest, p)
			}
			return furthest.explain(ctx.Err())
		}
	}
}

// addresses resolves a host. localhost is both loopback addresses, whatever the resolver says (RFC
// 6761, section 6.3): many /etc/hosts list only one, and the service may listen on the other.
func (p *prober) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	if isLocalhost(host) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	found, err := p.lookup(ctx, host)
	if err == nil && len(found) == 0 {
		err = &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	if err != nil {
		return nil, explain(err, resolving)
	}
	addrs := alternate(found)
	return addrs[:min(len(addrs), maxAddresses)], nil
}

func isLocalhost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// alternate orders addresses so that IPv4 and IPv6 take turns, beginning with the family of the
// first. Each family keeps its order.
func alternate(found []netip.Addr) []netip.Addr {
	var same, other []netip.Addr
	for _, a := range found {
		if a = a.Unmap(); a.Is4() == found[0].Unmap().Is4() {
			same = append(same, a)
		} else {
			other = append(other, a)
		}
	}
	out := make([]netip.Addr, 0, len(found))
	for i := range max(len(same), len(other)) {
		if i < len(same) {
			out = append(out, same[i])
		}
		if i < len(other) {
			out = append(out, other[i])
		}
	}
	return out
}

// connect dials one address.
func connect(ctx context.Context, addr netip.Addr, port string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(addr.String(), port))
	if err != nil {
		return nil, err
	}
	// On loopback, a port on which nobody listens can be dialled from itself, and then answers
	// itself.
	if conn.LocalAddr().String() == conn.RemoteAddr().String() {
		conn.Close()
		return nil, syscall.ECONNREFUSED
	}
	return conn, nil
}

// connectHost dials all addresses of a host, as race does, and returns the first connection.
func (p *prober) connectHost(ctx context.Context, host, port string, at *progress) (net.Conn, error) {
	at.reach(resolving)
	addrs, err := p.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	at.reach(connecting)
	var won atomic.Pointer[net.Conn]
	err = race(ctx, addrs, func(ctx context.Context, addr netip.Addr, _ *progress) error {
		conn, err := connect(ctx, addr, port)
		if err == nil && !won.CompareAndSwap(nil, &conn) {
			conn.Close()
		}
		return err
	})
	if err == nil {
		return *won.Load(), nil
	}
	if late := won.Swap(new(net.Conn)); late != nil { // connected while the race was given up
		(*late).Close()
	}
	return nil, err
}
