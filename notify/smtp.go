package notify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	mail "github.com/wneessen/go-mail" // writes email and speaks SMTP

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// The ways to encrypt a connection to an SMTP server.
const (
	startTLS    = "starttls"
	implicitTLS = "tls"
	noTLS       = "none"
)

// usualPort is the usual port of a server for each way to encrypt.
var usualPort = map[string]int{startTLS: 587, implicitTLS: 465, noTLS: 25}

// mechanisms are the ways to log in, the best first. Those that show the password are used only on
// an encrypted connection, or on this machine.
var mechanisms = []mail.SMTPAuthType{
	mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthCramMD5, mail.SMTPAuthPlain, mail.SMTPAuthLogin,
}

// sendSMTP sends through the server of the channel. An answer of 4xx is a passing error, one of 5xx
// a permanent one.
func sendSMTP(ctx context.Context, c state.Channel, l email, env Env) error {
	way := cmp.Or(strings.ToLower(c.TLS), startTLS)
	if usualPort[way] == 0 {
		return localError("%s has tls = %q; it can be %q, %q or %q", c.Name, c.TLS, startTLS, implicitTLS, noTLS)
	}
	port := cmp.Or(c.Port, usualPort[way])
	shown := net.JoinHostPort(plain.Line(c.Host), strconv.Itoa(port))
	msg, err := l.compose(env)
	if err != nil {
		return permanent("%s", plain.Line(err.Error())).named(c.Name)
	}
	config := &tls.Config{ServerName: c.Host, RootCAs: env.Roots, MinVersion: tls.VersionTLS12}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(state.ChannelTimeout)
	}
	// The end of ctx cuts the connection. The time-out of the library starts again from time to
	// time, so it is set longer.
	options := []mail.Option{
		mail.WithPort(port), mail.WithTLSConfig(config), mail.WithTimeout(time.Until(deadline) + time.Minute),
		// each is one more round trip in which a delivered message can seem lost
		mail.WithoutNoop(), mail.WithoutRset(),
		mail.WithDialContextFunc(dialer(ctx, way, config)),
	}
	switch way {
	case startTLS:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	case implicitTLS, noTLS:
		// The dialer does the handshake, so the library must not.
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	if c.User != "" {
		options = append(options, mail.WithUsername(c.User), mail.WithPassword(c.Password), mail.WithOpportunisticSMTPAuth(mechanisms...))
	}
	client, err := mail.NewClient(c.Host, options...)
	if err != nil {
		return permanent("%s", plain.Line(err.Error())).named(c.Name)
	}
	err = client.DialAndSendWithContext(ctx, msg)
	// an error after delivery, while saying goodbye, loses nothing
	if err == nil || msg.IsDelivered() {
		return nil
	}
	return judgeSMTP(shown, err, c)
}

// judgeSMTP turns an error of the library into one of ours.
func judgeSMTP(shown string, err error, c state.Channel) error {
	var (
		reply *textproto.Error
		sent  *mail.SendError
	)
	hidden := append(channelSecrets(c), base64.StdEncoding.EncodeToString([]byte(c.Password)),
		base64.StdEncoding.EncodeToString([]byte("\x00"+c.User+"\x00"+c.Password)))
	code, text := 0, err.Error()
	switch {
	case errors.As(err, &reply):
		code, text = reply.Code, strconv.Itoa(reply.Code)+" "+reply.Msg
	case errors.As(err, &sent):
		code = sent.ErrorCode()
		text, _, _ = strings.Cut(text, ", affected ")
		// The words of the server follow the code, in quotes or not.
		if _, words, found := strings.Cut(text, ": "+strconv.Itoa(code)+" "); found && code > 0 {
			if quoted, err := strconv.QuotedPrefix(words); err == nil {
				words, _ = strconv.Unquote(quoted)
			}
			text = strconv.Itoa(code) + " " + words
		}
	}
	text = shown + ": " + plain.Cut(plain.Line(redactSecrets(strings.ReplaceAll(text, "\n", " "), hidden...)), 300)
	switch {
	case code >= 500:
		return permanent("%s", text)
	case code >= 400:
		return transient("%s", text)
	case errors.Is(err, mail.ErrNoSupportedAuthDiscovered):
		return localError("%s offers no way to log in that keeps the password secret: set tls to %q or %q", shown, startTLS, implicitTLS)
	case strings.Contains(text, "does not support SMTP AUTH"):
		return localError("%s takes no user and password", shown)
	case strings.Contains(text, "does not support STARTTLS"):
		return localError("%s offers no STARTTLS: set tls to %q for a server that encrypts from the start, or to %q", shown, implicitTLS, noTLS)
	}
	e := unreachable(shown, err)
	e.Text = text
	return e
}

// dialer returns a function that connects, and cuts the connection when ctx ends. The library uses
// a context only until it is connected.
func dialer(ctx context.Context, way string, config *tls.Config) mail.DialContextFunc {
	return func(_ context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		if way != implicitTLS {
			return conn, nil
		}
		// The library decides by this type whether it may send a password.
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		return secure, nil
	}
}

// compose writes the email: as text, or as HTML with its text before it. The Message-ID is made
// from the ID, so that a repetition can be recognised.
func (l email) compose(env Env) (*mail.Msg, error) {
	msg := mail.NewMsg()
	msg.SetUserAgent(userAgent)
	if err := msg.FromFormat(l.from.Name, l.from.Address); err != nil {
		return nil, err
	}
	if err := msg.AddToFormat(l.to.Name, l.to.Address); err != nil {
		return nil, err
	}
	msg.Subject(l.Title())
	msg.SetDateWithValue(env.Now())
	if l.ID != "" {
		msg.SetGenHeader("X-Ouro-Id", OneLine(l.ID))
		sum := sha256.Sum256([]byte(strings.Join([]string{l.ID, l.sender, l.recipient}, "\x00")))
		_, domain, _ := strings.Cut(l.from.Address, "@")
		msg.SetMessageIDWithValue(hex.EncodeToString(sum[:16]) + "@" + domain)
	}
	msg.SetBodyString(mail.TypeTextPlain, l.Text())
	if l.HTML {
		msg.AddAlternativeString(mail.TypeTextHTML, l.Body)
	}
	return msg, nil
}
