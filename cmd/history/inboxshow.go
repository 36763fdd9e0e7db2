package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/output"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// itemMost is how many bytes of text an item has at the most.
const itemMost = 4 << 10

// itemJSON is an item as inbox shows it. Fields are added, never renamed or dropped.
type itemJSON struct {
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

// inboxJSON is the answer of inbox.
type inboxJSON struct {
	Now      time.Time            `json:"now"`
	Status   string               `json:"status" jsonschema:"waiting when --max was reached; else ready, or empty" enum:"ready empty waiting"`
	Total    int                  `json:"total"`
	More     int                  `json:"more"`
	Cursor   string               `json:"cursor" jsonschema:"for --since: the greatest one here"`
	Items    []itemJSON           `json:"items"`
	Continue cli.ArgvOrNull       `json:"continue,omitempty" jsonschema:"when --max was reached: the command that goes on"`
	Errors   []view.PickErrorJSON `json:"errors,omitempty"`
	Problems []string             `json:"problems,omitempty"`
	Dropped  *dropped             `json:"dropped,omitempty" jsonschema:"absent: nothing ever was"`
	DryRun   bool                 `json:"dry_run,omitempty" jsonschema:"nothing was taken: this is what would have been"`

	until   time.Time // of what was taken; zero: nothing was
	nothing string    // why there are none
	named   bool      // items were asked for by name
	leases  bool      // who has taken what is shown, too
	goesOn  bool      // a place was given to go on from
}

// dropped are the items that nobody had acknowledged and that are no more, because [keep] bounds the inbox.
type dropped struct {
	Items int       `json:"items"`
	Since time.Time `json:"since" jsonschema:"the first time"`
	Last  time.Time `json:"last" jsonschema:"the latest"`
}

// droppedSaid is for how long people are told that items were dropped.
const droppedSaid = 7 * 24 * time.Hour

// droppedOf reads what was dropped; nil for nothing. That it cannot be read is no reason to show no inbox.
func droppedOf(ctx context.Context, s *cli.Call, st state.Mail, zone *time.Location) *dropped {
	d, err := st.Dropped(context.WithoutCancel(ctx))
	if err != nil {
		s.Warn("warning: what was dropped of the inbox cannot be read: %s", cli.Visible(err.Error()))
	}
	if d.Items == 0 {
		return nil
	}
	return &dropped{d.Items, d.Since.In(zone), d.Last.In(zone)}
}

// tellMail writes the answer.
func tellMail(ctx context.Context, s *cli.Call, st state.Store, o *inboxOptions, m mail, failed []view.PickError, waited bool) {
	rows := make([]itemJSON, len(m.items))
	for i, item := range m.items {
		rows[i] = asItemJSON(context.WithoutCancel(ctx), st, item, m.now, o.zone)
		if !m.until.IsZero() {
			rows[i].LeasedUntil = cli.Instant(m.until, o.zone)
		}
	}
	if s.InJSON {
		addPrefixes(ctx, s, st, rows)
	}
	cursor := o.query.Since
	for _, r := range rows { // those of one instant do not stand in the order of their cursors
		cursor = max(cursor, r.Cursor)
	}
	answer := inboxJSON{Now: m.now.In(o.zone), Status: "ready", Total: len(rows) + m.more, More: m.more, Cursor: cursor, Items: rows,
		Errors: view.PickErrors(s, failed), Problems: view.ProblemTexts(m.problems), DryRun: o.dry,
		until: m.until, named: len(s.Args) > 0, leases: s.Opt.Bool("all"), goesOn: s.Opt.Has("since")}
	switch {
	case waited:
		answer.Status, answer.Continue = "waiting", cli.GoingOn(s, o.again(s))
	case len(rows) == 0:
		answer.Status, answer.nothing = "empty", o.nothing(ctx, st, m)
	}
	if s.InJSON || !waited {
		answer.Dropped = droppedOf(ctx, s, st, o.zone)
	}
	s.Answer(answer)
}

// Text shows the items as a table, or in a pipe as fields.
func (a inboxJSON) Text(o *cli.Out) {
	if a.Status == "waiting" {
		o.GoOn(a.Continue)
		return
	}
	width, terminal := o.Width()
	switch {
	case terminal && len(a.Items) == 0:
		o.Line("%s", a.nothing)
	case len(a.Items) == 0:
		o.Talk("%s", a.nothing)
	case terminal:
		a.table(o, width)
	default:
		for _, r := range a.Items {
			if line := r.fields(); a.leases {
				o.Line("%s\t%s", line, r.taken())
			} else {
				o.Line("%s", line)
			}
		}
	}
	if a.More > 0 {
		o.Talk("… and %s more; --limit N shows more", view.Thousands(a.More))
	}
	if d := a.Dropped; d != nil && a.Now.Sub(d.Last) < droppedSaid {
		o.Talk("%s dropped since %s, the latest on %s: nobody had acknowledged them, and [keep] of config.toml bounds the inbox",
			cli.OrElse(map[bool]string{true: "1 older item was"}[d.Items == 1], view.Thousands(d.Items)+" older items were"), view.Stamp(d.Since), view.Stamp(d.Last))
	}
	if a.goesOn && a.Cursor != "" {
		o.Talk("to go on from here: --since %s", a.Cursor)
	}
}

// addPrefixes says what stands in front of each item where somebody is told of it: the task's own prefix, or that of the configuration. Of a
// task that is no more only the latter is known.
func addPrefixes(ctx context.Context, s *cli.Call, st state.Tasks, rows []itemJSON) {
	if len(rows) == 0 {
		return
	}
	standing := ""
	if config, err := s.Settings(); err == nil {
		standing = config.Notify.Prefix
	}
	find, err := st.Finder(ctx)
	known := map[string]string{}
	for i := range rows {
		id := rows[i].TaskID
		prefix, there := known[id]
		if !there {
			prefix = standing
			if err == nil {
				if found, e := find(ctx, id); e == nil && len(found) == 1 && (found[0].Task.Policy.Prefix != "" || found[0].Task.Policy.NoPrefix) {
					prefix = found[0].Task.Policy.Prefix
				}
			}
			known[id] = prefix
		}
		if rows[i].Type != state.ItemWait {
			rows[i].Prefix = cli.OrNull(prefix)
		}
	}
}

// nothing is the answer when there is nothing.
func (o *inboxOptions) nothing(ctx context.Context, st state.Mail, m mail) string {
	q, problems := o.query, view.UnreadCount(m.problems)
	q.Free = false
	switch {
	case problems > 0:
		return cli.Plural(problems, "item") + " cannot be read; there is no other."
	case !o.query.Free && q.Since != "":
		return "Nothing came after that."
	case !o.query.Free:
		return "Nothing is waiting, and nothing is taken."
	}
	switch taken, more, _, err := st.Inbox(ctx, q); {
	case err == nil && len(taken) == 1:
		return "Nothing is waiting; 1 item is taken: --all shows it."
	case err == nil && len(taken) > 1:
		return "Nothing is waiting; " + cli.Plural(len(taken)+more, "item") + " are taken: --all shows them."
	}
	return "Nothing is waiting."
}

// asItemJSON is an item with its text.
func asItemJSON(ctx context.Context, st state.Outputs, i state.Item, now time.Time, zone *time.Location) itemJSON {
	l := i.Line
	j := itemJSON{ID: i.ID, TaskID: l.TaskID, Type: l.Inbox, At: l.At.In(zone).Round(0), Description: cli.OrNull(l.Description), Outcome: cli.OrNull(string(l.Outcome)),
		Reason: cli.OrNull(l.Reason), ExitCode: l.ExitCode, Signal: cli.OrNull(l.Signal), Count: max(l.Count, 1), Channel: cli.OrNull(cli.ChannelWord(l.Channel)), Cursor: i.Cursor,
		LeasedUntil: cli.Instant(i.Leased, zone)}
	if !i.Leased.After(now) { // it has run out
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

// itemText is what an item says, and whether something of it is missing: of a message its beginning; of a result what the command wrote,
// from its end; of everything else what became of it, and what the command wrote.
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
		return view.ToldWords(l), false
	case state.ItemMissed:
		return missedWords(l, zone), false
	}
	words := ""
	if l.Inbox != state.ItemResult {
		words = view.OutcomeWords(l) + "\n"
	}
	text, truncated = outputTails(ctx, st, l, itemMost-len(words))
	return strings.TrimRight(words+text, "\n"), truncated
}

// missedWords says which occurrences did not come, and why.
func missedWords(l state.Line, zone *time.Location) string {
	text := view.OutcomeWords(l)
	if l.Due != nil {
		text += ": due " + view.Stamp(l.Due.In(zone))
	}
	if l.DueLast != nil {
		text += " to " + view.Stamp(l.DueLast.In(zone))
	}
	return text
}

// outputTails are the last lines of what a run wrote, standard error behind standard output, in most bytes together.
func outputTails(ctx context.Context, st state.Outputs, l state.Line, most int) (text string, truncated bool) {
	stdout, stderr := st.Output(l.TaskID, l.Number)
	half := int64(max(most, 2)) / 2
	room := [2]int64{max(half, int64(most)-l.Stderr.Bytes), max(half, int64(most)-l.Stdout.Bytes)}
	for i, stream := range []struct {
		from state.Stream
		was  state.Output
	}{{stdout, l.Stdout}, {stderr, l.Stderr}} {
		if stream.was.Bytes == 0 {
			continue
		}
		tail, cut, err := output.Tail(ctx, stream.from, room[i])
		if err != nil {
			note := fmt.Sprintf("(output of %d bytes cannot be read)\n", stream.was.Bytes)
			if errors.Is(err, fs.ErrNotExist) {
				note = fmt.Sprintf("(output of %d bytes is no longer kept)\n", stream.was.Bytes)
			}
			text, truncated = text+note, true
			continue
		}
		text += strings.ToValidUTF8(string(tail), "\uFFFD")
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		truncated = truncated || cut || stream.was.Truncated
	}
	return text, truncated
}

// fields are the item for a pipe.
func (j itemJSON) fields() string {
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
	return strings.Join([]string{j.ID, j.At.Format(time.RFC3339), j.Type, outcome, j.Cursor, cli.Visible(cli.Deref(j.Description)), text}, "\t")
}

// taken is until when somebody has the item, for a pipe.
func (j itemJSON) taken() string {
	if j.LeasedUntil == nil {
		return "-"
	}
	return j.LeasedUntil.Format(time.RFC3339)
}

// mailLines is how many lines of an item's text a list of all shows.
const mailLines = 3

// mailTable writes the items for a person: a line for each, and what it says below it, all of it when it was asked for.
func (a inboxJSON) table(o *cli.Out, width int) {
	widest, day := 0, ""
	for _, r := range a.Items {
		widest = max(widest, len(r.ID))
	}
	for i, r := range a.Items {
		if name := view.DayName(r.At, a.Now.In(r.At.Location())); name != day {
			if i > 0 {
				o.Line("")
			}
			day = name
			o.Line("%s", cli.Fit(day, width))
		}
		what := cli.Visible(cli.Deref(r.Description))
		if what == "" {
			what = r.TaskID
		}
		head := "  " + r.At.Format("15:04:05") + "  " + cli.Pad(r.ID, widest) + "  " + cli.Pad(r.Type, len(state.ItemUndelivered)) + "  " + what
		if r.LeasedUntil != nil && a.until.IsZero() && r.LeasedUntil.After(a.Now) {
			head += " (taken until " + r.LeasedUntil.Format("15:04:05") + ")"
		}
		o.Line("%s", cli.Fit(head, width))
		mailText(o, r, width, a.named)
	}
	switch {
	case !a.until.IsZero():
		o.Talk("Taken until %s. ouro-timer ack ITEM... ends what is done with.", a.until.In(a.Items[0].At.Location()).Format("15:04:05"))
	case !a.named:
		o.Talk("ouro-timer inbox ID shows all of one, ouro-timer ack ITEM... ends it.")
	}
}

// mailText writes an item's text below its line. A message that is all in that line is not told twice.
func mailText(o *cli.Out, r itemJSON, width int, whole bool) {
	if r.Text == "" || r.Text == cli.Deref(r.Description) {
		return
	}
	lines := strings.Split(r.Text, "\n")
	left := 0
	if !whole && len(lines) > mailLines {
		left = len(lines) - mailLines
		switch {
		case r.Type == state.ItemMessage || r.Type == state.ItemWait:
			lines = lines[:mailLines]
		case r.Type == state.ItemResult:
			lines = lines[left:]
		default: // how it ended, and its last lines
			lines = append(lines[:1:1], lines[len(lines)-mailLines+1:]...)
		}
	}
	for _, line := range lines {
		o.Line("%s", cli.Fit("            "+strings.ReplaceAll(cli.Visible(line), `\t`, "\t"), max(width, 20)))
	}
	switch {
	case r.Truncated && whole:
		o.Line("            … all that is kept: %s", cli.ShellLine(r.Whole))
	case left > 0 || r.Truncated:
		o.Line("            … more: ouro-timer inbox %s", r.ID)
	}
}
