// Package notify tells somebody: one file for each kind of channel. It is given the text and where
// it goes; it knows nothing of tasks and schedules, it reads neither environment nor clock of its
// own, and what it is given never reaches a terminal raw. An error of it never holds a secret.
package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// Message is what is told.
type Message struct {
	// what it tells of, such as the occurrence k7m2/3: receivers can tell a repetition by it; ""
	// for none
	ID      string
	Subject string // one line; cut when it has more than SubjectLimit bytes
	Body    string // at most BodyLimit bytes
	// Body is HTML; email sends a text beside it, other channels that text alone
	HTML bool
	To   string // the recipient, for channels that take one; "" the channel's own
	Ping string // of a heartbeat: PingStart, PingFail, or "" for that all went well
	// what a program gets (webhook, exec); nil: an object of id, subject, body, to, html and now
	Event json.RawMessage
}

// BodyLimit is the most bytes of a body.
const BodyLimit = 1 << 20

// SubjectLimit is the most bytes of a subject: those of a line of email (RFC 5322, section 2.1.1).
const SubjectLimit = 998

// subjectLetters is what is left of a subject that is longer.
const subjectLetters = 200

// Env is what sending needs of the world.
type Env struct {
	Getenv  func(string) string
	Environ func() []string // what a program of the user gets
	// folders of ouro: the family's config is looked for in each, in this order
	Homes []string
	Self  string // the path of this program
	// the terminal that the environment is of, as tty(1) names it; "" when that is not known
	Terminal string
	Now      func() time.Time
	// Roots are the authorities of certificates; nil: the system's.
	Roots *x509.CertPool
	// Proxy says how a server of the web is reached; nil: straight.
	Proxy func(*http.Request) (*url.URL, error)
	// LookPath finds the program of a command; nil: as the process would.
	LookPath func(name string) (string, error)
	// Elsewhere is, of a command that is where a file system may not answer, the one that looks for
	// it in the process that it is given; not ok for any other. nil: none is.
	Elsewhere func(argv []string) (program string, args []string, ok bool)

	careless bool // certificates are not looked at
}

// Error is why a message was not delivered. Its text never holds a secret.
type Error struct {
	Text string
	// the text without the channel's name in front; empty: it has none there
	Bare      string
	Permanent bool // asking again does not help
	// until somebody mends it on this machine: a setting, a key, a program that is not there
	Here       bool
	RetryAfter time.Duration // how long the other side wants to be left alone; 0: it did not say
}

func (e *Error) Error() string { return e.Text }

// of is the error with what it is of in front.
func (e *Error) of(channel string) *Error {
	e.Bare, e.Text = e.Text, channel+": "+e.Text
	return e
}

// Types of channels. Any other type is the scheme of a service's URL, such as slack.
const (
	Desktop = state.ChannelDesktop
	TTY     = state.ChannelTerminal
	Email   = state.ChannelEmail
	Webhook = state.ChannelWebhook
	Exec    = state.ChannelExec

	Heartbeat = state.ChannelHeartbeat
)

// Send tells it once, within ctx and the channel's time-out. detail is a word for people ("Email
// sent successfully to X."). Every error is an *Error, but for the end of ctx itself, which is
// ctx's.
func Send(ctx context.Context, c state.Channel, m Message, env Env) (detail string, err error) {
	c, err = Settle(c)
	if err != nil {
		return "", err
	}
	if c.Exposed != "" {
		return "", exposed(c)
	}
	if m, err = checked(m); err != nil {
		return "", err
	}
	limit, err := state.ParseTimeout(c.Timeout)
	if err != nil {
		return "", mendable("the time-out of channel %s: %v", c.Name, err)
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	detail, err = dispatch(within, c, m, env)
	if err == nil {
		return detail, nil
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	var known *Error
	if within.Err() != nil {
		return "", passing("%s did not answer within %v", c.Name, limit)
	}
	if !errors.As(err, &known) {
		return "", passing("%s", plain.Line(err.Error())).of(c.Name)
	}
	return "", known
}

func dispatch(ctx context.Context, c state.Channel, m Message, env Env) (string, error) {
	switch c.Type {
	case Desktop:
		return sendDesktop(ctx, c, m, env)
	case TTY:
		return sendTerminal(ctx, c, m, env)
	case Email:
		return sendEmail(ctx, c, m, env)
	case Webhook:
		return sendWebhook(ctx, c, m, env)
	case Exec:
		return sendExec(ctx, c, m, env)
	case Heartbeat:
		return sendPing(ctx, c, m, env)
	}
	return sendService(ctx, c, m, env)
}

// checked refuses what no channel can take, and makes the event of a message that has none.
func checked(m Message) (Message, error) {
	switch {
	case len(m.Body) > BodyLimit:
		return m, permanent("the body has %d bytes, more than the %d that are told", len(m.Body), BodyLimit)
	case !utf8.ValidString(m.Body) || !utf8.ValidString(m.Subject) || !utf8.ValidString(m.To):
		return m, permanent("the message is not valid UTF-8")
	case HasControl(m.Subject):
		return m, permanent("the subject has a control character in it")
	case HasControl(m.To):
		return m, permanent("the recipient has a control character in it")
	case len(m.Subject) > SubjectLimit:
		m.Subject = shorten(m.Subject, subjectLetters) // rather than that nobody is told
	}
	return m, nil
}

// HasControl reports control characters, line breaks and marks of direction among them: no subject
// and no address may have any.
func HasControl(text string) bool { return strings.ContainsFunc(text, plain.Control) }

// OneLine makes a subject of any text: line breaks and tabs become spaces, other control characters
// go.
func OneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case plain.Control(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Join(strings.Fields(text), " ")
}

// event is what a program gets to know.
func (m Message) event(c state.Channel, env Env) json.RawMessage {
	if m.Event != nil {
		return m.Event
	}
	null := func(text string) *string {
		if text == "" {
			return nil
		}
		return &text
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(struct {
		ID      *string   `json:"id"`
		Subject *string   `json:"subject"`
		Body    string    `json:"body"`
		To      *string   `json:"to"`
		HTML    bool      `json:"html"`
		Now     time.Time `json:"now"`
	}{null(m.ID), null(m.Subject), m.Body, null(m.recipient(c)), m.HTML, env.Now()})
	// It writes into memory what can always be encoded.
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// permanent is an error that asking again does not mend.
func permanent(format string, a ...any) *Error {
	return &Error{Text: fmt.Sprintf(format, a...), Permanent: true}
}

// mendable is an error that asking again does not mend, but somebody at this machine can.
func mendable(format string, a ...any) *Error {
	return &Error{Text: fmt.Sprintf(format, a...), Permanent: true, Here: true}
}

// passing is an error that may be gone at the next try.
func passing(format string, a ...any) *Error { return &Error{Text: fmt.Sprintf(format, a...)} }

// recipient is who the message goes to, "" when neither it nor the channel says.
func (m Message) recipient(c state.Channel) string { return cmp.Or(m.To, c.To) }
