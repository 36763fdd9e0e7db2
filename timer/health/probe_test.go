package health

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/health/nettest"
)

// slack is what a busy machine may add to a bound. The promise is 100 ms, which the tests on a false clock hold it to;
// what was seen here is logged.
const slack = 10 * time.Second

func mustParse(t *testing.T, texts ...string) []Target {
	t.Helper()
	var targets []Target
	for _, text := range texts {
		target, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, target)
	}
	return targets
}

// listen opens a listener that accepts and hands each connection to serve, in its own goroutine.
func listen(t *testing.T, network, address string, serve func(net.Conn)) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return l
}

func portOf(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// freePort is one that nobody listens on, and that the test may.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nettest.Close(l)
	return portOf(l)
}

// drain is a peer that accepts and says nothing until the other side hangs up.
func drain(conn net.Conn) { io.Copy(io.Discard, conn) }

func needsIPv6(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 loopback on this machine")
	}
	l.Close()
}

// once makes a single attempt on one target.
func once(t *testing.T, o Options, text string) TargetResult {
	t.Helper()
	o.Timeout = 10 * time.Second
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var first *TargetResult
	o.Observe = func(_ int, r TargetResult) {
		if first == nil {
			first = &r
		}
		cancel()
	}
	Wait(ctx, mustParse(t, text), o)
	if first == nil {
		t.Fatal("no attempt ended within 10s")
	}
	return *first
}

func TestComesUpLate(t *testing.T) {
	dir := t.TempDir()
	port := freePort(t)
	up := map[string]func(){
		"tcp://localhost:" + port: func() { listen(t, "tcp", "127.0.0.1:"+port, drain) },
		"unix://" + dir + "/app.sock": func() {
			listen(t, "unix", dir+"/app.sock", drain)
		},
		"file:" + dir + "/ready": func() {
			if err := os.WriteFile(dir+"/ready", nil, 0o600); err != nil {
				t.Error(err)
			}
		},
	}
	for target, start := range up {
		t.Run(strings.SplitN(target, ":", 2)[0], func(t *testing.T) {
			var last string
			var upAt time.Time
			r := Wait(t.Context(), mustParse(t, target), Options{Timeout: 20 * time.Second, Observe: func(_ int, r TargetResult) {
				if r.Attempts == 1 {
					start()
					upAt = time.Now()
				}
				if !r.Healthy {
					last = r.Last.String()
				}
			}})
			if !r.Healthy || r.Attempts < 2 || r.Targets[0].Latency <= 0 {
				t.Errorf("result %+v", r)
			}
			t.Logf("was %q, noticed %v after it came up", last, time.Since(upAt))
		})
	}
}

func TestReasonsOfLocalTargets(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/plain", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dir + "/stale", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	nettest.Close(l)
	for target, want := range map[string]string{
		"tcp://" + nettest.Refused(t):                     "connection refused",
		"unix://" + dir + "/none":                         "no such socket",
		"unix://" + dir + "/stale":                        "connection refused",
		"unix://" + dir + "/plain":                        "not a socket",
		"unix://" + dir + "/" + strings.Repeat("x", 200):  "the path is too long for a socket",
		"file:" + filepath.Join(dir, "none"):              "no such file",
		"file:" + filepath.Join(dir, "plain", "impostor"): "not a directory",
	} {
		if r := once(t, Options{}, target); r.Last.String() != want || r.Permanent != strings.HasPrefix(want, "the path") {
			t.Errorf("%s: %+v, want %q", target, r, want)
		}
	}
}

