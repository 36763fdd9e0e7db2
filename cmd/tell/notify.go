// Package tell has the command notify, which tells somebody now.
package tell

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// NotifyCommand is the command notify.
func NotifyCommand() cli.Command {
	return cli.Command{
		Name: "notify", Args: "[<body>...]", Short: "tell somebody now, through a channel",
		Long: `
Sends the body through each of the channels at once. Without a body, or with "-", it is read from standard input. A
channel is a name in config.toml; desktop, terminal or email, which need no entry there; or a URL: https://... is a
webhook, mailto:bob@example.org is email, and ntfy://, slack://, discord://, telegram:// and others are services. Without
--channel it is email when there is a --to, else the channels that [notify] default in config.toml names, else desktop.

Email goes by Resend with RESEND_API_KEY and NOTIFY_EMAIL_FROM, from the environment, config.toml or ~/.ouro/config,
or by the SMTP server of the channel in config.toml. A webhook and email are tried up to three times if the fault may
be temporary.

Exit codes: 0 all were told; 1 one was not, and the answer says why; 2 the call is wrong, and nobody was told.
docs/notify.md has the channels, what each gets, and how a receiver knows that a message is genuine.`,
		Examples: []string{
			`ouro-timer notify "the build is done"`,
			`ouro-timer notify --to bob@example.org --subject "Report" --html < report.html`,
			`ouro-timer notify --channel ops --channel ntfy://ntfy.sh/my-topic --json "disk is full"`,
			`ouro-timer notify --test`,
			`ouro-timer notify --list`,
		},
		Arguments: []option.Argument{{Name: "body", Kind: option.Text, Many: true}},
		Options: option.Rows{
			option.Option{Name: "channel", Aliases: []string{"c"}, Kind: option.Channel, Many: true,
				Help: "tell through CHANNEL: a name, NAME:RECIPIENT or a URL; may be repeated"},
			option.Option{Name: "to", Kind: option.Text, Value: "RECIPIENT", Many: true,
				Help: "tell RECIPIENT: an address of email, or a terminal such as /dev/pts/3; may be repeated"},
			option.Option{Name: "subject", Aliases: []string{"s"}, Kind: option.Text,
				Help: "TEXT on one line (default: the first line of the body)"},
			option.Option{Name: "html", Kind: option.Flag, Help: "the body is HTML; those who take none get its text"},
			option.Option{Name: "timeout", Kind: option.Duration, Default: cli.SpanText(timeoutDefault),
				Help: "give up after DURATION, all tries included, at most 1h; left out, longer if a channel in config.toml says so"},
			option.Option{Name: "test", Kind: option.Flag,
				Help: "send a test message to each channel of config.toml (to the desktop when it has none), or to those named"},
			option.Option{Name: "list", Kind: option.Flag,
				Help: "tell nobody: list the channels, and why one is not ready"},
			cli.DryFlag.WithHelp("tell nobody: say what would be sent where"),
			cli.QuietFlag.WithHelp("print the answer alone"), cli.JSONFlag, cli.FieldsFlag,
		},
		Answers: []cli.Shape{
			{Name: "notify", Of: notifyJSON{}, Given: "!list !dry-run", Means: "who was told"},
			{Name: "notify-list", Of: channelsJSON{}, Given: "list", Means: "--list: the channels"},
			{Name: "notify-dry-run", Of: previewJSON{}, Given: "dry-run !list",
				Means: "--dry-run: what would be sent where"},
		},
		Run: runNotify,
	}
}

// DesktopCommand is what this program starts to show a notification; see package notify.
func DesktopCommand() cli.Command {
	return cli.Command{
		Name: notify.DesktopCommand, Short: "show the notification that standard input describes, for our own use",
		Hidden: true,
		Run:    func(_ context.Context, s *cli.Call) error { return notify.ShowDesktop(s.In) },
	}
}

// delivery is a message and the channel through which it goes.
type delivery struct {
	channel state.Channel
	message notify.Message
}

// notifyOptions is a call of notify, with all its words and options read.
type notifyOptions struct {
	deliveries []delivery
	env        notify.Env
	timeout    time.Duration
}

const (
	timeoutDefault = 30 * time.Second
	timeoutMost    = time.Hour // as for a channel of config.toml
	deliveriesMost = 100       // channels times recipients
)

func runNotify(ctx context.Context, s *cli.Call) error {
	if s.Opt.Bool("list") {
		return listChannels(s)
	}
	o, err := readNotify(ctx, s)
	if err != nil {
		return err
	}
	if s.DryRun {
		s.DryRun = false // its answer says that nothing was sent
		return answerPreview(s, o)
	}
	return sendAll(ctx, s, o)
}

