package cmd

import (
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
)

// tellFlags say who is told of a task, and when.
func tellFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "notify", Usage: "tell by `CHANNEL`: NAME, NAME:RECIPIENT or a URL without secrets; may be repeated (default: the config)"},
		&cli.StringFlag{Name: "notify-on", Usage: "tell `always`, on failure, output, change or recovery, or never (default: messages always, commands on output)"},
		&cli.StringFlag{Name: "webhook", Usage: "also POST what is told to `URL`, as JSON"},
		&cli.StringFlag{Name: "prefix", Usage: "put `TEXT` in front of what is told"},
	}
}

// notifyWords are what --notify-on takes.
var notifyWords = []string{state.NotifyAlways, state.NotifyFailure, state.NotifyOutput, state.NotifyChange, state.NotifyRecovery, state.NotifyNever}

const (
	channelsMost = 20  // of a task
	prefixMost   = 200 // bytes of --prefix
)

// readTell reads tellFlags into the task's policy, as far as they were given, and refuses what would tell nobody or give a secret away.
// --notify and --webhook are one list: whichever is given, it is new. An empty value takes back what was said before.
func (s *session) readTell(t *state.Task) error {
	p := &t.Policy
	if s.cli.IsSet("notify") || s.cli.IsSet("webhook") {
		list, err := s.tellList()
		if err != nil {
			return err
		}
		p.Notify = list
	}
	if s.cli.IsSet("notify-on") {
		p.NotifyOn = ""
		if text := s.cli.String("notify-on"); strings.TrimSpace(text) != "" {
			word, err := oneOf("notify-on", text, notifyWords)
			if err != nil {
				return err
			}
			p.NotifyOn = word
		}
	}
	if s.cli.IsSet("prefix") {
		p.Prefix = s.cli.String("prefix")
		switch {
		case notify.HasControl(p.Prefix):
			return usage("--prefix has a control character in it", "it stands in front of a subject, which is one line; leave it out")
		case len(p.Prefix) > prefixMost:
			return usage("--prefix takes 200 bytes at most", "give a few words, such as --prefix '[backup] '")
		}
	}
	if t.Type() == state.TypeMessage && p.NotifyOn != "" && p.NotifyOn != state.NotifyAlways && p.NotifyOn != state.NotifyNever {
		return usage("--notify-on "+p.NotifyOn+" has no effect here", "a message has no output and cannot fail; give always (the default) or never")
	}
	return nil
}

// tellList is who is to be told: the words of --notify and --webhook, each checked.
func (s *session) tellList() ([]string, error) {
	var list []string
	add := func(word string, err error) error {
		if err == nil && !slices.Contains(list, word) {
			list = append(list, word)
		}
		return err
	}
	for _, word := range s.cli.StringSlice("notify") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		if err := add(word, s.checkChannel(word)); err != nil {
			return nil, err
		}
	}
	if word := strings.TrimSpace(s.cli.String("webhook")); word != "" {
		if scheme := schemeOf(word); scheme != "http" && scheme != "https" {
			return nil, usage("--webhook "+quote(notify.Redact(word))+" is no URL of the web", "write it as https://host/path; other channels are given with --notify")
		}
		if err := add(word, s.checkURL("--webhook", word)); err != nil {
			return nil, err
		}
	}
	if len(list) > channelsMost {
		return nil, usage("a task tells by "+plural(channelsMost, "channel")+" at most", "let one exec channel of config.toml tell the others")
	}
	return list, nil
}

// schemeOf is the scheme of a URL that is given as a channel, in lower case; empty for what is a name.
func schemeOf(word string) string {
	scheme, _, ok := strings.Cut(word, "://")
	if !ok {
		if scheme, _, ok = strings.Cut(word, ":"); !ok || !strings.EqualFold(scheme, "mailto") {
			return ""
		}
	}
	return strings.ToLower(scheme)
}

// checkChannel refuses what is no channel, or one that a task must not name.
func (s *session) checkChannel(word string) error {
	if schemeOf(word) != "" {
		return s.checkURL("--notify", word)
	}
	if notify.HasControl(word) {
		return usage("--notify "+quote(word)+" has a control character in it", "give the name of a channel, such as desktop")
	}
	config, err := s.settings()
	if err != nil {
		return err
	}
	name, to, given := strings.Cut(word, ":")
	if given && strings.TrimSpace(to) == "" {
		return usage("--notify "+quote(word)+" names no recipient after the colon", "write --notify "+shellQuote(name)+", or --notify "+shellQuote(name+":bob@example.org"))
	}
	c, err := notify.Find(word, config.Channels)
	if err != nil {
		return s.noChannel(name, err)
	}
	switch {
	case c.Type == notify.Email && given:
		if _, err := notify.Address(to); err != nil {
			return usage("--notify "+quote(word)+": "+err.Error(), "write it as --notify "+shellQuote(name+":bob@example.org"))
		}
	case given && !notify.TakesRecipient(c.Type):
		return usage("channel "+name+" takes no recipient", "write --notify "+shellQuote(name))
	case notify.NeedsRecipient(c):
		return usage("--notify "+name+" does not say who is told", "write --notify "+shellQuote(name+":bob@example.org"))
	}
	return nil
}

