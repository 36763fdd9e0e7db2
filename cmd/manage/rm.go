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

// RmCommand is the command rm.
func RmCommand() cli.Command {
	return cli.Command{
		Exits: []int{cli.ExitMax}, // OURO_MAX with --kill
		Name:  "rm", Args: "<id>... | --match <text> | --tag <name> | --origin <id> | --all", Short: "cancel tasks",
		Long: `
No further occurrence of the tasks starts; a command that is running goes on, unless --kill ends it as ouro-timer stop
does. The beginning of an ID is enough when no other task has it. Every ID is tried: those that cannot be removed are
named on standard error, the others are removed, and the exit code is that of the first that failed (3: no such task, 4:
its file cannot be read or moved). For 30 days ouro-timer restore brings removed tasks back.

--origin cancels all tasks that the runs of one task scheduled. That task itself goes on.`,
		Examples:  []string{"ouro-timer rm k7m2", `ouro-timer rm --match "call Bob"`, "ouro-timer rm --origin k7m2"},
		Ids:       "live",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		Options: option.Rows{cli.MatchFlag(), allFlag("every task that is pending, paused or running"),
			tagFlag("every task"), originFlag("all that came of the runs of task ID"),
			option.Option{Name: "kill", Kind: option.Flag,
				Help: "end what runs of them, too: TERM, and KILL 10 s later"},
			cli.DryFlag(), cli.QuietFlag("print nothing but errors"), cli.ZoneFlag(), cli.JsonFlag(), cli.FieldsFlag()},
		Answers: []cli.Shape{{Name: "rm", Of: rmJSON{}, Says: "what was removed"}},
		Run:     runRm,
	}
}

func runRm(ctx context.Context, s *cli.Call) error {
	st, err := s.Open()
	if err != nil {
		return err
	}
	found, failed, err := view.PickTagged(ctx, s, st,
		func(e state.Entry) bool { return tasks.Live(e) || len(e.Open) > 0 && e.Phase != state.Removed })
	if err != nil {
		return err
	}
	kill := s.Opt.Bool("kill")
	bound, most := cli.StopWait, time.Duration(0)
	if kill {
		if most, err = cli.Longest(s); err != nil {
			return err
		}
		if most > 0 {
			bound = min(bound, most)
		}
	}
	brief := s.Opt.Bool("all") && s.Lean()
	answer := rmJSON{Stopped: []stopped{}, origin: s.Opt.Text("origin"), tagged: s.Opt.Has("tag"), kill: kill}
	if !brief {
		answer.Removed = []removedTask{}
	}
	removed, unchanged := tasks.Remove(ctx, st, found, s.Clock)
	failed = append(failed, view.Failed(unchanged)...)
	for _, e := range removed {
		if brief {
			answer.IDs = append(answer.IDs, e.Task.ID)
		}
		if brief && len(e.Open) == 0 {
			continue
		}
		answer.Removed = append(answer.Removed, removedTask{e.Task.ID, cli.OrNull(e.Task.Summary()),
			len(e.Open) > 0, view.Describe(e.Task)})
	}
	var left unended
	if kill {
		limited, cancel := cli.Within(ctx, s.Clock, bound)
		defer cancel()
		runs, untold := tasks.Stop(limited, st, s.Clock, removed, false)
		failed = append(failed, untoldRuns(limited, untold)...)
		answer.Stopped = asStopped(runs)
		left = unendedOf(runs, bound, most)
		left.hint = problem.T("%s shows how it ends", problem.To("log"))
	}
	if most > 0 {
		answer.Continue = cli.GoingOn(s, stopping(s, left))
	}
	answer.Now, answer.Errors, answer.Count, answer.DryRun, answer.left = s.Stamp(), view.PickErrors(s, failed),
		len(removed), s.DryRun, left
	s.Answer(answer)
	return left.code(ctx, s, failed)
}

// removedTask is a task that rm has removed.
type removedTask struct {
	ID          string  `json:"id"`
	Description *string `json:"description,omitempty"`
	Running     bool    `json:"running,omitempty" jsonschema:"a run of it went on when it was removed"`

	what string
}

