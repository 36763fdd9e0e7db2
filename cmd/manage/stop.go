package manage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// StopCommand is the command stop.
func StopCommand() cli.Command {
	return cli.Command{
		Name: "stop", Args: "<id>... | --match <text>", Short: "end a running command",
		Long: `
Ends the running commands of the tasks, and waits for their ends: TERM to the command and its process group, KILL 10 s
later, or at once with --kill. The outcome is cancelled. An occurrence that failed gets no further attempt. The tasks
themselves stay: ouro-timer rm cancels them. It does not matter whether a runner or ouro-timer fire runs the command, or
whether its runner has died. Processes that left the command's group (setsid, daemons) are reached only where runs have
cgroups (docs/runner.md). When a task is not running, stop says so, changes nothing, and exits with 1.

It waits for at most 15 s, or for --max, and exits with 75 when --max was reached: the command has the signal, and may
end later. The call that the answer names then waits for the end; add --kill to kill the command at once.`,
		Examples:  []string{"ouro-timer stop k7m2", "ouro-timer stop --match backup --kill"},
		Ids:       "running",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		Options: option.Rows{
			cli.MatchFlag, option.Option{Name: "kill", Kind: option.Flag,
				Help: "send KILL at once: the command gets no time to end by itself"},
			cli.MaxFlag, cli.DryFlag, cli.QuietFlag.WithHelp("print nothing but errors"), cli.ZoneFlag,
			cli.JSONFlag, cli.FieldsFlag,
		},
		Answers: []cli.Shape{{Name: "stop", Of: stopJSON{}, Means: "the runs that were ended"}},
		Run:     runStopTask,
	}
}

// stopped is a run that has ended, or was told to.
type stopped struct {
	ID      string  `json:"id"`
	Outcome *string `json:"outcome,omitempty" jsonschema:"absent: it has not ended yet"`
	Reason  *string `json:"reason,omitempty"`

	over bool
}

// asStopped returns runs as answers show them.
func asStopped(runs []*tasks.Stopped) []stopped {
	list := []stopped{}
	for _, r := range runs {
		list = append(list, stopped{state.OccurrenceID(r.Task.ID, r.Number), cli.OrNull(string(r.Outcome)),
			cli.OrNull(r.Reason), r.Over})
	}
	return list
}

// stopJSON is the answer of stop.
type stopJSON struct {
	Now      time.Time            `json:"now"`
	Stopped  []stopped            `json:"stopped"`
	Continue cli.ArgvOrNull       `json:"continue,omitempty" jsonschema:"the command that goes on waiting, when a run has not ended yet; else absent"`
	Errors   []view.PickErrorJSON `json:"errors,omitempty"`
	DryRun   bool                 `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`

	left unended
}

// Text says how each run ended, and which are still running.
func (a stopJSON) Text(o *cli.Out) {
	tellStopped(o, a.Stopped)
	a.left.tell(o, a.Continue)
}

// tellStopped writes how runs have ended.
func tellStopped(o *cli.Out, runs []stopped) {
	for _, r := range runs {
		switch {
		case !r.over:
		case r.Outcome == nil:
			o.LineUnlessQuiet("%s %s", o.Verb("ended"), r.ID)
		default:
			o.LineUnlessQuiet("%s %s (%s)", o.Verb("ended"), r.ID,
				cli.Visible(strings.TrimSuffix(*r.Outcome+", "+cli.Deref(r.Reason), ", ")))
		}
	}
}

// unended are the runs that were told to end and are still running.
type unended struct {
	runs  []string
	bound time.Duration // how long the call waited; 0 when a signal has ended it sooner
	most  time.Duration // how long the caller wants to wait; 0 means no bound
	hint  problem.Text
}

func unendedOf(ctx context.Context, runs []*tasks.Stopped, bound, most time.Duration) unended {
	left := unended{bound: bound, most: most}
	if ctx.Err() != nil {
		left.bound = 0
	}
	for _, r := range runs {
		if !r.Over {
			left.runs = append(left.runs, state.OccurrenceID(r.Task.ID, r.Number))
		}
	}
	return left
}

// tell names the runs that are still running, and the call that waits for them.
func (u unended) tell(o *cli.Out, again cli.ArgvOrNull) {
	if len(u.runs) == 0 {
		return
	}
	runs := strings.Join(u.runs, ", ")
	text := problem.T("%s was told to end, and is still running after %s", runs, u.bound)
	if u.bound == 0 {
		text = problem.T("%s was told to end, and is still running", runs)
	}
	o.ShowProblem("", problem.New(problem.Failed, text, u.hint))
	if again != nil {
		o.ShowContinue(again)
	}
}

