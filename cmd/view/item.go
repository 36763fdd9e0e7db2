package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/output"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// itemMost is the most bytes of the text of an item.
const itemMost = 4 << 10

// ItemJSON is an item as inbox shows it. Fields are added, never renamed or dropped.
type ItemJSON struct {
	ID          string         `json:"id"`
	TaskID      string         `json:"task_id"`
	Type        string         `json:"type" jsonschema:"message, failure, result, missed, wait or undelivered" enum:"message failure result missed wait undelivered"`
	At          time.Time      `json:"at"`
	Due         *time.Time     `json:"due,omitempty"`
	LateSeconds *float64       `json:"late_seconds,omitempty"`
	Description *string        `json:"description,omitempty"`
	Text        string         `json:"text"`
	Truncated   bool           `json:"truncated,omitempty"`
	Whole       cli.ArgvOrNull `json:"whole,omitempty" jsonschema:"where it is truncated: the command that shows all that is kept"`
	Outcome     *string        `json:"outcome,omitempty" enum:"ok failed timeout interrupted missed skipped cancelled"`
	Reason      *string        `json:"reason,omitempty"`
	ExitCode    *int           `json:"exit_code,omitempty"`
	Signal      *string        `json:"signal,omitempty"`
	Count       int            `json:"count" jsonschema:"of a range of instants that ended alike"`
	Channel     *string        `json:"channel,omitempty" jsonschema:"that could not be told"`
	Cursor      string         `json:"cursor"`
	LeasedUntil *time.Time     `json:"leased_until,omitempty"`
	Prefix      *string        `json:"prefix,omitempty" jsonschema:"what stands in front where somebody is told: neither text nor description has it; absent: nothing"`
}

// AddPrefixes adds to each item the prefix of its messages: that of the task, else that of the
// configuration, which is also used when the task is gone.
func AddPrefixes(ctx context.Context, s *cli.Call, st state.Tasks, rows []ItemJSON) {
	if len(rows) == 0 {
		return
	}
	configured := ""
	if config, err := s.Settings(); err == nil {
		configured = config.Notify.Prefix
	}
	find, err := st.Finder(ctx)
	known := map[string]string{}
	for i := range rows {
		id := rows[i].TaskID
		prefix, found := known[id]
		if !found {
			prefix = configured
			if err == nil {
				if entries, e := find(ctx, id); e == nil && len(entries) == 1 &&
					(entries[0].Task.Policy.Prefix != "" || entries[0].Task.Policy.NoPrefix) {
					prefix = entries[0].Task.Policy.Prefix
				}
			}
			known[id] = prefix
		}
		if rows[i].Type != state.ItemWait {
			rows[i].Prefix = cli.OrNull(prefix)
		}
	}
}

// AsItemJSON is an item with its text.
func AsItemJSON(ctx context.Context, st state.Outputs, i state.Item, now time.Time, zone *time.Location) ItemJSON {
	l := i.Line
	j := ItemJSON{ID: i.ID, TaskID: l.TaskID, Type: l.Inbox, At: l.At.In(zone).Round(0),
		Description: cli.OrNull(l.Description), Outcome: cli.OrNull(string(l.Outcome)),
		Reason: cli.OrNull(l.Reason), ExitCode: l.ExitCode, Signal: cli.OrNull(l.Signal), Count: max(l.Count, 1),
		Channel: cli.OrNull(cli.ChannelWord(l.Channel)), Cursor: i.Cursor,
		LeasedUntil: cli.Instant(i.Leased, zone)}
	if !i.Leased.After(now) { // the lease has ended
		j.LeasedUntil = nil
	}
	if l.Due != nil {
		j.Due = cli.Instant(*l.Due, zone)
	}
	if l.Started != nil {
		j.LateSeconds = &l.Late
	}
	j.Text, j.Truncated = itemText(ctx, st, l, zone)
	if j.Truncated {
		j.Whole = problem.To("log", state.OccurrenceID(l.TaskID, l.Number)).Words("")
	}
	return j
}

// itemText returns the text of an item, and whether it was truncated. It is the beginning of a
// message, the end of the output of a result, and for other items what happened and the output.
func itemText(ctx context.Context, st state.Outputs, l state.Line, zone *time.Location) (text string, truncated bool) {
	switch l.Inbox {
	case state.ItemMessage, state.ItemWait:
		if len(l.Text) <= itemMost {
			return l.Text, false
		}
		cut := itemMost
		for cut > 0 && !utf8.RuneStart(l.Text[cut]) {
			cut--
		}
		return l.Text[:cut], true
	case state.ItemUndelivered:
		return DeliveryWords(l), false
	case state.ItemMissed:
		return missedWords(l, zone), false
	}
	words := ""
	if l.Inbox != state.ItemResult {
		words = OutcomeWords(l) + "\n"
	}
	text, truncated = outputTails(ctx, st, l, itemMost-len(words))
	return strings.TrimRight(words+text, "\r\n"), truncated
}

// missedWords says which occurrences did not run, and why.
func missedWords(l state.Line, zone *time.Location) string {
	text := OutcomeWords(l)
	if l.Due != nil {
		text += ": due " + Stamp(l.Due.In(zone))
	}
	if l.DueLast != nil {
		text += " to " + Stamp(l.DueLast.In(zone))
	}
	return text
}

