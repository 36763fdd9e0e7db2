package notify

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// requester sends a request to a service. It fails unless took says that the service accepted it.
type requester func(q request, took func(serviceURL, answer) verdict) (answer, *Error)

// answer is the answer of a service.
type answer struct {
	status int
	text   string
	fields object // the text, when it is a JSON object
}

func (a answer) str(key string) string {
	text, _ := a.fields[key].(string)
	return text
}

// sendService sends a message through the service that the URL of the channel names.
func sendService(ctx context.Context, c state.Channel, m Message, env Env) (string, error) {
	s, l, err := parseService(c.URL)
	if err != nil {
		return "", err
	}
	if m.To != "" || c.To != "" {
		return "", permanent("%s takes no recipient: whom it tells is in the url of the channel", s.name)
	}
	t, cut := s.compose(m, l)
	if strings.TrimSpace(t.body) == "" {
		return "", permanent("there is nothing to tell %s: neither a subject nor a body", s.name)
	}
	secrets := channelSecrets(c)
	// the user demanded it in the URL
	env.skipVerify = on(l.opt["disabletlsverification"]) || on(l.opt["insecureskipverify"])
	do := func(q request, took func(serviceURL, answer) verdict) (answer, *Error) {
		a, err := s.exchange(ctx, l, q, took, secrets, env)
		if token := a.str("access_token"); token != "" {
			secrets = append(secrets, token)
		}
		return a, err
	}
	var worst *Error
	failures := 0
	if s.before != nil {
		if l, worst = s.before(l, do); worst != nil {
			failures++
		}
	}
	asks := s.ask(l, t)
	for _, q := range asks {
		if _, e := do(q, s.took); e != nil {
			worst = worse(worst, e)
			failures++
		}
	}
	if worst != nil {
		if len(asks) > 1 {
			worst.Text += fmt.Sprintf(" (%d of %d requests failed)", failures, len(asks))
		}
		return "", worst
	}
	if cut > 0 {
		return fmt.Sprintf("Sent to %s, without the last %d bytes: it takes no more.", s.name, cut), nil
	}
	return fmt.Sprintf("Sent to %s.", s.name), nil
}

// worse returns the error that the whole ends with. One passing failure makes another attempt
// worthwhile.
func worse(a, b *Error) *Error {
	if a == nil || a.Permanent && !b.Permanent {
		a, b = b, a
	}
	if b != nil {
		a.RetryAfter = max(a.RetryAfter, b.RetryAfter)
	}
	return a
}

// exchange makes one request and judges the answer.
func (s service) exchange(ctx context.Context, l serviceURL, q request, took func(serviceURL, answer) verdict, secrets []string, env Env) (answer, *Error) {
	q.form = s.form
	got, err := q.send(ctx, s.name, env)
	if err != nil {
		e := err.(*Error)
		e.Text = redactSecrets(e.Text, secrets...)
		return answer{}, e
	}
	a := answer{status: got.status, text: strings.TrimSpace(string(got.body))}
	_ = json.Unmarshal(got.body, &a.fields) // anything but an object has no fields
	got.again = max(got.again, a.retryAfter())
	err = got.asError(s.name, serverWords(OneLine(a.words()), secrets...))
	switch {
	case err != nil:
		return a, err.(*Error)
	case len(got.body) > maxAnswer:
		return a, transient("%s answered %s with more than %d bytes", s.name, got.statusText(), maxAnswer)
	case got.lost != nil:
		return a, transient("%s: %s", s.name, plain.Line(got.lost.Error()))
	}
	e := &Error{Text: s.name + " did not take the message: " + cmp.Or(serverWords(OneLine(a.words()), secrets...), "it does not say why"), RetryAfter: got.again}
	switch took(l, a) {
	case taken:
		return a, nil
	case refused:
		e.Permanent = true
	case doubtful:
		e.Text = fmt.Sprintf("%s answered %s, but not as it does when it takes a message: %s", s.name, got.statusText(), cmp.Or(serverWords(OneLine(a.text), secrets...), "nothing"))
	}
	return a, e
}

// retryAfter returns how long the service wants no request, as its body says: seconds of Discord
// and Telegram, milliseconds of Matrix.
func (a answer) retryAfter() time.Duration {
	seconds, _ := a.fields["retry_after"].(float64)
	ms, _ := a.fields["retry_after_ms"].(float64)
	parameters, _ := a.fields["parameters"].(object)
	nested, _ := parameters["retry_after"].(float64)
	return time.Duration(min(max(seconds, ms/1000, nested, 0), 86400) * float64(time.Second))
}

