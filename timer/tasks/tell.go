package tasks

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

const (
	maxChannels = 20  // per task
	maxPrefix   = 200 // bytes
)

// tell decides who is told about the task, and when. It refuses what would tell nobody or reveal a
// secret. Notify names all recipients, except for the Webhook of the same request. Webhook alone
// replaces only the web URLs of the task.
func (c telling) tell() error {
	t, p := &c.Task, &c.Task.Policy
	if c.Notify != nil || c.Webhook != nil {
		list, err := c.tellList()
		if err != nil {
			return err
		}
		p.Notify = list
	}
	set(&p.NotifyOn, c.NotifyOn)
	if c.Prefix != nil {
		p.Prefix = *c.Prefix
		p.NoPrefix = p.Prefix == ""
		switch {
		case notify.HasControl(p.Prefix):
			return problem.Of(problem.T("%s has a control character in it", problem.Option("prefix")), problem.T("it stands in front of a subject, which is one line; leave it out"))
		case len(p.Prefix) > maxPrefix:
			return problem.Of(problem.T("%s takes %d bytes at most", problem.Option("prefix"), maxPrefix), problem.T("give a few words, such as %s", problem.Set("prefix", "[backup] ")))
		}
	}
	row := policyRow{"notify-on", "", true, problem.T("a message has no output and cannot fail; give always (the default) or never")}
	switch {
	case t.Type() == state.TypeAgent && (p.NotifyOn == state.NotifyOutput || p.NotifyOn == state.NotifyChange):
		row.hint = problem.T("an agent answers, and has no output; give always, failure, recovery or never")
	case !t.Told() || p.NotifyOn == "" || p.NotifyOn == state.NotifyAlways || p.NotifyOn == state.NotifyNever:
		return nil
	}
	return c.noEffect(row, problem.Set("notify-on", p.NotifyOn))
}

// Channels returns the channels that words name, each once. It refuses what is not a channel or
// holds a secret, as for a task.
func Channels(settings func() (state.Config, error), file func() string, words []string) ([]string, error) {
	return telling{&Change{World: World{Settings: settings, File: file}, Spec: Spec{Notify: words}}}.tellList()
}

// tellList returns who is told about the task: the words of the request, each checked. The list of
// a task replaces that of the config. So a web hook alone must be joined by those who would be told
// anyway.
func (c telling) tellList() ([]string, error) {
	var list []string
	add := func(word string, err error) error {
		if err == nil && !slices.Contains(list, word) {
			list = append(list, word)
		}
		return err
	}
	for _, word := range c.Notify {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		if err := add(word, c.checkChannel(word)); err != nil {
			return nil, err
		}
	}
	var hooks []string
	for _, word := range c.Webhook {
		if word = strings.TrimSpace(word); word != "" {
			hooks = append(hooks, word)
		}
	}
	if len(list) == 0 && c.Webhook != nil {
		others, err := c.otherRecipients(len(hooks) > 0)
		if err != nil {
			return nil, err
		}
		list = others
	}
	for _, word := range hooks {
		if scheme := notify.SchemeOf(word); scheme != "http" && scheme != "https" {
			return nil, problem.Of(problem.T("%s %s is not a URL of the web", problem.Option("webhook"), plain.Quote(notify.Redact(word))),
				problem.T("write it as https://host/path; other channels are given with %s", problem.Option("notify")))
		}
		if err := add(word, c.checkURL("webhook", word)); err != nil {
			return nil, err
		}
	}
	if len(list) > maxChannels {
		return nil, problem.Of(problem.T("a task tells by %d channels at most", maxChannels), problem.T("let one exec channel of config.toml tell the others"))
	}
	return list, nil
}

// otherRecipients returns who is told about the task without its web URLs: those whom it names
// itself, or else, with standing, those of the config and the terminal on which it was made. An
// empty Notify removes those whom it names.
func (c telling) otherRecipients(standing bool) (list []string, err error) {
	t := c.Task
	if c.Notify != nil {
		t.Policy.Notify = nil
	}
	for _, word := range t.Policy.Notify {
		if scheme := notify.SchemeOf(word); scheme != "http" && scheme != "https" {
			list = append(list, word)
		}
	}
	if len(list) > 0 || !standing {
		return list, nil
	}
	config, err := c.Settings()
	if err != nil {
		return nil, err
	}
	t.Policy.Notify = nil
	list, _ = rules.Telling(t, rules.TellDefaults{Channels: config.Notify.Default, On: config.Notify.On, Beats: config.Heartbeats()})
	return list, nil
}

