package notify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// email is a message with all that sending it takes.
type email struct {
	Message
	from, to  *mail.Address
	sender    string // from and to, as they were written
	recipient string
	key       string // the key of Resend
}

// sendEmail sends through the SMTP server of the channel, or through Resend when it has none.
func sendEmail(ctx context.Context, c state.Channel, m Message, env Env) (string, error) {
	l, err := address(c, m, env)
	if err != nil {
		return "", err
	}
	if c.Host != "" {
		err = sendSMTP(ctx, c, l, env)
	} else {
		err = sendResend(ctx, c, l, env)
	}
	if err != nil {
		return "", err
	}
	return "Email sent successfully to " + l.recipient + ".", nil
}

// address finds sender, recipient and key.
func address(c state.Channel, m Message, env Env) (l email, err error) {
	l.Message = m
	l.recipient = strings.TrimSpace(m.recipient(c))
	if l.recipient == "" {
		return l, localError("%s has no recipient: name one, as in email:bob@example.org, or by to = \"…\" in config.toml", c.Name)
	}
	if l.to, err = Address(l.recipient); err != nil {
		return l, err
	}
	if l.sender, l.key, _, err = emailSettings(c, env); err != nil {
		return l, err
	}
	if l.from, err = Address(l.sender); err != nil {
		return l, localError("the sender: %v", err)
	}
	if c.Host != "" {
		return l, nil
	}
	if HasControl(l.key) {
		return l, localError("the key of Resend has a control character in it")
	}
	return l, nil
}

// emailSettings returns the settings that an email needs: the sender, and the key of Resend when
// that sends it. uses says where each was found.
func emailSettings(c state.Channel, env Env) (from, key string, uses []string, err error) {
	from, source, err := emailFrom(c, env)
	if err != nil {
		return "", "", nil, err
	}
	uses = append(uses, "from: "+source)
	if c.Host == "" {
		if key, source, err = setting(env, resendKey, c.Key); err != nil {
			return "", "", nil, err
		}
		uses = append(uses, "key: "+source)
	}
	if from == "" || key == "" && c.Host == "" {
		return "", "", nil, missingSettings(c, env, from == "", key == "" && c.Host == "")
	}
	return from, key, uses, nil
}

// missingSettings returns the error that names the missing settings of an email channel, and where
// they can be set.
func missingSettings(c state.Channel, env Env, from, key bool) *Error {
	var what, variables, keys []string
	if from {
		what, variables, keys = append(what, "no sender"), append(variables, resendFrom), append(keys, `from = "…"`)
	}
	if key {
		what, variables, keys = append(what, "no key of Resend"), append(variables, resendKey), append(keys, `key = "…"`)
	}
	and := func(words []string) string { return strings.Join(words, " and ") }
	text := fmt.Sprintf("%s has %s: set %s in the environment", c.Name, and(what), and(variables))
	if n := len(env.Homes); n > 0 {
		text += " or in " + plain.Line(filepath.Join(env.Homes[n-1], "config"))
	}
	text += fmt.Sprintf(", or %s under [channels.%s] in config.toml", and(keys), c.Name)
	if key {
		text += "; or give it a host there to send by SMTP"
	}
	return localError("%s", text)
}

// emailFrom returns the sender, or "" when none is set. With an SMTP server it comes only from the
// channel, because it belongs to the account there.
func emailFrom(c state.Channel, env Env) (value, source string, err error) {
	if c.Host != "" && c.From != "" {
		return strings.TrimSpace(c.From), "config.toml", nil
	}
	return setting(env, resendFrom, c.From)
}

// setting returns a setting of email: from the environment, or else from the channel, or else from
// the file of the ouro family. source says which.
func setting(env Env, name, channel string) (value, source string, err error) {
	if value = strings.TrimSpace(env.Getenv(name)); value != "" {
		return value, name, nil
	}
	if value = strings.TrimSpace(channel); value != "" {
		return value, "config.toml", nil
	}
	for _, home := range env.Homes {
		if value, err = familySetting(home, name); value != "" || err != nil {
			return value, filepath.Join(home, "config"), err
		}
	}
	return "", "", nil
}

// resendURL is the URL of Resend, unless RESEND_BASE_URL, the variable of its own clients, names
// another.
const resendURL = "https://api.resend.com"

// sendResend sends through the API of Resend.
func sendResend(ctx context.Context, c state.Channel, l email, env Env) error {
	base := strings.TrimRight(cmp.Or(env.Getenv("RESEND_BASE_URL"), resendURL), "/")
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return localError("RESEND_BASE_URL is not a URL of the web")
	}
	shown := "Resend"
	if base != resendURL {
		shown += " (" + Redact(base) + ")"
	}
	body := struct {
		From    string   `json:"from"`
		To      []string `json:"to"`
		Subject string   `json:"subject"`
		Text    string   `json:"text"`
		HTML    string   `json:"html,omitempty"`
	}{From: l.sender, To: []string{l.recipient}, Subject: l.Title(), Text: l.Text()}
	if l.HTML {
		body.HTML = l.Body
	}
	q := request{url: base + "/emails", header: []string{"Authorization", "Bearer " + l.key}, body: body}
	if key := l.idempotency(); key != "" {
		q.header = append(q.header, "Idempotency-Key", key)
	}
	a, err := q.send(ctx, shown, env)
	if err != nil {
		return err
	}
	var told struct{ ID, Name, Message string }
	if json.Unmarshal(a.body, &told) != nil {
		told.Message = string(a.body)
	}
	err = a.asError(shown, serverWords(told.Message, append(channelSecrets(c), l.key)...))
	var e *Error
	if a.status == http.StatusConflict && errors.As(err, &e) {
		// the first of two requests is still running
		e.Permanent = told.Name != "concurrent_idempotent_requests"
	}
	// The page of a proxy, or of a network with a login, can answer 200 as well.
	if err == nil && told.ID == "" {
		return transient("%s answered %d, but not as Resend does: there is no id of the message in it", shown, a.status)
	}
	return err
}

// idempotency returns a key that is the same for the same request, and different for any other. One
// message can go to many recipients, and its words can change between attempts ("due 5 minutes
// ago"). Resend would refuse such a request under an earlier key. A key may have 256 bytes.
func (l email) idempotency() string {
	if l.ID == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{l.ID, l.sender, l.recipient, l.Title(), l.Body}, "\x00")))
	return plain.Cut(OneLine(l.ID), 100) + "/" + hex.EncodeToString(sum[:8])
}
