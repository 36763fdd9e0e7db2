package settings

import (
	"cmp"
	"fmt"
	"maps"
	"net/mail"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// channelTypes are the types of channels that are not the scheme of a service. A channel whose name
// is one of them has that type, unless its settings say another one.
var channelTypes = []string{
	state.ChannelDesktop, state.ChannelTerminal, state.ChannelEmail, state.ChannelWebhook, state.ChannelExec, state.ChannelHeartbeat,
}

// builtIn are the channels that need no settings.
var builtIn = channelTypes[:3]

// anyService stands for all types that are the scheme of a service.
const anyService = "a service"

// channelSetting is a key of [channels.NAME].
type channelSetting struct {
	Entry
	types []string // the types that have the key; nil means all
}

// channelSettings are the keys of a channel, in the order of docs/config.md.
var channelSettings = []channelSetting{
	{Entry: Entry{Key: "type", Kind: kindString}},
	{Entry: Entry{Key: "url", Kind: kindString, check: checkURL, secret: true}, types: []string{state.ChannelWebhook, state.ChannelEmail, state.ChannelHeartbeat, anyService}},
	{Entry: Entry{Key: "to", Kind: kindString}, types: []string{state.ChannelEmail, state.ChannelTerminal, state.ChannelWebhook, state.ChannelExec}},
	{Entry: Entry{Key: "from", Kind: kindString, check: text("an address of email", `write it as in "bob@example.org"`, isAddress)}, types: []string{state.ChannelEmail}},
	{Entry: Entry{Key: "host", Kind: kindString, check: text("the name of a server", `write it as in "smtp.example.org", and its port as port = 587`, isHost)}, types: []string{state.ChannelEmail}},
	{Entry: Entry{Key: "port", Kind: kindInteger, check: between(1, 65535)}, types: []string{state.ChannelEmail}},
	{Entry: Entry{Key: "user", Kind: kindString}, types: []string{state.ChannelEmail}},
	{Entry: Entry{Key: "password", Kind: kindString, secret: true}, types: []string{state.ChannelEmail}},
	{Entry: Entry{Key: "key", Kind: kindString, secret: true}, types: []string{state.ChannelEmail}},
	{Entry: Entry{Key: "secret", Kind: kindString, secret: true}, types: []string{state.ChannelWebhook}},
	{Entry: Entry{Key: "tls", Kind: kindString, Default: `"starttls"`, check: oneOf("starttls", "tls", "none")}, types: []string{state.ChannelEmail}},
	{Entry: Entry{Key: "timeout", Kind: kindString, Default: `"30s"`, check: text("a time of up to an hour", `write it as in "30s" or "2m"`, isTimeout)}},
	{Entry: Entry{Key: "command", Kind: kindArray, check: checkWords}, types: []string{state.ChannelExec}},
	{Entry: Entry{Key: "start", Kind: kindString, check: checkPing, secret: true}, types: []string{state.ChannelHeartbeat}},
	{Entry: Entry{Key: "ok", Kind: kindString, check: checkPing, secret: true}, types: []string{state.ChannelHeartbeat}},
	{Entry: Entry{Key: "fail", Kind: kindString, check: checkPing, secret: true}, types: []string{state.ChannelHeartbeat}},
}

// isChannelName reports whether a name consists of letters, digits, dots, dashes and underscores,
// and begins with a letter or digit.
func isChannelName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return name != "" && len(name) <= 64 && strings.Trim(name, letters+"._-") == "" && strings.IndexByte(letters, name[0]) >= 0
}

// channelKey returns the entry of a key below channels: the name of a channel, or one of its keys.
// It returns a problem if there is no such key.
func channelKey(key codec.Key) (s Entry, problem, hint string) {
	if !isChannelName(key[1]) {
		return s, fmt.Sprintf("the name of channel %q must be of letters, digits, dots, dashes and underscores", key[1]), ""
	}
	if len(key) == 2 {
		return Entry{Key: key.String(), Kind: kindTable}, "", ""
	}
	for _, c := range channelSettings {
		if len(key) == 3 && c.Key == key[2] {
			return c.Entry, "", ""
		}
	}
	var names []string
	for _, c := range channelSettings {
		names = append(names, c.Key)
	}
	hint = "a channel has " + strings.Join(names, ", ")
	if near := closest(key[2], names); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return s, fmt.Sprintf("a channel has no setting %q", strings.Join(key[2:], ".")), hint
}

// reporter adds a problem about a key to a Reading.
type reporter func(key codec.Key, hint, format string, a ...any)

// reporter returns a reporter of r. lineOf returns the line of a key.
func (r *Reading) reporter(lineOf func(codec.Key) int) reporter {
	return func(key codec.Key, hint, format string, a ...any) {
		r.Problems = append(r.Problems, &Problem{Path: r.Path, Line: lineOf(key), Text: fmt.Sprintf(format, a...), Hint: hint})
	}
}