// checkChannel refuses what is not a channel, or one that a task must not name.
func (c telling) checkChannel(word string) error {
	if notify.SchemeOf(word) != "" {
		return c.checkURL("notify", word)
	}
	said := problem.T("%s %s", problem.Option("notify"), plain.Quote(word))
	if notify.HasControl(word) {
		return problem.Of(problem.T("%s has a control character in it", said), problem.T("give the name of a channel, such as desktop"))
	}
	config, err := c.Settings()
	if err != nil {
		return err
	}
	name, to, given := strings.Cut(word, ":")
	plain, personal := problem.Set("notify", name), problem.Set("notify", name+":bob@example.org")
	if given && strings.TrimSpace(to) == "" {
		return problem.Of(problem.T("%s names no recipient after the colon", said), problem.T("write %s, or %s", plain, personal))
	}
	channel, err := notify.Find(word, config.Channels)
	if err != nil {
		return c.noChannel(config, name, err)
	}
	switch {
	case channel.Type == notify.Email && given:
		if _, err := notify.Address(to); err != nil {
			return problem.Of(problem.T("%s: %s", said, err), problem.T("write it as %s", personal))
		}
	case channel.Type == notify.TTY && given:
		if err := notify.CheckTerminal(to); err != nil {
			return problem.Of(problem.T("%s: %s", said, err), problem.T("tty(1) names the one it is called on; %s tells all that take messages", plain))
		}
	case given && !notify.TakesRecipient(channel.Type):
		return problem.Of(problem.T("channel %s takes no recipient", name), problem.T("write %s", plain))
	case notify.NeedsRecipient(channel):
		return problem.Of(problem.T("%s does not say who is told", plain), problem.T("write %s", personal))
	}
	return nil
}

// noChannel returns the refusal of a name that is not a channel, or of a channel for which
// config.toml lacks something.
func (c telling) noChannel(config state.Config, name string, err error) error {
	var told *notify.Error
	if !errors.As(err, &told) {
		return err
	}
	known, list := notify.Names(config.Channels), problem.To("notify").With("list", true)
	hint := problem.T("%s shows them; one more is [channels.%s] in %s", list, plain.Line(plain.Cut(name, 61)), c.File())
	if name == "inbox" {
		hint = problem.T("leave it out: what nobody is told waits in the inbox")
	} else if slices.Contains(known, name) {
		hint = problem.T("%s shows what each channel is", list)
	} else if near := problem.Nearest(name, known); near != "" {
		hint = problem.T("did you mean %s? %s", near, hint)
	}
	return problem.Of(problem.T("%s: %s", problem.Option("notify"), told.Text), hint)
}

// checkURL refuses a URL that holds secrets, which must not be in the file of a task, and one that
// cannot be understood.
func (c telling) checkURL(by problem.Option, word string) error {
	said, like := problem.T("%s %s", by, plain.Quote(notify.Redact(word))), problem.T("write it as https://host/path")
	if notify.HasControl(word) || !utf8.ValidString(word) || strings.ContainsAny(word, " \t") {
		return problem.Of(problem.T("%s has a space or a control character in it", said), like)
	}
	scheme := notify.SchemeOf(word)
	name, kind := "", scheme
	switch scheme {
	case "":
		return problem.Of(problem.T("%s %s has no scheme in front", by, plain.Quote(word)), like)
	case "http", "https":
		u, err := url.Parse(word)
		if err != nil || u.Hostname() == "" {
			return problem.Of(problem.T("%s cannot be understood", said), like)
		}
		if !notify.HasSecrets(u) {
			return nil
		}
		name, kind = "hook", "the web"
	case "mailto":
		channel, err := notify.Find(word, nil)
		if err == nil {
			_, err = notify.Address(channel.To)
		}
		if err != nil {
			return problem.Of(problem.T("%s: %s", said, err), problem.T("write it as %s, or %s", problem.Set("notify", "mailto:bob@example.org"), problem.Set("notify", "email:bob@example.org")))
		}
		return nil
	default:
		name, _, _ = strings.Cut(scheme, "+")
		if kind = name; notify.CheckScheme(name) != nil {
			return problem.Of(problem.T("%s: there is no service %s (%s)", by, plain.Quote(name), notify.Redact(word)),
				problem.T("a webhook is https://host/path; the services are %s; others are told by apprise: write [channels.%s] and below it %s into %s, and give %s",
					strings.Join(notify.Schemes(), ", "), plain.Line(name), notify.Apprise, c.File(), problem.Set("notify", plain.Line(name))))
		}
	}
	return problem.New(problem.NotAllowed, problem.T("%s: a URL of %s holds secrets (%s), which do not belong into a task", by, plain.Line(kind), notify.Redact(word)),
		problem.T("name a channel instead: write [channels.%s] and below it url = \"…\" into %s (chmod 600 it), and give %s", plain.Line(name), c.File(), problem.Set("notify", plain.Line(name))))
}
