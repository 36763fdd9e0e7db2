package notify

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// The pings of a heartbeat, other than that all went well.
const (
	PingStart = "start"
	PingFail  = "fail"
)

// maxPing is how much of a text is sent with a ping, in bytes.
const maxPing = 1000

// sendPing sends the state of a run to a heartbeat, by a POST with the body as text. A URL as
// Healthchecks has it (https://healthchecks.io/docs/http_api/) gets /start or /fail appended, and
// the ID of the run (rid), so that runs that overlap are told apart.
func sendPing(ctx context.Context, c state.Channel, m Message, env Env) (string, error) {
	raw := pingURL(c, m.Ping)
	if raw == "" {
		return "Nothing is pinged then.", nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "", localError("the url of %s cannot be understood", c.Name) // err quotes the URL
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
	q := request{url: u.String(), body: plain.Cut(m.Body, maxPing)}
	if m.ID != "" {
		q.header = []string{"X-Ouro-Id", OneLine(m.ID)}
	}
	a, err := q.send(ctx, shown, env)
	if err != nil {
		return "", err
	}
	said := serverWords(string(a.body), append(channelSecrets(c), u.String(), u.RequestURI())...)
	if err := a.asError(shown, said); err != nil {
		return "", err
	}
	// Healthchecks answers 200 to any UUID.
	switch text := strings.TrimSpace(string(a.body)); {
	case strings.HasPrefix(text, "OK (not found)"):
		return "", localError("%s knows no check of that URL", shown)
	case strings.HasPrefix(text, "OK (rate limited)"):
		return "", transient("%s takes no more pings of that check for now", shown)
	}
	return "Pinged " + shown + ".", nil
}

// pingURL returns the URL of one of the pings, without what is appended to it, or "" when there is
// none.
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

// runID returns a UUID (RFC 9562, version 8) that is always the same for the ID of a run.
func runID(id string) string {
	sum := sha256.Sum256([]byte("ouro-timer run " + id))
	b := sum[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
