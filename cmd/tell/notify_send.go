package tell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

const (
	notifyTries = 3
	// notifyPatience is the longest pause that a server may ask for within a call.
	notifyPatience = 10 * time.Second
	// The pause before the second try; it is twice as long before the third.
	notifyPause = time.Second
)

// tellingEnd is the result of one channel.
type tellingEnd struct {
	Channel   string  `json:"channel"`
	Type      string  `json:"type"`
	To        *string `json:"to,omitempty"`
	Delivered bool    `json:"delivered"`
	Detail    *string `json:"detail,omitempty"`
	Error     *string `json:"error,omitempty"`
	Permanent bool    `json:"permanent,omitempty" jsonschema:"asking again does not help"`
	Tries     int     `json:"tries"`
	Seconds   float64 `json:"seconds"`

	why string // the error without the name of the channel
}

// notifyJSON is the answer of notify.
type notifyJSON struct {
	Now       time.Time    `json:"now"`
	ID        string       `json:"id"`
	Delivered bool         `json:"delivered"`
	Channels  []tellingEnd `json:"channels"`

	test bool // the call has --test
}

// tellAll tells all channels at once. It answers in the order of the call.
func tellAll(ctx context.Context, s *cli.Call, o notifyOptions) error {
	within, cancel := context.WithTimeoutCause(ctx, o.timeout, errNotifyTime)
	defer cancel()
	rows := make([]tellingEnd, len(o.tellings))
	done := make(chan int)
	for i, t := range o.tellings {
		go func() {
			rows[i] = tellOne(within, t, o)
			done <- i
		}()
	}
	for range o.tellings {
		<-done
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	all := true
	for _, row := range rows {
		all = all && row.Delivered
	}
	s.Answer(notifyJSON{s.Stamp(), o.tellings[0].message.ID, all, rows, s.Opt.Bool("test")})
	if !all {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// Text says of each channel whether it was told, and what to do about the first that was not.
func (a notifyJSON) Text(o *cli.Out) {
	for _, row := range a.Channels {
		switch {
		case row.Delivered && a.test:
			o.Line("%s: %s", cli.Visible(row.Channel), cli.Visible(*row.Detail))
		case row.Delivered:
			o.Line("%s", cli.Visible(*row.Detail))
		case a.test: // the channel is tested, whoever its recipient is
			o.Warn("%s: %s", cli.Visible(row.Channel), cli.Visible(row.why))
		default:
			o.Warn("%s", cli.Visible(*row.Error))
		}
	}
	if !a.Delivered {
		o.WriteError("hint: %s\n", cli.Visible(o.Render(untoldHint(a.Channels))))
	}
}

// untoldHint is what to do about the first channel that could not be told.
func untoldHint(rows []tellingEnd) problem.Text {
	i := slices.IndexFunc(rows, func(row tellingEnd) bool { return !row.Delivered })
	if rows[i].Permanent {
		return problem.T("%s shows the channels, and what stands in their way", theChannels())
	}
	word := rows[i].Channel
	if rows[i].To != nil {
		word += ":" + *rows[i].To
	}
	return problem.T("it may pass: call again; a task is told again until it is: %s",
		problem.To("at", "now").With("task", "TEXT").With("notify", word))
}

var errNotifyTime = errors.New("the time is up")

// tellOne tells one channel. It tries a webhook or email again when the fault may pass.
func tellOne(ctx context.Context, t telling, o notifyOptions) tellingEnd {
	row := tellingEnd{Channel: t.channel.Name, Type: t.channel.Type, To: cli.OrNull(cmp.Or(t.message.To, t.channel.To))}
	begun := clock.System.Boot()
	var last *notify.Error
	for pause := notifyPause; ; pause *= 2 {
		row.Tries++
		detail, err := notify.Send(ctx, t.channel, t.message, o.env)
		if err == nil {
			row.Delivered, row.Detail = true, cli.OrNull(detail)
			break
		}
		var e *notify.Error
		if !errors.As(err, &e) { // the time of the call is up
			e = &notify.Error{Text: fmt.Sprintf("%s was not told within %v", t.channel.Name, o.timeout)}
			if last != nil {
				e.Text += "; before that: " + last.Text
			}
		}
		last, row.Permanent = e, e.Permanent
		again := t.channel.Type == notify.Webhook || t.channel.Type == notify.Email ||
			t.channel.Type == notify.Heartbeat
		if wait := max(e.RetryAfter, pause); !again || e.Permanent || row.Tries == notifyTries ||
			e.RetryAfter > notifyPatience || clock.Awake.For(ctx, wait) != nil {
			break
		}
	}
	if !row.Delivered {
		more := ""
		if last.RetryAfter > notifyPatience {
			more = fmt.Sprintf("; it asks to be left alone for %v", last.RetryAfter)
		}
		if row.Tries > 1 {
			more += fmt.Sprintf(" (%d tries)", row.Tries)
		}
		row.Error, row.why = cli.OrNull(last.Text+more), cmp.Or(last.Bare, last.Text)+more
	}
	row.Seconds = cli.Seconds(clock.System.Boot() - begun)
	return row
}
