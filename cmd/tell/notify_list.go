package tell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state/settings"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// listedChannel is a channel as notify --list shows it.
type listedChannel struct {
	Channel string   `json:"channel"`
	Type    string   `json:"type"`
	Target  string   `json:"target" jsonschema:"without secrets"`
	To      *string  `json:"to,omitempty"`
	Source  string   `json:"source" jsonschema:"config or built in"`
	Line    *int     `json:"line,omitempty" jsonschema:"of config.toml"`
	Default bool     `json:"default,omitempty"`
	Uses    []string `json:"uses,omitempty" jsonschema:"where its settings come from"`
	Ready   bool     `json:"ready"`
	Problem *string  `json:"problem,omitempty"`
}

// channelsJSON is the answer of notify --list.
type channelsJSON struct {
	Now      time.Time       `json:"now"`
	Total    int             `json:"total"`
	More     int             `json:"more"`
	Channels []listedChannel `json:"channels"`
	Services []string        `json:"services,omitempty"`
}

// listChannels answers notify --list with the channels of config.toml, and those that need no
// entry.
func listChannels(s *cli.Call) error {
	for _, flag := range []string{"channel", "to", "subject", "html", "timeout", "test", "dry-run"} {
		if s.Opt.Has(flag) {
			return cli.CallInstead(problem.T("%s lists all channels and tells nobody, so it takes no %s",
				problem.Option("list"), problem.Option(flag)), listCall())
		}
	}
	if len(s.Args) > 0 {
		return cli.CallInstead(problem.T("%s tells nobody, so it takes no body", problem.Option("list")), listCall())
	}
	config, err := s.Settings()
	if err != nil {
		return err
	}
	home, err := s.Home()
	if err != nil {
		return err
	}
	r, err := settings.Read(home)
	if err != nil {
		return err
	}
	env, err := handover.NotifyEnv(s)
	if err != nil {
		return err
	}
	names := slices.Clone(notify.BuiltIn)
	for name := range config.Channels {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names[len(notify.BuiltIn):])
	rows := []listedChannel{}
	for _, name := range names {
		c, err := notify.Find(name, config.Channels)
		row := listedChannel{Channel: name, Type: c.Type, Source: "built in", Uses: []string{}}
		if _, configured := config.Channels[name]; configured {
			line := r.Lines["channels."+name]
			row.Source, row.Line = "config", &line
		}
		row.Default = slices.ContainsFunc(defaultChannels(config), func(word string) bool {
			called, _, _ := strings.Cut(word, ":")
			return called == name
		})
		row.Target, row.To = notify.Target(c), cli.OrNull(c.To)
		if err == nil {
			row.Uses, err = notify.Ready(c, env)
			row.Uses = append([]string{}, row.Uses...)
		}
		if row.Ready = err == nil; err != nil {
			row.Problem = cli.OrNull(err.Error())
		}
		rows = append(rows, row)
	}
	s.Answer(channelsJSON{s.Stamp(), len(rows), 0, rows, notify.Schemes()})
	return nil
}

// Text writes the channels as a table, or as fields for a pipe.
func (a channelsJSON) Text(o *cli.Out) {
	if _, terminal := o.Width(); !terminal {
		for _, row := range a.Channels {
			o.Line("%s\t%s\t%s\t%s\t%s\t%s", row.Channel, row.Type, cli.Visible(row.where()), row.from(),
				row.defaultField(), cli.Visible(row.state()))
		}
		return
	}
	rows := [][]string{{"CHANNEL", "TYPE", "TO", "FROM", "STATE"}}
	for _, row := range a.Channels {
		text := row.state()
		if row.Default {
			text = "default, " + text
		}
		rows = append(rows, []string{row.Channel, row.Type, cli.Visible(row.where()), row.from(), cli.Visible(text)})
	}
	for _, line := range cli.InColumns(rows) {
		o.Line("%s", line)
	}
	o.Line("\nA URL is a channel too: https://…, mailto:…, and the services %s.", strings.Join(a.Services, ", "))
}

// where is the recipient, and the server or program through which a message goes.
func (c listedChannel) where() string {
	if c.To == nil || *c.To == c.Target {
		return c.Target
	}
	return *c.To + " by " + c.Target
}

func (c listedChannel) from() string {
	if c.Line != nil {
		return fmt.Sprintf("config.toml line %d", *c.Line)
	}
	return c.Source
}

func (c listedChannel) defaultField() string {
	if c.Default {
		return "default"
	}
	return "-"
}

// state is ready, or why the channel is not.
func (c listedChannel) state() string {
	if c.Problem != nil {
		return *c.Problem
	}
	if len(c.Uses) > 0 {
		return "ready (" + strings.Join(c.Uses, ", ") + ")"
	}
	return "ready"
}

// deliveryPreview is a channel in the answer of notify --dry-run.
type deliveryPreview struct {
	Channel string  `json:"channel"`
	Type    string  `json:"type"`
	Target  string  `json:"target"`
	To      *string `json:"to,omitempty"`
	Subject string  `json:"subject"`
	Bytes   int     `json:"bytes" jsonschema:"of the body"`
	HTML    bool    `json:"html,omitempty"`
	Ready   bool    `json:"ready"`
	Problem *string `json:"problem,omitempty"`
}

// previewJSON is the answer of notify --dry-run.
type previewJSON struct {
	Now      time.Time         `json:"now"`
	DryRun   bool              `json:"dry_run,omitempty"`
	Channels []deliveryPreview `json:"channels"`
}

// answerPreview answers notify --dry-run. The exit code is 1 when a channel is not ready.
func answerPreview(s *cli.Call, o notifyOptions) error {
	rows, ready := []deliveryPreview{}, true
	for _, t := range o.deliveries {
		row := deliveryPreview{Channel: t.channel.Name, Type: t.channel.Type, Target: notify.Target(t.channel),
			To:      cli.OrNull(cmp.Or(t.message.To, t.channel.To)),
			Subject: t.message.Title(), Bytes: len(t.message.Body), HTML: t.message.HTML}
		told := t.channel
		told.To = cmp.Or(t.message.To, told.To)
		_, err := notify.Ready(told, o.env)
		if row.Ready = err == nil; err != nil {
			row.Problem, ready = cli.OrNull(err.Error()), false
		}
		rows = append(rows, row)
	}
	s.Answer(previewJSON{s.Stamp(), true, rows})
	if !ready {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// Text writes who would be told, and what.
func (a previewJSON) Text(o *cli.Out) {
	for _, row := range a.Channels {
		kind := "text"
		if row.HTML {
			kind = "HTML"
		}
		where := listedChannel{Target: row.Target, To: row.To}.where()
		o.Line("Would tell %s: %s, and %s of %s.", cli.Visible(where), cli.Quote(row.Subject),
			cli.Plural(row.Bytes, "byte"), kind)
		if row.Problem != nil {
			o.Warn("%s", cli.Visible(*row.Problem))
		}
	}
}