// words returns what the service says is wrong, if it says so in one of the usual ways.
func (a answer) words() string {
	if a.fields == nil {
		if strings.HasPrefix(a.text, "<") {
			return ""
		}
		return a.text
	}
	var said []string
	for _, key := range []string{"error", "description", "errorDescription", "message", "msg", "errors"} {
		switch v := a.fields[key].(type) {
		case string:
			said = append(said, v)
		case []any:
			for _, one := range v {
				if text, ok := one.(string); ok {
					said = append(said, text)
				}
			}
		case object:
			text, _ := v["message"].(string)
			said = append(said, text)
		}
	}
	return strings.Join(slices.DeleteFunc(said, func(text string) bool { return text == "" }), ": ")
}

// compose returns the message in the form of the service, and how many bytes of it were left out.
func (s service) compose(m Message, l serviceURL) (t text, cut int) {
	subject, body := cmp.Or(m.Subject, l.opt["title"]), strings.TrimRight(m.Text(), "\r\n")
	t.key = rand.Text()
	if m.ID != "" {
		sum := sha256.Sum256([]byte(strings.Join([]string{m.ID, l.Path, m.Subject, body}, "\x00")))
		t.key = hex.EncodeToString(sum[:16])
	}
	if strings.TrimSpace(body) == "" { // most services refuse a message without text
		subject, body = "", m.Subject
	}
	rest := s.size
	switch {
	case s.titled:
		t.title, cut = size{units: s.size.subject}.cut(subject)
		rest.bytes = max(0, rest.bytes-len(t.title))
	case subject != "":
		t.title, body = subject, subject+"\n"+body
	}
	t.body, _ = rest.cut(body)
	_, more := rest.cut(body)
	return t, cut + more
}

// size is the longest text that a service takes, in UTF-16 units, as most count, or in bytes; 0 for
// no limit.
type size struct{ units, bytes, subject int }

