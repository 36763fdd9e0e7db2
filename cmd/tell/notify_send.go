package tell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

const (
	triesMost = 3
	// retryAfterMost is the longest pause that a server may ask for. After a longer one there is no
	// further try.
	retryAfterMost = 10 * time.Second
	// firstPause is the pause before the second try. It is twice as long before the third.
	firstPause = time.Second
)

// deliveryResult is the result of one delivery.
type deliveryResult struct {
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
	Now       time.Time        `json:"now"`
	ID        string           `json:"id"`
	Delivered bool             `json:"delivered"`
	Channels  []deliveryResult `json:"channels"`

	test bool // the call has --test
}

// sendAll makes all deliveries at once. Its answer has them in the order of the call.
func sendAll(ctx context.Context, s *cli.Call, o notifyOptions) error {
	within, cancel := context.WithTimeoutCause(ctx, o.timeout, errTimeout)
	defer cancel()
	rows := make([]deliveryResult, len(o.deliveries))
	var sending sync.WaitGroup
	for i, t := range o.deliveries {
		sending.Go(func() { rows[i] = sendOne(within, t, o) })
	}
	sending.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	all := true
	for _, row := range rows {
		all = all && row.Delivered
	}
	s.Answer(notifyJSON{s.Stamp(), o.deliveries[0].message.ID, all, rows, s.Opt.Bool("test")})
	if !all {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// Text writes whether each delivery succeeded, and what to do about the first that did not.
func (a notifyJSON) Text(o *cli.Out) {
	for _, row := range a.Channels {
		switch {
		case row.Delivered && a.test:
			o.Line("%s: %s", cli.Visible(row.Channel), cli.Visible(*row.Detail))
		case row.Delivered:
			o.Line("%s", cli.Visible(*row.Detail))
		case a.test: // a test names the channel and not its recipient
			o.Warn("%s: %s", cli.Visible(row.Channel), cli.Visible(row.why))
		case row.To != nil && len(a.Channels) > 1: // one channel may have several recipients
			o.Warn("%s: %s", cli.Visible(*row.To), cli.Visible(*row.Error))
		default:
			o.Warn("%s", cli.Visible(*row.Error))
		}
	}
	if !a.Delivered {
		o.WriteError("hint: %s\n", cli.Visible(o.Render(failureHint(a.Channels))))
	}
}

// failureHint is what to do about the first delivery that failed.
func failureHint(rows []deliveryResult) problem.Text {
	i := slices.IndexFunc(rows, func(row deliveryResult) bool { return !row.Delivered })
	if rows[i].Permanent {
		return problem.T("mend what the message says; %s shows the channels, and where each is set", listCall())
	}
	word := rows[i].Channel
	if rows[i].To != nil {
		word += ":" + *rows[i].To
	}
	return problem.T("the fault may be temporary: call again, or let a task try until it succeeds: %s",
		problem.To("at", "now").With("task", "TEXT").With("notify", word))
}

var errTimeout = errors.New("the timeout was reached")

// sendOne makes one delivery. It tries a webhook, email or heartbeat again if the fault may be
// temporary.
func sendOne(ctx context.Context, t delivery, o notifyOptions) deliveryResult {
	row := deliveryResult{Channel: t.channel.Name, Type: t.channel.Type, To: cli.OrNull(cmp.Or(t.message.To, t.channel.To))}
	begun := clock.System.Boot()
	var last *notify.Error
	for pause := firstPause; ; pause *= 2 {
		row.Tries++
		detail, err := notify.Send(ctx, t.channel, t.message, o.env)
		if err == nil {
			row.Delivered, row.Detail = true, cli.OrNull(detail)
			break
		}
		var e *notify.Error
		if !errors.As(err, &e) { // the timeout of the call was reached
			e = &notify.Error{Text: fmt.Sprintf("%s was not told within %v", t.channel.Name, o.timeout)}
			if last != nil {
				e.Text += "; before that: " + last.Text
			}
		}
		last, row.Permanent = e, e.Permanent
		again := t.channel.Type == notify.Webhook || t.channel.Type == notify.Email ||
			t.channel.Type == notify.Heartbeat
		if wait := max(e.RetryAfter, pause); !again || e.Permanent || row.Tries == triesMost ||
			e.RetryAfter > retryAfterMost || clock.Awake.For(ctx, wait) != nil {
			break
		}
	}
	if !row.Delivered {
		more := ""
		if last.RetryAfter > retryAfterMost {
			more = fmt.Sprintf("; it allows the next try only after %v", last.RetryAfter)
		}
		if row.Tries > 1 {
			more += fmt.Sprintf(" (%d tries)", row.Tries)
		}
		row.Error, row.why = cli.OrNull(last.Text+more), cmp.Or(last.Bare, last.Text)+more
	}
	row.Seconds = cli.Seconds(clock.System.Boot() - begun)
	return row
}