// fillChannels completes the channels that were read: it sets their names and types, and reports
// settings that contradict each other. A channel with a mistake is left out, like every setting
// with one.
func (r *Reading) fillChannels(lineOf func(codec.Key) int, mode os.FileMode) {
	say := r.reporter(lineOf)
	broken := map[string]bool{} // the channels with a problem that was reported before
	for _, p := range r.Problems {
		if p.channel != "" {
			broken[p.channel] = true
		}
	}
	names := slices.Sorted(maps.Keys(r.Config.Channels))
	for _, name := range names {
		c := r.Config.Channels[name]
		c.Name = name
		r.Lines[channelsTable+"."+name] = lineOf(codec.Key{channelsTable, name})
		given := func(key string) bool { _, ok := r.Values[channelsTable+"."+name+"."+key]; return ok }
		var byURL string
		c.Type, byURL = typeOf(c, given)
		// A problem with a broken channel would only follow from the one that was reported.
		if broken[name] || !checkType(c, byURL, say) || !checkKeys(c, given, say) {
			delete(r.Config.Channels, name)
			continue
		}
		for _, s := range channelSettings {
			if s.secret && given(s.Key) && runtime.GOOS != "windows" && mode.Perm()&0o077 != 0 && byURL != state.ChannelEmail {
				c.Exposed = r.Path
			}
		}
		r.Config.Channels[name] = c
	}
	known := slices.Compact(slices.Sorted(slices.Values(append(names, builtIn...))))
	for _, word := range r.Config.Notify.Default {
		if name, _, _ := strings.Cut(word, ":"); !broken[name] && !slices.Contains(known, name) {
			say(codec.Key{"notify", "default"}, fmt.Sprintf("add [channels.%s], or name one of %s", name, strings.Join(known, ", ")),
				"notify.default names %q, and there is no such channel", name)
		}
	}
	r.checkHeartbeats(broken, say)
}

// typeOf returns the type of a channel, by its settings or its name. byURL is the type that its URL
// says, or empty if it says none. The URL of a heartbeat says none.
func typeOf(c state.Channel, given func(string) bool) (kind, byURL string) {
	byURL = state.ChannelOfURL(c.URL)
	kind = cmp.Or(c.Type, typeOfKeys(given))
	if byURL == state.ChannelWebhook && (kind == state.ChannelHeartbeat || kind == "" && c.Name == state.ChannelHeartbeat) {
		return state.ChannelHeartbeat, ""
	}
	switch {
	case c.Type != "":
		return c.Type, byURL
	case byURL != "":
		return byURL, byURL
	case slices.Contains(channelTypes, c.Name):
		return c.Name, ""
	}
	return kind, ""
}

// checkType reports whether a channel has a type, and one that fits its URL.
func checkType(c state.Channel, byURL string, say reporter) bool {
	at := codec.Key{channelsTable, c.Name}
	switch {
	case c.Type == "":
		say(at, `write type = "email"; a url, a host or a command says it, too`, "channel %s has no type, and its keys say none, or several", c.Name)
	case byURL != "" && byURL != c.Type:
		say(append(at, "type"), "leave the type out", "channel %s has %s, and a url of type %q", c.Name, typeWords(c.Type), byURL)
	case byURL == "" && !slices.Contains(channelTypes, c.Type):
		hint := "the types are " + strings.Join(channelTypes, ", ") + "; other services are known by their url"
		if near := closest(c.Type, channelTypes); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		say(append(at, "type"), hint, "channel %s has a type that needs a url, and no url", c.Name)
	default:
		return true
	}
	return false
}

// checkHeartbeats reports a run.heartbeat that is not a heartbeat, and a heartbeat in
// notify.default, which every task would ping.
func (r *Reading) checkHeartbeats(broken map[string]bool, say reporter) {
	name := r.Config.Run.Heartbeat
	if c, ok := r.Config.Channels[name]; name != "" && !broken[name] && (!ok || c.Type != state.ChannelHeartbeat) {
		word := "the name of a channel"
		if isChannelName(name) {
			word = fmt.Sprintf("%q", name)
		}
		say(codec.Key{"run", "heartbeat"}, `write [channels.NAME] with type = "heartbeat" and its url, and NAME here`, "run.heartbeat is %s, and there is no heartbeat of that name", word)
		r.Config.Run.Heartbeat = ""
	}
	beats := r.Config.Heartbeats()
	for _, word := range r.Config.Notify.Default {
		if slices.Contains(beats, word) {
			say(codec.Key{"notify", "default"}, "give it to the task that it watches: --notify "+word, "notify.default names %q, a heartbeat, which every task would ping", word)
		}
	}
}

