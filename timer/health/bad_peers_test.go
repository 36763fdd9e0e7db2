package health

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/health/nettest"
)

// Bounds of what one bad peer may cost. Buffers of the system are in what is taken: a few MiB on Linux, for each of up to eleven connections
// that one attempt may need, and the peer makes what it writes.
const (
	mostMade  = 64 << 20 // bytes allocated, by both sides
	mostTaken = 64 << 20 // bytes that the peer could write
)

// line is a bad peer's end of a connection.
type line struct {
	*net.TCPConn
	taken *atomic.Int64
}

func (l line) Write(b []byte) (int, error) {
	n, err := l.TCPConn.Write(b)
	l.taken.Add(int64(n))
	return n, err
}

// say waits for the first words of the other side, then writes text.
func (l line) say(text string) {
	io.ReadAtLeast(l, make([]byte, 4096), 1)
	io.WriteString(l, text)
}

// flood writes b until nobody takes it any more.
func (l line) flood(b string) {
	for {
		if _, err := io.WriteString(l, b); err != nil {
			return
		}
	}
}

// drip writes b every 50 ms until nobody takes it any more.
func (l line) drip(b string) {
	for {
		if _, err := io.WriteString(l, b); err != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// reset ends the connection without the usual goodbye.
func (l line) reset() { l.SetLinger(0) }

// badPeer misbehaves on loopback until it is told to be good.
type badPeer struct {
	name  string
	text  string // the target, with %s for host and port
	want  string // how the fault begins; "" for none
	or    string // or how else; "" for no other way
	body  string // what the body is matched with, if anything
	serve func(line)

	good  atomic.Bool
	open  atomic.Int32 // connections not yet ended
	taken atomic.Int64
}

// listen starts the peer. Once good it completes handshakes and answers requests well.
func (p *badPeer) listen(t *testing.T, cert tls.Certificate) Target {
	l := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
		p.open.Add(1)
		defer p.open.Add(-1)
		if !p.good.Load() {
			p.serve(line{conn.(*net.TCPConn), &p.taken})
			return
		}
		if !strings.HasPrefix(p.text, "http:") {
			conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}})
		}
		conn.Read(make([]byte, 4096))
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nall is well")
	})
	return mustParse(t, fmt.Sprintf(p.text, l.Addr()))[0]
}

// ended checks that no connection to the peer is left open.
func (p *badPeer) ended(t *testing.T) {
	t.Helper()
	for limit := time.Now().Add(2 * time.Minute); p.open.Load() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%s: %d connections are still open", p.name, p.open.Load())
		}
	}
}

// quiet fails the test when something is logged: net/http does so on the process's standard error.
func quiet(t *testing.T) {
	t.Helper()
	var said bytes.Buffer
	log.SetOutput(&said)
	t.Cleanup(func() {
		log.SetOutput(os.Stderr)
		if said.Len() > 0 {
			t.Errorf("logged: %s", said.String())
		}
	})
}