// TestBothFamiliesOfLocalhost has the service on one family, with the other refusing or accepting without a word.
func TestBothFamiliesOfLocalhost(t *testing.T) {
	t.Parallel()
	needsIPv6(t)
	hello := func(conn net.Conn) {
		conn.Read(make([]byte, 4096))
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}
	for _, host := range []string{"127.0.0.1", "[::1]"} {
		other := map[string]string{"127.0.0.1": "[::1]", "[::1]": "127.0.0.1"}[host]
		l := listen(t, "tcp", host+":0", hello)
		for _, target := range []string{"tcp://localhost:", "http://localhost:", "http://LOCALHOST.:", "http://app.localhost:"} {
			if r := once(t, Options{}, target+portOf(l)); !r.Healthy {
				t.Errorf("%s on %s alone: %+v", target, host, r)
			}
		}
		mute, err := net.Listen("tcp", other+":"+portOf(l))
		if err != nil {
			t.Logf("the port is taken on %s: %v", other, err)
			continue
		}
		if r := once(t, Options{}, "http://localhost:"+portOf(l)); !r.Healthy {
			t.Errorf("on %s, with a mute listener on %s: %+v", host, other, r)
		}
		mute.Close()
	}
}

func TestDeadAddressDoesNotHideALiveOne(t *testing.T) {
	l := listen(t, "tcp", "127.0.0.1:0", drain)
	o := Options{lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.9"), netip.MustParseAddr("127.0.0.8"), netip.MustParseAddr("127.0.0.1")}, nil
	}}
	if r := once(t, o, "tcp://service.example:"+portOf(l)); !r.Healthy {
		t.Errorf("result %+v", r)
	}
}

func TestNames(t *testing.T) {
	o := Options{lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
		if host == "there.example" {
			return []netip.Addr{netip.IPv6Loopback()}, nil
		}
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}}
	if r := once(t, o, "dns:there.example"); !r.Healthy {
		t.Errorf("result %+v", r)
	}
	for _, target := range []string{"dns:gone.example", "tcp://gone.example:80", "http://gone.example/"} {
		if r := once(t, o, target); r.Last.String() != "unknown host gone.example" || r.Permanent {
			t.Errorf("%s: %+v", target, r)
		}
	}
}

