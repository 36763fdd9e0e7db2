package notify

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// TestCheckService refuses what is malformed, says how it is written, and shows nothing of it.
func TestCheckService(t *testing.T) {
	const secret = "S3cretPart"
	for _, c := range []struct{ url, want string }{
		{"slakc://" + secret, `no service "slakc"`},
		{"logger://" + secret, `no service "logger"`},
		{"zulip://bot:" + secret + "@z.example.org", "with apprise there are a hundred more: command = ["},
		{"generic://hooks.example.org/" + secret, "as https://host/path"},
		{"opsgenie:///" + secret, "no host"},
		{"opsgenie://api.opsgenie.com/?tags=" + secret, "no key after the host"},
		{"opsgenie://api.opsgenie.com/x?priority=" + secret, "P1 to P5"},
		{"opsgenie://api.opsgenie.com/x?responders=" + secret, "team:NAME"},
		{"pagerduty://events.pagerduty.com/" + secret, "32 characters"},
		{"pagerduty:///" + strings.Repeat("0", 32) + "?severity=" + secret, "severity"},
		{"pagerduty:///" + strings.Repeat("0", 32) + "?action=" + secret, "action"},
		{"discord://tok@1?color=" + secret, "color"},
		{"gotify://h/AbcDefGhi123456?extras=" + secret, "not JSON"},
		{"gotify://h/AbcDefGhi123456?priority=" + secret, "not a number"},
		{"teams+https://evil.example.org/workflows/x?sig=" + secret, "URL of a workflow"},
		{"teams+https://evil.example.org/logic.azure.com?sig=" + secret, "URL of a workflow"},
		{"teams+https://prod-1.westus.logic.azure.com/workflows/" + secret, "URL of a workflow"},
		{"smtp://me:" + secret + "@mail.example.org", "type email"},
		{"slack:" + secret, "no :// after slack"},
		{"slack:/" + secret, "no :// after slack"},
		{"ntfy://ntfy.sh/" + secret + "\n", "control character"},
		{"ntfy://ntfy.sh/" + secret + " x", "space"},
		{"ntfy://u:" + secret + "%zz@ntfy.sh/topic", "% as %25"},
		{"ntfy://" + secret + ":port/topic", "cannot be read"},
		{"ntfy://ntfy.sh/topic?title=" + secret + "%zz", "behind the ?"},
		{"ntfy://ntfy.sh/topic?titel=" + secret, "something else stands there"},
		{"ntfy://ntfy.sh/topic?title=" + secret + "&Title=x", "given twice"},
		{"ntfy://ntfy.sh/topic#" + secret, "%23"},
		{"ntfy+https://ntfy.sh/" + secret, "nothing it knows"},
		{"ntfy://" + secret, "no topic"},
		{"ntfy://ntfy.sh/topic?disabletls=" + secret, "disabletls behind the ? is yes or no"},
		{"telegram://1:a@telegram?chats=1&preview=" + secret, "preview behind the ? is yes or no"},
		{"ntfy:///" + secret, "no host"},
		{"ntfy://ntfy.sh/topic?scheme=" + secret, "the scheme is not"},
		{"ntfy://ntfy.sh/a/" + secret, "the topic is not one"},
		{"discord://" + secret + "@webhook", "not a number"},
		{"discord://123456789", "no token"},
		{"discord://" + secret + "@123456789/raw", "a path"},
		{"googlechat://chat.googleapis.com/" + secret + "?key=a&token=b", "the path"},
		{"googlechat://chat.googleapis.com/v1/spaces/x/messages?key=" + secret, "missing"},
		{"gotify://push.example.org/" + secret, "not the token of an application"},
		{"matrix://matrix.example.org/?rooms=" + secret, "no token between"},
		{"matrix://:" + secret + "@matrix.example.org/?rooms=a,,b", "has no name"},
		{"mattermost://" + secret, "no token after the host"},
		{"pushover://shoutrrr:" + secret + "@", "no key of a user"},
		{"pushover://" + secret + "@user", "no token between"},
		{"pushover://shoutrrr:" + secret + "@user?priority=2", "1 is the highest"},
		{"slack://" + secret + "@webhook", "three parts"},
		{"slack://hook:T00000000-B00000000," + strings.Repeat("x", 24) + "@webhook", "separated alike"},
		{"teams://" + secret + "@tenant/a/b/c", "lacks the parts"},
		{"teams+https://outlook.office.com/" + secret, "incoming webhook"},
		{"telegram://" + secret + "@telegram?chats=1", "that of a bot"},
		{"telegram://123:" + secret + "@telegram", "no chat"},
		{"telegram://123:" + secret + "@telegram?chats=1&parsemode=HTML", "something else"},
	} {
		err := CheckService(c.url)
		var e *Error
		if !errors.As(err, &e) || !e.Permanent || !strings.Contains(e.Text, c.want) {
			t.Errorf("%q: %v, want %q in it", c.url, err, c.want)
			continue
		}
		if strings.Contains(e.Text, secret) || strings.ContainsFunc(e.Text, plain.Control) {
			t.Errorf("%q: the error shows too much: %q", c.url, e.Text)
		}
	}
	for _, v := range vendors {
		if err := CheckService(v.url); err != nil {
			t.Errorf("%s: %v", v.url, err)
		}
		upper, rest, _ := strings.Cut(v.url, "://")
		if err := CheckService(strings.ToUpper(upper) + "://" + rest); err != nil {
			t.Errorf("in capitals: %v", err)
		}
	}
}

