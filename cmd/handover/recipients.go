package handover

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// Recipients says who is told about a task, and when.
type Recipients struct {
	Channels   []string // never nil
	Heartbeats []string // what each run pings
	On         string   // empty when the configuration cannot be read
	unwritable error    // why the only channel, a terminal, cannot be written now; nil when it can
}

// RecipientsOf returns the recipients of a task, by the rule of the runner and the present
// configuration.
func RecipientsOf(s *cli.Call, t state.Task) Recipients {
	config, err := s.Settings()
	if err != nil {
		return Recipients{Channels: cli.OrEmpty(t.Policy.Notify)}
	}
	defaults := rules.TellDefaults{Channels: config.Notify.Default, On: config.Notify.On, Beats: config.Heartbeats()}
	channels, on := rules.Telling(t, defaults)
	if on == state.NotifyNever {
		channels = nil
	}
	told := Recipients{Channels: cli.OrEmpty(channels), Heartbeats: rules.BeatsOf(t, defaults), On: on}
	if len(channels) == 1 && TerminalOf(channels[0]) != "" {
		c, err := notify.Find(channels[0], config.Channels)
		if err == nil {
			_, err = notify.Ready(c, notify.Env{Getenv: s.Getenv})
		}
		told.unwritable = err
	}
	return told
}

// All returns the channels and the heartbeats; never nil.
func (told Recipients) All() []string {
	return append(cli.OrEmpty(slices.Clone(told.Channels)), told.Heartbeats...)
}

// TerminalOf returns the device of a channel that is a single terminal; empty for other channels.
func TerminalOf(channel string) string {
	device, ok := strings.CutPrefix(channel, notify.TTY+":")
	if !ok || !strings.HasPrefix(device, "/") {
		return ""
	}
	return device
}

// nobodyTold returns the warning about a message that reaches nobody.
func nobodyTold() cli.Warning {
	return cli.Warning{Kind: cli.WarnTold,
		Text: problem.T("nobody is told when it is due: it waits in the inbox (%s); give a channel, such as %s",
			problem.To("inbox").With("wait", true), problem.Set("notify", "desktop"))}
}

// Unready returns why channels would not deliver now, as far as this process can tell. The runner
// delivers, so its variables count where the system shows them (Linux), and not those of the
// caller.
func Unready(s *cli.Call, told Recipients, h RunnerState) (warnings []cli.Warning) {
	config, err := s.Settings()
	// the text of the answer says already that a terminal is unwritable
	if err != nil || len(told.Channels)+len(told.Heartbeats) == 0 || told.unwritable != nil && !s.InJSON && !s.Quiet {
		return nil
	}
	env, err := NotifyEnv(s)
	if err != nil {
		return nil
	}
	own := env
	if getenv := environOf(h); getenv != nil {
		env.Getenv = getenv
	}
	for _, word := range told.All() {
		c, err := notify.Find(word, config.Channels)
		if err == nil {
			_, err = notify.Ready(c, env)
		}
		if err == nil {
			continue
		}
		text := problem.T("nobody could be told by %s now: %s", cli.ChannelName(word), cli.Explain(err).Message)
		if _, here := notify.Ready(c, own); here == nil {
			text = problem.T("the runner (pid %d) could tell nobody by %s: %s; it does not have the variables of this call: call %s, then %s, or write them into config.toml",
				h.Pid, cli.ChannelName(word), cli.Explain(err).Message, problem.To("run").With("stop", true),
				problem.To("run").With("background", true))
		}
		warnings = append(warnings, cli.Warning{Kind: cli.WarnUnready + cli.WarningKind(word), Text: text})
	}
	return warnings
}

// environOf returns the variables of a living runner; nil when they cannot be read.
func environOf(h RunnerState) func(string) string {
	if h.Runner != RunnerAlive {
		return nil
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", h.Pid))
	if err != nil {
		return nil
	}
	vars := map[string]string{}
	for _, pair := range strings.Split(string(data), "\x00") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			vars[name] = value
		}
	}
	return func(name string) string { return vars[name] }
}

