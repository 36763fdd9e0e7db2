package notify

import (
	"bytes"
	"cmp"
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

// userAgent is the User-Agent of our requests.
const userAgent = "ouro-timer"

// maxAnswer is how many bytes of an answer are read.
const maxAnswer = 64 << 10

// reply is the answer of a server.
type reply struct {
	status int
	header http.Header
	body   []byte // at most httpLimit and one byte
	lost   error  // why the rest of the body is missing
	again  time.Duration
}

// request is a request. A body of url.Values is sent as a form, a string as text, bytes as they
// are, anything else as JSON, and nil not at all.
type request struct {
	method string // "" for POST
	url    string
	form   string   // of the url, for a hint; "" for none
	header []string // names and values
	body   any
}

// send sends a request and reads the answer. It does not follow redirects, because a signed message
// must go only where the user said. shown is the name of the server in errors.
func (q request) send(ctx context.Context, shown string, env Env) (reply, error) {
	raw, kind := []byte(nil), "application/json"
	switch b := q.body.(type) {
	case nil:
		kind = ""
	case string:
		raw, kind = []byte(b), "text/plain; charset=utf-8"
	case []byte:
		raw = b
	case url.Values:
		raw, kind = []byte(b.Encode()), "application/x-www-form-urlencoded"
	default:
		var err error
		if raw, err = plain.JSON(b); err != nil {
			return reply{}, permanent("the request could not be made")
		}
	}
	r, err := http.NewRequestWithContext(ctx, cmp.Or(q.method, http.MethodPost), q.url, bytes.NewReader(raw))
	if err != nil { // the error has the URL in it
		return reply{}, localError("the url of %s cannot be used%s", shown, textIf(q.form != "", "; write it as "+q.form))
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(q.header); i += 2 {
		r.Header.Set(q.header[i], q.header[i+1])
	}
	transport := &http.Transport{
		Proxy: env.proxy, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: maxAnswer,
		TLSClientConfig:        &tls.Config{RootCAs: env.Roots, MinVersion: tls.VersionTLS12, InsecureSkipVerify: env.skipVerify},
	}
	defer transport.CloseIdleConnections()
	client := http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	r.Header.Set("User-Agent", userAgent)
	resp, err := client.Do(r)
	if err != nil {
		return reply{}, unreachable(shown, err)
	}
	defer resp.Body.Close()
	a := reply{status: resp.StatusCode, header: resp.Header, again: retryAfter(resp.Header.Get("Retry-After"), env.Now())}
	a.body, a.lost = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	return a, nil
}

// proxy returns the proxy of a request. A proxy setting that cannot be read is an error without its
// password. The request is not sent then, because it may not be meant for the open net.
func (env Env) proxy(r *http.Request) (*url.URL, error) {
	if env.Proxy == nil {
		return nil, nil
	}
	u, err := env.Proxy(r)
	if err != nil {
		return nil, localError("the address of a proxy in the environment cannot be read; write HTTPS_PROXY as in http://proxy.example.org:3128")
	}
	return u, nil
}

// unreachable returns the error of a server that gave no answer. A certificate for another name or
// of an unknown authority is a lasting error until this machine trusts it. An expired one is
// usually soon replaced.
func unreachable(shown string, err error) *Error {
	var wrap *url.Error // its text has the whole URL
	if errors.As(err, &wrap) {
		err = wrap.Err
	}
	e := transient("%s: %s", shown, plain.Line(err.Error()))
	if known, ok := errors.AsType[*Error](err); ok {
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

// retryAfter reads the Retry-After header: seconds, or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		return time.Duration(min(max(n, 0), int(24*time.Hour/time.Second))) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return min(max(t.Sub(now), 0), 24*time.Hour)
	}
	return 0
}

// statusText returns the number of the status and its name.
func (a reply) statusText() string {
	return strings.TrimSpace(strconv.Itoa(a.status) + " " + http.StatusText(a.status))
}

// asError returns the error of an answer, or nil when it is a success. said is what the server
// says, if anything.
func (a reply) asError(shown, said string) error {
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
	return &Error{Text: text, Permanent: permanentStatus(a.status), RetryAfter: a.again}
}

// permanentStatus reports whether another attempt cannot change the status.
func permanentStatus(status int) bool {
	passes := []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusProxyAuthRequired}
	return status < 500 && !slices.Contains(passes, status)
}

// serverWords returns the first line of an answer, without secrets, because servers often quote
// what they were sent. It is cut last: half a secret would not be found.
func serverWords(body string, secrets ...string) string {
	text, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	return plain.Cut(plain.Line(redactSecrets(strings.TrimSpace(text), secrets...)), 200)
}

// redactSecrets removes secrets from a text. The longest come first, because one can be part of
// another.
func redactSecrets(text string, secrets ...string) string {
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	for _, s := range secrets {
		if len(s) > 2 {
			text = strings.ReplaceAll(text, s, "…")
		}
	}
	return text
}
