// Package notify sends messages to people and programs. There is one file for each kind of channel.
// It is given the text and the channel and knows nothing of tasks and schedules. It reads no
// environment and no clock of its own. Control characters of a message never reach a terminal, and
// no error holds a secret.
package notify

import (
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

// Message is what is sent.
type Message struct {
	// what it is about, such as the occurrence k7m2/3; receivers can recognise a repetition by it;
	// "" for nothing
	ID      string
	Subject string // one line; it is cut when it has more than SubjectLimit bytes
	Body    string // at most BodyLimit bytes
	// Body is HTML; email sends plain text beside it, other channels only the plain text
	HTML bool
	To   string // the recipient, for channels that take one; "" for that of the channel
	Ping string // of a heartbeat: PingStart, PingFail, or "" when all went well
	// what a program gets (webhook, exec); nil for an object of id, subject, body, to, html and now
	Event json.RawMessage
}

// BodyLimit is the largest body, in bytes.
const BodyLimit = 1 << 20

// SubjectLimit is the longest subject, in bytes: a line of email (RFC 5322, section 2.1.1).
const SubjectLimit = 998

// cutSubject is how many characters are left of a longer subject.
const cutSubject = 200

// Env is what sending takes from the environment of the process.
type Env struct {
	Getenv  func(string) string
	Environ func() []string // the environment of programs of the user
	// the folders of ouro, in the order in which the config of the family is looked for
	Homes []string
	Self  string // the path of this program
	// the terminal of the environment, as tty(1) names it; "" when it is not known
	Terminal string
	Now      func() time.Time
	// Roots are the authorities of certificates; nil for those of the system.
	Roots *x509.CertPool
	// Proxy returns the proxy of a web request; nil for none.
	Proxy func(*http.Request) (*url.URL, error)
	// LookPath finds the program of a command; nil for the way of the process.
	LookPath func(name string) (string, error)
	// Elsewhere returns the program that finds a command in a process of its own, when the command
	// is on a file system that may not answer. It reports false for any other command; nil for all.
	Elsewhere func(argv []string) (program string, args []string, ok bool)

	skipVerify bool // certificates are not checked
}

// Error says why a message was not delivered. Its text never holds a secret.
type Error struct {
	Text string
	// the text without the name of the channel before it; empty when the text has no name
	Bare      string
	Permanent bool // another attempt does not help
	// somebody at this machine can solve it: a setting, a key, a program that is missing
	Here       bool
	RetryAfter time.Duration // how long the other side wants no request; 0 when it did not say
	// Exposed is the file with a secret that is not used, because other users may read it.
	Exposed string
}

func (e *Error) Error() string { return e.Text }

// named returns the error with the name of its channel.
func (e *Error) named(channel string) *Error {
	e.Bare, e.Text = e.Text, channel+": "+e.Text
	return e
}

// Types of channels. Any other type is the scheme of the URL of a service, such as slack.
const (
	Desktop = state.ChannelDesktop
	TTY     = state.ChannelTerminal
	Email   = state.ChannelEmail
	Webhook = state.ChannelWebhook
	Exec    = state.ChannelExec

	Heartbeat = state.ChannelHeartbeat
)

// Send sends a message once, within ctx and the time-out of the channel. detail is a text for
// people ("Email sent successfully to X."). Every error is an *Error, except when ctx itself ends:
// then it is that of ctx.
func Send(ctx context.Context, c state.Channel, m Message, env Env) (detail string, err error) {
	c, err = FromURL(c)
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
		return "", localError("the time-out of channel %s: %v", c.Name, err)
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
		return "", transient("%s did not answer within %v", c.Name, limit)
	}
	if !errors.As(err, &known) {
		return "", transient("%s", plain.Line(err.Error())).named(c.Name)
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

// checked refuses what no channel can send, and adds an event to a message that has none.
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
		m.Subject = plain.Cut(m.Subject, cutSubject) // a cut subject is better than no message
	}
	return m, nil
}

// HasControl reports whether a text has control characters, line breaks or marks of direction. No
// subject and no address may have any.
func HasControl(text string) bool { return strings.ContainsFunc(text, plain.Control) }

// OneLine makes a subject of any text: line breaks and tabs become spaces, and other control
// characters are dropped.
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

// event returns the JSON that a program gets.
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
	event, _ := plain.JSON(struct { // no error, because its fields are texts and a time
		ID      *string   `json:"id"`
		Subject *string   `json:"subject"`
		Body    string    `json:"body"`
		To      *string   `json:"to"`
		HTML    bool      `json:"html"`
		Now     time.Time `json:"now"`
	}{null(m.ID), null(m.Subject), m.Body, null(m.recipient(c)), m.HTML, env.Now()})
	return event
}

// permanent returns an error that another attempt does not change.
func permanent(format string, a ...any) *Error {
	return &Error{Text: fmt.Sprintf(format, a...), Permanent: true}
}

// localError returns an error that another attempt does not change, but somebody at this machine
// can.
func localError(format string, a ...any) *Error {
	return &Error{Text: fmt.Sprintf(format, a...), Permanent: true, Here: true}
}

// exposedError is a localError about a file with a secret that other users may read.
func exposedError(path, format string, a ...any) *Error {
	e := localError(format, a...)
	e.Exposed = path
	return e
}

// transient returns an error that may be gone at the next attempt.
func transient(format string, a ...any) *Error { return &Error{Text: fmt.Sprintf(format, a...)} }

// recipient returns the recipient of the message, or "" when neither the message nor the channel
// has one.
func (m Message) recipient(c state.Channel) string { return cmp.Or(m.To, c.To) }