// readNotify reads the call, and refuses deliveries that can never succeed.
func readNotify(ctx context.Context, s *cli.Call) (o notifyOptions, err error) {
	if o.env, err = handover.NotifyEnv(s); err != nil {
		return o, err
	}
	channels, err := notifyChannels(s)
	if err != nil {
		return o, err
	}
	recipients := s.Opt.List("to")
	if len(recipients) > 0 && !slices.ContainsFunc(channels,
		func(c state.Channel) bool { return notify.TakesRecipient(c.Type) }) {
		return o, problem.Of(problem.T("%s names a recipient, and %s takes none", problem.Option("to"),
			channels[0].Name), problem.T("leave it out, or add %s", problem.Set("channel", "email")))
	}
	if err := readBound(s, channels, &o); err != nil {
		return o, err
	}
	m, err := notifyMessage(ctx, s, o.timeout)
	if err != nil {
		return o, err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	m.ID = "notify-" + hex.EncodeToString(random[:])
	for _, c := range channels {
		to := recipients
		if len(to) == 0 || !notify.TakesRecipient(c.Type) {
			to = []string{""}
		}
		for _, one := range to {
			t := delivery{c, m}
			if t.message.To = one; c.To != "" && one != "" {
				t.channel.To = ""
			}
			if s.Opt.Bool("test") {
				t.message = testMessage(s, t)
			}
			if err := checkRecipient(t); err != nil {
				return o, err
			}
			o.deliveries = append(o.deliveries, t)
		}
	}
	if len(o.deliveries) > deliveriesMost {
		return o, problem.Of(problem.T("%d channels and recipients are more than %d", len(o.deliveries),
			deliveriesMost), problem.T("call notify more than once"))
	}
	return o, nil
}

// readBound reads how long the call may take: --timeout, or else the longest timeout of a channel
// in config.toml, and never longer than OURO_MAX. There is no continuation, because a second call
// could notify somebody twice.
func readBound(s *cli.Call, channels []state.Channel, o *notifyOptions) error {
	if err := readTimeout(s.Opt, channels, o); err != nil {
		return err
	}
	most, err := cli.Bound(s)
	if most > 0 {
		o.timeout = min(o.timeout, most)
	}
	return err
}

// readTimeout reads --timeout, or takes the longest timeout of the channels.
func readTimeout(given option.Values, channels []state.Channel, o *notifyOptions) error {
	o.timeout = timeoutDefault
	if !given.Has("timeout") {
		for _, c := range channels {
			if d, err := state.ParseTimeout(c.Timeout); err == nil {
				o.timeout = max(o.timeout, d)
			}
		}
		return nil
	}
	d, err := tasks.Duration(given.Text("timeout"))
	if err != nil {
		return cli.Explain(err).About(problem.Option("timeout")).Advising(problem.T("write it as in %s",
			problem.Set("timeout", "30s")))
	}
	if d <= 0 {
		return problem.Of(problem.T("%s is %s", problem.Option("timeout"), cli.Quote(given.Text("timeout"))),
			problem.T("give more than 0, such as 30s"))
	}
	if d > timeoutMost {
		return problem.Of(problem.T("%s is %s, and a call takes at most an hour", problem.Option("timeout"),
			cli.Quote(given.Text("timeout"))),
			problem.T("write it as in %s; to try for longer, schedule it: %s",
				problem.Set("timeout", "30s"), problem.To("at", "now").With("task", "TEXT")))
	}
	o.timeout = d
	return nil
}

// checkRecipient refuses a recipient that no channel of the type can have, and an email without a
// body.
func checkRecipient(t delivery) error {
	to := cmp.Or(t.message.To, t.channel.To)
	switch {
	case notify.HasControl(to):
		return problem.Of(problem.T("the recipient %s has a control character in it", cli.Quote(to)),
			problem.T("write it on one line, such as bob@example.org"))
	case t.channel.Type == notify.Email && to == "":
		return problem.Of(problem.T("email has no recipient"),
			problem.T(`add %s, or to = "bob@example.org" under [channels.%s] in config.toml`,
				problem.Set("to", "bob@example.org"), t.channel.Name))
	case t.channel.Type == notify.Email:
		if _, err := notify.Address(to); err != nil {
			return problem.Of(problem.T(err.Error()), problem.T("give one address for each %s", problem.Option("to")))
		}
		if strings.TrimSpace(t.message.Body) == "" {
			return problem.Of(problem.T("an email without a body is not sent"),
				problem.T("give a body, or see why the program that writes it writes nothing"))
		}
	case t.channel.Type == notify.TTY && to != "":
		// A terminal that is closed is not refused here, so that the other channels are still
		// tried.
		var e *notify.Error
		if err := notify.CheckTerminal(to); errors.As(err, &e) && e.Permanent {
			return problem.Of(problem.T(err.Error()), problem.T("leave the recipient out to tell all your terminals"))
		}
	}
	return nil
}

// notifyChannels returns the channels of the call, with their settings.
func notifyChannels(s *cli.Call) (list []state.Channel, err error) {
	config, err := s.Settings()
	if err != nil {
		return nil, err
	}
	words := s.Opt.List("channel")
	switch {
	case len(words) > 0:
	case s.Opt.Bool("test"):
		words = slices.Sorted(maps.Keys(config.Channels))
		// Without notify.default, the desktop is tested only if config.toml has no channel: a
		// server has no desktop.
		others := config.Notify.Default
		if len(words) == 0 {
			others = defaultChannels(config)
		}
		for _, word := range others {
			if name, _, _ := strings.Cut(word, ":"); !slices.Contains(words, name) {
				words = append(words, word)
			}
		}
	case s.Opt.Has("to"):
		words = []string{notify.Email}
	default:
		words = defaultChannels(config)
	}
	for i, word := range words {
		if slices.Contains(words[:i], word) {
			continue
		}
		c, err := notify.Find(word, config.Channels)
		if err != nil {
			return nil, problem.Of(problem.T(err.Error()), problem.T("%s shows the channels", listCall()))
		}
		if !slices.Contains([]string{notify.Desktop, notify.TTY, notify.Email, notify.Webhook, notify.Exec,
			notify.Heartbeat}, c.Type) {
			if err := notify.CheckService(c.URL); err != nil {
				return nil, problem.Of(problem.T(err.Error()),
					problem.T("docs/notify.md shows the URL of each service"))
			}
		}
		list = append(list, c)
	}
	switch {
	case len(list) > 0:
		return list, nil
	case s.Opt.Bool("test"):
		return nil,
			problem.Of(problem.T("there is no channel to test: config.toml has none, and its notify.default is empty"),
				problem.T("name one, as in %s", problem.To("notify").With("test", true).With("channel", "desktop")))
	}
	return nil, problem.Of(problem.T("there is no channel to tell: notify.default in config.toml is empty"),
		problem.T("name one: %s, or %s", problem.To("notify").With("channel",
			"desktop").Saying("the build is done"), problem.Set("to", "bob@example.org")))
}

// listCall is the call that lists the channels.
func listCall() problem.Call { return problem.To("notify").With("list", true) }

// defaultChannels are the channels of a call that names none.
func defaultChannels(config state.Config) []string {
	if config.Notify.Default != nil {
		return config.Notify.Default
	}
	return []string{notify.Desktop}
}

// notifyMessage reads the subject and the body. It waits for standard input until limit is over.
func notifyMessage(ctx context.Context, s *cli.Call, limit time.Duration) (m notify.Message, err error) {
	m.Subject, m.HTML = s.Opt.Text("subject"), s.Opt.Bool("html")
	if notify.HasControl(m.Subject) {
		return m, problem.Of(problem.T("%s has a control character in it, such as a line break",
			problem.Option("subject")), problem.T("a subject is one line; what is longer is the body"))
	}
	if len(m.Subject) > notify.SubjectLimit {
		return m, problem.Of(problem.T("%s has %d bytes, more than the %d of a line of email",
			problem.Option("subject"), len(m.Subject), notify.SubjectLimit),
			problem.T("a subject is a few words; what is longer is the body"))
	}
	if s.Opt.Bool("test") {
		if len(s.Args) > 0 || s.Opt.Has("subject") || s.Opt.Has("html") {
			return m, problem.Of(problem.T("%s has a message of its own", problem.Option("test")),
				problem.T("leave out the body, %s", problem.Options(" and ", "subject", "html")))
		}
		return m, nil
	}
	switch {
	case len(s.Args) == 1 && s.Args[0] == "-" && cli.HasInput(s), len(s.Args) == 0 && !cli.IsTerminal(s.In):
		data, err := readBody(ctx, s, limit)
		if err != nil {
			return m, err
		}
		m.Body = strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	default:
		m.Body = strings.Join(s.Args, " ")
	}
	switch {
	case len(m.Body) > notify.BodyLimit:
		return m, problem.New(problem.Limit, problem.T("the body has more than %d bytes", notify.BodyLimit),
			problem.T("send its path instead, or a part of it: head -c 100000 FILE | %s", problem.To("notify")))
	case !utf8.ValidString(m.Body):
		return m, problem.Of(problem.T("the body is not valid UTF-8"), problem.NotText)
	case strings.TrimSpace(m.Body) == "" && strings.TrimSpace(m.Subject) == "":
		return m, problem.Of(problem.T("there is no body and no subject"),
			problem.T("give a body: %s", problem.To("notify", "the build is done")))
	}
	return m, nil
}

// testMessage is the message of --test.
func testMessage(s *cli.Call, t delivery) notify.Message {
	m := t.message
	m.Subject = "Test of ouro-timer"
	m.Body = fmt.Sprintf("This is a test of the channel %s, sent at %s. Nothing needs to be done.",
		t.channel.Name, s.Stamp().Format(time.RFC3339))
	return m
}

// readBody reads standard input to its end, or until limit is over, because some callers never
// close the pipe.
func readBody(ctx context.Context, s *cli.Call, limit time.Duration) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// A body of BodyLimit may have a line end, which is cut off later.
	data, err := cli.ReadInput(limited, s, "-", notify.BodyLimit+2)
	switch {
	case err == nil, ctx.Err() != nil:
		return data, err
	case limited.Err() != nil:
		return nil, problem.Of(problem.T("standard input did not end within %v, and there is no other body",
			limit), problem.T("give the body as an argument, or close standard input: </dev/null"))
	}
	return nil, problem.New(problem.Failed, problem.T("the body could not be read from standard input: %v", err),
		problem.Text{})
}
