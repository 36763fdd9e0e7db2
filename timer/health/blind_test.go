package health

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/health/nettest"
)

// blind waits, inverted, for longer than an attempt takes, and demands that nothing be taken for gone.
func blind(t *testing.T, o Options, target, want string) {
	t.Helper()
	o.Invert, o.Timeout, o.Attempt = true, 2*time.Second, 300*time.Millisecond
	r := Wait(t.Context(), mustParse(t, target), o)
	if got := r.Targets[0]; r.Healthy || r.Reason != TimedOut || got.Seen.String() != "" || !strings.HasPrefix(got.Last.String(), want) || r.Attempts < 2 {
		t.Errorf("%s: %+v, want %q", target, r, want)
	}
}

// TestBlind is an inverted wait that cannot see its target: what is down is on the way to it.
func TestBlind(t *testing.T) {
	failing := func(err error) func(context.Context, string) ([]netip.Addr, error) {
		return func(ctx context.Context, host string) ([]netip.Addr, error) {
			if err == nil {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return nil, err
		}
	}
	proxy := func(at string) HTTP {
		return HTTP{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(at) }}
	}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	t.Cleanup(refusing.Close)
	mute := listen(t, "tcp", "127.0.0.1:0", drain)
	servfail := failing(&net.DNSError{Err: "server misbehaving", Name: "x.example"})
	unknown := failing(&net.DNSError{Err: "no such host", Name: "x.example", IsNotFound: true})
	for _, test := range []struct {
		name, target, want string
		o                  Options
	}{
		{"a name server that fails", "dns:x.example", "name look-up failed: server misbehaving", Options{lookup: servfail}},
		{"the same, asked for a port", "tcp://x.example:80", "name look-up failed: server misbehaving", Options{lookup: servfail}},
		{"a silent name server", "dns:x.example", "no address within ", Options{lookup: failing(nil)}},
		{"the same, asked for a server", "http://x.example/", "no address within ", Options{lookup: failing(nil)}},
		{"a proxy that is not there", "http://x.example/", "the proxy: connection refused",
			Options{lookup: unknown, HTTP: proxy("http://" + nettest.Refused(t))}},
		{"a way through a proxy that is not there", "https://x.example/", "the proxy: connection refused",
			Options{lookup: unknown, HTTP: proxy("http://" + nettest.Refused(t))}},
		{"a proxy of an unknown name", "http://x.example/", "the proxy: unknown host ",
			Options{lookup: unknown, HTTP: proxy("http://proxy.example/")}},
		{"a proxy that refuses", "https://x.example/", "the proxy answers HTTP 502", Options{lookup: unknown, HTTP: proxy(refusing.URL)}},
		{"a mute proxy", "https://x.example/", "the proxy: no connection within ",
			Options{lookup: unknown, HTTP: proxy("http://" + mute.Addr().String())}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			blind(t, test.o, test.target, test.want)
		})
	}
}

// TestBlindFaults: a network that is down on our side, and a connection that neither comes about nor is refused.
func TestBlindFaults(t *testing.T) {
	for _, test := range []struct {
		scheme string
		err    error
		gone   bool
	}{
		{"tcp", syscall.ENETUNREACH, false},
		{"tcp", syscall.EHOSTUNREACH, false},
		{"http", syscall.ENETUNREACH, false},
		{"tls", syscall.EADDRNOTAVAIL, false},
		{"tcp", syscall.EAFNOSUPPORT, false},
		{"tcp", syscall.ETIMEDOUT, false},
		{"tcp", context.DeadlineExceeded, false},
		{"unix", context.DeadlineExceeded, false},
		{"http", context.DeadlineExceeded, true},
		{"exec", context.DeadlineExceeded, true},
		{"tcp", syscall.ECONNREFUSED, true},
		{"tls", syscall.ECONNRESET, true},
	} {
		f, seen := opposite(explain(test.err, connecting), Target{scheme: test.scheme})
		if gone := f == nil; gone != test.gone || gone != (!seen.IsZero()) {
			t.Errorf("%s, %v: %+v, seen %q", test.scheme, test.err, f, seen)
		}
	}
}

// TestOneAddressTells: our own network may lack a family; the address that refuses still shows that nobody listens.
func TestOneAddressTells(t *testing.T) {
	addrs := []netip.Addr{netip.IPv6Loopback(), netip.MustParseAddr("127.0.0.1")}
	for _, test := range []struct {
		other error
		gone  bool
	}{{syscall.ENETUNREACH, true}, {context.DeadlineExceeded, false}} {
		err := race(t.Context(), addrs, func(_ context.Context, a netip.Addr, _ *progress) error {
			if a.Is6() {
				return test.other
			}
			return syscall.ECONNREFUSED
		})
		var f *fault
		if !errors.As(err, &f) {
			t.Fatal(err)
		}
		if f, _ = opposite(f, Target{scheme: "tcp"}); (f == nil) != test.gone {
			t.Errorf("%v: %+v", test.other, f)
		}
	}
}
