package notify

import (
	"cmp"
	"maps"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// BuiltIn are the channels that exist without configuration. A channel of that name in config.toml
// replaces one.
var BuiltIn = []string{Desktop, TTY, Email}

// Find returns the channel that a word names: a URL, or the name of a channel in the configuration
// or built in, with its recipient after a colon if there is one (NAME:RECIPIENT).
func Find(word string, configured map[string]state.Channel) (state.Channel, error) {
	if isURL(word) {
		return FromURL(state.Channel{Name: Redact(word), URL: word})
	}
	name, to, given := strings.Cut(word, ":")
	c, known := configured[name]
	switch {
	case known:
		c.Name = name
	case slices.Contains(BuiltIn, name):
		c = state.Channel{Name: name, Type: name}
	default:
		return c, localError("there is no channel %s; there are %s", plain.Quote(name), strings.Join(Names(configured), ", "))
	}
	c, err := FromURL(c)
	switch {
	case err != nil || !given:
		return c, err
	case !TakesRecipient(c.Type):
		return c, localError("channel %s takes no recipient", name)
	case to == "":
		return c, localError("there is no recipient after the colon of %s:", name)
	}
	c.To = to
	return c, nil
}

// isURL reports whether a word is a channel given as a URL, and not a name.
func isURL(word string) bool {
	return strings.Contains(word, "://") || SchemeOf(word) != ""
}

// FromURL completes a channel with what its URL says: https://… is a webhook, mailto:a@b is email
// to that address, and any other scheme is a service, whose name becomes the type. A channel whose
// URL and type do not go together is a permanent error.
func FromURL(c state.Channel) (state.Channel, error) {
	name := c.Name
	if name == "" {
		name = "the channel"
	}
	if c.Type == Heartbeat {
		if state.ChannelOfURL(cmp.Or(c.URL, c.OK)) != Webhook {
			return c, localError("%s has no url of the web", plain.Line(name))
		}
		return c, nil
	}
	if c.URL == "" {
		if !slices.Contains([]string{Desktop, TTY, Email, Exec}, c.Type) {
			return c, localError("%s has no url", plain.Line(name))
		}
		return c, nil
	}
	kind := state.ChannelOfURL(c.URL)
	if c.Type == "" {
		c.Type = kind
	}
	switch {
	case kind == "":
		return c, localError("the url of %s has no scheme such as https:// in front", plain.Line(name))
	case c.Type != kind:
		return c, localError("%s has type %q, and a url of type %q", plain.Line(name), c.Type, kind)
	case kind == Webhook:
		// The error of url.Parse quotes the URL, which may be secret.
		if u, err := url.Parse(c.URL); err != nil || u.Host == "" {
			return c, localError("the url of %s cannot be understood; write it as in https://host/path", plain.Line(name))
		}
	case kind == Email:
		_, rest, _ := strings.Cut(c.URL, ":")
		to, err := url.PathUnescape(rest)
		if err != nil || strings.Contains(rest, "?") || to == "" {
			return c, localError("%s: mailto: takes one address and nothing else", plain.Line(name))
		}
		if c.Name == Redact(c.URL) {
			c.Name = Email
		}
		c.To, c.URL = cmp.Or(c.To, to), ""
	default:
		return c, CheckScheme(kind)
	}
	return c, nil
}

// Redact returns the part of a URL that may be shown: scheme and host of a web URL, the address of
// a mailto URL, the name of a service.
func Redact(raw string) string {
	scheme, rest, ok := strings.Cut(raw, ":")
	if !ok {
		return "…"
	}
	scheme = plain.Line(strings.ToLower(scheme))
	switch scheme {
	case "mailto":
		address, _, _ := strings.Cut(rest, "?")
		return "mailto:" + plain.Line(address)
	case "http", "https":
		if u, err := url.Parse(raw); err == nil && u.Host != "" {
			shown := scheme + "://" + plain.Line(u.Host)
			if u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/" {
				shown += "/…"
			}
			return shown
		}
	}
	return scheme + "://…"
}

// Address reads one email address, such as bob@example.org or Bob <bob@example.org>, and refuses
// anything else.
func Address(text string) (*mail.Address, error) {
	if HasControl(text) {
		return nil, permanent("the address %s has a control character in it", plain.Quote(text))
	}
	a, err := mail.ParseAddress(text)
	if err != nil || strings.ContainsFunc(a.Address, plain.Control) || strings.ContainsFunc(a.Name, plain.Control) {
		if list, err := mail.ParseAddressList(text); err == nil && len(list) > 1 {
			return nil, permanent("%s are %d addresses; give one", plain.Quote(text), len(list))
		}
		return nil, permanent("%s is not an address of email; write it as bob@example.org", plain.Quote(text))
	}
	return a, nil
}

// SchemeOf returns the scheme of a URL that is given as a channel, in lower case. It is empty for a
// name.
func SchemeOf(word string) string {
	scheme, _, ok := strings.Cut(word, "://")
	if !ok {
		if scheme, _, ok = strings.Cut(word, ":"); !ok || !strings.EqualFold(scheme, "mailto") {
			return ""
		}
	}
	return strings.ToLower(scheme)
}

// Names returns the channels that a task can name, sorted: those of the settings and those that are
// built in.
func Names(channels map[string]state.Channel) []string {
	names := slices.AppendSeq(slices.Clone(BuiltIn), maps.Keys(channels))
	slices.Sort(names)
	return slices.Compact(names)
}
