package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// sendWebhook posts the event as JSON. Any 2xx is a success. With a secret, X-Ouro-Signature is
// "sha256=" and the HMAC-SHA256 of the body in hex. X-Ouro-Id is the ID by which a repetition can
// be recognised.
func sendWebhook(ctx context.Context, c state.Channel, m Message, env Env) (string, error) {
	body := m.event(c, env)
	shown := Redact(c.URL)
	q := request{url: c.URL, body: []byte(body)}
	if m.ID != "" {
		q.header = append(q.header, "X-Ouro-Id", OneLine(m.ID))
	}
	if c.Secret != "" {
		mac := hmac.New(sha256.New, []byte(c.Secret))
		mac.Write(body)
		q.header = append(q.header, "X-Ouro-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	a, err := q.send(ctx, shown, env)
	if err == nil {
		err = a.asError(shown, serverWords(string(a.body), channelSecrets(c)...))
	}
	if err != nil {
		return "", err
	}
	return "Told by " + shown + ".", nil
}

// channelSecrets returns the parts of a channel that no text may show.
func channelSecrets(c state.Channel) []string {
	list := []string{c.URL, c.Secret, c.Key, c.Password}
	for _, raw := range []string{c.URL, c.Start, c.OK, c.Fail} {
		u, err := url.Parse(raw)
		if err != nil || raw == "" {
			continue
		}
		list = append(list, raw)
		i := slices.Index(Schemes(), state.ChannelOfURL(raw))
		list = append(list, secretsOf(u, i < 0 || services[i].hosted)...)
		list = append(list, u.RequestURI(), u.RawQuery, strings.Trim(u.Path, "/"), u.Fragment)
	}
	return list
}