// noChannel is the refusal of a name that is no channel, or of a channel that config.toml does not say enough of.
func (s *session) noChannel(name string, err error) error {
	var told *notify.Error
	if !errors.As(err, &told) {
		return err
	}
	hint := "ouro-timer notify --list shows them; one more is [channels." + visible(name) + "] in " + s.configPath()
	known := s.channelNames()
	if slices.Contains(known, name) {
		return usage("--notify: "+told.Text, "ouro-timer notify --list shows what each channel is")
	}
	if near := nearest(name, known); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return usage("--notify: "+told.Text, hint)
}

// channelNames are the channels a task can name, sorted.
func (s *session) channelNames() []string {
	names := slices.Clone(notify.Standing)
	if config, err := s.settings(); err == nil {
		for name := range config.Channels {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// configPath is where the settings are, for people.
func (s *session) configPath() string {
	home, err := s.home()
	if err != nil {
		return "config.toml"
	}
	return filepath.Join(home, "config.toml")
}

// tokenPaths are hosts whose URLs are passwords: whoever has one can write there.
var tokenPaths = []string{"hooks.slack.com", "discord.com", "discordapp.com", "webhook.office.com", "api.telegram.org", "chat.googleapis.com", "maker.ifttt.com"}

// secretWords are found in the names of what a URL's query keeps secret.
var secretWords = []string{"token", "key", "secret", "pass", "pwd", "auth", "sig", "credential"}

// checkURL refuses a URL that holds secrets, which have no place in a task's file, and one that cannot be understood.
func (s *session) checkURL(flag, word string) error {
	if notify.HasControl(word) || !utf8.ValidString(word) || strings.ContainsAny(word, " \t") {
		return usage(flag+" "+quote(notify.Redact(word))+" has a space or a control character in it", "write it as https://host/path")
	}
	scheme := schemeOf(word)
	name, kind := "", scheme
	switch scheme {
	case "":
		return usage(flag+" "+quote(word)+" has no scheme in front", "write it as https://host/path")
	case "http", "https":
		u, err := url.Parse(word)
		if err != nil || u.Hostname() == "" {
			return usage(flag+" "+quote(notify.Redact(word))+" cannot be understood", "write it as https://host/path")
		}
		if !hasSecrets(u) {
			return nil
		}
		name, kind = "hook", "the web"
	case "mailto":
		c, err := notify.Find(word, nil)
		if err == nil {
			_, err = notify.Address(c.To)
		}
		if err != nil {
			return usage(flag+" "+quote(notify.Redact(word))+": "+err.Error(), "write it as --notify mailto:bob@example.org, or --notify email:bob@example.org")
		}
		return nil
	default:
		name, _, _ = strings.Cut(scheme, "+")
		if kind = name; !slices.Contains(notify.Schemes(), name) {
			return usage(flag+": there is no service "+quote(name)+" ("+notify.Redact(word)+")", "a webhook is https://host/path; the services are "+strings.Join(notify.Schemes(), ", "))
		}
	}
	return &failure{exit: exitUsage, code: "not_allowed",
		message: flag + ": a URL of " + visible(kind) + " holds secrets (" + notify.Redact(word) + "), which do not belong into a task",
		hint:    "name a channel instead: write [channels." + visible(name) + "] and below it url = \"…\" into " + s.configPath() + " (chmod 600 it), and give --notify " + visible(name)}
}

// hasSecrets reports whether a URL of the web has a password, or what looks like one.
func hasSecrets(u *url.URL) bool {
	if u.User != nil {
		return true
	}
	for name := range u.Query() {
		name = strings.ToLower(name)
		if slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) }) {
			return true
		}
	}
	host := strings.ToLower(u.Hostname())
	return slices.ContainsFunc(tokenPaths, func(known string) bool { return host == known || strings.HasSuffix(host, "."+known) })
}

// channelName is a channel's word as it is shown: a URL without what may be secret.
func channelName(word string) string {
	if schemeOf(word) != "" {
		return notify.Redact(word)
	}
	return visible(word)
}

// channelList is a row of channels in a sentence: desktop, ops and mail.
func channelList(words []string) string {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = channelName(w)
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
