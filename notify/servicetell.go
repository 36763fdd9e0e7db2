package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nicholas-fedor/shoutrrr/pkg/router" // the services, by URL; asked for by the user
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

// tellRequest is what the child is given.
type tellRequest struct {
	URL     string  `json:"url"`
	Subject string  `json:"subject"`
	Body    string  `json:"body"`
	ID      string  `json:"id"`
	Seconds float64 `json:"seconds"` // how long it has
}

// tellAnswer is what it answers. The error holds no secret and does not name the service.
type tellAnswer struct {
	OK         *bool   `json:"ok"`
	Cut        int     `json:"cut"` // how many bytes were left out, as the service takes no more
	Error      string  `json:"error"`
	Permanent  bool    `json:"permanent"`
	RetryAfter float64 `json:"retry_after"` // seconds
}

// Tell is the child's side: it reads one object from in, tells the service by the library, and writes one object to out. The
// process is its own, and the library may do to it what it likes. It ends by itself at the time it has, so that nothing is
// left behind where the parent was killed. getenv names the proxies, whose passwords are secrets too.
func Tell(ctx context.Context, in io.Reader, out io.Writer, getenv func(string) string) error {
	var t tellRequest
	raw, err := io.ReadAll(io.LimitReader(in, tellLimit+1))
	if err == nil && len(raw) > tellLimit {
		err = fmt.Errorf("more than %d bytes were given", tellLimit)
	}
	if err == nil {
		err = json.Unmarshal(raw, &t)
	}
	if err != nil {
		return fmt.Errorf("what to tell could not be read: %w", err)
	}
	limit := time.Duration(t.Seconds * float64(time.Second))
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	time.AfterFunc(limit+time.Second, func() { os.Exit(3) })

	cut, err := tell(ctx, t, getenv)
	ok := err == nil
	a := tellAnswer{OK: &ok, Cut: cut}
	var e *Error
	switch {
	case errors.As(err, &e):
		a.Error, a.Permanent, a.RetryAfter = e.Text, e.Permanent, e.RetryAfter.Seconds()
	case err != nil:
		a.Error = err.Error()
	}
	return json.NewEncoder(out).Encode(a)
}

// tellLimit is the most that the child reads: a body of the largest size, every byte of it escaped, and the rest.
const tellLimit = 6*BodyLimit + 64<<10

// tell tells one service. What it says for sure it says by the watcher: by what the service answered, not by what the library
// makes of it.
func tell(ctx context.Context, t tellRequest, getenv func(string) string) (cut int, err error) {
	s, u, err := parseService(t.URL)
	if err != nil {
		return 0, err
	}
	secrets := secretsOf(u, s.hosted)
	for _, name := range proxies {
		p, ok := proxyOf(getenv(name))
		switch {
		case strings.EqualFold(name, "NO_PROXY"):
		case !ok:
			// Go would take no proxy at all then, and tell the world what was not meant for it.
			return 0, permanent("%s cannot be read as the address of a proxy, such as http://proxy.example.org:3128", name)
		case p.User != nil:
			secrets = append(secretsOf(&url.URL{User: p.User}, true), secrets...)
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if insecure(s, u) {
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // the user asked for it in the URL
	}
	w := &watcher{ctx: ctx, next: transport, service: s, told: t, secrets: secrets, now: time.Now}
	http.DefaultTransport = w

	message, params, cut := s.compose(t, u)
	failed := deliver(u, w, message, params)
	told, e := w.result()
	switch {
	case e != nil:
	case failed != nil:
		e = permanent("%s", addresses().ReplaceAllString(OneLine(failed.Error()), "…"))
	case told == 0:
		e = permanent("nothing was asked of the service")
	default:
		return cut, nil
	}
	e.Text = hidden(e.Text, w.secrets)
	return 0, e
}

// addresses are URLs in texts of the library.
var addresses = pattern(`[a-zA-Z][a-zA-Z0-9+.-]*://\S+`)

// deliver hands the message to the library. A panic of it is an error, if it comes in this goroutine.
func deliver(u *url.URL, w *watcher, message string, params types.Params) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its library broke off: %v", p)
		}
	}()
	scheme, _, custom := strings.Cut(u.Scheme, "+")
	service, err := (&router.ServiceRouter{}).NewService(scheme)
	if err != nil {
		return err
	}
	if custom {
		known, ok := service.(types.CustomURLService)
		if !ok {
			return errors.New("it has no URL of its own")
		}
		if u, err = known.GetConfigURLFromCustom(u); err != nil {
			return err
		}
	}
	if err := service.Initialize(u, nil); err != nil {
		return err
	}
	// Some have a client with a transport of its own, that neither we nor a proxy would see anything of.
	if s, ok := service.(interface{ SetHTTPClient(client *http.Client) }); ok {
		s.SetHTTPClient(&http.Client{Transport: w})
	}
	if s, ok := service.(interface{ GetHTTPClient() *http.Client }); ok {
		s.GetHTTPClient().Transport = w
	}
	return service.Send(message, &params)
}

