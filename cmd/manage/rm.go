package manage

import (
	"context"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// RmCommand is the command rm.
func RmCommand() cli.Command {
	return cli.Command{
		Name: "rm", Args: "<id>... | --match <text> | --tag <name> | --origin <id> | --all", Short: "cancel tasks",
		Long: `
No further occurrence of the tasks starts; a command that is running goes on, unless --kill ends it as ouro-timer stop
does. The beginning of an ID is enough when no other ID begins so. Every ID is tried: tasks that cannot be removed are
named on standard error, the others are removed, and the exit code is that of the first failure (3: no such task, 4: its
file cannot be read or moved). For 30 days ouro-timer restore brings removed tasks back.

--kill waits for the ends, for at most 15 s, or for --max, and exits with 75 when --max was reached: the command has the
signal, and may end later. It takes tasks that were removed before and are still running, too.

--origin cancels all tasks that the runs of one task scheduled. That task itself goes on.`,
		Examples:  []string{"ouro-timer rm k7m2", `ouro-timer rm --match "call Bob"`, "ouro-timer rm --origin k7m2"},
		Ids:       "live",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		Options: option.Rows{cli.MatchFlag, allFlag.WithHelp("every task that is pending, paused or running"),
			cli.TagFlag.WithHelp("every task that has the tag NAME; repeated: all of them"), originFlag.WithHelp("all tasks that the runs of task ID scheduled"),
			option.Option{Name: "kill", Kind: option.Flag,
				Help: "end their running commands, too: TERM, and KILL 10 s later"},
			cli.MaxFlag, cli.DryFlag, cli.QuietFlag.WithHelp("print nothing but errors"), cli.ZoneFlag, cli.JSONFlag,
			cli.FieldsFlag},
		Answers: []cli.Shape{{Name: "rm", Of: rmJSON{}, Means: "what was removed"}},
		Run:     runRm,
	}
}

func runRm(ctx context.Context, s *cli.Call) error {
	kill, most := s.Opt.Bool("kill"), time.Duration(0)
	var err error
	switch {
	case kill:
		if most, err = cli.Bound(s); err != nil {
			return err
		}
	case s.Opt.Has("max"):
		return cli.NeedsOption("max", problem.Set("kill", true))
	}
	bound := cli.StopWait
	if most > 0 {
		bound = most
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	found, failed, err := view.PickTagged(ctx, s, st,
		func(e state.Entry) bool {
			return tasks.Live(e) || len(e.Open) > 0 && (kill || e.Phase != state.Removed)
		})
	if err != nil {
		return err
	}
	brief := view.IDsAlone(s)
	answer := rmJSON{Stopped: []stopped{}, origin: s.Opt.Text("origin"), tagged: s.Opt.Has("tag"), kill: kill}
	if !brief {
		answer.Removed = []removedTask{}
	}
	var before []state.Entry // were removed by an earlier call, and are still running
	found = slices.DeleteFunc(found, func(e state.Entry) bool {
		if e.Phase == state.Removed {
			before = append(before, e)
		}
		return e.Phase == state.Removed
	})
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
			tasks.IsRunning(e), view.Describe(e.Task)})
	}
	var left unended
	if kill {
		limited, cancel := cli.WithBound(ctx, s.Clock, bound)
		defer cancel()
		runs, unsignalled := tasks.Stop(limited, st, s.Clock, slices.Concat(removed, before), false)
		failed = append(failed, stopFailures(limited, unsignalled)...)
		answer.Stopped = asStopped(runs)
		left = unendedOf(ctx, runs, bound, most)
		left.hint = problem.T("%s shows how it ends", problem.To("log"))
	}
	if most > 0 {
		answer.Continue = cli.ContinueWith(s, waitOn(s, left))
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
	Running     bool    `json:"running,omitempty" jsonschema:"a run of it was going on when it was removed"`

	what string
}

// rmJSON is the answer of rm.
type rmJSON struct {
	Now     time.Time            `json:"now"`
	Removed []removedTask        `json:"removed,omitzero" jsonschema:"of --all, --tag and --origin only tasks that were running; with --json=full every one"`
	Errors  []view.PickErrorJSON `json:"errors,omitempty"`
	Stopped []stopped            `json:"stopped,omitempty" jsonschema:"the runs that --kill ended"`
	Count   int                  `json:"count" jsonschema:"how many were removed"`
	IDs     []string             `json:"ids,omitempty" jsonschema:"of --all, --tag and --origin: the tasks"`
	DryRun  bool                 `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`
	// Continue is the call that waits for the end of the runs that --kill ends.
	Continue cli.ArgvOrNull `json:"continue,omitempty" jsonschema:"of --kill, when --max was reached: the command that waits for the end; else absent"`

	origin string
	tagged bool // the tasks were named by --tag
	kill   bool
	left   unended
}

// Text names each task that was removed, and says how each run ended.
func (a rmJSON) Text(o *cli.Out) {
	for _, r := range a.Removed {
		o.LineUnlessQuiet("%s %s (%s)", o.Verb("removed"), r.ID, r.what)
		if r.Running && !a.kill {
			o.Note("note: its running command goes on")
		}
	}
	tellStopped(o, a.Stopped)
	switch {
	case a.tagged && a.Count+len(a.Errors) == 0:
		o.Note("No task has that tag.")
	case a.origin == "":
	case a.Count == 0 && len(a.Errors) == 0:
		o.Note("No pending task was scheduled by the runs of %s.", a.origin)
	case a.DryRun:
		o.Note("%s scheduled by the runs of %s would be removed.", cli.Plural(a.Count, "task"), a.origin)
	default:
		o.Note("%s scheduled by the runs of %s: removed.", cli.Plural(a.Count, "task"), a.origin)
	}
	a.left.tell(o, a.Continue)
}
