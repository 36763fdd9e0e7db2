package health

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestLookUpThatCannotBeInterrupted has a resolver that pays no heed to its context, as the system's may.
func TestLookUpThatCannotBeInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = time.Second
		release := make(chan struct{})
		var calls atomic.Int32
		targets := mustParse(t, "dns:db.example", "tcp://db.example:5432", "http://db.example/", "tls://db.example:443")
		r := Wait(t.Context(), targets, Options{
			Timeout: timeout, Attempt: 100 * time.Millisecond,
			lookup: func(context.Context, string) ([]netip.Addr, error) {
				calls.Add(1)
				<-release
				return nil, nil
			},
		})
		if r.Waited > timeout+100*time.Millisecond || r.Reason != TimedOut {
			t.Errorf("result %+v", r)
		}
		for _, target := range r.Targets {
			if !strings.HasPrefix(target.Last.String(), "no answer within ") {
				t.Errorf("%s: %q", target.Target, target.Last.String())
			}
		}
		if n := int(calls.Load()); n != len(targets) {
			t.Errorf("%d look-ups are stuck, want one for each of the %d targets", n, len(targets))
		}
		close(release)
	})
}

// TestManyAddresses has a name with more addresses than anybody needs, none of them good.
func TestManyAddresses(t *testing.T) {
	var dialled atomic.Int32
	l := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
		dialled.Add(1)
		io.ReadAtLeast(conn, make([]byte, 4096), 1)
	})
	addrs := make([]netip.Addr, 100_000)
	for i := range addrs {
		addrs[i] = netip.MustParseAddr("127.0.0.1")
	}
	o := Options{lookup: func(context.Context, string) ([]netip.Addr, error) { return addrs, nil }}
	if r := once(t, o, "http://many.example:"+portOf(l)+"/"); r.Last.String() != "connection closed without a whole answer" {
		t.Errorf("result %+v", r)
	}
	if n := dialled.Load(); n != maxAddresses {
		t.Errorf("%d addresses were tried, want %d", n, maxAddresses)
	}
}

// nameServer is a bad DNS server on UDP, and a mute one on TCP; answer makes of a query what is sent back.
func nameServer(t *testing.T, answer func(query []byte, send func([]byte))) func(context.Context, string) ([]netip.Addr, error) {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		for buf := make([]byte, 4096); ; {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			answer(append([]byte(nil), buf[:n]...), func(b []byte) { server.WriteTo(b, from) })
		}
	}()
	mute := listen(t, "tcp", "127.0.0.1:0", drain)
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		if strings.HasPrefix(network, "tcp") {
			return new(net.Dialer).DialContext(ctx, "tcp", mute.Addr().String())
		}
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		return resolver.LookupNetIP(ctx, "ip", host)
	}
}

// reply turns a query into its answer, with the flags and the response code of RFC 1035, section 4.1.1.
func reply(query []byte, truncated bool, code byte) []byte {
	b := append([]byte(nil), query...)
	b[2] |= 0x80
	if truncated {
		b[2] |= 0x02
	}
	b[3] = 0x80 | code
	return b
}

// TestBadNameServers asks a real resolver whose server misbehaves.
func TestBadNameServers(t *testing.T) {
	const timeout = time.Second
	for _, test := range []struct {
		name, want string
		answer     func([]byte, func([]byte))
	}{
		{"answers to other questions without end", "no address within ", func(query []byte, send func([]byte)) {
			for range 1000 {
				binary.BigEndian.PutUint16(query, binary.BigEndian.Uint16(query)+1)
				if query[1] != 0 {
					send(reply(query, false, 3))
				}
			}
		}},
		{"garbage", "no address within ", func(_ []byte, send func([]byte)) { send([]byte(strings.Repeat("\xc0", 512))) }},
		{"too long for UDP, and TCP says nothing", "no address within ", func(query []byte, send func([]byte)) {
			send(reply(query, true, 0))
		}},
		{"there is no such name", "unknown host db.example", func(query []byte, send func([]byte)) { send(reply(query, false, 3)) }},
		{"the server has failed", "name look-up failed: ", func(query []byte, send func([]byte)) { send(reply(query, false, 2)) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := Options{Timeout: timeout, lookup: nameServer(t, test.answer)}
			r := Wait(t.Context(), mustParse(t, "dns:db.example", "tcp://db.example:5432", "https://db.example/"), o)
			if r.Waited > timeout+slack || r.Reason != TimedOut {
				t.Errorf("result %+v", r)
			}
			for _, target := range r.Targets {
				if got := target.Last.String(); !strings.HasPrefix(got, test.want) || got != printable(got) {
					t.Errorf("%s: %q, want %q", target.Target, got, test.want)
				}
			}
			t.Logf("%q, %v over the time-out", r.Targets[0].Last.String(), r.Waited-timeout)
		})
	}
}