// code returns the error by which a call ends: for tasks that could not be changed, for runs that
// are still running, or none.
func (u unended) code(ctx context.Context, s *cli.Call, failed []view.PickError) error {
	if err := view.ReportPicks(ctx, s, failed); err != nil {
		return err
	}
	switch {
	case len(u.runs) == 0:
		return view.Incomplete(s.Unreadable)
	case u.most > 0:
		return cli.ExitCode(cli.ExitMax)
	}
	return cli.ExitCode(cli.ExitFailed)
}

// stopFailures returns the errors of tasks whose runs could not be told to end, perhaps because
// ctx, which comes of cli.WithBound, ended first.
func stopFailures(ctx context.Context, list []tasks.Failure) []view.PickError {
	for i, f := range list {
		if context.Cause(ctx) == cli.ErrBoundReached && errors.Is(f.Err, ctx.Err()) {
			list[i].Err = fmt.Errorf("%w: another process held its lock for too long", state.ErrBusy)
		}
	}
	return view.Failed(list)
}

// waitOn returns the call that goes on waiting, with the options of this call. It ends no run
// sooner.
func waitOn(s *cli.Call, left unended) problem.Call {
	if len(left.runs) == 0 {
		return problem.Call{}
	}
	c := problem.To("stop", left.runs...)
	if left.most > 0 {
		c = c.With("max", cli.BoundText(s))
	}
	if s.Cmd.Name == "stop" { // rm --kill gives the command time
		c = cli.With(c, s.Opt, "kill")
	}
	return cli.With(c, s.Opt, "quiet", "json", "fields", "tz")
}

// notRunning returns the error for a task that is not running.
func notRunning(id string, e state.Entry, now time.Time) view.PickError {
	end := problem.To("rm", e.Task.ID)
	p := problem.New(problem.NotRunning, problem.T("task %s is not running: it is %s", e.Task.ID,
		view.StateName(e)), problem.T("to cancel its later occurrences: %s", end))
	if e.Task.Type() == state.TypeWait {
		p.Hint = problem.T("to end the wait: %s", end)
	}
	if !e.Held {
		due := "due at " + view.Stamp(e.Due.In(rules.TaskZone(e.Task)))
		if state.IsUnscheduled(e.Due) {
			due = "comes " + view.Coming(e, now)
		}
		p.Message = problem.T("%s, and %s", p.Message, due)
		if e.Task.Type() != state.TypeWait {
			p.Hint = problem.T("%s; to hold it: %s", p.Hint, problem.To("pause", e.Task.ID))
		}
	}
	return view.PickError{ID: id, Problem: p}
}

func runStopTask(ctx context.Context, s *cli.Call) error {
	most, err := cli.Bound(s)
	if err != nil {
		return err
	}
	bound := cmp.Or(most, cli.StopWait)
	st, err := s.Open()
	if err != nil {
		return err
	}
	found, failed, err := view.Pick(ctx, s, st, func(e state.Entry) bool { return len(e.Open) > 0 })
	if err != nil {
		return err
	}
	for i, f := range failed {
		switch {
		case f.Other != nil && tasks.Live(*f.Other):
			failed[i] = notRunning(f.ID, *f.Other, s.Clock.Now())
		case f.Code == problem.NotFound && len(f.Candidates) == 0:
			failed[i].Problem = failed[i].Advising(problem.T("%s shows what is running; %s cancels tasks",
				problem.To("ls"), problem.To("rm")))
		}
	}
	limited, cancel := cli.WithBound(ctx, s.Clock, bound)
	defer cancel()
	runs, unsignalled := tasks.Stop(limited, st, s.Clock, found, s.Opt.Bool("kill"))
	failed = append(failed, stopFailures(limited, unsignalled)...)
	left := unendedOf(ctx, runs, bound, most)
	if !s.Opt.Bool("kill") {
		left.hint = problem.T("to kill it at once: %s", problem.To("stop", left.runs...).With("kill", true))
	}
	s.Answer(stopJSON{s.Stamp(), asStopped(runs), cli.ContinueWith(s, waitOn(s, left)), view.PickErrors(s, failed),
		s.DryRun, left})
	return left.code(ctx, s, failed)
}
