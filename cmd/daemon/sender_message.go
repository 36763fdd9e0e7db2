package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/output"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

const (
	// messageLines is how many last lines of each stream of a failed command are told.
	messageLines = 20
	// messageMost is the most bytes of output that are told.
	messageMost = 16 << 10
	// messageLate is how late a message has to be before it says so.
	messageLate = time.Minute
	// subjectMost is the most letters of a subject. titleLeast is how many of them the words of the
	// task keep beside a long prefix.
	subjectMost, titleLeast = 200, 40
)

// compose makes the message about a line for a channel, as told on the machine host at now.
func compose(ctx context.Context, st state.Outputs, l state.Line, t state.Task, c state.Channel, host string,
	now time.Time) notify.Message {
	zone := time.UTC
	if t.ID != "" {
		zone = rules.TaskZone(t)
	}
	m := notify.Message{ID: state.OccurrenceID(l.TaskID, l.Number)}
	switch {
	case l.News == state.NewsMessage:
		m.Subject, m.Body = messageOf(l, t, c.Type == notify.TTY, zone, now)
		// The prefix stands in front of the subject, and so not of the body.
		if first, _, _ := strings.Cut(l.Text, "\n"); c.Type == notify.Email && m.Subject == "" &&
			t.Policy.Prefix != "" {
			m.Subject, m.Body = subjectOf(t.Policy.Prefix, strings.ToValidUTF8(first, "\uFFFD"), ""),
				strings.TrimPrefix(m.Body, t.Policy.Prefix)
		}
	case c.Type == notify.TTY: // a terminal gets one line
		m.Subject, m.Body = subjectOf(t.Policy.Prefix, l.Description, ""), reportOf(ctx, st, l)
		if l.News == state.NewsRecovery {
			m.Body = "it works again: " + m.Body
		}
	default:
		m.Subject = subjectOf(t.Policy.Prefix, l.Description, newsWords(l))
		m.Body = reportOf(ctx, st, l) + "\n\ntask " + l.TaskID + " on " + host
	}
	m.Event = eventOf(ctx, st, l, m, c.To, zone, now)
	return m
}

// messageOf makes the subject and body of a message. Without a description the first line of its
// text is the subject if one is needed.
func messageOf(l state.Line, t state.Task, terminal bool, zone *time.Location, now time.Time) (subject, body string) {
	body = strings.ToValidUTF8(l.Text, "\uFFFD")
	if l.Due != nil && now.Sub(*l.Due) > messageLate {
		body += " (due " + say.Distance(l.Due.In(zone), now.In(zone)) + " ago)"
	}
	// The text of a reminder is its title, which becomes the subject.
	if t.Type() == state.TypeAgent && t.Description != "" {
		subject, body = subjectOf(t.Policy.Prefix, l.Text, ""),
			strings.ToValidUTF8(t.Description, "\uFFFD")+strings.TrimPrefix(body, strings.ToValidUTF8(l.Text, "\uFFFD"))
		if terminal {
			subject = subjectOf(t.Policy.Prefix, "Reminder: "+l.Text, "")
		}
		return subject, body
	}
	switch described := t.Description != ""; {
	case terminal && described:
		return subjectOf(t.Policy.Prefix, "Reminder: "+t.Description, ""), body
	case terminal:
		return subjectOf(t.Policy.Prefix, "Reminder", ""), body
	case described:
		return subjectOf(t.Policy.Prefix, t.Description, ""), body
	}
	return "", t.Policy.Prefix + body
}

// subjectOf makes a subject of one line: a prefix, a title and what happened. The title is cut when
// the whole is too long.
func subjectOf(prefix, title, words string) string {
	room := max(subjectMost-len([]rune(prefix))-len([]rune(words)), titleLeast)
	if r := []rune(notify.OneLine(title)); len(r) > room {
		title = string(r[:room-1]) + "…"
	}
	return notify.OneLine(prefix + title + words)
}

