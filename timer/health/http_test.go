package health

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestHTTPAnswers(t *testing.T) {
	var asked atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		var code int
		for _, digit := range r.PathValue("code") {
			code = code*10 + int(digit-'0')
		}
		w.WriteHeader(code)
	})
	mux.Handle("/redirect", http.RedirectHandler("/hello", http.StatusFound))
	mux.Handle("/to-500", http.RedirectHandler("/status/500", http.StatusFound))
	mux.HandleFunc("/hello", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "all is well") })
	mux.HandleFunc("/picky", func(w http.ResponseWriter, r *http.Request) {
		user, pass, _ := r.BasicAuth()
		if r.Method != "HEAD" || r.Header.Get("X-Key") != "k" || r.Host != "app.example" || user != "me" || pass != "secret" {
			w.WriteHeader(http.StatusTeapot)
		}
	})
	mux.HandleFunc("/count", func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1); !r.Close {
			w.WriteHeader(http.StatusTeapot) // keep-alive
		}
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	picky := HTTP{Method: "HEAD", Header: http.Header{"x-key": {"k"}, "Host": {"app.example"}}}

	for _, test := range []struct {
		path, want string
		http       HTTP
	}{
		{"/hello", "", HTTP{}},
		{"/status/204", "", HTTP{}},
		{"/redirect", "", HTTP{}},
		{"/count", "", HTTP{}},
		{"/status/304", "HTTP 304", HTTP{}},
		{"/status/404", "HTTP 404", HTTP{}},
		{"/status/503", "HTTP 503", HTTP{}},
		{"/to-500", "after a redirect to " + server.URL + "/…: HTTP 500", HTTP{}},
		{"/status/401", "HTTP 401", HTTP{}},
		{"/status/403", "HTTP 403", HTTP{}},
		{"/status/401", "", HTTP{Status: []StatusRange{{200, 299}, {401, 401}}}},
		{"/hello", "HTTP 200", HTTP{Status: []StatusRange{{401, 401}}}},
		{"/to-500", "", HTTP{Status: []StatusRange{{302, 302}}}},
		{"/hello", "", HTTP{Body: regexp.MustCompile("is w")}},
		{"/hello", "HTTP 200, but the body does not match", HTTP{Body: regexp.MustCompile("ill")}},
		{"/picky", "", picky},
	} {
		target := strings.Replace(server.URL, "//", "//me:secret@", 1) + test.path
		r := once(t, Options{HTTP: test.http}, target)
		if r.Last.String() != test.want || r.Healthy != (test.want == "") {
			t.Errorf("%s %+v: %+v, want %q", test.path, test.http, r, test.want)
		}
		if locked := test.want == "HTTP 401" || test.want == "HTTP 403"; r.Permanent != locked {
			t.Errorf("%s: permanent is %v", test.path, r.Permanent)
		}
		if strings.Contains(r.Target, "secret") {
			t.Errorf("the result shows the password: %s", r.Target)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("%d requests for one attempt", asked.Load())
	}
}

func TestRetryAfterForms(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{time.Second: "1 second", 90 * time.Second: "90 seconds", time.Hour: "1h"} {
		if got := secondsInWords(d); got != want {
			t.Errorf("inWords(%v) = %q, want %q", d, got, want)
		}
	}
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "-7": 0, "99999999999999": maxShownRetry, "x": 0,
		"9223372036854775807": maxShownRetry, "99999999999999999999999": 0,
		"Sat, 21 Nov 2026 09:00:09 GMT": 9 * time.Second, "Sat, 21 Nov 2026 08:00:00 GMT": 0, "Sun, 21 Nov 2027 09:00:00 GMT": maxShownRetry, "Sat, 21 Nov 2026 10:00:00 GMT": time.Hour,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("retryAfter(%q) = %v, want %v", value, got, want)
		}
	}
}

func TestRetryAfterIsTold(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	if r := once(t, Options{}, server.URL); r.Last.String() != "HTTP 503, asks to wait 1h" {
		t.Errorf("got %+v", r)
	}
	res := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"20"}}}
	if f := answer(res); f.String() != "HTTP 429, asks to wait 20 seconds" || f.retryAfter != 20*time.Second {
		t.Errorf("got %+v", f)
	}
	res.Header.Set("Retry-After", "3600")
	if f := answer(res); f.retryAfter != maxRetryAfter {
		t.Errorf("got %+v", f)
	}
}

