package schedule

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/rhythm"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// WhenCommand is the command when.
func WhenCommand() cli.Command {
	return cli.Command{
		Name: "when", Args: "<when>...", Short: "explain a time expression: the next instants, and how it was read",
		Long: `
Reads the words as one time expression and prints the instants it stands for. Nothing is scheduled. Use it to check
an expression before at or wait gets it; they read it by the same rules. For a recurrence a terminal also gets a
drawing of its rhythm: hours, days, months or years. Notes on standard error say where a clock change moves, drops or
repeats an instant, within the instants shown and the coming year, and which months or years are left out.`,
		Examples: []string{
			`ouro-timer when next Friday at noon`,
			`ouro-timer when "0 9 * * 1-5" -n 3 --tz Europe/Warsaw`,
			`ouro-timer when --json --from 2026-03-28T12:00:00Z tomorrow 2:30`,
		},
		Arguments: []option.Argument{{Name: "when", Kind: option.Time, Many: true}},
		Options: slices.Concat(cli.WhenFlags, recurrenceFlags, option.Rows{
			option.Option{Name: "from", Kind: option.Time,
				Help: "read it as if now were WHEN, an instant or a date (2027-03-27)"},
			option.Option{Name: "number", Aliases: []string{"n", "limit"}, Kind: option.Whole,
				Default: strconv.Itoa(instantsShown), Help: "show at most N instants"},
			option.Option{Name: "once", Kind: option.Flag, Help: "refuse recurrences"},
			cli.QuietFlag.WithHelp("print the answer alone"), cli.ZoneFlag, cli.JSONFlag, cli.FieldsFlag,
		}),
		Answers: []cli.Shape{{Name: "when", Of: whenJSON{}, Means: "how a time is read, and its next instants"}},
		Brief:   true,
		Run:     runWhen,
	}
}

// instantsShown is how many instants of a recurrence are shown unless the call says otherwise.
const instantsShown = 5

func runWhen(ctx context.Context, s *cli.Call) error {
	o, err := s.TimeOptions()
	if err != nil {
		return err
	}
	if err := readFrom(s, &o); err != nil {
		return err
	}
	n := instantsShown
	if s.Opt.Has("number") {
		n = s.Opt.Int("number")
	}
	if n < 1 || n > 10000 {
		return problem.Of(problem.T("%s must be from 1 to 10000", problem.Option("number")),
			problem.T("leave it out for 5"))
	}
	spec, err := specOf(s)
	if err != nil {
		return err
	}
	if err := spec.Bounds(&o); err != nil {
		return err
	}
	if tasks.IsBoot(cli.Deref(spec.When), spec.Form) {
		return atBoot(s, o)
	}
	except, err := tasks.ReadExceptions(ctx, spec.Except, handover.Programs(s), o)
	if err != nil {
		return err
	}
	o.Except = except.Days
	o.OnceOnly, o.Form = s.Opt.Bool("once"), spec.Form
	sched, err := when.Parse(cli.Deref(spec.When), o)
	if err != nil {
		return err
	}
	next, remarks := rhythm.Of(sched, o.Now, n)
	if sched.Kind == when.Once && len(next) == 0 && !sched.At.Before(o.Now) {
		next = append(next, sched.At) // "now" itself
	}
	var replaced []recur.NoteKind // the kinds of notes whose remarks say more
	for _, r := range remarks {
		if r.Kind == recur.NoteLeap {
			replaced = append(replaced, r.Kind)
		}
	}
	s.Answer(whenJSON{o.Now, sched.Text, sched.Kind, o.Zone.String(), sched.Canonical, reading(next, o.Now),
		cli.OrEmpty(readings(sched, o.Now)), sched.Others,
		asRemarks(remarks, sched.Zone), cli.OrEmpty(next), sched, readings(sched, o.Now, replaced...),
		!view.UsesUTF8(s.Getenv)})
	return nil
}

// readFrom reads --from, the instant that counts as now.
func readFrom(s *cli.Call, o *when.Options) error {
	if !s.Opt.Has("from") {
		return nil
	}
	t, err := time.Parse(time.RFC3339, s.Opt.Text("from"))
	if err != nil {
		t, err = when.Instant(s.Opt.Text("from"), *o)
	}
	if err != nil {
		return problem.Of(problem.T("%s is %s, which is not an instant", problem.Option("from"),
			cli.Quote(s.Opt.Text("from"))),
			problem.T("try %s or %s", problem.Set("from", "2027-03-27"),
				problem.Set("from", o.Now.Format(time.RFC3339))))
	}
	o.Now = t.In(o.Zone)
	s.Reference = o.Now
	return nil
}