// cut returns as much of the text as the size allows, with a note about the rest, and how many
// bytes were left out.
func (s size) cut(text string) (string, int) {
	length, most := utf16Length, s.units
	if s.bytes > 0 {
		length, most = func(text string) int { return len(text) }, s.bytes
	}
	if most <= 0 || length(text) <= most {
		return text, 0
	}
	mark := "…"
	if most > 200 {
		mark = fmt.Sprintf("…\n[cut here: %d bytes in all]", len(text))
	}
	room, end := most-length(mark), 0
	for i, r := range text {
		if room -= length(string(r)); room < 0 {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	return text[:end] + mark, len(text) - end
}

// utf16Length returns the length of a text in UTF-16.
func utf16Length(text string) (n int) {
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// Schemes returns the services, sorted.
func Schemes() []string {
	list := make([]string, 0, len(services))
	for _, s := range services {
		list = append(list, s.scheme)
	}
	return list
}

// maxScheme is longer than any scheme, in bytes.
const maxScheme = 20

// shownScheme returns a scheme for an error. It cuts one that is longer than any scheme, because it
// may be a secret in the wrong place.
func shownScheme(scheme string) string {
	scheme = plain.Line(scheme)
	if len(scheme) <= maxScheme {
		return scheme
	}
	return strings.ToValidUTF8(scheme[:maxScheme], "") + "…"
}

// CheckScheme refuses what is not a service, by the name before ://, and says what to use instead.
func CheckScheme(scheme string) error {
	switch {
	case slices.Contains(Schemes(), scheme):
		return nil
	case scheme == "smtp":
		return localError("email is not a service; make a channel of type email, with its host")
	case scheme == "generic":
		return localError(`there is no service "generic"; write the url of a webhook as https://host/path`)
	}
	return localError("there is no service %q; there are %s; with apprise there are a hundred more: %s", shownScheme(scheme), strings.Join(Schemes(), ", "), Apprise)
}

// Apprise is a channel of config.toml that sends through apprise.
const Apprise = `command = ["sh", "-c", "jq -r '[.subject, .body] | map(values) | join(\"\\n\")' | apprise 'SCHEME://…'"]`

// CheckService says what is wrong with the URL of a service, as far as can be known without a
// request. The error is an *Error and permanent. It holds only the scheme of the URL, and cuts a
// long one.
func CheckService(raw string) error {
	_, _, err := parseService(raw)
	return err
}

// parseService finds the service of a well-formed URL.
func parseService(raw string) (service, serviceURL, error) {
	given, rest, _ := strings.Cut(raw, ":")
	scheme := strings.ToLower(given)
	base, _, custom := strings.Cut(scheme, "+")
	if err := CheckScheme(base); err != nil {
		return service{}, serviceURL{}, err
	}
	s := services[slices.Index(Schemes(), base)]
	malformed := func(what string) (service, serviceURL, error) {
		return s, serviceURL{}, localError("the url of %s: %s; write it as %s", s.name, what, s.form)
	}
	u, err := url.Parse(raw) // the error has the URL in it
	switch {
	case strings.ContainsFunc(raw, unicode.IsControl) || strings.Contains(raw, " "):
		return malformed("there is a space or a control character in it, which are written as %20 and the like")
	case err != nil:
		return malformed("it cannot be read; in its parts @ is written as %40, / as %2F, : as %3A and % as %25")
	case u.Opaque != "" || !strings.HasPrefix(rest, "//"):
		return malformed("there is no :// after " + shownScheme(scheme))
	case custom && scheme != "teams+https":
		return malformed(shownScheme(scheme) + ":// is nothing it knows")
	case u.Fragment != "":
		return malformed("a # in it is written as %23")
	}
	values, err := url.ParseQuery(strings.ReplaceAll(u.RawQuery, ";", "%3b"))
	if err != nil {
		return malformed("what stands behind the ? cannot be read; there % is written as %25")
	}
	l := serviceURL{u, make(map[string]string, len(values))}
	for key, list := range values {
		key = strings.ToLower(key)
		if !slices.Contains(strings.Fields(s.keys), key) {
			return malformed("it knows " + strings.Join(strings.Fields(s.keys), ", ") + " behind the ?, and something else stands there")
		}
		if _, twice := l.opt[key]; twice || len(list) > 1 {
			return malformed("an option behind the ? is given twice")
		}
		l.opt[key] = list[0]
		if slices.Contains(flags, key) && !on(list[0]) && !off(list[0]) {
			return malformed(key + " behind the ? is yes or no")
		}
	}
	if what := s.check(l); what != "" {
		return malformed(what)
	}
	return s, l, nil
}

// missingPart returns the first of the parts that the URL does not have.
func missingPart(l serviceURL, parts ...string) string {
	password, _ := l.User.Password()
	return cmp.Or(
		textIf(slices.Contains(parts, "host") && l.Hostname() == "", "there is no host"),
		textIf(slices.Contains(parts, "password") && password == "", "there is no token between the : and the @"),
	)
}

// secretsOf returns the parts of a URL that may be secret, in every form in which they could come
// back. Parts that are too short for a secret, and parts that every URL of the service has, are not
// secret.
func secretsOf(u *url.URL, hosted bool) (list []string) {
	name := u.User.Username()
	password, _ := u.User.Password()
	parts := []string{name, password}
	if name+password != "" {
		parts = append(parts, name+":"+password, base64.StdEncoding.EncodeToString([]byte(name+":"+password)))
	}
	if !hosted {
		parts = append(parts, u.Host, u.Hostname())
	}
	texts := []string{u.Path, name, password, u.Fragment}
	for _, values := range u.Query() {
		texts = append(texts, values...)
	}
	for _, text := range texts {
		for _, separators := range []string{"", "/", "/-,@= "} {
			for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
				if len(part) >= 6 {
					parts = append(parts, part)
				}
			}
		}
	}
	for _, part := range parts {
		if len(part) < 3 || slices.Contains(commonParts, strings.ToLower(part)) {
			continue
		}
		quoted, _ := json.Marshal(part)
		for _, form := range []string{part, url.PathEscape(part), url.QueryEscape(part), html.EscapeString(part),
			string(quoted[1 : len(quoted)-1]), strings.ReplaceAll(part, "/", `\/`)} {
			// the words of a service are searched in this form
			list = append(list, form, OneLine(form))
		}
	}
	return slices.DeleteFunc(list, func(form string) bool { return form == "" })
}

// commonParts are parts that every URL of a service has.
var commonParts = []string{"messages", "spaces", "webhook", "telegram", "shoutrrr", "default", "application", "markdown", "incomingwebhook", "webhookb2",
	"message", "workflows", "triggers", "manual", "invoke", "trigger", "critical", "warning", "resolve", "acknowledge"}
