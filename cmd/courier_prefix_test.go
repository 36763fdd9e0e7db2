package cmd

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/daemon"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
)

// TestPrefixOnce: the prefix of a message stands in the subject of a mail or in front of the text, never in both.
func TestPrefixOnce(t *testing.T) {
	task := state.Task{Policy: state.Policy{Prefix: "[x] "}}
	for _, c := range []struct{ kind, text, subject, body string }{
		{notify.Email, "one\ntwo", "[x] one", "one\ntwo"},
		{notify.Email, "one", "[x] one", "one"},
		{notify.Webhook, "one\ntwo", "", "[x] one\ntwo"},
		{notify.Desktop, "one\ntwo", "", "[x] one\ntwo"},
	} {
		l := state.Line{TaskID: state.ID(0), Number: 1, News: state.NewsMessage, Text: c.text}
		m := daemon.LetterOf(t.Context(), nil, l, task, state.Channel{Type: c.kind}, "host", time.Time{})
		if m.Subject != c.subject || m.Body != c.body {
			t.Errorf("%s of %q: subject %q, body %q", c.kind, c.text, m.Subject, m.Body)
		}
	}
}
