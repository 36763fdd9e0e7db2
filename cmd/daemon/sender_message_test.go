package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/output"
)

// kept is a store of nothing but the output of one run.
type kept struct {
	state.Store
	dir string
}

func (k kept) Output(string, int) (stdout, stderr state.Stream) {
	return output.File(filepath.Join(k.dir, "stdout")), output.File(filepath.Join(k.dir, "stderr"))
}

func (k kept) write(t *testing.T, name, text string) state.Output {
	t.Helper()
	if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return state.Output{Bytes: int64(len(text))}
}

// TestLetters: a subject says what happened, and the body of a failure has the ends of both streams
// and where the rest is.
func TestLetters(t *testing.T) {
	k, code := kept{dir: t.TempDir()}, 3
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, "line %d\n", i)
	}
	now := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	l := state.Line{Type: state.LineOccurrence, TaskID: "k7m2", Number: 3, Outcome: state.Failed, ExitCode: &code, News: state.NewsFailure, Description: "backup",
		Stdout: k.write(t, "stdout", many.String()), Stderr: k.write(t, "stderr", "oh dear\n")}
	task := state.Task{Policy: state.Policy{Prefix: "[home] "}}
	m := compose(t.Context(), k, l, task, state.Channel{Type: state.ChannelWebhook}, "mercury", now)
	if m.Subject != "[home] backup: failed (exit code 3)" {
		t.Errorf("subject %q", m.Subject)
	}
	const pointer = "(the end of 238 bytes; ouro-timer log k7m2/3)"
	if !strings.HasPrefix(m.Body, "failed (exit code 3)\n\nline 10\n") || !strings.HasSuffix(m.Body, "line 29\n\nstandard error:\noh dear\n"+pointer+"\n\ntask k7m2 on mercury") {
		t.Errorf("body %q", m.Body)
	}

	// All that there is needs no pointer, and one stream no name.
	l.Stdout, l.Stderr = k.write(t, "stdout", ""), k.write(t, "stderr", "oh dear\n")
	if got, want := reportOf(t.Context(), k, l), "failed (exit code 3)\n\noh dear"; got != want {
		t.Errorf("body %q, not %q", got, want)
	}

	for want, change := range map[string]func(*state.Line){
		"backup works again":                                 func(l *state.Line) { l.News, l.Outcome = state.NewsRecovery, state.OK },
		"backup: ok, with output":                            func(l *state.Line) { l.News, l.Outcome = state.NewsOutput, state.OK },
		"backup: failed (SIGKILL)":                           func(l *state.Line) { l.Signal, l.ExitCode = "SIGKILL", nil },
		"backup: timeout":                                    func(l *state.Line) { l.Outcome, l.ExitCode = state.TimedOut, nil },
		"backup: failed (not_started)":                       func(l *state.Line) { l.Reason, l.ExitCode = "not_started", nil },
		"backup: ok, its output has changed":                 func(l *state.Line) { l.News, l.Outcome = state.NewsChange, state.OK },
		strings.Repeat("ż", 177) + "…: failed (exit code 3)": func(l *state.Line) { l.Description = strings.Repeat("ż", 5000) },
	} {
		c := l
		change(&c)
		if got := compose(t.Context(), k, c, state.Task{}, state.Channel{Type: state.ChannelEmail}, "mercury", now).Subject; got != want || len([]rune(got)) > subjectMost {
			t.Errorf("subject %q, not %q", got, want)
		}
	}

	// No URL of a channel is in the event.
	l.Tell = []string{"ops", "https://example.org/hooks/S3cret"}
	m = compose(t.Context(), k, l, task, state.Channel{Type: state.ChannelExec, To: "bob"}, "mercury", now)
	if text := string(m.Event); strings.Contains(text, "S3cret") || !strings.Contains(text, `"to":"bob"`) || !strings.Contains(text, `"tell":["ops","https://example.org/…"]`) {
		t.Errorf("event %s", text)
	}
}

// TestPrefixOnce: the prefix of a message stands in the subject of a mail or in front of the text,
// never in both.
func TestPrefixOnce(t *testing.T) {
	task := state.Task{Policy: state.Policy{Prefix: "[x] "}}
	for _, c := range []struct{ kind, text, subject, body string }{
		{notify.Email, "one\ntwo", "[x] one", "one\ntwo"},
		{notify.Email, "one", "[x] one", "one"},
		{notify.Webhook, "one\ntwo", "", "[x] one\ntwo"},
		{notify.Desktop, "one\ntwo", "", "[x] one\ntwo"},
	} {
		l := state.Line{TaskID: state.ID(0), Number: 1, News: state.NewsMessage, Text: c.text}
		m := compose(t.Context(), nil, l, task, state.Channel{Type: c.kind}, "host", time.Time{})
		if m.Subject != c.subject || m.Body != c.body {
			t.Errorf("%s of %q: subject %q, body %q", c.kind, c.text, m.Subject, m.Body)
		}
	}
}
