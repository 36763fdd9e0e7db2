package view

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/output"
)

// LineJSON is a line of the ledger as log and run --json show it.
type LineJSON struct {
	Type        string        `json:"type" enum:"occurrence manual delivery task"`
	At          time.Time     `json:"at"`
	ID          *string       `json:"id,omitempty"`
	TaskID      string        `json:"task_id"`
	Event       *string       `json:"event,omitempty"`
	When        *string       `json:"when,omitempty"`
	TZ          *string       `json:"tz,omitempty"`
	Schedule    *state.Timing `json:"schedule,omitempty" jsonschema:"of a change of a task: the schedule it then had, whole (state.Timing); else absent"`
	Revision    *int64        `json:"revision,omitempty"`
	Resume      *time.Time    `json:"resume,omitempty" jsonschema:"of a pause: when it ends by itself"`
	Origin      *string       `json:"origin,omitempty" jsonschema:"of a change of a task: the ID of the task from whose run it was made, or of that one's own origin"`
	Due         *time.Time    `json:"due,omitempty"`
	DueLast     *time.Time    `json:"due_last,omitempty"`
	Count       *int          `json:"count,omitempty"`
	Outcome     *string       `json:"outcome,omitempty" enum:"ok failed timeout interrupted missed skipped cancelled"`
	Reason      *string       `json:"reason,omitempty"`
	Started     *time.Time    `json:"started,omitempty"`
	Ended       *time.Time    `json:"ended,omitempty"`
	LateSeconds *float64      `json:"late_seconds,omitempty"`
	Attempts    *int          `json:"attempts,omitempty"`
	Node        *string       `json:"node,omitempty" jsonschema:"of a run in a fleet: the machine that ran it"`
	User        *float64      `json:"user_seconds,omitempty"`
	System      *float64      `json:"system_seconds,omitempty"`
	MaxRSS      *int64        `json:"max_rss_bytes,omitempty" jsonschema:"absent: it did not run, or held less than the process that started it, and the system does not tell"`
	ExitCode    *int          `json:"exit_code,omitempty"`
	Signal      *string       `json:"signal,omitempty"`
	Stop        *string       `json:"stop,omitempty" jsonschema:"the stop condition of its task that it met"`
	Description *string       `json:"description,omitempty"`
	Text        *string       `json:"text,omitempty"`
	Stdout      *outputJSON   `json:"stdout,omitempty"`
	Stderr      *outputJSON   `json:"stderr,omitempty"`
	Ignored     *int          `json:"ignored_lines,omitempty" jsonschema:"of an agent: lines of its standard output that were no JSON-RPC; absent: none"`

	// Tell, News and Inbox say whom a run notifies and why. Channel and Delivered say to whom a
	// delivery went, and whether it arrived. Deliveries is only set when the call names one run.
	Tell       cli.ArgvOrNull `json:"tell,omitempty"`
	News       *string        `json:"news,omitempty"`
	Inbox      *string        `json:"inbox,omitempty"`
	Channel    *string        `json:"channel,omitempty"`
	Delivered  *bool          `json:"delivered,omitempty"`
	Deliveries deliveryRows   `json:"deliveries,omitempty"`
}

// StreamLine is a line of the ledger as an object of a stream.
type StreamLine struct {
	LineJSON
	Now    time.Time `json:"now"`
	DryRun bool      `json:"dry_run,omitzero" jsonschema:"it has not happened: it is what would have been done"`
}

// outputJSON is the output of a run to one stream. Lists of many tasks leave out the text (null).
type outputJSON struct {
	Text      *string `json:"text,omitempty"`
	Bytes     int64   `json:"bytes"`
	Truncated bool    `json:"truncated,omitempty"`
	Kept      *bool   `json:"kept,omitempty" jsonschema:"whether there is a file of it still; absent where nobody looked"`
}

// AsLineJSON makes a LineJSON without the texts of the output.
func AsLineJSON(l state.Line, zone *time.Location) LineJSON {
	in := func(t *time.Time) *time.Time {
		if t == nil {
			return nil
		}
		return cli.Instant(*t, zone)
	}
	j := LineJSON{Type: l.Type, At: l.At.In(zone), TaskID: l.TaskID, Event: cli.OrNull(l.Event),
		When: cli.OrNull(l.When),
		Due:  in(l.Due), DueLast: in(l.DueLast), Outcome: cli.OrNull(string(l.Outcome)), Reason: cli.OrNull(l.Reason),
		Started: in(l.Started), Ended: in(l.Ended), ExitCode: l.ExitCode,
		Signal: cli.OrNull(l.Signal), Node: cli.OrNull(l.Node), Description: cli.OrNull(l.Description), Text: cli.OrNull(l.Text)}
	j.Tell, j.News, j.Inbox, j.Channel = cli.ChannelWords(l.Tell), cli.OrNull(l.News), cli.OrNull(l.Inbox),
		cli.OrNull(cli.ChannelWord(l.Channel))
	if l.Type == state.LineDelivery {
		j.Delivered, j.Attempts = &l.Delivered, &l.Attempts
	}
	j.TZ, j.Stop, j.Resume = cli.OrNull(l.Zone), cli.OrNull(l.Stop), in(l.Resume)
	if l.Schedule != nil {
		shown := *l.Schedule
		shown.Wall = toMillisecond(shown.Wall)
		j.Schedule = &shown
	}
	if l.Type == state.LineTask && l.Revision > 0 {
		j.Revision, j.Origin = &l.Revision, cli.OrNull(l.Origin)
	}
	if l.Number > 0 {
		j.ID = cli.OrNull(state.OccurrenceID(l.TaskID, l.Number))
	}
	if l.Type != state.LineTask && l.Type != state.LineDelivery {
		j.Count = &l.Count
	}
	if (l.Outcome.Ran() || l.Started != nil) && l.Number > 0 {
		j.LateSeconds, j.Attempts = &l.Late, &l.Attempts
	}
	if l.Started != nil && l.Ended != nil && l.Number > 0 {
		j.User, j.System = &l.User, &l.System
		if l.MaxRSS > 0 {
			j.MaxRSS = &l.MaxRSS
		}
	}
	if l.Ignored > 0 {
		j.Ignored = &l.Ignored
	}
	if l.Started != nil && l.Number > 0 {
		j.Stdout = &outputJSON{Bytes: l.Stdout.Bytes, Truncated: l.Stdout.Truncated}
		j.Stderr = &outputJSON{Bytes: l.Stderr.Bytes, Truncated: l.Stderr.Truncated}
	}
	return j
}