func TestProxyIsNotAskedForLoopback(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Host {
		case "far.example:81":
		case "back.example:81":
			http.Redirect(w, r, "http://localhost:"+r.URL.Path[1:], http.StatusFound)
		default:
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer proxy.Close()
	l := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
		io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
		drain(conn)
	})
	o := Options{
		HTTP: HTTP{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }},
		lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			if host == "me.example" {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		},
	}
	for _, target := range []string{
		"http://localhost:" + portOf(l), "http://127.0.0.1:" + portOf(l), "http://me.example:" + portOf(l), "http://far.example:81/",
		"http://back.example:81/" + portOf(l),
	} {
		if r := once(t, o, target); !r.Healthy {
			t.Errorf("%s: %+v", target, r)
		}
	}
	if r := once(t, o, "http://other.example:81/"); r.Last.String() != "HTTP 502" {
		t.Errorf("not asked about another host: %+v", r)
	}
}

// TestProxyRefuses asks through proxies that open no way to an https target. What a proxy says is not an answer of the target,
// whatever Status accepts.
func TestProxyRefuses(t *testing.T) {
	for _, code := range []int{204, 403, 407, 429, 502, 503} {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodConnect {
				t.Errorf("it was asked to %s", r.Method)
			}
			w.WriteHeader(code)
		}))
		o := Options{
			HTTP: HTTP{
				Status: []StatusRange{{100, 599}},
				Proxy:  func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) },
			},
			lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			},
		}
		r := once(t, o, "https://far.example/")
		if want := "the proxy answers HTTP " + strconv.Itoa(code); r.Last.String() != want || r.Permanent != (code == 403 || code == 407) {
			t.Errorf("got %+v, want %q", r, want)
		}
		proxy.Close()
	}
}

func TestPatientReadsNothingBeforeItWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := func(conn net.Conn) *atomic.Bool {
			var done atomic.Bool
			go func() {
				conn.Read(make([]byte, 100))
				done.Store(true)
			}()
			synctest.Wait()
			return &done
		}
		ours, theirs := net.Pipe()
		go func() {
			io.WriteString(theirs, "220 talks first\r\n")
			drain(theirs)
		}()
		conn := newWriteFirstConn(ours)
		done := reads(conn)
		if done.Load() {
			t.Error("it has read before a word was written")
		}
		io.WriteString(conn, "GET")
		if synctest.Wait(); !done.Load() {
			t.Error("it does not read although something was written")
		}
		conn.Close()

		ours, theirs = net.Pipe()
		defer theirs.Close()
		conn = newWriteFirstConn(ours)
		done = reads(conn)
		conn.Close()
		if synctest.Wait(); !done.Load() {
			t.Error("closing it does not end the reading")
		}
	})
}

// certificate makes one that signs itself.
func certificate(t *testing.T, from, to time.Time, names ...string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: from, NotAfter: to,
		DNSNames: names, BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func TestCertificates(t *testing.T) {
	now := time.Now()
	yesterday, tomorrow := now.Add(-24*time.Hour), now.Add(24*time.Hour)
	good := certificate(t, yesterday, tomorrow, "localhost")
	foreign := certificate(t, yesterday, tomorrow, "example.org", "www.example.org")
	expired := certificate(t, yesterday, now.Add(-time.Hour), "localhost")
	early := certificate(t, now.Add(time.Hour), tomorrow, "localhost")
	nameless := certificate(t, yesterday, tomorrow)
	for _, test := range []struct {
		name      string
		cert      tls.Certificate
		trusted   bool
		insecure  bool
		want      string
		permanent bool
	}{
		{"good", good, true, false, "", false},
		{"unknown authority", good, false, false, "certificate is signed by an unknown authority", true},
		{"insecure", foreign, false, true, "", false},
		{"another name", foreign, true, false, "certificate is for example.org and 1 more, not localhost", true},
		{"no name", nameless, true, false, "certificate is for no host, not localhost", true},
		{"expired", expired, true, false, "certificate has expired on ", false},
		{"not yet valid", early, true, false, "certificate is not valid before ", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.EnableHTTP2 = true
			server.TLS = &tls.Config{Certificates: []tls.Certificate{test.cert}}
			server.StartTLS()
			defer server.Close()
			o := Options{CA: x509.NewCertPool(), Insecure: test.insecure}
			if test.trusted {
				o.CA.AddCert(test.cert.Leaf)
			}
			for _, scheme := range []string{"https", "tls"} {
				r := once(t, o, scheme+"://localhost:"+portOf(server.Listener))
				if !strings.HasPrefix(r.Last.String(), test.want) || r.Healthy != (test.want == "") || r.Permanent != test.permanent {
					t.Errorf("%s: %+v, want %q", scheme, r, test.want)
				}
			}
		})
	}
}

