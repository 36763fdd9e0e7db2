package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// answerLimit is the most of an answer that is read.
const answerLimit = 256 << 10

// verdict is what an answer of a service says of the message.
type verdict int

const (
	doubtful  verdict = iota // it is not what the service says when it took the message
	delivered                // the service took it
	onTheWay                 // the request was one that has to come first, and went well
	refused                  // the service says that it did not take it
)

// judge reads an answer with a status of 200 to 299. words are those of the service, if it refused; passes, that it may take
// the message later.
type judge func(a *answer) (v verdict, words string, passes bool)

// answer is what a request was answered with.
type answer struct {
	method string
	url    *url.URL // as it was asked
	status int
	header http.Header
	body   []byte
	secret string // what a judge found in it that no error may show
}

// decode reads the body as a JSON object.
func (a *answer) decode(to any) bool { return json.Unmarshal(a.body, to) == nil }

// text is the body as it is compared with words such as ok.
func (a *answer) text() string { return strings.TrimSpace(string(a.body)) }

// request is one that a service's rewrite may change.
type request struct {
	*http.Request
	body []byte
}

// watcher lets the requests of the library pass, and remembers how each ended. The library sees an answer only if the
// service took what was asked; every other end is an error for it, and one that it does not try again after.
type watcher struct {
	ctx     context.Context // bounds all requests together
	next    http.RoundTripper
	service service
	told    tellRequest
	now     func() time.Time

	mu        sync.Mutex
	secrets   []string
	delivered int
	failures  []*Error
}

// errNotTaken is all that the library hears of an exchange that failed. It must not look like a passing error of the network.
var errNotTaken = errors.New("the message was not taken")

// RoundTrip asks, reads the whole answer and judges it.
func (w *watcher) RoundTrip(r *http.Request) (*http.Response, error) {
	asked, err := w.prepare(r)
	if err != nil {
		return w.failed(passing("the request could not be made: %v", err))
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := context.AfterFunc(w.ctx, cancel)
	defer stop()
	res, err := w.next.RoundTrip(asked.WithContext(ctx))
	if err != nil {
		return w.failed(w.broken(err))
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, answerLimit+1))
	res.Body.Close()
	a := &answer{method: asked.Method, url: asked.URL, status: res.StatusCode, header: res.Header, body: body}
	if fail := w.judged(a, err); fail != nil {
		return w.failed(fail)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// prepare copies the request, as a RoundTripper may not change it, and mends it.
func (w *watcher) prepare(r *http.Request) (*http.Request, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	q := &request{r.Clone(r.Context()), body}
	q.Header.Set("User-Agent", agent)
	if w.service.rewrite != nil {
		w.service.rewrite(w, q)
	}
	q.Body, q.ContentLength, q.GetBody = http.NoBody, 0, nil
	if len(q.body) > 0 {
		q.Body, q.ContentLength = io.NopCloser(bytes.NewReader(q.body)), int64(len(q.body))
	}
	// Without a body to read again, the transport does not ask twice by itself.
	return q.Request, nil
}

// judged is the failure that an answer is, or nil.
func (w *watcher) judged(a *answer, lost error) *Error {
	status := strings.TrimSpace(strconv.Itoa(a.status) + " " + http.StatusText(a.status))
	switch {
	case a.status >= 300 && a.status < 400:
		// The library would follow it, with another method or without the message, and take what stands there for success.
		to := "another address"
		if u, err := url.Parse(a.header.Get("Location")); err == nil && u.Host != "" {
			to = u.Scheme + "://" + u.Host
		}
		return permanent("it answered %s, to %s, and redirects are not followed: give it the URL that it is at", status, to)
	case a.status < 200 || a.status >= 300:
		words := w.words(a)
		if words != "" {
			words = ": " + words
		}
		return &Error{Text: "it answered " + status + words, Permanent: lasting(a.status), RetryAfter: w.retryAfter(a)}
	case lost != nil:
		return w.broken(lost)
	case len(a.body) > answerLimit:
		return passing("it answered %s with more than %d bytes", status, answerLimit)
	}
	switch v, words, passes := w.service.judge(a); v {
	case delivered:
		w.mu.Lock()
		w.delivered++
		w.mu.Unlock()
		return nil
	case onTheWay:
		if a.secret != "" {
			w.mu.Lock()
			w.secrets = append(w.secrets, a.secret)
			w.mu.Unlock()
		}
		return nil
	case refused:
		return &Error{Text: "it did not take the message: " + w.quoted(words), Permanent: !passes, RetryAfter: w.retryAfter(a)}
	}
	return passing("it answered %s, but not as it does when it takes a message: %s", status, w.quoted(a.text()))
}

// failed remembers the failure.
func (w *watcher) failed(e *Error) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failures = append(w.failures, e)
	return nil, errNotTaken
}

// broken is an exchange that ended without a whole answer.
func (w *watcher) broken(err error) *Error {
	if w.ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return passing("no answer came in time")
	}
	var (
		name      x509.HostnameError
		authority x509.UnknownAuthorityError
	)
	return &Error{Text: err.Error(), Permanent: errors.As(err, &name) || errors.As(err, &authority)}
}