// Warnings says that nobody would be told although somebody should be. A command whose news go to
// the inbox alone gets no warning, unless the call says when to tell.
func (told Recipients) Warnings(t state.Task) []cli.Warning {
	switch {
	case len(told.Channels) > 0, told.On == state.NotifyNever, told.On == "":
		return nil
	case t.Told():
		return []cli.Warning{nobodyTold()}
	case t.Policy.NotifyOn != "":
		on := strings.Replace(t.Policy.NotifyOn, state.NotifyAlways, "any outcome", 1)
		return []cli.Warning{{Kind: cli.WarnChannels + cli.WarningKind(on),
			Text: problem.T("nobody is told on %s, because there is no channel; give one, such as %s", on,
				problem.Set("notify", "desktop"))}}
	}
	return nil
}

// Sentence says who will be told, and when, and what is pinged. program is the name of this
// program.
func (told Recipients) Sentence(t state.Task, program string) string {
	text := told.summary(t, program)
	if len(told.Heartbeats) > 0 {
		text += " Each run pings " + channelList(told.Heartbeats) + "."
	}
	return text
}

// summary says who will be told, and when.
func (told Recipients) summary(t state.Task, program string) string {
	who := channelList(told.Channels)
	if t.Told() {
		switch {
		case told.On == state.NotifyNever:
			return "Nobody is told of it, as --notify-on never says; it will wait in the inbox."
		case len(told.Channels) == 0:
			return "It will wait in the inbox (" + program + " inbox)."
		case told.unwritable != nil:
			return "It will wait in the inbox: this terminal (" + TerminalOf(told.Channels[0]) +
				") cannot be written to now: " + told.unwritable.Error() + "."
		case len(told.Channels) == 1 && TerminalOf(told.Channels[0]) != "":
			return "It will be told on this terminal (" + TerminalOf(told.Channels[0]) + ") and wait in the inbox."
		}
		return "It will be told by " + who + ", and wait in the inbox."
	}
	switch untold := told.On == state.NotifyNever || len(told.Channels) == 0; {
	case untold && t.Type() == state.TypeAgent:
		return "Failures go to the inbox."
	case untold:
		return "Failures and output go to the inbox."
	}
	return told.news() + " to " + who + "."
}

// news says what is told of a command, at the beginning of a sentence.
func (told Recipients) news() string {
	switch told.On {
	case state.NotifyAlways:
		return "Each outcome goes"
	case state.NotifyFailure:
		return "The first failure in a row and the recovery go"
	case state.NotifyChange:
		return "Failures and changed output go"
	case state.NotifyRecovery:
		return "Recoveries go"
	}
	return "Failures and output go"
}

// Short says who is told, and when, in a few words for a list.
func (told Recipients) Short(t state.Task) string {
	text := "the inbox alone"
	if len(told.Channels) > 0 {
		if text = channelList(told.Channels); !t.Told() {
			text += " (on " + strings.Replace(told.On, state.NotifyAlways, "each outcome", 1) + ")"
		}
	}
	if len(told.Heartbeats) > 0 {
		text += "; each run pings " + channelList(told.Heartbeats)
	}
	return text
}

// NotifyEnv returns the part of the world that sending needs.
func NotifyEnv(s *cli.Call) (notify.Env, error) {
	// The path and not /proc/self/exe, because the child gets it as its name.
	self, err := os.Executable()
	if err == nil {
		_, err = os.Stat(self)
	}
	if err != nil {
		if self, err = proc.Executable(); err != nil {
			return notify.Env{}, err
		}
	}
	return notify.Env{
		Getenv: s.Getenv, Environ: s.Environ, Homes: familyHomes(s), Self: self,
		Terminal: cli.TerminalDevice(s.World), Now: s.Clock.Now,
		Proxy:     http.ProxyFromEnvironment,
		LookPath:  func(name string) (string, error) { return proc.LookPath(name, s.Getenv("PATH"), "") },
		Elsewhere: func(argv []string) (string, []string, bool) { return proc.ViaFinder(argv, s.Getenv("PATH")) },
	}, nil
}

// familyHomes returns the folders of the settings of the ouro family: that of OURO_HOME, then that
// of the user. So a state folder elsewhere does not hide the settings that the family shares.
func familyHomes(s *cli.Call) (list []string) {
	if home, err := s.Home(); err == nil {
		list = append(list, home)
	}
	at := *s
	at.Getenv = func(name string) string {
		if name == "OURO_HOME" {
			return ""
		}
		return s.Getenv(name)
	}
	if home, err := at.Home(); err == nil && !slices.Contains(list, home) {
		list = append(list, home)
	}
	return list
}

// channelList joins channels for a sentence: desktop, ops and mail.
func channelList(words []string) string {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = cli.ChannelName(w)
	}
	return plain.List(names, "and")
}