// newsWords says what happened to a task. The words follow its name.
func newsWords(l state.Line) string {
	words := string(l.Outcome)
	switch {
	case l.News == state.NewsRecovery:
		return " works again"
	case l.News == state.NewsOutput:
		words += ", with output"
	case l.News == state.NewsChange:
		words += ", its output has changed"
	case l.Signal != "":
		words += " (" + l.Signal + ")"
	case l.ExitCode != nil && *l.ExitCode != 0:
		words += fmt.Sprintf(" (exit code %d)", *l.ExitCode)
	case l.Outcome != state.OK && l.Reason != "":
		words += " (" + l.Reason + ")"
	}
	return ": " + words
}

// reportOf makes the body about the end of a command: its output when that is the news, and else
// how it ended with the last lines of its output.
func reportOf(ctx context.Context, st state.Outputs, l state.Line) string {
	stdout, stderr := st.Output(l.TaskID, l.Number)
	if l.News == state.NewsOutput || l.News == state.NewsChange {
		from, was := stdout, l.Stdout
		if was.Bytes == 0 {
			from, was = stderr, l.Stderr
		}
		text, cut, err := output.Tail(ctx, from, messageMost)
		body := strings.ToValidUTF8(strings.TrimRight(string(text), "\r\n"), "\uFFFD")
		switch {
		case err != nil:
			return cli.Plural(int(was.Bytes), "byte") + " of output, which is no longer kept"
		case body == "" && l.News == state.NewsChange:
			return "it has written nothing"
		case cut || was.Truncated:
			body += "\n" + endNote(l, was.Bytes)
		}
		return body
	}
	body, cutAny := view.OutcomeWords(l), false
	for _, stream := range []struct {
		from  state.Stream
		title string
		was   state.Output
	}{{stdout, "", l.Stdout}, {stderr, "standard error:\n", l.Stderr}} {
		text, cut, err := output.Tail(ctx, stream.from, messageMost/2)
		if text = bytes.TrimRight(text, "\r\n"); err != nil || len(text) == 0 {
			continue
		}
		lines := strings.Split(strings.ToValidUTF8(string(text), "\uFFFD"), "\n")
		cutAny = cutAny || cut || stream.was.Truncated || len(lines) > messageLines
		if l.Stdout.Bytes == 0 {
			stream.title = "" // it is the only stream
		}
		body += "\n\n" + stream.title + strings.Join(lines[max(0, len(lines)-messageLines):], "\n")
	}
	if cutAny {
		body += "\n" + endNote(l, l.Stdout.Bytes+l.Stderr.Bytes)
	}
	return body
}

// endNote says that only the end of the output is in the message, and which call shows all.
func endNote(l state.Line, bytes int64) string {
	return "(the end of " + cli.Plural(int(bytes), "byte") + "; " +
		problem.Shell{}.Call(problem.To("log", state.OccurrenceID(l.TaskID, l.Number))) + ")"
}

// eventJSON is what a webhook or a command gets about a task: the fields that notify sends, and the
// line of the ledger as log --json shows it.
type eventJSON struct {
	ID      string        `json:"id"`
	Subject *string       `json:"subject"`
	Body    string        `json:"body"`
	To      *string       `json:"to"`
	HTML    bool          `json:"html"` // never: a task tells text
	Now     time.Time     `json:"now"`
	News    string        `json:"news"`
	Line    view.LineJSON `json:"line"`
}

// eventOf makes the event of a message, with the output of the run. It has no URL of a channel.
func eventOf(ctx context.Context, st state.Outputs, l state.Line, m notify.Message, to string,
	zone *time.Location, now time.Time) json.RawMessage {
	row := view.LineWithOutput(ctx, st, l, zone, view.OutputMost)
	tell := make([]string, len(l.Tell))
	for i, word := range l.Tell {
		tell[i] = cli.ChannelName(word)
	}
	row.Tell = tell
	event, err := plain.JSON(eventJSON{ID: m.ID, Subject: cli.OrNull(m.Subject), Body: m.Body, To: cli.OrNull(to), Now: now.In(zone),
		News: l.News, Line: row})
	if err != nil {
		return nil // the message is told without the line
	}
	return event
}