// result is how it all ended: what was told, if nothing failed. One passing failure makes the whole worth another try.
func (w *watcher) result() (int, *Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.failures) == 0 {
		return w.delivered, nil
	}
	e := *w.failures[0]
	for _, f := range w.failures[1:] {
		if !f.Permanent && e.Permanent {
			e.Text, e.Permanent = f.Text, false
		}
		e.RetryAfter = max(e.RetryAfter, f.RetryAfter)
	}
	if n := w.delivered + len(w.failures); n > 1 {
		e.Text += fmt.Sprintf(" (%d of %d requests failed)", len(w.failures), n)
	}
	return w.delivered, &e
}

// lasting tells a status that asking again does not mend.
func lasting(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusProxyAuthRequired:
		return false
	}
	return status < 500
}

// retryAfter is how long the service wants to be left alone, a day at most.
func (w *watcher) retryAfter(a *answer) time.Duration {
	var said struct {
		RetryAfter   float64 `json:"retry_after"`    // Discord and others, seconds
		RetryAfterMS float64 `json:"retry_after_ms"` // Matrix
		Parameters   struct {
			RetryAfter float64 `json:"retry_after"` // Telegram
		} `json:"parameters"`
	}
	_ = json.Unmarshal(a.body, &said) // what could be read of it
	seconds := max(said.RetryAfter, said.RetryAfterMS/1000, said.Parameters.RetryAfter)
	if text := a.header.Get("Retry-After"); text != "" {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			seconds = max(seconds, n)
		} else if at, err := http.ParseTime(text); err == nil {
			seconds = max(seconds, at.Sub(w.now()).Seconds())
		}
	}
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, 86400) * float64(time.Second))
}

// words is what the service says went wrong, if it says so in one of the usual ways.
func (w *watcher) words(a *answer) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(a.body, &fields) != nil {
		if text := a.text(); !strings.HasPrefix(text, "<") {
			return w.short(text)
		}
		return ""
	}
	var said []string
	for _, key := range []string{"error", "description", "errorDescription", "message", "msg", "errors"} {
		var text string
		var list []string
		var deeper struct {
			Message string `json:"message"`
		}
		raw := fields[key]
		switch {
		case raw == nil:
			continue
		case json.Unmarshal(raw, &text) == nil:
		case json.Unmarshal(raw, &list) == nil:
			text = strings.Join(list, ", ")
		case json.Unmarshal(raw, &deeper) == nil:
			text = deeper.Message
		}
		if text != "" {
			said = append(said, text)
		}
	}
	return w.short(strings.Join(said, ": "))
}

// short is text of a service as a part of an error: one line, not long, without the secrets of the URL.
func (w *watcher) short(text string) string {
	const most = 200
	w.mu.Lock()
	text = hidden(OneLine(text), w.secrets) // before it is cut: half of a secret is not found any more
	w.mu.Unlock()
	if len(text) <= most {
		return text
	}
	text = text[:most]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + "…"
}

// quoted is what a service answered, to be shown.
func (w *watcher) quoted(text string) string {
	if text = w.short(text); text == "" {
		return "nothing"
	}
	return text
}

// hidden takes the secrets out of a text.
func hidden(text string, secrets []string) string {
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "…")
	}
	return text
}

// secretsOf are the parts of a URL that may be secret, in every form that they could come back in, longest first. Parts that are
// shorter than a secret is, and those that every URL of the service has, are none.
func secretsOf(u *url.URL, hosted bool) []string {
	found := map[string]bool{}
	add := func(text string, least int) {
		if len(text) < least || public[strings.ToLower(text)] {
			return
		}
		quoted, _ := json.Marshal(text)
		for _, form := range []string{text, url.PathEscape(text), url.QueryEscape(text), html.EscapeString(text),
			string(quoted[1 : len(quoted)-1]), strings.ReplaceAll(text, "/", `\/`)} {
			found[form] = true
			found[OneLine(form)] = true // as the words of a service are when they are searched
		}
	}
	name := u.User.Username()
	password, _ := u.User.Password()
	add(name, 3)
	add(password, 3)
	if name != "" || password != "" {
		add(name+":"+password, 3)
		add(base64.StdEncoding.EncodeToString([]byte(name+":"+password)), 3)
	}
	if !hosted {
		add(u.Host, 3)
		add(u.Hostname(), 3)
	}
	texts := []string{u.Path, name, password, u.Fragment}
	for _, list := range u.Query() {
		for _, value := range list {
			add(value, 6)
			texts = append(texts, value)
		}
	}
	for _, text := range texts {
		for _, separators := range []string{"/", "/-,@= "} {
			for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
				add(part, 6)
			}
		}
	}
	delete(found, "")
	list := slices.Collect(maps.Keys(found))
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return list
}

// public are parts that every URL of a service has.
var public = map[string]bool{
	"messages": true, "spaces": true, "webhook": true, "telegram": true, "shoutrrr": true, "default": true,
	"application": true, "markdown": true, "incomingwebhook": true, "webhookb2": true, "message": true,
}

// transaction names a message so that a repetition of it is known by its name.
func (t tellRequest) transaction(room string) string {
	sum := sha256.Sum256([]byte(t.ID + "\x00" + room + "\x00" + t.Subject + "\x00" + t.Body))
	return hex.EncodeToString(sum[:16])
}
