package manage

import (
	"context"
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// RestoreCommand is the command restore.
func RestoreCommand() cli.Command {
	return cli.Command{
		Name: "restore", Args: "[<id>... | --match <text>]", Short: "undo rm",
		Long: `
Puts removed tasks back, with the ID and the schedule they had; without an ID those of the last removal. A
recurring task goes on with its next instant; what fell due while it was removed does not run. A one-shot whose time has
passed cannot be restored: schedule it again. A task that was paused comes back without its pause. Every ID is tried, as
with rm; a task whose --key another one has taken meanwhile stays removed.`,
		Examples:  []string{"ouro-timer restore", "ouro-timer restore k7m2", "ouro-timer restore --match backup"},
		Ids:       "removed",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		Options: option.Rows{cli.MatchFlag, cli.QuietFlag.WithHelp("print nothing but errors"), cli.ZoneFlag,
			cli.NoAutostartFlag, cli.DryFlag, cli.JSONFlag, cli.FieldsFlag},
		Answers: []cli.Shape{{Name: "restore", Of: restoreJSON{}, Means: "what was put back"}},
		Run:     runRestore,
	}
}

func runRestore(ctx context.Context, s *cli.Call) error {
	st, zone, err := cli.OpenInZone(s)
	if err != nil {
		return err
	}
	var found []state.Entry
	var failed []view.PickError
	if len(s.Args) == 0 && !s.Opt.Has("match") {
		if found, err = tasks.LastRemoved(ctx, st, st); err == nil && len(found) == 0 {
			err = problem.New(problem.NotFound, problem.T("there is no removed task to restore"),
				problem.T("%s shows every task", cli.EveryTask))
		}
	} else {
		found, failed, err = view.Pick(ctx, s, st, func(e state.Entry) bool { return e.Phase == state.Removed })
	}
	if err != nil {
		return err
	}
	explainNotRemoved(failed)
	answer, warnings := restoreJSON{Restored: []view.TaskJSON{}}, []cli.Warning{}
	var restored []state.Entry
	unchanged := tasks.Each(ctx, found, func(e state.Entry) error {
		now := s.Clock.Now()
		e, err := tasks.Restore(ctx, st, e, now)
		if err != nil {
			return err
		}
		restored, answer.Restored = append(restored, e), append(answer.Restored, view.AsJSON(e, now))
		answer.lines = append(answer.lines, fmt.Sprintf("%s (%s), due %s", e.Task.ID, view.Describe(e.Task),
			view.Coming(e, now.In(zone))))
		return nil
	})
	failed = append(failed, view.Failed(unchanged)...)
	var h handover.RunnerState
	if len(restored) > 0 {
		h = handover.HandOver(ctx, s, st, restored...)
	}
	for _, e := range restored {
		for _, w := range handover.CannotRun(ctx, s, e.Task) {
			warnings = append(warnings, cli.Warning{Kind: w.Kind, Text: problem.T("task %s: %s", e.Task.ID, w.Text)})
		}
	}
	for _, e := range restored { // the same warning is written once
		warnings = cli.AppendNewKinds(warnings, handover.RunWarnings(e, s.Clock.Now(), h)...)
	}
	warnings = append(warnings, s.NetworkWarnings...)
	answer.Now, answer.Errors, answer.Runner, answer.Warnings, answer.DryRun = s.Stamp(),
		view.PickErrors(s, failed), cli.OrNull(h.Runner), s.WarningTexts(warnings), s.DryRun
	return view.AnswerChanges(ctx, s, answer, failed, warnings)
}

// explainNotRemoved says of tasks that were not removed that there is nothing to restore.
func explainNotRemoved(failed []view.PickError) {
	for _, f := range failed {
		if f.Other != nil && f.Other.Phase != state.Removed {
			f.Message = problem.T("task %s %s and was not removed: there is nothing to restore", f.Other.Task.ID,
				view.PhaseWords(*f.Other, "is"))
			f.Hint = problem.T("%s", problem.To("show", f.Other.Task.ID))
			if tasks.IsRunning(*f.Other) {
				f.Code = problem.Failed
			}
		}
	}
}

// restoreJSON is the answer of restore.
type restoreJSON struct {
	Now      time.Time            `json:"now"`
	Restored []view.TaskJSON      `json:"restored"`
	Errors   []view.PickErrorJSON `json:"errors,omitempty"`
	Runner   *string              `json:"runner,omitempty"`
	Warnings []string             `json:"warnings,omitempty"`
	DryRun   bool                 `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`

	lines []string
}

// Text names each restored task.
func (a restoreJSON) Text(o *cli.Out) {
	for _, line := range a.lines {
		o.LineUnlessQuiet("%s %s", o.Verb("restored"), line)
	}
}