// atBoot answers for the time "at each boot", whose instants nobody knows in advance.
func atBoot(s *cli.Call, o when.Options) error {
	for _, name := range []string{"once", "start", "end", "count", "except"} {
		if s.Opt.Has(name) {
			return problem.Of(problem.T("nobody knows at what time the machine boots, and %s is about times",
				problem.Option(name)), problem.T("leave it out"))
		}
	}
	s.Answer(whenJSON{Now: o.Now, Said: strings.Join(s.Args, " "), Kind: state.KindBoot, TZ: o.Zone.String(),
		Canonical: tasks.BootText, Next: []time.Time{}})
	return nil
}

// Text lists the instants, and on a terminal draws the rhythm of a recurrence.
func (a whenJSON) Text(o *cli.Out) {
	switch {
	case a.Kind == state.KindBoot:
		o.Line("once at each boot of the machine, whose time is not known in advance")
		o.Note("read as %s %s", a.Kind, a.Canonical)
		return
	case len(a.Next) == 0:
		o.Line("never")
	}
	for _, t := range a.Next {
		o.Line("%s", view.Echo(t, a.Now))
	}
	if width, terminal := o.Width(); terminal && a.Kind != when.Once {
		if lines := rhythm.Draw(a.sched, a.Now, width, a.ascii); len(lines) > 0 {
			o.Line("\n%s\n", strings.Join(lines, "\n"))
		}
	}
	if a.Kind != when.Once {
		o.Note("read as %s %s", a.Kind, cli.Visible(a.Canonical))
	}
	for _, note := range a.notes {
		o.Note("note: %s", cli.Visible(note))
	}
	for _, r := range a.Remarks {
		o.Note("note: %s", cli.Visible(r.Text))
	}
}

// excludedSample is how many instants are examined for the note on days left out.
const excludedSample = 100

// readings returns the notes on how a time was read, but for those of some kinds, and a note on the
// instants that fall on days left out.
func readings(sched *when.Schedule, now time.Time, without ...recur.NoteKind) []string {
	var notes []string
	if sched == nil { // the task waits for other tasks and has no schedule
		return nil
	}
	for _, note := range sched.Notes {
		if !slices.Contains(without, note.Kind) {
			notes = append(notes, note.Text)
		}
	}
	switch left, of := sched.Excluded(now, excludedSample); {
	case of == 0:
	case of < excludedSample:
		notes = append(notes, fmt.Sprintf("%d of its %s fall on days that are left out", left,
			cli.Plural(of, "instant")))
	default:
		notes = append(notes, fmt.Sprintf("%d of its next %d instants fall on days that are left out", left, of))
	}
	return notes
}

// whenJSON is the answer of when.
type whenJSON struct {
	Now       time.Time         `json:"now"`
	Said      string            `json:"text" jsonschema:"what was read"`
	Kind      when.Kind         `json:"kind" enum:"once interval cron rrule boot"`
	TZ        string            `json:"tz" jsonschema:"the zone that it was read in"`
	Canonical string            `json:"canonical" jsonschema:"the same time in one fixed form"`
	Reading   *string           `json:"reading,omitempty" jsonschema:"the first instant for people: weekday, date, time, zone, distance; absent: never"`
	Notes     []string          `json:"notes,omitempty"`
	Others    []fault.Candidate `json:"others,omitempty" jsonschema:"other readings of the same words"`
	Remarks   []remark          `json:"remarks,omitempty" jsonschema:"what clock changes do to it, and what is left out"`
	Next      []time.Time       `json:"next" jsonschema:"the next instants, soonest first; empty: never, or not known in advance (boot)"`

	sched *when.Schedule
	notes []string // for people
	ascii bool     // the terminal cannot show UTF-8
}

// asRemarks returns remarks in JSON.
func asRemarks(list []rhythm.Remark, zone *time.Location) []remark {
	remarks := []remark{}
	for _, r := range list {
		remarks = append(remarks, remark{cli.Instant(r.At, zone), r.Text})
	}
	return remarks
}

// remark is a rhythm.Remark in JSON. It has no "at" when it is not about one instant.
type remark struct {
	At   *time.Time `json:"at,omitempty"`
	Text string     `json:"text"`
}

// reading returns the first instant as text for people; nil for never.
func reading(next []time.Time, now time.Time) *string {
	if len(next) == 0 {
		return nil
	}
	return new(view.Echo(next[0], now))
}