// OutputMost is the default of --output-limit: how many bytes of each stream are shown.
const OutputMost = 64 << 10

// LineWithOutput makes a LineJSON with at most so many bytes from the end of each stream.
func LineWithOutput(ctx context.Context, st state.Outputs, l state.Line, zone *time.Location, most int64) LineJSON {
	j := AsLineJSON(l, zone)
	if j.Stdout != nil {
		stdout, stderr := st.Output(l.TaskID, l.Number)
		j.Stdout.read(ctx, stdout, most)
		j.Stderr.read(ctx, stderr, most)
	}
	return j
}

// read fills in the last bytes of a stream. The text stays null when it is gone, because only the
// latest runs keep theirs.
func (j *outputJSON) read(ctx context.Context, from state.Stream, most int64) {
	text, cut, err := output.Tail(ctx, from, most)
	j.Kept = new(err == nil)
	if err != nil {
		return
	}
	j.Text = new(strings.ToValidUTF8(string(text), "\uFFFD"))
	j.Truncated = j.Truncated || cut
}

// OutcomeMeans is the meaning, and so the colour, of an outcome.
func OutcomeMeans(o state.Outcome) cli.Meaning {
	switch o {
	case state.Failed, state.TimedOut, state.Interrupted:
		return cli.Bad
	case state.Missed, state.Skipped:
		return cli.Late
	}
	return cli.Ordinary
}

// OutcomeOn says how an occurrence ended, and in a fleet on which machine.
func OutcomeOn(l state.Line) string {
	if l.Node == "" {
		return OutcomeWords(l)
	}
	return OutcomeWords(l, "on "+cli.Visible(l.Node))
}

// OutcomeWords says how an occurrence ended. It ends what is between brackets with words.
func OutcomeWords(l state.Line, words ...string) string {
	text := string(l.Outcome)
	var extra []string
	if l.ExitCode != nil && *l.ExitCode != 0 {
		extra = append(extra, fmt.Sprintf("exit code %d", *l.ExitCode))
	}
	if l.Signal != "" {
		extra = append(extra, l.Signal)
	}
	if l.Reason != "" {
		extra = append(extra, cli.Visible(l.Reason))
	}
	if (l.Outcome == state.Failed || l.Outcome == state.Skipped || l.Outcome == state.TimedOut) && l.Text != "" {
		extra = append(extra, cli.Visible(l.Text))
	}
	if l.Ignored > 0 {
		extra = append(extra, cli.Plural(l.Ignored, "line")+" ignored")
	}
	if l.Count > 1 {
		extra = append(extra, cli.Plural(l.Count, "instant"))
	}
	if l.Started != nil && l.Ended != nil {
		extra = append(extra, "took "+l.Ended.Sub(*l.Started).Round(time.Millisecond).String())
	}
	if l.Late >= 1 {
		extra = append(extra, "late by "+time.Duration(l.Late*float64(time.Second)).Round(time.Second).String())
	}
	if extra = append(extra, words...); len(extra) > 0 {
		text += " (" + strings.Join(extra, ", ") + ")"
	}
	if l.Outcome == state.OK && l.Text != "" {
		text += ": " + cli.Visible(l.Text)
	}
	return text
}

// ProblemJSON is a line of log --follow about something that cannot be read.
type ProblemJSON struct {
	Type string    `json:"type"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	Now  time.Time `json:"now"`
}

// PieceJSON is a line of log --follow: a piece of the output of a run.
type PieceJSON struct {
	Type   string    `json:"type"`
	At     time.Time `json:"at"`
	ID     string    `json:"id"`
	TaskID string    `json:"task_id"`
	Stream string    `json:"stream"`
	Offset int64     `json:"offset"`
	Text   string    `json:"text"`
	Now    time.Time `json:"now"`
}

// toMillisecond truncates a wall time to the millisecond, as answers do.
func toMillisecond(wall string) string {
	seconds, fraction, _ := strings.Cut(wall, ".")
	fraction = strings.TrimRight(fraction[:min(len(fraction), 3)], "0")
	if fraction == "" {
		return seconds
	}
	return seconds + "." + fraction
}
