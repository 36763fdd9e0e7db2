package health

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

const (
	maxRedirects = 10
	// bytes of the place to which a redirect leads; relative places add up
	maxLocation = 8 << 10
	maxHeader   = 256 << 10 // bytes of response headers
	maxBody     = 1 << 20   // bytes of the body that Body and JSON check
	// the longest wait that a server may ask for: it may be back sooner
	maxRetryAfter = 30 * time.Second
	maxShownRetry = 1000 * time.Hour // the longest such wait that is shown
	userAgent     = "ouro-timer health-wait"
)

// web requests one URL. Each address of the host gets its own request, see race. A redirect
// elsewhere is followed to whichever address connects first.
func (p *prober) web(ctx context.Context, u *url.URL) error {
	if p.proxyFor(ctx, u) {
		return p.ask(ctx, u, netip.Addr{}, &progress{})
	}
	addrs, err := p.addresses(ctx, u.Hostname())
	if err != nil {
		return err
	}
	return race(ctx, addrs, func(ctx context.Context, addr netip.Addr, at *progress) error {
		return p.ask(ctx, u, addr, at)
	})
}

// ask makes one request and judges the answer. The host of u is dialled at pinned; with the zero
// Addr, through its proxy.
func (p *prober) ask(ctx context.Context, u *url.URL, pinned netip.Addr, at *progress) error {
	at.reach(connecting)
	transport := p.transport(ctx, u, pinned, at)
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		at.reach(redirected) // the client reads the rest of the answer before it goes on
		err := p.follow(req, via)
		if err == nil {
			to := redirectTarget(req.URL)
			at.away.Store(&to)
		} else if err != http.ErrUseLastResponse { // the fault is that of the redirect itself
			at.away.Store(nil)
		}
		return err
	}}
	trace := &httptrace.ClientTrace{
		// a proxy, if any, has let us through
		TLSHandshakeStart: func() { at.proxy.Store(false); at.reach(securing) },
		GotConn:           func(httptrace.GotConnInfo) { at.proxy.Store(false); at.reach(answering) },
	}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), p.HTTP.Method, u.String(), nil)
	if err != nil {
		return &fault{Cause: newCause(System, innermost(err).Error()), permanent: true, inconclusive: true, rank: wrong}
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "*/*")
	for name, values := range p.HTTP.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	res, err := client.Do(req)
	if err != nil {
		return at.explain(err)
	}
	defer res.Body.Close()
	if err := p.judge(ctx, res, at); err != nil {
		return at.explain(err)
	}
	return nil
}

// follow decides whether a redirect is followed, and with which headers. The headers of the user
// are only for the target. Once a redirect has led elsewhere they are not sent again, not even back
// to the target.
func (p *prober) follow(req *http.Request, via []*http.Request) error {
	switch {
	case p.accepts(req.Response.StatusCode):
		return http.ErrUseLastResponse
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return &fault{Cause: newCause(RedirectOther, redirectTarget(req.URL)), permanent: true, present: true, answered: true, rank: wrong}
	case len(via) > maxRedirects:
		return &fault{Cause: Cause{Kind: Redirects, Number: maxRedirects}, answered: true, rank: wrong}
	case len(req.Response.Header.Get("Location")) > maxLocation:
		return &fault{Cause: Cause{Kind: RedirectLong, Number: maxLocation >> 10}, answered: true, rank: wrong}
	}
	away := func(r *http.Request) bool { return !sameServer(via[0].URL, r.URL) }
	if away(req) || slices.ContainsFunc(via, away) {
		maps.DeleteFunc(req.Header, func(name string, _ []string) bool { return name != "Accept" && name != "User-Agent" })
		req.Host = ""
	}
	return nil
}

// redirectTarget names the place to which a redirect leads, without its path, query and user, which
// may be secrets.
func redirectTarget(u *url.URL) string {
	const most = 80
	text := u.Scheme + ":…"
	if u.Host != "" {
		text = u.Scheme + "://" + u.Host
		if u.Path != "" && u.Path != "/" || u.RawQuery != "" {
			text += "/…"
		}
	}
	return plain.Cut(printable(text), most)
}

// sameServer reports whether what is sent to one URL may be sent to the other: to the same host and
// port, or to the same host from http to https, but never from https to http.
func sameServer(from, to *url.URL) bool {
	if from.Scheme == "http" && to.Scheme == "https" {
		return strings.EqualFold(from.Hostname(), to.Hostname())
	}
	return from.Scheme == to.Scheme && canonical(from) == canonical(to)
}

