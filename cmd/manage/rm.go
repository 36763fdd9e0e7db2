package manage

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

func RmCommand() cli.Command {
	return cli.Command{
		Exits: []int{cli.ExitMax}, // OURO_MAX with --kill
		Name:  "rm", Args: "<id>... | --match <text> | --origin <id>", Short: "cancel tasks",
		Long: `
No further occurrence of the tasks starts; a command that is running goes on, unless --kill ends it as ouro-timer stop
does. The beginning of an ID is enough when no other task has it. Every ID is tried: those that cannot be removed are
told on standard error, the others are removed, and the exit code is that of the first that failed (3: no such task, 4:
its file cannot be read or moved). What was removed can be had back for 30 days: ouro-timer restore <id>

--origin cancels all that came of the runs of one task, which itself goes on.`,
		Examples:  []string{"ouro-timer rm k7m2", `ouro-timer rm --match "call Bob"`, "ouro-timer rm --origin k7m2"},
		Ids:       "live",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		Options: option.Rows{cli.MatchFlag(), originFlag("all that came of the runs of task `ID`"), option.Option{Name: "kill", Kind: option.Flag, Help: "end what runs of them, too: TERM, and KILL 10 s later"},
			cli.DryFlag(), cli.QuietFlag("print nothing but errors"), cli.ZoneFlag(), cli.JsonFlag()},
		Answers: []cli.Answer{{Name: "rm", Of: rmJSON{}, Says: "what was removed"}},
		Run:     runRm,
	}
}

func runRm(ctx context.Context, s *cli.Call) error {
	st, err := s.Open()
	if err != nil {
		return err
	}
	found, failed, err := view.Pick(ctx, s, st, func(e state.Entry) bool { return tasks.Live(e) || len(e.Open) > 0 && e.Phase != state.Removed })
	if err != nil {
		return err
	}
	removed, ended, kill := []removedTask{}, []*stopped{}, s.Opt.Bool("kill")
	bound, most := cli.StopWait, time.Duration(0)
	if kill {
		if most, err = cli.Longest(s); err != nil {
			return err
		}
		if most > 0 {
			bound = min(bound, most)
		}
	}
	var going []state.Entry // what runs of those that were removed
	failed = each(found, failed, whileFree(ctx, func(e state.Entry) error {
		if !s.DryRun {
			var err error
			if e, err = st.Remove(ctx, e.Task.ID, s.Clock.Now()); err != nil {
				return err
			}
		}
		removed, going = append(removed, removedTask{e.Task.ID, cli.OrNull(e.Task.Summary()), len(e.Open) > 0}), append(going, e)
		if !s.InJSON && !s.Opt.Bool("quiet") {
			s.Line("%s %s (%s)", cli.Deed(s, "removed"), e.Task.ID, view.Describe(e.Task))
			if len(e.Open) > 0 && !kill {
				s.Talk("note: a command of it that is running goes on")
			}
		}
		return nil
	}))
	if kill {
		limited, cancel := cli.Within(ctx, s.Clock, bound)
		defer cancel()
		ended, failed = endRuns(limited, s, st, going, failed, false)
	}
	left := unended{runs: tellEnded(s, ended), bound: bound, most: most, hint: problem.T("%s shows how it ends", problem.To("log"))}
	switch {
	case s.InJSON || s.Opt.Bool("quiet") || !s.Opt.Has("origin"):
	case len(removed) == 0 && len(failed) == 0:
		s.Talk("No task that came of %s is pending.", s.Opt.Text("origin"))
	default:
		s.Talk("%s that came of %s removed.", cli.Plural(len(removed), "task"), s.Opt.Text("origin"))
	}
	if most > 0 {
		left.again = cli.GoingOn(s, stopping(s, left))
	}
	if s.InJSON {
		s.Emit(rmJSON{s.Stamp(), removed, view.PickErrors(s, failed), ended, len(removed), s.DryRun, left.again})
	}
	return endTasks(ctx, s, left, failed)
}

// removedTask is a task that rm has removed.
type removedTask struct {
	ID          string  `json:"id"`
	Description *string `json:"description"`
	Running     bool    `json:"running" jsonschema:"a run of it went on when it was removed"`
}