// proxyOf reads the address of a proxy as Go does: with a scheme, or without one. Nothing is one without parts.
func proxyOf(text string) (*url.URL, bool) {
	p, err := url.Parse(text)
	if err != nil || text != "" && p.Host == "" {
		p, err = url.Parse("http://" + text)
	}
	return p, err == nil && (text == "" || p.Hostname() != "")
}

// insecure reports that the URL asks not to look at the certificate.
func insecure(s service, u *url.URL) bool {
	if s.scheme != "ntfy" && s.scheme != "gotify" {
		return false
	}
	for key, list := range u.Query() {
		switch strings.ToLower(key) {
		case "disabletlsverification", "insecureskipverify":
			switch strings.ToLower(list[0]) {
			case "yes", "true", "1":
				return true
			}
		}
	}
	return false
}

// compose is the message as the service takes it, and how many bytes of it were left out.
func (s service) compose(t tellRequest, u *url.URL) (string, types.Params, int) {
	subject, body := t.Subject, strings.TrimRight(t.Body, "\r\n")
	params := types.Params{}
	style := s.style
	option := func(name string) string {
		for key, list := range u.Query() {
			if strings.EqualFold(key, name) {
				return list[0]
			}
		}
		return ""
	}
	switch s.scheme {
	case "discord":
		// It would split at lines and mix the lines of one part into another.
		params["splitlines"] = "No"
	case "gotify":
		params["useheader"] = "Yes" // servers log what stands in the URL
		if option("title") == "" {
			params["title"] = "" // it would name its library
		}
	case "slack":
		if option("color") != "" {
			style = titled
		}
	case "generic":
		if strings.EqualFold(option("template"), "json") {
			style = titled
			if t.ID != "" {
				params["id"] = t.ID
			}
		}
	}
	if style == topic && option("topic") != "" {
		style = above
	}
	if body == "" { // most take no message without a text
		subject, body = "", subject
	}
	rest := s.size
	cut := 0
	if subject != "" && style == topic {
		params["topic"], _ = size{runes: 60}.cut(subject)
		if params["topic"] != subject {
			style = above
		}
	}
	if subject != "" && style == titled {
		params["title"], cut = size{runes: s.size.subject}.cut(subject)
		if rest.bytes > 0 {
			rest.bytes -= len(params["title"]) + 1
		}
	}
	if subject != "" && (style == above || style == alone) {
		body = subject + "\n" + body
	}
	body, more := rest.cut(body)
	cut += more
	if s.scheme == "slack" {
		// Slack reads these three as its own marks: <!channel> would ring every phone.
		escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
		body = escape.Replace(body)
		if title, ok := params["title"]; ok {
			params["title"] = escape.Replace(title)
		}
	}
	if style == alone { // as the text; the message would be an attachment for each line
		params["title"], body = body, ""
	}
	return body, params, cut
}

// cut is the text as far as the size allows, with a word on what is missing, and how many bytes were left out.
func (s size) cut(text string) (string, int) {
	length := func(text string) int { return utf8.RuneCountInString(text) }
	most := s.runes
	if s.bytes > 0 {
		length, most = func(text string) int { return len(text) }, s.bytes
	}
	if most <= 0 || length(text) <= most {
		return text, 0
	}
	mark := "…"
	if most > 200 {
		mark = fmt.Sprintf("\n[cut here: %d bytes in all]", len(text))
	}
	room := most - length(mark)
	end := 0
	for i, r := range text {
		n := i + utf8.RuneLen(r)
		if s.bytes > 0 && n > room || s.bytes == 0 && room == 0 {
			break
		}
		end = n
		if s.bytes == 0 {
			room--
		}
	}
	return text[:end] + mark, len(text) - end
}

// readAnswer reads what the child wrote: one object and nothing else.
func readAnswer(raw []byte) (tellAnswer, error) {
	var a tellAnswer
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return a, errors.New("no answer that can be read")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) || a.OK == nil || !*a.OK && a.Error == "" {
		return a, errors.New("an answer that is none")
	}
	return a, nil
}