// rmJSON is the answer of rm.
type rmJSON struct {
	Now     time.Time            `json:"now"`
	Removed []removedTask        `json:"removed,omitzero" jsonschema:"of --all those of which a run went on; with --json=full every one"`
	Errors  []view.PickErrorJSON `json:"errors,omitempty"`
	Stopped []stopped            `json:"stopped,omitempty" jsonschema:"by --kill"`
	Count   int                  `json:"count" jsonschema:"how many were removed"`
	IDs     []string             `json:"ids,omitempty" jsonschema:"of --all: the tasks"`
	DryRun  bool                 `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`
	// Continue waits for the end of what --kill has told to end.
	Continue cli.ArgvOrNull `json:"continue,omitempty" jsonschema:"of --kill, when OURO_MAX came first: the command that waits for the end; else absent"`

	origin string
	tagged bool // the tasks were named by --tag
	kill   bool
	left   unended
}

// Text names each task that was removed, and says how each run ended.
func (a rmJSON) Text(o *cli.Out) {
	for _, r := range a.Removed {
		o.Tell("%s %s (%s)", o.Deed("removed"), r.ID, r.what)
		if r.Running && !a.kill {
			o.Talk("note: a command of it that is running goes on")
		}
	}
	tellStopped(o, a.Stopped)
	switch {
	case a.tagged && a.Count+len(a.Errors) == 0:
		o.Talk("No task has that tag.")
	case a.origin == "":
	case a.Count == 0 && len(a.Errors) == 0:
		o.Talk("No task that came of %s is pending.", a.origin)
	default:
		o.Talk("%s that came of %s removed.", cli.Plural(a.Count, "task"), a.origin)
	}
	a.left.tell(o, a.Continue)
}

// RestoreCommand is the command restore.
func RestoreCommand() cli.Command {
	return cli.Command{
		Name: "restore", Args: "[<id>... | --match <text>]", Short: "undo rm",
		Long: `
Puts tasks that were removed back, with the ID and the schedule they had; without an ID those of the last removal. A
recurring task goes on with its next instant; what fell due while it was removed does not run. A one-shot whose time has
passed cannot be restored: schedule it again. A task that was paused comes back without its pause. Every ID is tried, as
with rm; a task whose --key another one has taken meanwhile stays removed.`,
		Examples:  []string{"ouro-timer restore", "ouro-timer restore k7m2", "ouro-timer restore --match backup"},
		Ids:       "removed",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		Options: option.Rows{cli.MatchFlag(), cli.QuietFlag("print nothing but errors"), cli.ZoneFlag(),
			cli.NoAutostartFlag(), cli.DryFlag(), cli.JsonFlag(), cli.FieldsFlag()},
		Answers: []cli.Shape{{Name: "restore", Of: restoreJSON{}, Says: "what was put back"}},
		Run:     runRestore,
	}
}

func runRestore(ctx context.Context, s *cli.Call) error {
	st, err := s.Open()
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
	zone, err := s.Zone()
	if err != nil {
		return err
	}
	answer, warnings := restoreJSON{Restored: []view.TaskJSON{}}, []cli.Warning{}
	var back []state.Entry
	unchanged := tasks.Each(ctx, found, func(e state.Entry) error {
		now := s.Clock.Now()
		e, err := tasks.Restore(ctx, st, e, now)
		if err != nil {
			return err
		}
		back, answer.Restored = append(back, e), append(answer.Restored, view.AsJSON(e, now))
		answer.lines = append(answer.lines, fmt.Sprintf("%s (%s), due %s", e.Task.ID, view.Describe(e.Task),
			view.Coming(e, now.In(zone))))
		return nil
	})
	failed = append(failed, view.Failed(unchanged)...)
	var h handover.RunnerState
	if len(back) > 0 {
		h = handover.HandOver(ctx, s, st, back...)
	}
	for _, e := range back {
		for _, w := range handover.CannotRun(ctx, s, e.Task) {
			warnings = append(warnings, cli.Warning{Kind: w.Kind, Text: problem.T("task %s: %s", e.Task.ID, w.Text)})
		}
	}
	for _, e := range back { // a warning that is the same for all is written once
		warnings = cli.Once(warnings, handover.RunWarnings(e, s.Clock.Now(), h)...)
	}
	warnings = append(warnings, s.Remote...)
	answer.Now, answer.Errors, answer.Runner, answer.Warnings, answer.DryRun = s.Stamp(),
		view.PickErrors(s, failed), cli.OrNull(h.Runner), s.WarningTexts(warnings), s.DryRun
	return view.Answered(ctx, s, answer, failed, warnings)
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

// Text names each task that is back.
func (a restoreJSON) Text(o *cli.Out) {
	for _, line := range a.lines {
		o.Tell("%s %s", o.Deed("restored"), line)
	}
}