// deflated is a gzip member of zeros, a thousand times as large when unpacked.
func deflated(t *testing.T, size int) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestBadPeersThatTurnGood has peers that answer badly at first: each fault is named, costs little, leaves no connection
// behind, and does not stand in the way of the next attempt.
func TestBadPeersThatTurnGood(t *testing.T) {
	quiet(t)
	const (
		plain   = "http://%s/health"
		secure  = "https://%s/"
		ok      = "HTTP/1.1 200 OK\r\n"
		chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
		found   = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "
		ssh     = "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"
	)
	say := func(text string) func(line) { return func(l line) { l.say(text) } }
	sayAndReset := func(text string) func(line) { return func(l line) { l.say(text); l.reset() } }
	sayAndFlood := func(text, more string) func(line) { return func(l line) { l.say(text); l.flood(more) } }
	to := func(location string) func(line) {
		return say(found + location + "\r\n\r\n")
	}
	longer := func(by int) func(line) { // by so many bytes at each request
		return func(l line) {
			if _, err := http.ReadRequest(bufio.NewReader(l)); err == nil {
				io.WriteString(l, found+strings.Repeat("/longer", by/7)[1:]+"/\r\n\r\n")
			}
		}
	}
	much := strings.Repeat("no match ", 8192)
	zeros := deflated(t, 32<<20)
	var names strings.Builder
	for i := 0; names.Len() < maxHeader-4096; i++ {
		fmt.Fprintf(&names, "%x:\n", i)
	}
	cert := certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour), "localhost")
	garbage := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
		io.WriteString(conn, ssh)
		drain(conn)
	}).Addr().String()

	for _, p := range []*badPeer{
		// Which of the two words comes out depends on who looks first.
		{name: "a reset at once", text: plain, want: "connection ", serve: line.reset},
		{name: "a reset instead of an answer", text: plain, want: "connection reset", serve: sayAndReset("")},
		{name: "a reset in the headers", text: plain, want: "connection ", serve: sayAndReset(ok + "X-More: ")},
		{name: "a reset in the body", text: plain, body: "well$", want: "connection reset",
			serve: sayAndReset(ok + "Content-Length: 100\r\n\r\nall is well")},
		{name: "a body shorter than it says", text: plain, body: "well$", want: "connection closed without a whole answer",
			serve: say(ok + "Content-Length: 100\r\n\r\nall is well")},

		{name: "a body without end that nobody asked for", text: plain, serve: sayAndFlood(ok+"\r\n", much)},
		{name: "a body that does not come and that nobody asked for", text: plain,
			serve: func(l line) { l.say(ok + "Content-Length: 100\r\n\r\n"); drain(l) }},
		{name: "a bad answer without end", text: plain, body: "well", want: "HTTP 500",
			serve: sayAndFlood("HTTP/1.1 500 Oh\r\n\r\n", much)},
		{name: "a body of 8 EiB", text: plain, body: "well", want: "HTTP 200, but the body does not match",
			serve: sayAndFlood(ok+"Content-Length: 9223372036854775807\r\n\r\n", much)},
		{name: "a chunk of 8 EiB", text: plain, body: "well", want: "HTTP 200, but the body does not match",
			serve: sayAndFlood(chunked+"7fffffffffffffff\r\n", much)},
		{name: "a body that grows when it is unpacked", text: plain, body: "well", want: "HTTP 200, but the body does not match",
			serve: sayAndFlood(ok+"Content-Encoding: gzip\r\n\r\n", zeros)},
		{name: "a chunk extension without end", text: plain, body: "well", want: "header line too long",
			serve: sayAndFlood(chunked+"5;", much)},
		{name: "trailers without end", text: plain, body: "well", want: "http: suspiciously long trailer",
			serve: sayAndFlood(chunked+"0\r\n", "X-More: some\r\n")},
		{name: "as many headers as there is room for", text: plain, serve: say(ok + names.String() + "\r\n")},

		{name: "another protocol asked for", text: plain, want: "HTTP 101", serve: say("HTTP/1.1 101 Switching Protocols\r\n\r\n")},
		{name: "a status that is not a number", text: plain, want: "the answer is not HTTP", serve: say("HTTP/1.1 OK\r\n\r\n")},
		{name: "a status of many digits", text: plain, want: "the answer is not HTTP", serve: say("HTTP/1.1 99999999999999999999 x\r\n\r\n")},
		{name: "two lengths", text: plain, want: "http: message cannot contain multiple Content-Length headers",
			serve: say(ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n")},
		{name: "a header that would colour the terminal", text: plain, want: "malformed MIME header", serve: say(ok + "\x1b[31mred\r\n\r\n")},
		{name: "HTTP/2 without a word before", text: plain, want: "the answer is not HTTP",
			serve: func(l line) { io.WriteString(l, "\x00\x00\x00\x04\x00\x00\x00\x00\x00\r\n"); drain(l) }},
		{name: "SSH instead of HTTP", text: plain, want: "the answer is not HTTP", serve: func(l line) { io.WriteString(l, ssh); drain(l) }},
		{name: "SSH instead of HTTPS", text: secure, want: "the server does not speak TLS",
			serve: func(l line) { io.WriteString(l, ssh); drain(l) }},
		{name: "SSH on a port that only has to accept", text: "tcp://%s", serve: func(l line) { io.WriteString(l, ssh); drain(l) }},
		{name: "a flood on a port that only has to accept", text: "tcp://%s", serve: func(l line) { l.flood(much) }},

		{name: "the handshake closed", text: "tls://%s", want: "connection closed without a whole answer", serve: say("")},
		{name: "the handshake closed, with HTTP after it", text: secure, want: "connection closed without a whole answer", serve: say("")},
		{name: "the handshake reset", text: secure, want: "connection reset", serve: sayAndReset("")},
		{name: "garbage for a handshake", text: "tls://%s", want: "the server does not speak TLS", serve: sayAndFlood("", much)},
		{name: "an alert", text: secure, want: "the server ended the TLS handshake: ", serve: say(unhex("15 0303 0002 02 28"))},
		{name: "warnings without end", text: "tls://%s", want: "tls: too many ignored records", serve: sayAndFlood("", unhex("15 0303 0002 01 5a"))},
		{name: "a record larger than any may be", text: "tls://%s", want: "the server does not speak TLS",
			serve: sayAndFlood(unhex("16 0303 ffff"), much)},
		{name: "a handshake of 16 MiB", text: "tls://%s", want: "tls: handshake message of length 16777215 bytes exceeds",
			serve: sayAndFlood(unhex("16 0303 4000 02 ffffff"), much)},

		{name: "a redirect to a port nobody listens on", text: plain, want: "after a redirect to http://127.0.0.1:", serve: to("http://" + nettest.Refused(t))},
		{name: "a redirect to garbage", text: plain, want: "after a redirect to http://" + garbage + ": the answer is not HTTP", serve: to("http://" + garbage)},
		{name: "a redirect to TLS that is none", text: plain, want: "after a redirect to https://" + garbage + ": the server does not speak TLS", serve: to("https://" + garbage)},
		{name: "a redirect to no host", text: plain, want: "after a redirect to http:…: http: no Host in request URL", serve: to("http:///")},
		{name: "a redirect to nonsense", text: plain, want: "redirected to a place that is not a URL", serve: to("http://me:secret@[::1]:port/")},
		{name: "a redirect to an unknown host", text: plain, want: "after a redirect to http://gone.example: unknown host gone.example", serve: to("http://gone.example/")},
		{name: "a redirect without a place", text: plain, want: "HTTP 302", serve: say("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n")},
		{name: "a redirect with a body without end", text: plain, want: "more than 10 redirects",
			serve: sayAndFlood("HTTP/1.1 302 Found\r\nLocation: /again\r\n\r\n", much)},
		{name: "redirects to ever longer addresses", text: plain, want: "more than 10 redirects", serve: longer(7 << 10)},
		{name: "a redirect to a very long address", text: plain, want: "redirected to an address longer than 8 KiB", serve: longer(140 << 10)},
	} {
		t.Run(p.name, func(t *testing.T) {
			target := p.listen(t, cert)
			var first, last string
			o := Options{
				Timeout:  time.Minute, // only a test that hangs takes so long
				Interval: 10 * time.Millisecond, Insecure: true,
				Observe: func(_ int, r TargetResult) {
					if last = r.Last.String(); first == "" {
						first = last
					}
					p.good.Store(true)
				},
				lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
					return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
				},
			}
			if p.body != "" {
				o.HTTP.Body = regexp.MustCompile(p.body)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := Wait(t.Context(), []Target{target}, o)
			runtime.ReadMemStats(&after)
			if !r.Healthy || last != "" {
				t.Errorf("it did not recover: %+v", r)
			}
			if !strings.HasPrefix(first, p.want) || (p.want == "") != (first == "") || first != printable(first) {
				t.Errorf("the fault was %q, want %q", first, p.want)
			}
			p.ended(t)
			made, taken := after.TotalAlloc-before.TotalAlloc, p.taken.Load()
			if made > mostMade || taken > mostTaken {
				t.Errorf("made %d KiB, took %d KiB", made>>10, taken>>10)
			}
			t.Logf("%q, %d attempts, made %d KiB, took %d KiB", first, r.Attempts, made>>10, taken>>10)
		})
	}
}

func unhex(text string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestSlowPeersEndInTime waits for many peers at once that are never done, and looks at what is said of each. None holds
// the wait up, and no connection outlives it.
func TestSlowPeersEndInTime(t *testing.T) {
	quiet(t)
	const timeout = 2 * time.Second
	cert := certificate(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour), "localhost")
	mute := listen(t, "tcp", "127.0.0.1:0", drain).Addr().String()
	after := func(text, more string) func(line) { return func(l line) { l.say(text); l.drip(more) } }
	then := func(text string) func(line) { return func(l line) { l.say(text); drain(l) } }
	handshake := func(more func(*tls.Conn)) func(line) {
		return func(l line) {
			conn := tls.Server(l, &tls.Config{Certificates: []tls.Certificate{cert}})
			if conn.Handshake() == nil {
				more(conn)
			}
		}
	}
	const found = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "
	peers := []*badPeer{
		{name: "interim answers now and then", text: "http://%s/", want: "no answer", serve: after("", "HTTP/1.1 103 Early Hints\r\n\r\n")},
		{name: "one chunk of a byte at a time", text: "http://%s/", want: "no whole body",
			serve: after("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n")},
		{name: "a body that does not come", text: "http://%s/", want: "no whole body", serve: then("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")},
		{name: "a header that does not end", text: "http://%s/", want: "no answer", serve: then("HTTP/1.1 200 OK\r\nContent-Le")},
		{name: "one byte of the handshake at a time", text: "tls://%s", want: "no TLS handshake", serve: after(unhex("16 0303 4000 02 003fff"), "\x03")},
		{name: "half a handshake", text: "https://%s/", want: "no TLS handshake", serve: then(unhex("16 0303"))},
		{name: "a handshake, then nothing", text: "https://%s/", want: "no answer", serve: handshake(func(conn *tls.Conn) { drain(conn) })},
		{name: "a handshake, then a byte at a time", text: "https://%s/", want: "no answer", serve: handshake(func(conn *tls.Conn) {
			for _, err := conn.Write([]byte("H")); err == nil; _, err = conn.Write([]byte("H")) {
				time.Sleep(50 * time.Millisecond)
			}
		})},
		{name: "a redirect to one that says nothing", text: "http://%s/", want: "after a redirect to http://" + mute + ": no answer", serve: then(found + "http://" + mute + "/\r\n\r\n")},
		{name: "a redirect to TLS that says nothing", text: "http://%s/", want: "after a redirect to https://" + mute + ": no TLS handshake", serve: then(found + "https://" + mute + "/\r\n\r\n")},
		{name: "a redirect whose body does not come", text: "http://%s/", want: "after a redirect to http://%s/…: no end of the redirect",
			serve: then("HTTP/1.1 302 Found\r\nContent-Length: 9\r\nLocation: /again\r\n\r\n")},
		{name: "redirects that take their time", text: "http://%s/", want: "after a redirect to http://%s/…: no answer",
			or: "after a redirect to http://%s/…: no connection", serve: func(l line) { // where it stands in the end is chance
				io.ReadAtLeast(l, make([]byte, 4096), 1)
				time.Sleep(timeout / maxRedirects * 2)
				io.WriteString(l, found+"/again\r\n\r\n")
			}},
		{name: "a redirect to a host whose look-up hangs", text: "http://%s/", want: "after a redirect to http://hang.example: no address", serve: then(found + "http://hang.example/\r\n\r\n")},
	}
	var targets []Target
	for _, p := range peers {
		targets = append(targets, p.listen(t, cert))
	}
	r := Wait(t.Context(), targets, Options{
		Timeout: timeout, Attempt: time.Hour, Insecure: true, HTTP: HTTP{Body: regexp.MustCompile("well")},
		lookup: func(ctx context.Context, _ string) ([]netip.Addr, error) { <-ctx.Done(); return nil, ctx.Err() },
	})
	if r.Reason != TimedOut || r.Waited > timeout+slack || r.Attempts != len(targets) {
		t.Errorf("%s after %v and %d attempts", r.Reason, r.Waited, r.Attempts)
	}
	t.Logf("%v over the time-out", r.Waited-timeout)
	for i, p := range peers {
		got := r.Targets[i].Last.String()
		_, host, _ := strings.Cut(targets[i].String(), "//")
		want := func(text string) string {
			return strings.ReplaceAll(text, "%s", strings.TrimSuffix(host, "/")) + " within "
		}
		if !strings.HasPrefix(got, want(p.want)) && (p.or == "" || !strings.HasPrefix(got, want(p.or))) {
			t.Errorf("%s: %q, want %q", p.name, got, want(p.want)+"2s")
		}
		p.ended(t)
	}
}

// TestBadProxies asks through proxies that do not let it through.
func TestBadProxies(t *testing.T) {
	quiet(t)
	const timeout = 2 * time.Second
	proxies := map[string]*badPeer{
		"headers": {name: "headers without end", want: "the proxy: connection closed without a whole answer", serve: func(l line) {
			l.say("HTTP/1.1 200 OK\r\n")
			l.flood("X-More: " + strings.Repeat("x", 1000) + "\r\n")
		}},
		"refusal": {name: "a refusal without end", want: "the proxy answers HTTP 502", serve: func(l line) { l.say("HTTP/1.1 502 No\r\n\r\n"); l.flood(strings.Repeat("no ", 1000)) }},
		"reset":   {name: "a reset", want: "the proxy: connection reset", serve: func(l line) { l.say(""); l.reset() }},
		"ssh":     {name: "SSH", want: "the proxy: the answer is not HTTP", serve: func(l line) { l.say("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n") }},
		"through": {name: "nothing, once let through", want: "no TLS handshake within ", serve: func(l line) { l.say("HTTP/1.1 200 OK\r\n\r\n"); drain(l) }},
		"mute":    {name: "nothing", want: "the proxy: no ", serve: func(l line) { drain(l) }},
	}
	at := map[string]*url.URL{}
	var texts []string
	for host, p := range proxies {
		l := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
			p.open.Add(1)
			defer p.open.Add(-1)
			p.serve(line{conn.(*net.TCPConn), &p.taken})
		})
		at[host+".example"] = &url.URL{Scheme: "http", Host: l.Addr().String()}
		texts = append(texts, "https://"+host+".example/")
	}
	r := Wait(t.Context(), mustParse(t, texts...), Options{
		Timeout: timeout, Attempt: time.Hour,
		HTTP: HTTP{Proxy: func(r *http.Request) (*url.URL, error) { return at[r.URL.Hostname()], nil }},
		lookup: func(context.Context, string) ([]netip.Addr, error) { // an address for examples (RFC 5737), not dialled
			return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
		},
	})
	if r.Reason != TimedOut || r.Waited > timeout+slack {
		t.Errorf("%s after %v", r.Reason, r.Waited)
	}
	for i, text := range texts {
		p := proxies[strings.TrimSuffix(strings.TrimPrefix(text, "https://"), ".example/")]
		got := r.Targets[i]
		if got.Last.String() == "" || !strings.HasPrefix(got.Last.String(), p.want) || got.Last.String() != printable(got.Last.String()) {
			t.Errorf("%s: %+v, want %q", p.name, got, p.want)
		}
		p.ended(t)
		if each := p.taken.Load() / int64(got.Attempts); each > mostTaken {
			t.Errorf("%s: took %d KiB at each of %d attempts", p.name, each>>10, got.Attempts)
		}
		t.Logf("%s: %q", p.name, got.Last.String())
	}
}