// outputTails returns the end of the output of a run, standard output before standard error. Both
// together have at most limit bytes.
func outputTails(ctx context.Context, st state.Outputs, l state.Line, limit int) (text string, truncated bool) {
	stdout, stderr := st.Output(l.TaskID, l.Number)
	half := int64(max(limit, 2)) / 2
	room := [2]int64{max(half, int64(limit)-l.Stderr.Bytes), max(half, int64(limit)-l.Stdout.Bytes)}
	for i, stream := range []struct {
		from    state.Stream
		written state.Output
	}{{stdout, l.Stdout}, {stderr, l.Stderr}} {
		if stream.written.Bytes == 0 {
			continue
		}
		tail, cut, err := output.Tail(ctx, stream.from, room[i])
		if err != nil {
			note := fmt.Sprintf("(output of %d bytes cannot be read)\n", stream.written.Bytes)
			if errors.Is(err, fs.ErrNotExist) {
				note = fmt.Sprintf("(output of %d bytes is no longer kept)\n", stream.written.Bytes)
			}
			text, truncated = text+note, true
			continue
		}
		text += strings.ToValidUTF8(string(tail), "\uFFFD")
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		truncated = truncated || cut || stream.written.Truncated
	}
	return text, truncated
}

// Fields is the item as fields with tabs between, for a pipe.
func (j ItemJSON) Fields() string {
	outcome := "-"
	switch {
	case j.Outcome != nil:
		outcome = *j.Outcome
	case j.Channel != nil:
		outcome = cli.ChannelName(*j.Channel)
	}
	text := cli.Visible(j.Text)
	if j.Truncated {
		text += " … (" + cli.ShellLine(j.Whole) + ")"
	}
	return strings.Join([]string{j.ID, j.At.Format(time.RFC3339), j.Type, outcome, j.Cursor,
		cli.Visible(cli.Deref(j.Description)), text}, "\t")
}

// LeaseEnd is when the lease of the item ends, for a pipe.
func (j ItemJSON) LeaseEnd() string {
	if j.LeasedUntil == nil {
		return "-"
	}
	return j.LeasedUntil.Format(time.RFC3339)
}

// itemLines is how many lines of each item a list shows.
const itemLines = 3

// Show writes an item for a person: a line with its ID, padded to widest, and its text below. whole
// is whether all of the text is shown. An item that is leased at now also has the end of its lease.
func (j ItemJSON) Show(o *cli.Out, times cli.Locale, width, widest int, now time.Time, whole bool) {
	what := cli.Visible(cli.Deref(j.Description))
	if what == "" {
		what = j.TaskID
	}
	p := o.Paint()
	kind, heading := itemMeans(j.Type), cli.Unread
	taken := ""
	if j.LeasedUntil != nil && j.LeasedUntil.After(now) {
		taken = " (taken until " + times.Format(*j.LeasedUntil, "15:04:05") + ")"
		kind, heading = cli.Minor, cli.Minor
	}
	head := "  " + times.Clock(j.At, "15:04:05") + "  " + cli.Pad(j.ID, widest) + "  " +
		cli.Pad(p.As(kind, j.Type), len(state.ItemUndelivered)) + "  " +
		p.As(heading, what+taken)
	o.Line("%s", cli.Fit(head, width))
	j.showText(o, width, whole)
}

// itemMeans is the meaning, and so the colour, of a type of item.
func itemMeans(kind string) cli.Meaning {
	switch kind {
	case state.ItemFailure, state.ItemUndelivered:
		return cli.Bad
	case state.ItemMissed:
		return cli.Late
	}
	return cli.Ordinary
}

// showText writes the text of an item below its line. It does not repeat a message that fits into
// the line.
func (j ItemJSON) showText(o *cli.Out, width int, whole bool) {
	if j.Text == "" || j.Text == cli.Deref(j.Description) {
		return
	}
	lines := strings.Split(cli.VisibleLines(j.Text), "\n")
	left := 0
	if !whole && len(lines) > itemLines {
		left = len(lines) - itemLines
		switch {
		case j.Type == state.ItemMessage || j.Type == state.ItemWait:
			lines = lines[:itemLines]
		case j.Type == state.ItemResult:
			lines = lines[left:]
		default: // how the run ended, and the last lines
			lines = append(lines[:1:1], lines[len(lines)-itemLines+1:]...)
		}
	}
	for _, line := range lines {
		o.Line("%s", cli.Fit("            "+line, max(width, 20)))
	}
	switch {
	case j.Truncated && whole:
		o.Line("            … all that is kept: %s", cli.ShellLine(j.Whole))
	case left > 0 || j.Truncated:
		o.Line("            … more: %s inbox %s", o.Program(), j.ID)
	}
}

const (
	leaseDefault = 10 * time.Minute // the lease of --take without a duration
	leaseMost    = 24 * time.Hour
)

// TakeSpan reads the duration of --take. An empty text is leaseDefault.
func TakeSpan(text string) (time.Duration, error) {
	if strings.TrimSpace(text) == "" {
		return leaseDefault, nil
	}
	d, err := tasks.Duration(text)
	if err != nil {
		return 0, cli.Explain(err).About(problem.Option("take"))
	}
	if d <= 0 || d > leaseMost {
		return 0, problem.Of(problem.T("%s %s is not a valid length for a lease", problem.Option("take"), text),
			problem.T("give more than 0 and at most 24h, such as %s", problem.Set("take", "10m")))
	}
	return d, nil
}

// EndLeases ends the leases of items that did not reach the caller, and returns the error lost,
// which says why, as a problem.
func EndLeases(ctx context.Context, st state.Mail, f tasks.Found, lost error) error {
	p := cli.Explain(lost)
	if err := f.GiveBack(ctx, st); err != nil {
		return p.Saying(problem.T("%s; the items stay leased until %s: %s", p.Message,
			f.Until.Format(time.RFC3339), cli.Explain(err).Message))
	}
	return p.Saying(problem.T("%s; the items are no longer leased", p.Message))
}