// TestSchemes names each service once, with the form of its URL.
func TestSchemes(t *testing.T) {
	list := Schemes()
	if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Errorf("not sorted: %q", list)
	}
	for i, scheme := range list {
		if form := services[i].form; !strings.HasPrefix(form, scheme) {
			t.Errorf("%s is written as %q", scheme, form)
		}
	}
}

// TestServicesDocumented: docs/notify.md has the name of each service with a URL that is one, each of its options, and the line for apprise.
func TestServicesDocumented(t *testing.T) {
	docs, err := os.ReadFile("../docs/notify.md")
	if err != nil {
		t.Fatal(err)
	}
	if line := strings.Replace(Apprise, "SCHEME", "signal", 1); !strings.Contains(string(docs), "\n"+line+"\n") {
		t.Errorf("docs/notify.md has no line %s", line)
	}
	for _, s := range services {
		_, rest, found := strings.Cut(string(docs), "\n| "+s.name+" | ")
		row, _, _ := strings.Cut(rest, "\n")
		form, _, _ := strings.Cut(s.form, ",")
		form, _, _ = strings.Cut(form, " with ")
		if !found || !strings.Contains(row, strings.TrimSuffix(form, "…")) {
			t.Errorf("docs/notify.md has %q for %s, and not %s", row, s.name, form)
		}
		_, options, _ := strings.Cut(row, " | ")
		for _, word := range strings.Split(options, "`")[1:] {
			word, _, _ = strings.Cut(strings.TrimSpace(word), "=")
			if word != "" && !strings.HasPrefix(word, "(") && !strings.HasPrefix(word, "|") && !slices.Contains(strings.Fields(s.keys), word) {
				t.Errorf("docs/notify.md tells of %q for %s", word, s.name)
			}
		}
	}
}

// FuzzCheckService: whatever the text, the check answers without a panic, and its error shows neither a long part of the text nor
// a control character; and what it lets pass has a service and a host.
func FuzzCheckService(f *testing.F) {
	for _, v := range vendors {
		f.Add(v.url)
	}
	f.Add("slack:")
	f.Add("://")
	f.Add("generiC+\x8b0") // in small letters it is longer
	f.Add("matrix://:x@h?rooms=")
	f.Add("000000000000000000000:000000000000000000000") // what is secret stands in both places
	f.Add("generic+000000000000000000000://000000000000000000000")
	f.Fuzz(func(t *testing.T, raw string) {
		s, l, err := parseService(raw)
		if err != nil {
			if strings.ContainsFunc(err.Error(), plain.Control) {
				t.Errorf("control characters in %q", err)
			}
			_, rest, _ := strings.Cut(raw, ":")
			for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("/@?&=:#", r) }) {
				if len(part) > 20 && !strings.Contains(s.form, part) && !strings.Contains(s.keys, part) && strings.Contains(err.Error(), part) {
					t.Errorf("%q shows %q", err, part)
				}
			}
			return
		}
		if s.took == nil || l.Host == "" && s.scheme != "pagerduty" {
			t.Errorf("%q passed as %q of %v", raw, s.scheme, l)
		}
		m, _ := s.compose(told, l)
		for _, q := range s.ask(l, m) {
			if u, err := url.Parse(q.url); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
				t.Errorf("%q asks %q", raw, q.url)
			}
			if _, err := json.Marshal(q.body); err != nil {
				t.Errorf("%q: %v", raw, err)
			}
		}
		for _, secret := range secretsOf(l.URL, s.hosted) {
			if secret == "" {
				t.Errorf("%q has an empty secret", raw)
			}
		}
	})
}

// TestSecretsOf finds what must be hidden, and leaves what everybody may see.
func TestSecretsOf(t *testing.T) {
	parse := func(raw string) *url.URL {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	u := parse("matrix://me:p%40ss%2Fword@matrix.example.org/path99?rooms=!room1:example.org&x=yes")
	text := `at matrix.example.org: p@ss/word p%40ss%2Fword me:p@ss/word bWU6cEBzcy93b3Jk path99 yes message !room1:example.org "p@ss\/word"`
	got := redactSecrets(text, secretsOf(u, true)...)
	if want := `at matrix.example.org: … … … … … yes message … "…`; !strings.HasPrefix(got, want) || strings.Contains(got, "word") {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := redactSecrets("user UserKey99 is invalid", secretsOf(parse("pushover://shoutrrr:Token@UserKey99"), false)...); got != "user … is invalid" {
		t.Error(got)
	}
}