// TestMinDays asks servers whose certificates end at different times for some days more.
func TestMinDays(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Now()
	for _, test := range []struct {
		left     time.Duration
		days     int
		insecure bool
		want     string
	}{
		{10*day + time.Hour, 10, false, ""},
		{10*day + time.Hour, 10, true, ""},
		{10*day - time.Hour, 10, false, "certificate ends in 9 days, on "},
		{10*day - time.Hour, 10, true, "certificate ends in 9 days, on "},
		{day + time.Hour, 2, false, "certificate ends in 1 day, on "},
		{time.Hour, 1, false, "certificate ends in less than a day, on "},
		{time.Hour, math.MaxInt, false, "certificate ends in less than a day, on "},
		{time.Hour, 0, false, ""},
		{-time.Hour, 1, false, "certificate has expired on "},
		{-time.Hour, 1, true, "certificate has expired on "},
	} {
		cert := certificate(t, now.Add(-20*day), now.Add(test.left), "localhost")
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
		server.StartTLS()
		o := Options{CA: x509.NewCertPool(), MinDays: test.days, Insecure: test.insecure}
		o.CA.AddCert(cert.Leaf)
		for _, scheme := range []string{"https", "tls"} {
			r := once(t, o, scheme+"://localhost:"+portOf(server.Listener))
			if !strings.HasPrefix(r.Last.String(), test.want) || r.Healthy != (test.want == "") || r.Permanent {
				t.Errorf("%+v, %s: %+v", test, scheme, r)
			}
			if on := cert.Leaf.NotAfter.UTC().Format(time.RFC3339); test.want != "" && !strings.HasSuffix(r.Last.String(), on) {
				t.Errorf("%+v: %q does not say %s", test, r.Last.String(), on)
			}
			o := o
			o.Invert = true
			if r := once(t, o, scheme+"://localhost:"+portOf(server.Listener)); r.Healthy || r.Permanent || !strings.HasPrefix(r.Last.String(), "still answers") {
				t.Errorf("inverted, %+v, %s: %+v", test, scheme, r)
			}
		}
		server.Close()
	}
}

// TestMinDaysOfTheChain: what vouches for a certificate must last as long, in one chain of several.
func TestMinDaysOfTheChain(t *testing.T) {
	now := time.Now()
	end := func(days int) *x509.Certificate {
		return &x509.Certificate{NotAfter: now.Add(time.Duration(days)*24*time.Hour + time.Hour)}
	}
	short := []*x509.Certificate{end(90), end(5), end(900)}
	long := []*x509.Certificate{end(90), end(300)}
	for _, test := range []struct {
		chains [][]*x509.Certificate
		days   int
		want   string
	}{
		{[][]*x509.Certificate{short}, 5, ""},
		{[][]*x509.Certificate{short}, 6, "certificate ends in 5 days"},
		{[][]*x509.Certificate{short, long}, 90, ""},
		{[][]*x509.Certificate{short, long}, 91, "certificate ends in 90 days"},
	} {
		err := lasts(tls.ConnectionState{VerifiedChains: test.chains, PeerCertificates: test.chains[0]}, test.days, now)
		if !strings.HasPrefix(text(err), test.want) || (err == nil) != (test.want == "") {
			t.Errorf("%d days: %v, want %q", test.days, err, test.want)
		}
	}
}

func TestHTTPAndHTTPSMixedUp(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	if r := once(t, Options{}, "https://localhost:"+portOf(plain.Listener)); r.Last.String() != "the server speaks HTTP, not HTTPS" {
		t.Errorf("https to an http server: %+v", r)
	}
	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.Config.ErrorLog = log.New(io.Discard, "", 0)
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS10, MinVersion: tls.VersionTLS10}
	old.StartTLS()
	defer old.Close()
	if r := once(t, Options{}, "tls://localhost:"+portOf(old.Listener)); !strings.HasPrefix(r.Last.String(), "the server ended the TLS handshake: ") {
		t.Errorf("an old server: %+v", r)
	}
}
