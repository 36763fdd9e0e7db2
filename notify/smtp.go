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

	mail "github.com/wneessen/go-mail" // messages of email and the protocol that sends them

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// Ways to encrypt what is said to an SMTP server.
const (
	startTLS = "starttls"
	wholeTLS = "tls"
	noTLS    = "none"
)

// usualPort is where servers listen that encrypt in such a way.
var usualPort = map[string]int{startTLS: 587, wholeTLS: 465, noTLS: 25}

// mechanisms are how we log in, the best first. Those that show the password are used only on an
// encrypted connection, or on this machine.
var mechanisms = []mail.SMTPAuthType{
	mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthCramMD5, mail.SMTPAuthPlain, mail.SMTPAuthLogin,
}

// sendSMTP sends by the channel's server. What the server says with 4xx is passing, with 5xx
// permanent.
func sendSMTP(ctx context.Context, c state.Channel, l email, env Env) error {
	way := cmp.Or(strings.ToLower(c.TLS), startTLS)
	if usualPort[way] == 0 {
		return mendable("%s has tls = %q; it can be %q, %q or %q", c.Name, c.TLS, startTLS, wholeTLS, noTLS)
	}
	port := cmp.Or(c.Port, usualPort[way])
	shown := net.JoinHostPort(plain.Line(c.Host), strconv.Itoa(port))
	msg, err := l.compose(env)
	if err != nil {
		return permanent("%s", plain.Line(err.Error())).of(c.Name)
	}
	config := &tls.Config{ServerName: c.Host, RootCAs: env.Roots, MinVersion: tls.VersionTLS12}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(state.ChannelTimeout)
	}
	// The end of ctx cuts the connection; the library's own time-out starts anew now and then, and
	// stays out of the way.
	options := []mail.Option{
		mail.WithPort(port), mail.WithTLSConfig(config), mail.WithTimeout(time.Until(deadline) + time.Minute),
		// each is a round more in which a message that was taken can seem lost
		mail.WithoutNoop(), mail.WithoutRset(),
		mail.WithDialContextFunc(dialer(ctx, way, config)),
	}
	switch way {
	case startTLS:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	case wholeTLS, noTLS:
		// As the dialer does the handshake, the library has nothing to do about it.
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	if c.User != "" {
		options = append(options, mail.WithUsername(c.User), mail.WithPassword(c.Password), mail.WithOpportunisticSMTPAuth(mechanisms...))
	}
	client, err := mail.NewClient(c.Host, options...)
	if err != nil {
		return permanent("%s", plain.Line(err.Error())).of(c.Name)
	}
	err = client.DialAndSendWithContext(ctx, msg)
	if err == nil || msg.IsDelivered() { // what goes wrong in saying good-bye is no loss
		return nil
	}
	return judgeSMTP(shown, err, c)
}

// judgeSMTP makes an error of the library's.
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
		// What the server said stands behind the code, in quotes or not.
		if _, words, found := strings.Cut(text, ": "+strconv.Itoa(code)+" "); found && code > 0 {
			if quoted, err := strconv.QuotedPrefix(words); err == nil {
				words, _ = strconv.Unquote(quoted)
			}
			text = strconv.Itoa(code) + " " + words
		}
	}
	text = shown + ": " + shorten(plain.Line(scrub(strings.ReplaceAll(text, "\n", " "), hidden...)), 300)
	switch {
	case code >= 500:
		return permanent("%s", text)
	case code >= 400:
		return passing("%s", text)
	case errors.Is(err, mail.ErrNoSupportedAuthDiscovered):
		return mendable("%s offers no way to log in that keeps the password secret: set tls to %q or %q", shown, startTLS, wholeTLS)
	case strings.Contains(text, "does not support SMTP AUTH"):
		return mendable("%s takes no user and password", shown)
	case strings.Contains(text, "does not support STARTTLS"):
		return mendable("%s offers no STARTTLS: set tls to %q for a server that encrypts from the start, or to %q", shown, wholeTLS, noTLS)
	}
	e := unreached(shown, err)
	e.Text = text
	return e
}

// dialer connects, and cuts the connection when ctx ends: the library heeds a context only until it
// is connected.
func dialer(ctx context.Context, way string, config *tls.Config) mail.DialContextFunc {
	return func(_ context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		if way != wholeTLS {
			return conn, nil
		}
		// The library looks at the type for whether it may show a password.
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		return secure, nil
	}
}

// compose writes the letter: as text, or as HTML with its text in front. The Message-ID is made of
// the ID, so that a letter that comes twice can be known by it.
func (l email) compose(env Env) (*mail.Msg, error) {
	msg := mail.NewMsg()
	msg.SetUserAgent(agent)
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