// transport opens a new connection for each request and keeps none. It speaks HTTP/1.1, which every
// server speaks.
func (p *prober) transport(ctx context.Context, u *url.URL, pinned netip.Addr, at *progress) *http.Transport {
	first := canonical(u)
	// The transport may go on dialling after the request has ended, so the ctx of the attempt is
	// used.
	dial := func(_ context.Context, _, hostport string) (net.Conn, error) {
		at.reach(connecting)
		host, port, err := net.SplitHostPort(hostport)
		if err != nil {
			return nil, err
		}
		if pinned.IsValid() && strings.EqualFold(hostport, first) {
			return connect(ctx, pinned, port)
		}
		return p.connectHost(ctx, host, port, at)
	}
	return &http.Transport{
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: maxHeader,
		TLSClientConfig:        p.trust(""), // used after a proxy
		Proxy: func(r *http.Request) (*url.URL, error) {
			at.proxy.Store(false)
			if p.HTTP.Proxy == nil || pinned.IsValid() && canonical(r.URL) == first || isLoopback(r.URL.Hostname()) {
				return nil, nil
			}
			proxy, err := p.HTTP.Proxy(r)
			at.proxy.Store(proxy != nil || err != nil)
			return proxy, err
		},
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
			if res.StatusCode == http.StatusOK {
				return nil
			}
			f := answer(res)
			f.Proxy = true
			return f
		},
		DialContext: func(ctx context.Context, network, hostport string) (net.Conn, error) {
			conn, err := dial(ctx, network, hostport)
			if err != nil {
				return nil, err
			}
			return newWriteFirstConn(conn), nil
		},
		DialTLSContext: func(_ context.Context, network, hostport string) (net.Conn, error) {
			conn, err := dial(ctx, network, hostport)
			if err != nil {
				return nil, err
			}
			at.reach(securing)
			host, _, _ := net.SplitHostPort(hostport)
			secure := tls.Client(conn, p.trust(host))
			if err := secure.HandshakeContext(ctx); err != nil {
				conn.Close()
				return nil, err
			}
			return newWriteFirstConn(secure), nil
		},
	}
}

// writeFirstConn is a connection that reads nothing until something was written to it. To a peer
// that talks first (SSH, SMTP, a server that answers before it is asked), the transport would write
// a line on stderr.
type writeFirstConn struct {
	net.Conn
	writes, closed    chan struct{}
	onWrite, onClosed sync.Once
}

func newWriteFirstConn(conn net.Conn) *writeFirstConn {
	return &writeFirstConn{Conn: conn, writes: make(chan struct{}), closed: make(chan struct{})}
}

func (c *writeFirstConn) Read(b []byte) (int, error) {
	select {
	case <-c.writes:
	case <-c.closed:
	}
	return c.Conn.Read(b)
}

func (c *writeFirstConn) Write(b []byte) (int, error) {
	c.onWrite.Do(func() { close(c.writes) })
	return c.Conn.Write(b)
}

func (c *writeFirstConn) Close() error {
	defer c.onClosed.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// judge judges the answer of the target.
func (p *prober) judge(ctx context.Context, res *http.Response, at *progress) error {
	if !p.accepts(res.StatusCode) {
		return answer(res)
	}
	body := io.Reader(res.Body)
	if len(p.HTTP.JSON) > 0 {
		at.reach(reading)
		// one byte more shows that the body is larger
		text, err := io.ReadAll(io.LimitReader(body, maxBody+1))
		if err != nil {
			return err
		}
		if err := judgeJSON(res.StatusCode, text, p.HTTP.JSON); err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	if p.HTTP.Body == nil {
		return nil
	}
	found, err := matches(ctx, p.HTTP.Body, body, at)
	if err != nil {
		return err
	}
	if !found {
		return &fault{Cause: Cause{Kind: NoMatch, Number: res.StatusCode}, answered: true, rank: wrong}
	}
	return nil
}

// answer returns the fault of an answer that is not as demanded.
func answer(res *http.Response) *fault {
	f := &fault{Cause: Cause{Kind: Status, Number: res.StatusCode}, answered: true, rank: wrong}
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		f.permanent, f.present = true, true
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		asked := retryAfter(res.Header.Get("Retry-After"), time.Now())
		f.Span, f.retryAfter = asked, min(asked, maxRetryAfter)
	}
	return f
}

func (p *prober) accepts(status int) bool {
	if len(p.HTTP.Status) == 0 {
		return status >= 200 && status <= 299
	}
	return slices.ContainsFunc(p.HTTP.Status, func(r StatusRange) bool { return r.From <= status && status <= r.To })
}

// retryAfter reads both forms of the header (RFC 9110, section 10.2.3), to the second.
func retryAfter(value string, now time.Time) time.Duration {
	var d time.Duration
	if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil {
		d = time.Duration(min(max(n, 0), int(maxShownRetry/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		d = (at.Sub(now) + time.Second - 1).Truncate(time.Second)
	}
	return min(max(d, 0), maxShownRetry)
}

// proxyFor reports whether requests for u go through a proxy. A name that resolves only to loopback
// addresses does not.
func (p *prober) proxyFor(ctx context.Context, u *url.URL) bool {
	if p.HTTP.Proxy == nil || isLoopback(u.Hostname()) {
		return false
	}
	req := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}).WithContext(ctx)
	if proxy, err := p.HTTP.Proxy(req); err == nil && proxy == nil {
		return false
	}
	// Only the proxy may be able to resolve the name, so a look-up that fails or hangs must not
	// decide.
	ctx, cancel := context.WithTimeout(ctx, slowAnswer)
	defer cancel()
	addrs, err := p.addresses(ctx, u.Hostname())
	return err != nil || slices.ContainsFunc(addrs, func(a netip.Addr) bool { return !a.IsLoopback() })
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return isLocalhost(host) || err == nil && addr.Unmap().IsLoopback()
}

// canonical returns the host and port that a transport dials for u.
func canonical(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
