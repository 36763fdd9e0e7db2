package notify

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/nicholas-fedor/shoutrrr/pkg/format"
	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

// TestCheckService refuses what is malformed, says how it is written, and shows nothing of it.
func TestCheckService(t *testing.T) {
	const secret = "S3cretPart"
	for _, c := range []struct{ url, want string }{
		{"slakc://" + secret, `no service "slakc"`},
		{"logger://" + secret, `no service "logger"`},
		{"smtp://me:" + secret + "@mail.example.org", "type email"},
		{"slack:" + secret, "no :// behind slack"},
		{"slack:/" + secret, "no :// behind slack"},
		{"ntfy://ntfy.sh/" + secret + "\n", "control character"},
		{"ntfy://ntfy.sh/" + secret + " x", "space"},
		{"ntfy://u:" + secret + "%zz@ntfy.sh/topic", "% as %25"},
		{"ntfy://" + secret + ":port/topic", "cannot be read"},
		{"ntfy://ntfy.sh/topic?title=" + secret + "%zz", "behind the ?"},
		{"ntfy://ntfy.sh/topic?titel=" + secret, "something else stands there"},
		{"ntfy://ntfy.sh/topic?title=" + secret + "&Title=x", "given twice"},
		{"ntfy://ntfy.sh/topic#" + secret, "%23"},
		{"ntfy+https://ntfy.sh/" + secret, "nothing it knows"},
		{"generic+ftp://ntfy.sh/" + secret, "nothing it knows"},
		{"ntfy://" + secret, "no topic"},
		{"ntfy:///" + secret, "no host"},
		{"ntfy://ntfy.sh/a/" + secret, "the topic is not one"},
		{"bark://bark.example.org/" + secret, "no token between"},
		{"bark://:" + secret + "@", "no host"},
		{"discord://" + secret + "@webhook", "no number"},
		{"discord://123456789", "no token"},
		{"discord://" + secret + "@123456789/raw", "a path"},
		{"generic:///" + secret, "no host"},
		{"googlechat://chat.googleapis.com/" + secret + "?key=a&token=b", "the path"},
		{"googlechat://chat.googleapis.com/v1/spaces/x/messages?key=" + secret, "missing"},
		{"gotify://push.example.org/" + secret, "no token of an application"},
		{"matrix://matrix.example.org/?rooms=" + secret, "no token between"},
		{"matrix://:" + secret + "@matrix.example.org/?rooms=a,,b", "has no name"},
		{"mattermost://" + secret, "no token behind the host"},
		{"pushover://shoutrrr:" + secret + "@", "no key of a user"},
		{"pushover://" + secret + "@user", "no token between"},
		{"pushover://shoutrrr:" + secret + "@user?priority=2", "1 is the highest"},
		{"rocketchat://chat.example.org/" + secret, "two tokens"},
		{"rocketchat://chat.example.org/" + secret + "/b?x=y", "nothing may stand"},
		{"slack://" + secret + "@webhook", "three parts"},
		{"slack://hook:T00000000-B00000000," + strings.Repeat("x", 24) + "@webhook", "separated alike"},
		{"teams://" + secret + "@tenant/a/b/c", "lacks the parts"},
		{"teams+https://outlook.office.com/" + secret, "incoming webhook"},
		{"telegram://" + secret + "@telegram?chats=1", "that of a bot"},
		{"telegram://123:" + secret + "@telegram", "no chat"},
		{"telegram://123:" + secret + "@telegram?chats=1&parsemode=HTML", "something else"},
		{"zulip://bot:" + secret + "@zulip.example.org", "no stream="},
		{"zulip://bot:" + secret + "@zulip.example.org:8443?stream=a", "without a port"},
		{"zulip://bot:" + secret + "@localhost?stream=a", "a name such as"},
	} {
		err := CheckService(c.url)
		var e *Error
		if !errors.As(err, &e) || !e.Permanent || !strings.Contains(e.Text, c.want) {
			t.Errorf("%q: %v, want %q in it", c.url, err, c.want)
			continue
		}
		if strings.Contains(e.Text, secret) || strings.ContainsFunc(e.Text, control) {
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
	for scheme := range others {
		if err := CheckService(scheme + "://token@host/path"); err != nil {
			t.Errorf("%s: %v", scheme, err)
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
		if others[scheme] != "" {
			t.Errorf("%s is in both lists", scheme)
		}
	}
}

// TestLibraryOptions holds our lists of options to those of the library, but for what we leave out on purpose.
func TestLibraryOptions(t *testing.T) {
	without := map[string][]string{
		"discord": {"json"}, // its payload would be the message
		// A message with a < in it would be refused, and the title is lost.
		"telegram": {"parsemode"},
		"zulip":    {"title"}, // another word for topic
	}
	with := map[string][]string{
		"discord":    {"thread_id"},
		"gotify":     {"extras"},
		"googlechat": {"key", "token"}, // read without the library's help
	}
	var r router.ServiceRouter
	for _, s := range services {
		if s.keys == "" {
			continue
		}
		library, err := r.NewService(s.scheme)
		if err != nil {
			t.Fatal(err)
		}
		config := configOf(t, library)
		resolver := format.NewPropKeyResolver(config)
		want := slices.DeleteFunc(slices.Clone(resolver.QueryFields()), func(key string) bool { return slices.Contains(without[s.scheme], key) })
		want = append(want, with[s.scheme]...)
		slices.Sort(want)
		got := strings.Fields(s.keys)
		if s.keys == "none" {
			got = nil
		}
		if want = slices.Compact(want); !slices.Equal(got, want) {
			t.Errorf("%s: %q, and the library has %q", s.scheme, got, want)
		}
	}
	if _, err := r.NewService("ntfy"); err != nil {
		t.Error(err)
	}
	for scheme := range others {
		if _, err := r.NewService(scheme); err != nil {
			t.Errorf("the library has no %s: %v", scheme, err)
		}
	}
}

// configOf is the configuration of a service, as the library keeps it.
func configOf(t *testing.T, s types.Service) types.ServiceConfig {
	t.Helper()
	config := format.GetServiceConfig(s)
	if config == nil {
		t.Fatalf("%s has no configuration", s.GetID())
	}
	return config
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
		s, u, err := parseService(raw)
		if err != nil {
			if strings.ContainsFunc(err.Error(), control) {
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
		if s.judge == nil || u == nil || s.form != "" && u.Host == "" {
			t.Errorf("%q passed as %q of %v", raw, s.scheme, u)
		}
		for _, secret := range secretsOf(u, s.hosted) {
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
	got := hidden(text, secretsOf(u, true))
	if want := `at matrix.example.org: … … … … … yes message … "…`; !strings.HasPrefix(got, want) || strings.Contains(got, "word") {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := hidden("user UserKey99 is invalid", secretsOf(parse("pushover://shoutrrr:Token@UserKey99"), false)); got != "user … is invalid" {
		t.Error(got)
	}
}
