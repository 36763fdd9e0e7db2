package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// agent is what servers of the web know us by.
const agent = "ouro-timer"

// httpLimit is the most bytes of an answer that are read.
const httpLimit = 64 << 10

// reply is what a server said to a request.
type reply struct {
	status int
	header http.Header
	body   []byte // no more than httpLimit and a byte
	lost   error  // why there is no more of it
	again  time.Duration
}

// post sends a request and reads the answer. It follows no redirect: a signed message goes where
// the user said, and nowhere else. shown is the server in errors.
func post(ctx context.Context, r *http.Request, shown string, env Env) (reply, error) {
	transport := &http.Transport{
		Proxy: env.proxy, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: httpLimit,
		TLSClientConfig:        &tls.Config{RootCAs: env.Roots, MinVersion: tls.VersionTLS12, InsecureSkipVerify: env.careless},
	}
	defer transport.CloseIdleConnections()
	client := http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	r.Header.Set("User-Agent", agent)
	resp, err := client.Do(r.WithContext(ctx))
	if err != nil {
		return reply{}, unreached(shown, err)
	}
	defer resp.Body.Close()
	a := reply{status: resp.StatusCode, header: resp.Header, again: retryAfter(resp.Header.Get("Retry-After"), env.Now())}
	a.body, a.lost = io.ReadAll(io.LimitReader(resp.Body, httpLimit+1))
	return a, nil
}

// proxy is how a server is reached. One that cannot be read is an error that does not show its
// password: nobody is told without it what was not meant for the open net.
func (env Env) proxy(r *http.Request) (*url.URL, error) {
	if env.Proxy == nil {
		return nil, nil
	}
	u, err := env.Proxy(r)
	if err != nil {
		return nil, mendable("the address of a proxy in the environment cannot be read; write HTTPS_PROXY as in http://proxy.example.org:3128")
	}
	return u, nil
}

// unreached tells of a server that gave no answer. A certificate that is another's, or that nobody
// known has signed, stays so until this machine trusts it; one that is out of date is soon
// replaced.
func unreached(shown string, err error) *Error {
	var wrap *url.Error // holds the whole URL
	if errors.As(err, &wrap) {
		err = wrap.Err
	}
	e := passing("%s: %s", shown, plain.Line(err.Error()))
	if known := (*Error)(nil); errors.As(err, &known) {
		e.Permanent, e.Here = known.Permanent, known.Here
		return e
	}
	var (
		name      x509.HostnameError
		authority x509.UnknownAuthorityError
	)
	e.Permanent = errors.As(err, &name) || errors.As(err, &authority)
	e.Here = e.Permanent
	return e
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		return time.Duration(min(max(n, 0), int(24*time.Hour/time.Second))) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return min(max(t.Sub(now), 0), 24*time.Hour)
	}
	return 0
}

// status is what it is called, too.
func (a reply) statusText() string {
	return strings.TrimSpace(strconv.Itoa(a.status) + " " + http.StatusText(a.status))
}

// judged is the error of an answer, nil when it is a success. said is what the server had to say,
// if anything.
func (a reply) judged(shown, said string) error {
	if a.status >= 200 && a.status < 300 {
		return nil
	}
	text := shown + " answers " + a.statusText()
	if a.status >= 300 && a.status < 400 {
		said = "redirects are not followed: give the address it points to"
		if u, err := url.Parse(a.header.Get("Location")); err == nil && u.Host != "" {
			said += ", at " + plain.Line(u.Scheme+"://"+u.Host)
		}
	}
	if said != "" {
		text += ": " + said
	}
	return &Error{Text: text, Permanent: lasting(a.status), RetryAfter: a.again}
}

// lasting tells a status that asking again does not mend.
func lasting(status int) bool {
	passes := []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusProxyAuthRequired}
	return status < 500 && !slices.Contains(passes, status)
}

// said is the first line of an answer, without what is secret: servers like to quote what they were
// sent. It is cut last, as half of a secret is not found.
func said(body string, secrets ...string) string {
	text, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	return shorten(plain.Line(scrub(strings.TrimSpace(text), secrets...)), 200)
}

// scrub takes secrets out of a text, the longest first, as one can be a part of another.
func scrub(text string, secrets ...string) string {
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, s := range secrets {
		if len(s) > 2 {
			text = strings.ReplaceAll(text, s, "…")
		}
	}
	return text
}

// shorten cuts text to so many letters.
func shorten(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