// TestFaultyPeers holds the bounds against every kind of bad peer.
func TestFaultyPeers(t *testing.T) {
	const timeout = time.Second
	until := func(conn net.Conn, write func() error) {
		io.ReadAtLeast(conn, make([]byte, 4096), 1)
		for write() == nil {
		}
	}
	chunk := bytes.Repeat([]byte("no match "), 4096)
	var logged strings.Builder // net/http may complain there of a peer that talks first
	log.SetOutput(&logged)
	defer func() {
		log.SetOutput(os.Stderr)
		if logged.Len() > 0 {
			t.Errorf("logged: %s", logged.String())
		}
	}()
	peers := []struct {
		name, scheme, want string
		serve              func(net.Conn)
	}{
		{"accepts and says nothing", "http", "no answer within", drain},
		{"accepts and says nothing to TLS", "https", "no TLS handshake within", drain},
		{"accepts and says nothing to TLS alone", "tls", "no TLS handshake within", drain},
		{"hangs up", "http", "connection closed without a whole answer", func(conn net.Conn) {
			io.ReadAtLeast(conn, make([]byte, 4096), 1)
		}},
		{"is not HTTP", "http", "the answer is not HTTP", func(conn net.Conn) { io.WriteString(conn, "220 \x1b[31mhello\r\n\r\n") }},
		{"is not TLS", "tls", "the server does not speak TLS", func(conn net.Conn) {
			io.WriteString(conn, "220 mail.example ESMTP\r\n")
			drain(conn)
		}},
		{"one byte of the header at a time", "http", "no answer within", func(conn net.Conn) {
			until(conn, func() error { time.Sleep(50 * time.Millisecond); _, err := io.WriteString(conn, "H"); return err })
		}},
		{"one byte of the body at a time", "http", "no whole body within", func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
			until(conn, func() error { time.Sleep(50 * time.Millisecond); _, err := io.WriteString(conn, "b"); return err })
		}},
		{"a body without end", "http", "HTTP 200, but the body does not match", func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
			until(conn, func() error { _, err := conn.Write(chunk); return err })
		}},
		{"headers without end", "http", "response headers larger than 256 KiB", func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			until(conn, func() error { _, err := io.WriteString(conn, "X-More: "+strings.Repeat("x", 1000)+"\r\n"); return err })
		}},
		{"a header line without end", "http", "response headers larger than 256 KiB", func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nX-More: ")
			until(conn, func() error { _, err := conn.Write(chunk); return err })
		}},
		{"10,000 headers", "http", "response headers larger than 256 KiB", func(conn net.Conn) {
			io.ReadAtLeast(conn, make([]byte, 4096), 1)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+strings.Repeat("X-Header: some value of it\r\n", 10000)+"\r\n")
		}},
		{"interim answers without end", "http", "response headers larger than 256 KiB", func(conn net.Conn) {
			until(conn, func() error { _, err := io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\n\r\n"); return err })
		}},
		{"a redirect loop", "http", "more than 10 redirects", func(conn net.Conn) {
			io.ReadAtLeast(conn, make([]byte, 4096), 1)
			io.WriteString(conn, "HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")
		}},
	}
	for _, peer := range peers {
		t.Run(peer.name, func(t *testing.T) {
			l := listen(t, "tcp", "127.0.0.1:0", peer.serve)
			target := peer.scheme + "://127.0.0.1:" + portOf(l)
			o := Options{HTTP: HTTP{Body: regexp.MustCompile("^all is well$")}}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var got TargetResult
			if strings.HasSuffix(peer.want, " within") {
				o.Timeout = timeout
				r := Wait(t.Context(), mustParse(t, target), o)
				if r.Healthy || r.Reason != TimedOut || r.Waited > timeout+slack {
					t.Errorf("result %+v", r)
				}
				t.Logf("%v over the time-out", r.Waited-timeout)
				got = r.Targets[0]
			} else {
				got = once(t, o, target)
			}
			runtime.ReadMemStats(&after)
			if last := got.Last.String(); !strings.HasPrefix(last, peer.want) || last != printable(last) {
				t.Errorf("last error %q, want %q", last, peer.want)
			}
			made := (after.TotalAlloc - before.TotalAlloc) >> 20
			if made > 20 {
				t.Errorf("made %d MiB", made)
			}
			t.Logf("%q, %d MiB", got.Last.String(), made)
		})
	}
}

// TestHangingNameServer asks a real resolver whose server never answers.
func TestHangingNameServer(t *testing.T) {
	t.Parallel()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	o := Options{Timeout: 300 * time.Millisecond, lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
		return resolver.LookupNetIP(ctx, "ip", host)
	}}
	for _, target := range []string{"tcp://db.example:5432", "http://web.example/", "dns:db.example"} {
		r := Wait(t.Context(), mustParse(t, target), o)
		// The attempt has what is left of the 300 ms when it begins.
		if r.Waited > o.Timeout+slack || r.Reason != TimedOut || !strings.HasPrefix(r.Targets[0].Last.String(), "no address within ") {
			t.Errorf("%s: %+v", target, r)
		}
		t.Logf("%s: %v over the time-out", target, r.Waited-o.Timeout)
	}
}

// TestNothingIsLeftBehind looks for goroutines: of connections, of watched folders, and of a process that lives on.
func TestNothingIsLeftBehind(t *testing.T) {
	dir := t.TempDir()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	mute := listen(t, "tcp", "127.0.0.1:0", drain)
	before := runtime.NumGoroutine()
	for range 5 {
		Wait(t.Context(), mustParse(t, server.URL, "tcp://localhost:"+portOf(mute), "http://localhost:"+portOf(mute)),
			Options{Insecure: true, Timeout: 150 * time.Millisecond})
		Wait(t.Context(), mustParse(t, "file:"+dir+"/none", "unix://"+dir+"/none", "pid:"+strconv.Itoa(os.Getpid())),
			Options{Stable: time.Hour, Timeout: 150 * time.Millisecond})
	}
	// The servers' own goroutines end when they see the connections closed.
	for limit := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > before+1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}
