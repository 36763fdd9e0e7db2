package waiting

import (
	"cmp"
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// wouldWaitJSON is the answer of wait --dry-run.
type wouldWaitJSON struct {
	Now         time.Time      `json:"now"`
	Status      string         `json:"status" jsonschema:"would_wait" enum:"would_wait"`
	ID          *string        `json:"id,omitempty" jsonschema:"of the wait that would be resumed; absent: it would be a new one"`
	Task        *string        `json:"task,omitempty"`
	Name        *string        `json:"name,omitempty" jsonschema:"as --name gave it"`
	Due         time.Time      `json:"due"`
	LeftSeconds float64        `json:"left_seconds" jsonschema:"0: it would be told at once"`
	Kind        when.Kind      `json:"kind" enum:"once interval cron rrule"`
	Said        string         `json:"text" jsonschema:"the time, as it was given"`
	TZ          string         `json:"tz"`
	Continue    cli.ArgvOrNull `json:"continue,omitempty" jsonschema:"of a recurrence: the command that waits for the next time; else absent"`
	Kept        bool           `json:"kept,omitempty" jsonschema:"it outlives the call"`
	Runner      *string        `json:"runner,omitempty" jsonschema:"who tells what is kept when nobody waits: alive, started, stopped or none; absent: it is not kept, or told at once"`
	Warnings    []string       `json:"warnings,omitempty"`
	DryRun      bool           `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`
}

// would is wait --dry-run.
func (o *waitOptions) would(ctx context.Context, s *cli.Call) error {
	keep, bounded, _ := o.keeps(s, o.first)
	var warnings []cli.Warning
	if keep {
		switch err := o.wouldKeep(ctx, s); {
		case ctx.Err() != nil:
			return ctx.Err()
		case cli.LimitOf(err) != nil:
			return err
		case err != nil && (bounded || len(o.notify) > 0):
			return o.unkept(err)
		case err != nil:
			keep = false
			warnings = []cli.Warning{{Kind: cli.WarnUnkept, Text: unresumable(err)}}
		default:
			warnings = o.warnings(s)
		}
	}
	again := problem.Call{}
	if _, more := o.following(o.first, 1); more {
		again = o.after(o.first, o.count-1)
	}
	o.tellWould(s, "", keep, again, warnings)
	return nil
}

// wouldKeep looks whether the wait could be kept, and who would tell it.
func (o *waitOptions) wouldKeep(ctx context.Context, s *cli.Call) error {
	st, err := s.Open()
	if err != nil {
		return err
	}
	task := o.asTask(s, o.first, 0)
	if task.Origin, err = cli.Origin(s); err != nil {
		return err
	}
	if _, err := st.Add(ctx, task, o.first); err != nil {
		return err
	}
	o.hands = handover.HandOver(ctx, s, st)
	return nil
}

// wouldResume is wait --resume --dry-run of a wait that goes on, or was told.
func (o *waitOptions) wouldResume(ctx context.Context, s *cli.Call, k *keptWait, told bool) {
	var warnings []cli.Warning
	if !told && o.late(s.Clock, o.first) < 0 {
		o.hands = handover.HandOver(ctx, s, k.st)
		warnings = o.warnings(s)
	}
	o.tellWould(s, k.name(), true, o.again, warnings)
}

// tellWould says what would be waited for.
func (o *waitOptions) tellWould(s *cli.Call, id string, keep bool, next problem.Call, warnings []cli.Warning) {
	again := cli.GoingOn(s, o.further(s, next))
	now := s.Clock.Now().In(o.zone)
	due, left := o.first.In(o.zone), max(-o.late(s.Clock, o.first), 0)
	s.Answer(wouldWaitJSON{now, "would_wait", cli.OrNull(id), cli.OrNull(o.task), cli.OrNull(o.name), due, cli.Seconds(left), o.kind, o.text, o.zone.String(), again, keep,
		cli.OrNull(o.hands.Runner), s.WarningTexts(warnings), true})
	s.WarnAll(warnings)
}

// Text says what would be waited for.
func (a wouldWaitJSON) Text(o *cli.Out) {
	what := "would wait until " + view.Echo(a.Due, a.Now)
	if a.LeftSeconds == 0 {
		what = "would tell at once what was due " + view.Echo(a.Due, a.Now)
	}
	if label := cmp.Or(a.Name, a.Task); label != nil {
		what += ": " + cli.Visible(*label)
	}
	switch {
	case a.ID != nil:
		what += " (" + *a.ID + ")"
	case a.Kept:
		what += " (kept, to be resumed)"
	}
	o.Line("%s", what)
}
