package history

import (
	"cmp"
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// inboxJSON is the answer of inbox.
type inboxJSON struct {
	Now      time.Time            `json:"now"`
	Status   string               `json:"status" jsonschema:"waiting when --max was reached; else ready, or empty" enum:"ready empty waiting"`
	Total    int                  `json:"total"`
	More     int                  `json:"more"`
	Cursor   string               `json:"cursor" jsonschema:"for --since: the greatest one here"`
	Items    []view.ItemJSON      `json:"items"`
	Continue cli.ArgvOrNull       `json:"continue,omitempty" jsonschema:"when --max was reached: the command that goes on"`
	Errors   []view.PickErrorJSON `json:"errors,omitempty"`
	Problems []string             `json:"problems,omitempty"`
	Dropped  *dropped             `json:"dropped,omitempty" jsonschema:"absent: nothing ever was"`
	DryRun   bool                 `json:"dry_run,omitempty" jsonschema:"nothing was taken: this is what would have been"`

	until       time.Time // the end of the lease; zero when nothing was leased
	emptyText   string    // says why there are none
	named       bool      // the call names items
	showsLeases bool      // the call has --all, so the ends of leases are shown too
	hasCursor   bool      // the call has --since
}

// countJSON is how many items there are.
type countJSON struct {
	Now      time.Time            `json:"now"`
	Count    int                  `json:"count"`
	Errors   []view.PickErrorJSON `json:"errors,omitempty"`
	Problems []string             `json:"problems,omitempty"`
}

// Text writes only the number.
func (a countJSON) Text(o *cli.Out) { o.Line("%d", a.Count) }

// dropped are the items that were removed before anybody acknowledged them, because [keep] limits
// the inbox.
type dropped struct {
	Items int       `json:"items"`
	Since time.Time `json:"since" jsonschema:"the first time"`
	Last  time.Time `json:"last" jsonschema:"the latest"`
}

// droppedSaid is for how long the inbox mentions dropped items to people.
const droppedSaid = 7 * 24 * time.Hour

// readDropped reads what was dropped; nil when nothing was. An error here does not keep the inbox
// from being shown.
func readDropped(ctx context.Context, s *cli.Call, st state.Mail, zone *time.Location) *dropped {
	d, err := st.Dropped(context.WithoutCancel(ctx))
	if err != nil {
		s.Warn("warning: the count of dropped items cannot be read: %s", cli.Visible(err.Error()))
	}
	if d.Items == 0 {
		return nil
	}
	return &dropped{d.Items, d.Since.In(zone), d.Last.In(zone)}
}

// answerItems answers with the items.
func answerItems(ctx context.Context, s *cli.Call, st state.Store, o *inboxOptions, m tasks.Found,
	failed []view.PickError, waited bool) {
	rows := make([]view.ItemJSON, len(m.Items))
	for i, item := range m.Items {
		rows[i] = view.AsItemJSON(context.WithoutCancel(ctx), st, item, m.Now, o.zone)
		if !m.Until.IsZero() {
			rows[i].LeasedUntil = cli.Instant(m.Until, o.zone)
		}
	}
	if s.InJSON {
		view.AddPrefixes(ctx, s, st, rows)
	}
	cursor := o.Query.Since
	for _, r := range rows { // items of one instant are not in the order of their cursors
		cursor = max(cursor, r.Cursor)
	}
	answer := inboxJSON{Now: m.Now.In(o.zone), Status: "ready", Total: len(rows) + m.More, More: m.More,
		Cursor: cursor, Items: rows,
		Errors: view.PickErrors(s, failed), Problems: view.ProblemTexts(m.Problems), DryRun: o.dry,
		until: m.Until, named: len(s.Args) > 0, showsLeases: s.Opt.Bool("all"), hasCursor: s.Opt.Has("since")}
	switch {
	case waited:
		answer.Status, answer.Continue = "waiting", cli.ContinueWith(s, o.nextCall(s))
	case len(rows) == 0:
		answer.Status, answer.emptyText = "empty", o.emptyText(ctx, st, m)
	}
	if s.InJSON || !waited {
		answer.Dropped = readDropped(ctx, s, st, o.zone)
	}
	s.Answer(answer)
}

// Text shows the items as a table, or in a pipe as fields.
func (a inboxJSON) Text(o *cli.Out) {
	if a.Status == "waiting" {
		o.ShowContinue(a.Continue)
		return
	}
	width, terminal := o.Width()
	switch {
	case terminal && len(a.Items) == 0:
		o.Line("%s", a.emptyText)
	case len(a.Items) == 0:
		o.Note("%s", a.emptyText)
	case terminal:
		a.table(o, width)
	default:
		for _, r := range a.Items {
			if line := r.Fields(); a.showsLeases {
				o.Line("%s\t%s", line, r.LeaseEnd())
			} else {
				o.Line("%s", line)
			}
		}
	}
	if a.More > 0 {
		o.Note("… and %s more; --limit N shows more", view.Thousands(a.More))
	}
	if d := a.Dropped; d != nil && a.Now.Sub(d.Last) < droppedSaid {
		o.Note("%s dropped since %s, the latest on %s: nobody had acknowledged them, and [keep] in config.toml "+
			"limits the inbox", cmp.Or(map[bool]string{true: "1 older item was"}[d.Items == 1],
			view.Thousands(d.Items)+" older items were"), view.Stamp(d.Since), view.Stamp(d.Last))
	}
	if a.hasCursor && a.Cursor != "" {
		o.Note("to go on from here: --since %s", a.Cursor)
	}
}

// emptyText is the text when there are no items.
func (o *inboxOptions) emptyText(ctx context.Context, st state.Mail, m tasks.Found) string {
	q, problems := o.Query, view.CountUnreadable(m.Problems)
	q.Free = false
	switch {
	case problems > 0:
		return cli.Plural(problems, "item") + " cannot be read, and there are no others."
	case !o.Query.Free && q.Since != "":
		return "Nothing came after that."
	case !o.Query.Free:
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

// table writes the items for a person: a line for each, and its text below, the whole text when the
// call names items.
func (a inboxJSON) table(o *cli.Out, width int) {
	widest, day, taken := 0, "", a.Now
	times := cli.LocaleOf(o)
	if !a.until.IsZero() { // this call leased them, and says so below
		taken = a.until
	}
	for _, r := range a.Items {
		widest = max(widest, len(r.ID))
	}
	for i, r := range a.Items {
		if name := view.DayName(times, r.At, a.Now.In(r.At.Location())); name != day {
			if i > 0 {
				o.Line("")
			}
			day = name
			o.Line("%s", cli.Fit(day, width))
		}
		r.Show(o, times, width, widest, taken, a.named)
	}
	switch {
	case !a.until.IsZero():
		o.Note("Taken until %s. %s ack ITEM... ends what is done with.",
			times.Format(a.until.In(a.Items[0].At.Location()), "15:04:05"), o.Program())
	case !a.named:
		o.Note("%s inbox ID shows all of one, %[1]s ack ITEM... ends it.", o.Program())
	}
}
