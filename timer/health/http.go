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
)

const (
	maxRedirects = 10
	// bytes of the place that a redirect names: relative ones add up
	maxLocation   = 8 << 10
	maxHeader     = 256 << 10        // bytes of response headers
	maxBody       = 1 << 20          // bytes of the body that Body is matched with
	maxRetryAfter = 30 * time.Second // of what a server asks for: it may well be back sooner
	mostAsked     = 1000 * time.Hour // what is told of that
	userAgent     = "ouro-timer health-wait"
)

// web asks one URL. Each address of the host gets its own request, as race says; redirects
// elsewhere are followed to whichever address of theirs connects first.
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

// ask makes one request and judges the answer. The host of u is dialled at pinned; the zero Addr
// means through its proxy.
func (p *prober) ask(ctx context.Context, u *url.URL, pinned netip.Addr, at *progress) error {
	at.reach(connecting)
	transport := p.transport(ctx, u, pinned, at)
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		at.reach(redirected) // the client reads what there is of the answer before it goes on
		err := p.follow(req, via)
		if err == nil {
			to := place(req.URL)
			at.away.Store(&to)
		} else if err != http.ErrUseLastResponse { // the fault is the redirect's own
			at.away.Store(nil)
		}
		return err
	}}
	trace := &httptrace.ClientTrace{
		// behind a proxy that has let us through
		TLSHandshakeStart: func() { at.proxy.Store(false); at.reach(securing) },
		GotConn:           func(httptrace.GotConnInfo) { at.proxy.Store(false); at.reach(answering) },
	}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), p.HTTP.Method, u.String(), nil)
	if err != nil {
		return &fault{Cause: of(System, innermost(err).Error()), permanent: true, unseen: true, rank: wrong}
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

// follow decides whether a redirect is followed, and with which headers: what the user sends along
// is for the target alone, and once a redirect has led away, it is not sent again, not even back to
// the target.
func (p *prober) follow(req *http.Request, via []*http.Request) error {
	switch {
	case p.accepts(req.Response.StatusCode):
		return http.ErrUseLastResponse
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return &fault{Cause: of(RedirectOther, place(req.URL)), permanent: true, present: true, answered: true, rank: wrong}
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

// place names where a redirect leads: not its path, its query or its user, which may be secrets.
func place(u *url.URL) string {
	const most = 80
	text := u.Scheme + ":…"
	if u.Host != "" {
		text = u.Scheme + "://" + u.Host
		if u.Path != "" && u.Path != "/" || u.RawQuery != "" {
			text += "/…"
		}
	}
	text = printable(text)
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
	}
	return text
}

// sameServer reports whether what is meant for one URL may be sent to the other: same host and
// port, or the same host from http to https, and never from https to http.
func sameServer(from, to *url.URL) bool {
	if from.Scheme == "http" && to.Scheme == "https" {
		return strings.EqualFold(from.Hostname(), to.Hostname())
	}
	return from.Scheme == to.Scheme && canonical(from) == canonical(to)
}

// transport opens a new connection for each request and keeps none. It speaks HTTP/1.1, as every
// server does.
func (p *prober) transport(ctx context.Context, u *url.URL, pinned netip.Addr, at *progress) *http.Transport {
	first := canonical(u)
	// The transport may go on dialling after the request has ended: ctx of the attempt is the one
	// that counts.
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
		TLSClientConfig:        p.trust(""), // behind a proxy
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
			return newPatient(conn), nil
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
			return newPatient(secure), nil
		},
	}
}

// patient is a connection that reads nothing before something is written to it. To a peer that
// talks first (SSH, SMTP, a server that answers before it is asked) the transport would write a
// line on the process's stderr.
type patient struct {
	net.Conn
	writes, closed    chan struct{}
	onWrite, onClosed sync.Once
}

func newPatient(conn net.Conn) *patient {
	return &patient{Conn: conn, writes: make(chan struct{}), closed: make(chan struct{})}
}

func (c *patient) Read(b []byte) (int, error) {
	select {
	case <-c.writes:
	case <-c.closed:
	}
	return c.Conn.Read(b)
}

func (c *patient) Write(b []byte) (int, error) {
	c.onWrite.Do(func() { close(c.writes) })
	return c.Conn.Write(b)
}

func (c *patient) Close() error {
	defer c.onClosed.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// judge says what the answer of the target means.
func (p *prober) judge(ctx context.Context, res *http.Response, at *progress) error {
	if !p.accepts(res.StatusCode) {
		return answer(res)
	}
	body := io.Reader(res.Body)
	if len(p.HTTP.JSON) > 0 {
		at.reach(reading)
		text, err := io.ReadAll(io.LimitReader(body, maxBody+1)) // a byte more tells a larger one
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

// answer is the fault of an answer that is not as asked.
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

// retryAfter reads the header in both of its forms (RFC 9110, section 10.2.3), to the second.
func retryAfter(value string, now time.Time) time.Duration {
	var d time.Duration
	if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil {
		d = time.Duration(min(max(n, 0), int(mostAsked/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		d = (at.Sub(now) + time.Second - 1).Truncate(time.Second)
	}
	return min(max(d, 0), mostAsked)
}

// proxyFor says whether requests for u go through a proxy. A name that resolves to loopback
// addresses only does not.
func (p *prober) proxyFor(ctx context.Context, u *url.URL) bool {
	if p.HTTP.Proxy == nil || isLoopback(u.Hostname()) {
		return false
	}
	req := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}).WithContext(ctx)
	if proxy, err := p.HTTP.Proxy(req); err == nil && proxy == nil {
		return false
	}
	// The name may be one that only the proxy can resolve, so a look-up that fails or hangs must
	// not decide.
	ctx, cancel := context.WithTimeout(ctx, slowAnswer)
	defer cancel()
	addrs, err := p.addresses(ctx, u.Hostname())
	return err != nil || slices.ContainsFunc(addrs, func(a netip.Addr) bool { return !a.IsLoopback() })
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return isLocalhost(host) || err == nil && addr.Unmap().IsLoopback()
}

// canonical is the host and port a transport dials for u.
func canonical(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
