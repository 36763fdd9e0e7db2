package notify

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

func TestPings(t *testing.T) {
	const secret = "5f0e6d0a-1111-2222-3333-444455556666"
	var got, answer string
	status := 200
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.URL.RequestURI() + " " + string(body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	base := state.Channel{Name: "hc", Type: Heartbeat, URL: server.URL + "/" + secret}
	three := state.Channel{Name: "hc", Type: Heartbeat, Start: server.URL + "/" + secret + "?state=run", OK: server.URL + "/" + secret + "?state=complete", Fail: server.URL + "/x/" + secret}
	one := state.Channel{Name: "hc", Type: Heartbeat, OK: server.URL + "/" + secret}
	rid := "?rid=" + runID("k7m2/3")
	for _, c := range []struct {
		name    string
		channel state.Channel
		m       Message
		status  int
		answer  string
		want    string // what the server gets
		fault   string // of the error; empty: none
		lasts   bool
	}{
		{"start", base, Message{ID: "k7m2/3", Ping: PingStart}, 200, "OK", "POST /" + secret + "/start" + rid + " ", "", false},
		{"ok", base, Message{ID: "k7m2/3", Body: "ok (took 1s)"}, 200, "OK", "POST /" + secret + rid + " ok (took 1s)", "", false},
		{"fail", base, Message{ID: "k7m2/3", Ping: PingFail, Body: "exit code 3"}, 200, "OK", "POST /" + secret + "/fail" + rid + " exit code 3", "", false},
		{"the runner's own has no run", base, Message{}, 200, "OK", "POST /" + secret + " ", "", false},
		{"three: start", three, Message{ID: "k7m2/3", Ping: PingStart}, 204, "", "POST /" + secret + "?state=run ", "", false},
		{"three: ok", three, Message{ID: "k7m2/3"}, 200, "", "POST /" + secret + "?state=complete ", "", false},
		{"three: fail", three, Message{ID: "k7m2/3", Ping: PingFail}, 200, "", "POST /x/" + secret + " ", "", false},
		{"one: start", one, Message{ID: "k7m2/3", Ping: PingStart}, 200, "", "", "", false},
		{"one: fail", one, Message{ID: "k7m2/3", Ping: PingFail}, 200, "", "", "", false},
		{"no such check", base, Message{}, 200, "OK (not found)", "POST /" + secret + " ", "knows no check of that URL", true},
		{"too many", base, Message{}, 200, "OK (rate limited)", "POST /" + secret + " ", "takes no more pings", false},
		{"broken", base, Message{}, 500, "no " + secret + " here", "POST /" + secret + " ", "500 Internal Server Error: no … here", false},
		{"gone", three, Message{}, 404, "/" + secret + "?state=complete is not known", "POST /" + secret + "?state=complete ", "404 Not Found: … is not known", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, status, answer = "", c.status, c.answer
			detail, err := Send(t.Context(), c.channel, c.m, Env{Now: time.Now})
			var told *Error
			switch {
			case got != c.want:
				t.Errorf("the server got %q, not %q", got, c.want)
			case (err != nil) != (c.fault != "") || err != nil && (!errors.As(err, &told) || !strings.Contains(err.Error(), c.fault) || told.Permanent != c.lasts):
				t.Errorf("%q, %v", detail, err)
			case strings.Contains(detail, secret) || err != nil && strings.Contains(err.Error(), secret):
				t.Errorf("a secret is shown: %q, %v", detail, err)
			}
		})
	}
	server.Close()
	if _, err := Send(context.Background(), base, Message{}, Env{Now: time.Now}); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("a server that is gone: %v", err)
	}
	if text := Target(one) + Target(base); strings.Contains(text, secret) {
		t.Errorf("lists show %s", text)
	}
}

func TestRunID(t *testing.T) {
	a, b := runID("k7m2/3"), runID("k7m2/4")
	if a == b || a != runID("k7m2/3") || !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(a) {
		t.Errorf("%s and %s", a, b)
	}
}
