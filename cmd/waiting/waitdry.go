package waiting

import (
	"cmp"
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
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
	Kept        bool           `json:"kept,omitempty" jsonschema:"the wait would outlive the call"`
	Runner      *string        `json:"runner,omitempty" jsonschema:"of a kept wait: the runner that tells it when nobody waits: alive, started, stopped or none"`
	Warnings    []string       `json:"warnings,omitempty"`
	DryRun      bool           `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`
}

// dryRun answers a dry run: what would be waited for, and whether it would be kept. The store is a
// preview.
func (w *activeWait) dryRun(ctx context.Context) error {
	warnings, err := w.keep(ctx, w.first, 0)
	if err != nil {
		return err
	}
	if w.kept != nil {
		warnings = w.warnings()
	}
	again := problem.Call{}
	if _, more := w.following(w.first, 1); more {
		again = w.nextCall(w.first, w.count-1)
	}
	w.answerDryRun(again, warnings)
	return nil
}

// answerDryRun writes the answer of a dry run, with the call that waits for the next time.
func (w *activeWait) answerDryRun(next problem.Call, warnings []cli.Warning) {
	again := cli.ContinueWith(w.Call, w.withOptions(w.Call, next))
	now := w.Clock.Now().In(w.zone)
	due, left := w.first.In(w.zone), max(-w.late(w.Clock, w.first), 0)
	w.Answer(wouldWaitJSON{now, "would_wait", cli.OrNull(w.kept.ID()), cli.OrNull(w.task), cli.OrNull(w.name),
		due, cli.Seconds(left), w.kind, w.text, w.zone.String(), again, w.kept != nil,
		cli.OrNull(w.runner.Runner), w.WarningTexts(warnings), true})
	w.WarnAll(warnings)
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