// typeOfKeys returns the type of a channel by those of its keys that only one type has, such as
// command or host. It returns the empty string if there are none, or if they say different types.
func typeOfKeys(given func(string) bool) (kind string) {
	for _, s := range channelSettings {
		if !given(s.Key) || len(s.types) != 1 {
			continue
		}
		if kind != "" && kind != s.types[0] {
			return ""
		}
		kind = s.types[0]
	}
	return kind
}

// checkKeys reports whether a channel has the keys that its type needs, and no others.
func checkKeys(c state.Channel, given func(string) bool, say reporter) bool {
	at := codec.Key{channelsTable, c.Name}
	kind := c.Type
	if !slices.Contains(channelTypes, kind) {
		kind = anyService
	}
	for _, s := range channelSettings {
		if given(s.Key) && s.types != nil && !slices.Contains(s.types, kind) {
			say(append(at, s.Key), "leave it out", "channel %s is of type %q, which takes no %s", c.Name, c.Type, s.Key)
			return false
		}
	}
	for _, key := range []string{"port", "user", "password", "tls"} {
		if given(key) && c.Host == "" {
			say(append(at, key), `add host = "smtp.example.org", or leave it out to send by Resend`, "channel %s has %s and no host", c.Name, key)
			return false
		}
	}
	switch {
	case kind == state.ChannelWebhook && c.URL == "":
		say(at, `add url = "https://…"`, "channel %s has no url", c.Name)
	case kind == state.ChannelHeartbeat && c.URL == "" && c.OK == "":
		say(at, `add url = "https://…", to which /start and /fail are appended, or ok, and perhaps start and fail`, "channel %s has no url", c.Name)
	case kind == state.ChannelHeartbeat && c.URL != "" && (c.OK != "" || c.Start != "" || c.Fail != ""):
		say(at, "leave out one of them: to url /start and /fail are appended", "channel %s has a url and one of start, ok, fail", c.Name)
	case kind == state.ChannelHeartbeat && state.ChannelOfURL(cmp.Or(c.URL, c.OK)) != state.ChannelWebhook:
		say(at, `write it as in "https://hc-ping.com/…"`, "channel %s is of type %q, which takes a URL of the web", c.Name, kind)
	case kind == state.ChannelExec && len(c.Command) == 0:
		say(at, `add command = ["program", "argument"]`, "channel %s has no command", c.Name)
	case c.Host != "" && given("key"):
		say(append(at, "key"), "leave out one of them: with a host email goes by SMTP", "channel %s has a host and a key of Resend", c.Name)
	case given("user") != given("password"):
		say(at, "add the other", "channel %s has only one of user and password", c.Name)
	case kind == state.ChannelEmail && c.To != "" && !isAddress(c.To):
		say(append(at, "to"), `write it as in "bob@example.org"`, "channel %s: to takes an address of email", c.Name)
	default:
		return true
	}
	return false
}

// typeWords names a type in a message. It only quotes known types, because the text could be a
// secret.
func typeWords(kind string) string {
	if slices.Contains(channelTypes, kind) {
		return fmt.Sprintf("type %q", kind)
	}
	return "another type"
}

func isAddress(text string) bool {
	_, err := mail.ParseAddress(text)
	return err == nil && !hasControl(text)
}

func isHost(text string) bool {
	return text != "" && !strings.ContainsAny(text, "/ @[]") && strings.Count(text, ":") != 1 && !hasControl(text)
}

func isTimeout(text string) bool {
	_, err := state.ParseTimeout(text)
	return err == nil && text != ""
}

// isWeb reports whether a text is a URL of the web.
func isWeb(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && state.ChannelOfURL(text) == state.ChannelWebhook && !hasControl(text)
}

// urlHint is of the checks of URLs. Their messages never quote the text, which may be a secret.
const urlHint = `write it as in "https://host/path"`

var checkPing = text("a URL of the web", urlHint, isWeb)

func checkURL(key string, value any) (problem, hint string) {
	text := value.(string)
	switch kind := state.ChannelOfURL(text); {
	case kind == "" || hasControl(text):
		return key + " takes a URL with its scheme", urlHint
	case kind == state.ChannelWebhook && !isWeb(text):
		return key + " takes a URL with a host", urlHint
	}
	return "", ""
}

// checkWords refuses what is not a list of texts, and a list without a program.
func checkWords(key string, value any) (problem, hint string) {
	const example = `write it as in ["notify-send", "ouro"]`
	problem, hint = texts("a list of texts", example, func(string) bool { return true })(key, value)
	if list, _ := value.([]any); problem == "" && (len(list) == 0 || list[0] == "") {
		return key + " takes a program and its arguments", example
	}
	return problem, hint
}
