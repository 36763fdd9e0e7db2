package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/output"
)

// logFields is a line of the ledger for a pipe: when it was written, the occurrence or task, how it
// ended or what happened to the task, its exit code or signal (of a change, the instant that it
// sets), by how many seconds it was late, and what it is. A missing field is -.
func logFields(l state.Line, zone *time.Location) string {
	name, what, end, late, about := l.TaskID, l.Event, "-", "-", cli.Visible(l.Description)
	at := changeInstant(l)
	if l.Type != state.LineTask {
		name, what, at = state.OccurrenceID(l.TaskID, l.Number), string(l.Outcome), nil
	}
	if l.Type == state.LineDelivery {
		if what = "told"; !l.Delivered {
			what = state.ItemUndelivered
		}
		about = cli.ChannelName(l.Channel)
	}
	switch {
	case l.Signal != "":
		end = l.Signal
	case l.ExitCode != nil:
		end = strconv.Itoa(*l.ExitCode)
	case at != nil:
		end = at.In(zone).Format(time.RFC3339)
	case l.Reason != "":
		end = cli.Visible(l.Reason)
	}
	if l.Started != nil {
		late = strconv.FormatFloat(l.Late, 'f', 3, 64)
	}
	return strings.Join([]string{l.At.In(zone).Format(time.RFC3339), name, what, end, late, about}, "\t")
}

// changeInstant is the instant that a change of a task sets: when it is due from then on, or when
// its pause ends; nil for none.
func changeInstant(l state.Line) *time.Time {
	switch l.Event {
	case state.EventCreated, state.EventEdited, state.EventResumed, state.EventRestored, state.EventMoved,
		state.EventClock:
		return l.Due
	case state.EventPaused:
		return l.Resume
	}
	return nil
}

// logLine is a line of the ledger for people.
func logLine(p cli.Paint, l state.Line, zone *time.Location, withTask bool) string {
	at := l.At.In(zone).Format("2006-01-02 15:04:05")
	name := l.TaskID
	if l.Number > 0 {
		name = state.OccurrenceID(l.TaskID, l.Number)
	}
	text := at + "  " + cli.Pad(name, 8) + "  " + p.As(meaningOf(l), Happened(l, zone))
	if withTask && l.Description != "" && (l.Type == state.LineTask || l.Description != l.Text) {
		text += "  " + cli.Visible(l.Description)
	}
	return text
}

// meaningOf returns the meaning that decides the colour of a line of the ledger.
func meaningOf(l state.Line) cli.Meaning {
	switch {
	case l.Type == state.LineTask, l.Type == state.LineDelivery && l.Delivered:
		return cli.Ordinary
	case l.Type == state.LineDelivery:
		return cli.Bad
	}
	return view.OutcomeMeans(l.Outcome)
}

// Happened says what a line of the ledger is about: how an occurrence ended, what happened to a
// task, or who was told.
func Happened(l state.Line, zone *time.Location) string {
	switch l.Type {
	case state.LineTask:
		return eventWords(l, zone)
	case state.LineDelivery:
		return view.DeliveryWords(l)
	}
	return view.OutcomeOn(l)
}

// eventWords says what happened to a task, and what is new: its schedule, its due instant, when its
// pause ends.
func eventWords(l state.Line, zone *time.Location) string {
	text := strings.ReplaceAll(l.Event, "_", " ")
	var extra []string
	if (l.Event == state.EventCreated || l.Event == state.EventEdited) && l.When != "" {
		text += ": " + cli.Visible(l.When)
	}
	if at := changeInstant(l); at != nil {
		word := "due "
		if l.Event == state.EventPaused {
			word = "until "
		}
		extra = append(extra, word+at.In(zone).Format("2006-01-02 15:04:05"))
	}
	if l.Event == state.EventEdited && l.Revision > 0 {
		extra = append(extra, fmt.Sprintf("revision %d", l.Revision))
	}
	if l.Reason != "" {
		extra = append(extra, cli.Visible(l.Reason))
	}
	if len(extra) > 0 {
		text += " (" + strings.Join(extra, ", ") + ")"
	}
	return text
}

// showOutput writes the standard output of a run and then its standard error. A terminal gets
// control characters as text; a pipe gets the bytes.
func showOutput(ctx context.Context, out *cli.Out, st state.Outputs, l state.Line, limit int64) {
	stdout, stderr := st.Output(l.TaskID, l.Number)
	_, terminal := out.Width()
	for _, stream := range []struct {
		from  state.Stream
		title string
		was   state.Output
	}{{stdout, "", l.Stdout}, {stderr, "standard error:", l.Stderr}} {
		text, cut, err := output.Tail(ctx, stream.from, limit)
		if stream.was.Bytes == 0 && (err != nil || len(text) == 0) {
			continue // an agent may write after its answer
		}
		if errors.Is(err, fs.ErrNotExist) {
			out.Line("(output of %d bytes is no longer kept)", stream.was.Bytes)
			continue
		}
		if err != nil {
			out.Warn("warning: %v", err)
			continue
		}
		if stream.title != "" {
			out.Line("%s", stream.title)
		}
		if where := stream.from.Where(); cut && where != "" {
			out.Line("… (the end of %d bytes; all that is kept is in %s)", stream.was.Bytes, where)
		} else if cut {
			out.Line("… (the end of %d bytes)", stream.was.Bytes)
		}
		if terminal {
			for line := range strings.SplitSeq(cli.VisibleLines(strings.TrimSuffix(string(text), "\n")), "\n") {
				out.Line("%s", line)
			}
			continue
		}
		_, _ = out.Stdout.Write(text) // Flush returns the error
		if len(text) > 0 && text[len(text)-1] != '\n' {
			out.Line("")
		}
	}
}