// rmJSON is the answer of rm.
type rmJSON struct {
	Now     time.Time            `json:"now"`
	Removed []removedTask        `json:"removed"`
	Errors  []view.PickErrorJSON `json:"errors"`
	Stopped []*stopped           `json:"stopped" jsonschema:"by --kill"`
	Count   int                  `json:"count" jsonschema:"how many were removed"`
	DryRun  bool                 `json:"dry_run" jsonschema:"nothing was changed: this is what would have been done"`
	// Continue waits for the end of what --kill has told to end.
	Continue cli.ArgvOrNull `json:"continue" jsonschema:"of --kill, when OURO_MAX came first: the command that waits for the end; else null"`
}

func RestoreCommand() cli.Command {
	return cli.Command{
		Name: "restore", Args: "<id>... | --match <text>", Short: "undo rm",
		Long: `
Puts tasks that were removed back, with the ID and the schedule they had. A recurring task goes on with its next
instant; what fell due while it was removed is not made up for. A one-shot whose time has passed cannot be restored:
schedule it again. One that was paused comes back without its pause. Every ID is tried, as with rm; one whose --key
another task has taken meanwhile is left where it is.`,
		Examples:  []string{"ouro-timer restore k7m2", "ouro-timer restore --match backup"},
		Ids:       "removed",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		Options:   option.Rows{cli.MatchFlag(), cli.QuietFlag("print nothing but errors"), cli.ZoneFlag(), cli.NoAutostartFlag(), cli.DryFlag(), cli.JsonFlag()},
		Answers:   []cli.Answer{{Name: "restore", Of: restoreJSON{}, Says: "what was put back"}},
		Run:       runRestore,
	}
}

func runRestore(ctx context.Context, s *cli.Call) error {
	st, err := s.Open()
	if err != nil {
		return err
	}
	found, failed, err := view.Pick(ctx, s, st, func(e state.Entry) bool { return e.Phase == state.Removed })
	if err != nil {
		return err
	}
	for _, f := range failed {
		if f.Other != nil && f.Other.Phase != state.Removed {
			f.Message = problem.T("task %s %s and was not removed: there is nothing to restore", f.Other.Task.ID, view.Standing(*f.Other, "is"))
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
	restored, warnings := []view.TaskJSON{}, []cli.Warning{}
	var back []state.Entry
	failed = each(found, failed, whileFree(ctx, func(e state.Entry) error {
		now := s.Clock.Now()
		e, err := tasks.Restore(ctx, cli.Changes(s, st), e, now)
		if err != nil {
			return err
		}
		restored, back = append(restored, view.AsJSON(e, now)), append(back, e)
		if !s.InJSON && !s.Opt.Bool("quiet") {
			s.Line("%s %s (%s), due %s", cli.Deed(s, "restored"), e.Task.ID, view.Describe(e.Task), view.Echo(e.Due.In(rules.TaskZone(e.Task)), now.In(zone)))
		}
		return nil
	}))
	var h handover.Hands
	if len(restored) > 0 {
		h = handover.HandOver(ctx, s, st)
	}
	for _, e := range back {
		for _, w := range handover.CannotRun(ctx, s, e.Task) {
			warnings = append(warnings, cli.Warning{Kind: w.Kind, Text: problem.T("task %s: %s", e.Task.ID, w.Text)})
		}
	}
	for _, e := range back { // what is said of all alike is said once
		warnings = cli.Once(warnings, handover.RunWarnings(e, s.Clock.Now(), h)...)
		warnings = cli.Once(warnings, handover.TellWarnings(s, e.Task, handover.AudienceOf(s, e.Task), h)...)
	}
	warnings = append(warnings, s.Remote...)
	return view.Answered(ctx, s, restoreJSON{s.Stamp(), restored, view.PickErrors(s, failed), cli.OrNull(h.Runner), cli.WarningTexts(s, warnings), s.DryRun}, len(found), "", failed, warnings)
}

// restoreJSON is the answer of restore.
type restoreJSON struct {
	Now      time.Time            `json:"now"`
	Restored []view.TaskJSON      `json:"restored"`
	Errors   []view.PickErrorJSON `json:"errors"`
	Runner   *string              `json:"runner"`
	Warnings []string             `json:"warnings"`
	DryRun   bool                 `json:"dry_run" jsonschema:"nothing was changed: this is what would have been done"`
}
