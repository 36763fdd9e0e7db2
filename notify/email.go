package notify

import (
	"bytes"
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

// email is a message with all that a post office needs.
type email struct {
	Message
	from, to  *mail.Address
	sender    string // from and to, as they were written
	recipient string
	key       string // of Resend
}

// sendEmail sends it by the channel's SMTP server, or by Resend when it has none.
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

// address finds out who writes to whom, and with which key.
func address(c state.Channel, m Message, env Env) (l email, err error) {
	l.Message = m
	l.recipient = strings.TrimSpace(m.recipient(c))
	if l.recipient == "" {
		return l, mendable("%s has no recipient: name one, as in email:bob@example.org, or by to = \"…\" in config.toml", c.Name)
	}
	if l.to, err = Address(l.recipient); err != nil {
		return l, err
	}
	if l.sender, l.key, _, err = postage(c, env); err != nil {
		return l, err
	}
	if l.from, err = Address(l.sender); err != nil {
		return l, mendable("the sender: %v", err)
	}
	if c.Host != "" {
		return l, nil
	}
	if HasControl(l.key) {
		return l, mendable("the key of Resend has a control character in it")
	}
	return l, nil
}

// postage is what a letter needs of the settings: who writes, and the key of Resend where that
// sends it. uses says where each was found.
func postage(c state.Channel, env Env) (from, key string, uses []string, err error) {
	from, source, err := sender(c, env)
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
		return "", "", nil, lacks(c, env, from == "", key == "" && c.Host == "")
	}
	return from, key, uses, nil
}

// lacks says what a channel of email has to be given, and where that can stand.
func lacks(c state.Channel, env Env, from, key bool) *Error {
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
	return mendable("%s", text)
}

// sender is who writes, "" when nobody says. An SMTP server has its own: it belongs to the account
// there.
func sender(c state.Channel, env Env) (value, source string, err error) {
	if c.Host != "" && c.From != "" {
		return strings.TrimSpace(c.From), "config.toml", nil
	}
	return setting(env, resendFrom, c.From)
}

// setting is one of email: of the environment, else of the channel, else of the family's file.
// source says which of them.
func setting(env Env, name, channel string) (value, source string, err error) {
	if value = strings.TrimSpace(env.Getenv(name)); value != "" {
		return value, name, nil
	}
	if value = strings.TrimSpace(channel); value != "" {
		return value, "config.toml", nil
	}
	for _, home := range env.Homes {
		if value, err = family(home, name); value != "" || err != nil {
			return value, filepath.Join(home, "config"), err
		}
	}
	return "", "", nil
}

// resendURL is where Resend is reached unless RESEND_BASE_URL, the variable of Resend's own
// clients, says otherwise.
const resendURL = "https://api.resend.com"

// sendResend sends by the API of Resend.
func sendResend(ctx context.Context, c state.Channel, l email, env Env) error {
	base := strings.TrimRight(cmp.Or(env.Getenv("RESEND_BASE_URL"), resendURL), "/")
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return mendable("RESEND_BASE_URL is not a URL of the web")
	}
	shown := "Resend"
	if base != resendURL {
		shown += " (" + Redact(base) + ")"
	}
	body := bytes.NewBuffer(nil)
	enc := json.NewEncoder(body)
	enc.SetEscapeHTML(false)
	request := struct {
		From    string   `json:"from"`
		To      []string `json:"to"`
		Subject string   `json:"subject"`
		Text    string   `json:"text"`
		HTML    string   `json:"html,omitempty"`
	}{From: l.sender, To: []string{l.recipient}, Subject: l.Title(), Text: l.Text()}
	if l.HTML {
		request.HTML = l.Body
	}
	if err := enc.Encode(request); err != nil {
		return permanent("%s", plain.Line(err.Error())).of(c.Name)
	}
	r, err := http.NewRequest(http.MethodPost, base+"/emails", bytes.NewReader(bytes.TrimSuffix(body.Bytes(), []byte("\n"))))
	if err != nil {
		return mendable("RESEND_BASE_URL is not a URL of the web")
	}
	r.Header.Set("Authorization", "Bearer "+l.key)
	r.Header.Set("Content-Type", "application/json")
	if key := l.idempotency(); key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	a, err := post(ctx, r, shown, env)
	if err != nil {
		return err
	}
	var told struct{ ID, Name, Message string }
	if json.Unmarshal(a.body, &told) != nil {
		told.Message = string(a.body)
	}
	err = a.judged(shown, said(told.Message, append(channelSecrets(c), l.key)...))
	var e *Error
	if a.status == http.StatusConflict && errors.As(err, &e) {
		e.Permanent = told.Name != "concurrent_idempotent_requests" // the first of two is under way
	}
	// A page of a proxy or of a network one has to sign in to can say 200, too.
	if err == nil && told.ID == "" {
		return passing("%s answered %d, but not as Resend does: there is no id of the message in it", shown, a.status)
	}
	return err
}

// idempotency is a key that is the same for the same request, and only then: one message can go to
// many, and its words can change from try to try ("due 5 minutes ago"), which Resend would refuse
// under the key of the earlier ones. Keys may have 256 bytes.
func (l email) idempotency() string {
	if l.ID == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{l.ID, l.sender, l.recipient, l.Title(), l.Body}, "\x00")))
	return shorten(OneLine(l.ID), 100) + "/" + hex.EncodeToString(sum[:8])
}
