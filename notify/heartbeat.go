package notify

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// What a heartbeat is told, beside that all went well.
const (
	PingStart = "start"
	PingFail  = "fail"
)

// pingMost is how much of a text is sent with a ping.
const pingMost = 1000

// sendPing tells a heartbeat how it goes, by a POST with the body as text. With a URL to which
// /start and /fail are appended, as Healthchecks has it (https://healthchecks.io/docs/http_api/),
// the run has an ID there (rid), so that those that overlap are told from each other.
func sendPing(ctx context.Context, c state.Channel, m Message, env Env) (string, error) {
	raw := pingURL(c, m.Ping)
	if raw == "" {
		return "Nothing is pinged then.", nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "", mendable("the url of %s cannot be understood", c.Name) // err quotes it
	}
	if c.URL != "" {
		if m.Ping != "" {
			u = u.JoinPath(m.Ping)
		}
		if m.ID != "" {
			q := u.Query()
			q.Set("rid", runID(m.ID))
			u.RawQuery = q.Encode()
		}
	}
	shown := Redact(raw)
	r, err := http.NewRequest(http.MethodPost, u.String(), strings.NewReader(shorten(m.Body, pingMost)))
	if err != nil {
		return "", mendable("the url of %s cannot be understood", c.Name)
	}
	r.Header.Set("Content-Type", "text/plain; charset=utf-8")
	if m.ID != "" {
		r.Header.Set("X-Ouro-Id", OneLine(m.ID))
	}
	a, err := post(ctx, r, shown, env)
	if err != nil {
		return "", err
	}
	said := said(string(a.body), append(channelSecrets(c), u.String(), u.RequestURI())...)
	if err := a.judged(shown, said); err != nil {
		return "", err
	}
	// Healthchecks answers 200 to whatever has the form of a UUID.
	switch text := strings.TrimSpace(string(a.body)); {
	case strings.HasPrefix(text, "OK (not found)"):
		return "", mendable("%s knows no check of that URL", shown)
	case strings.HasPrefix(text, "OK (rate limited)"):
		return "", passing("%s takes no more pings of that check for now", shown)
	}
	return "Pinged " + shown + ".", nil
}

// pingURL is the URL of one of the pings, without what is appended to it; empty: there is none.
func pingURL(c state.Channel, ping string) string {
	switch {
	case c.URL != "":
		return c.URL
	case ping == PingStart:
		return c.Start
	case ping == PingFail:
		return c.Fail
	}
	return c.OK
}

// runID is a UUID (RFC 9562, version 8) that the ID of a run always has.
func runID(id string) string {
	sum := sha256.Sum256([]byte("ouro-timer run " + id))
	b := sum[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
