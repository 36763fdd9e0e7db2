package manage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

func StopCommand() cli.Command {
	return cli.Command{
		Name: "stop", Args: "<id>... | --match <text>", Short: "end a running command",
		Long: `
Ends what runs of the tasks, and waits for it: TERM to the command and its process group, KILL 10 s later, or at once
with --kill. The outcome is cancelled. An occurrence that failed and waits for a further attempt gets none. The tasks
themselves go on: ouro-timer rm ends those. It does not matter who runs the command, a runner or ouro-timer fire; one
whose runner has died is ended as well, be it before it has begun. Processes that left the command's group (setsid,
daemons) are not reached. Of a task that is pending or paused nothing runs: that is said, with exit code 1, and nothing
is changed.

It waits for at most 15 s, or for --max, and ends with 75 when --max was reached: the command was told, and ends later.
The words that go on only wait for it; --kill takes the rest of its 10 s away.`,
		Examples:  []string{"ouro-timer stop k7m2", "ouro-timer stop --match backup --kill"},
		Ids:       "running",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		Options: option.Rows{
			cli.MatchFlag(), option.Option{Name: "kill", Kind: option.Flag, Help: "with KILL at once: the command gets no time to end by itself"},
			cli.MaxFlag(), cli.DryFlag(), cli.QuietFlag("print nothing but errors"), cli.ZoneFlag(), cli.JsonFlag(),
		},
		Answers: []cli.Answer{{Name: "stop", Of: stopJSON{}, Says: "the runs that were ended"}},
		Run:     runStopTask,
	}
}

// stopped is a run that was ended, or is told to end.
type stopped struct {
	ID      string  `json:"id"`
	Outcome *string `json:"outcome" jsonschema:"null: it has not ended yet"`
	Reason  *string `json:"reason"`

	record state.Record
}

// stopJSON is the answer of stop.
type stopJSON struct {
	Now      time.Time            `json:"now"`
	Stopped  []*stopped           `json:"stopped"`
	Continue cli.ArgvOrNull       `json:"continue" jsonschema:"the command that goes on, when something has not ended yet; else null"`
	Errors   []view.PickErrorJSON `json:"errors"`
	DryRun   bool                 `json:"dry_run" jsonschema:"nothing was changed: this is what would have been done"`
}

// endRuns ends what runs of the tasks. All are told first, so that nobody waits for another's end, then it waits until nothing runs any
// more, or ctx has ended: the rows say which. Those that could not be told are added to failed, the others are ended all the same.
func endRuns(ctx context.Context, s *cli.Call, st state.Store, found []state.Entry, failed []view.PickError, kill bool) ([]*stopped, []view.PickError) {
	why := rules.Stopped
	if kill {
		why = rules.Killed
	}
	rows := []*stopped{}
	failed = each(found, failed, whileFree(ctx, func(e state.Entry) error {
		for _, r := range e.Open {
			if !s.DryRun { // Asked for in any case: a runner that comes meanwhile has to know.
				if err := st.Halt(ctx, r, why); err != nil && !errors.Is(err, state.ErrEnded) {
					return notTold(ctx, err)
				}
			}
			rows = append(rows, &stopped{ID: state.OccurrenceID(e.Task.ID, r.Number), record: r})
		}
		return nil
	}))
	if s.DryRun || len(rows) == 0 {
		return rows, failed
	}
	const least, longest = 5 * time.Millisecond, 100 * time.Millisecond
	for nap := least; ; nap = min(2*nap, longest) {
		over, err := endOrphans(ctx, s, st, rows, why)
		if err == nil && !over && s.Clock.For(ctx, nap) == nil {
			continue
		}
		if err == nil {
			err = outcomesGiven(ctx, s, st, rows)
		}
		if err != nil { // they were told; how they end cannot be seen
			for _, id := range tasksOf(rows) {
				failed = append(failed, view.FailedBy(id, err))
			}
		}
		return rows, failed
	}
}

// notTold is the error of a run that could not be told to end; the time of within may have been over first.
func notTold(ctx context.Context, err error) error {
	if context.Cause(ctx) == cli.ErrBound && errors.Is(err, ctx.Err()) {
		return fmt.Errorf("%w: its lock was not had in the time that there was", state.ErrBusy)
	}
	return err
}

// tasksOf are the tasks of the rows, each once.
func tasksOf(rows []*stopped) (ids []string) {
	for _, row := range rows {
		if id := row.record.Task.ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// endOrphans reports whether all of the runs are over, and ends those whose runner is gone, all at a time.
func endOrphans(ctx context.Context, s *cli.Call, st state.Store, rows []*stopped, why string) (over bool, err error) {
	open, _, err := st.Open(context.WithoutCancel(ctx))
	if err != nil {
		return false, err
	}
	open = slices.DeleteFunc(open, func(r state.Record) bool {
		return !slices.ContainsFunc(rows, func(row *stopped) bool { return r.Task.ID == row.record.Task.ID && r.Number == row.record.Number })
	})
	errs := make([]error, len(open))
	var wg sync.WaitGroup
	for i, r := range open {
		if !runner.Alive(r.Runner) && !runner.Elsewhere(r.Runner) && ctx.Err() == nil {
			wg.Go(func() { errs[i] = endOrphan(ctx, s.Clock, st, r, why) })
		}
	}
	wg.Wait()
	return len(open) == 0, errors.Join(errs...)
}

// endOrphan ends a run whose runner is gone. Should another runner have come in between, its outcome is the one that counts.
func endOrphan(ctx context.Context, c clock.Clock, st state.Store, r state.Record, why string) error {
	grace := 10 * time.Second
	if why == rules.Killed {
		grace = 0
	}
	if err := runner.EndOrphan(ctx, r, grace); err != nil {
		if ctx.Err() != nil {
			return nil // told to end; what is left is for the next call, or for a runner
		}
		return err
	}
	working := context.WithoutCancel(ctx)
	line := runner.EndedLine(working, st, r, why, c.Now())
	line.At = c.Now()
	if err := st.End(working, r, line); err != nil && !errors.Is(err, state.ErrEnded) {
		return err
	}
	return nil
}

// outcomesGiven looks up how the runs have ended.
func outcomesGiven(ctx context.Context, s *cli.Call, st state.Ledger, rows []*stopped) error {
	for _, id := range tasksOf(rows) {
		_, _, err := st.Log(context.WithoutCancel(ctx), id, func(l state.Line) bool {
			wanted := false
			for _, row := range rows {
				if row.record.Task.ID != id || row.Outcome != nil {
					continue
				}
				if l.Number == row.record.Number && l.Outcome != "" {
					row.Outcome, row.Reason = cli.OrNull(string(l.Outcome)), cli.OrNull(l.Reason)
				}
				wanted = wanted || row.Outcome == nil
			}
			return wanted
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tellEnded says what has ended, and returns what has not.
func tellEnded(s *cli.Call, rows []*stopped) (ending []string) {
	for _, row := range rows {
		switch {
		case s.DryRun && (s.InJSON || s.Opt.Bool("quiet")):
		case s.DryRun:
			s.Line("%s %s", cli.Deed(s, "ended"), row.ID)
		case row.Outcome == nil:
			ending = append(ending, row.ID)
		case !s.InJSON && !s.Opt.Bool("quiet"):
			text := *row.Outcome
			if row.Reason != nil {
				text += ", " + *row.Reason
			}
			s.Line("%s %s (%s)", cli.Deed(s, "ended"), row.ID, cli.Visible(text))
		}
	}
	return ending
}

// unended is what was told to end and has not.
type unended struct {
	runs  []string
	bound time.Duration  // for how long it was waited for
	most  time.Duration  // what the caller granted; 0: no bound
	again cli.ArgvOrNull // the words that wait further, if they are told
	hint  problem.Text
}

// stopping is the call that goes on waiting for the end of what was told to end, if anything, for as long and in the same manner. It ends
// nothing sooner.
func stopping(s *cli.Call, left unended) problem.Call {
	if len(left.runs) == 0 {
		return problem.Call{}
	}
	c := problem.To("stop", left.runs...)
	if left.most > 0 {
		c = c.With("max", cli.Granted(s))
	}
	if s.Cmd.Name == "stop" { // rm --kill gives its command time
		c = cli.With(c, s.Opt, "kill")
	}
	return cli.With(c, s.Opt, "quiet", "json", "tz")
}

// notRunning is the error of a task of which nothing runs that could be ended.
func notRunning(s *cli.Call, id string, e state.Entry) view.PickError {
	end := problem.To("rm", e.Task.ID)
	p := problem.New(problem.NotRunning, problem.T("nothing runs of task %s: it is %s", e.Task.ID, view.StateName(e)), problem.T("to cancel what is to come of it: %s", end))
	if e.Task.Type() == state.TypeWait {
		p.Hint = problem.T("to end the wait: %s", end)
	}
	if !e.Held {
		p.Message = problem.T("%s, and due at %s", p.Message, view.Stamp(e.Due.In(rules.TaskZone(e.Task))))
		if e.Task.Type() != state.TypeWait {
			p.Hint = problem.T("%s; to hold it: %s", p.Hint, problem.To("pause", e.Task.ID))
		}
	}
	return view.PickError{ID: id, Problem: p}
}

func runStopTask(ctx context.Context, s *cli.Call) error {
	most, err := cli.Longest(s)
	if err != nil {
		return err
	}
	bound := most
	if most == 0 {
		bound = cli.StopWait
	}
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
			failed[i] = notRunning(s, f.ID, *f.Other)
		case f.Code == problem.NotFound && len(f.Candidates) == 0:
			failed[i].Problem = failed[i].Advising(problem.T("%s shows what is running; %s cancels what is to come", problem.To("ls"), problem.To("rm")))
		}
	}
	limited, cancel := cli.Within(ctx, s.Clock, bound)
	defer cancel()
	rows, failed := endRuns(limited, s, st, found, failed, s.Opt.Bool("kill"))
	left := unended{runs: tellEnded(s, rows), bound: bound, most: most}
	left.again = cli.GoingOn(s, stopping(s, left))
	if !s.Opt.Bool("kill") {
		left.hint = problem.T("to give it no more time: %s", problem.To("stop", left.runs...).With("kill", true))
	}
	if s.InJSON {
		s.Emit(stopJSON{s.Stamp(), rows, left.again, view.PickErrors(s, failed), s.DryRun})
	}
	return endTasks(ctx, s, left, failed)
}

// endTasks ends a call that has told runs to end, after its answer in JSON: with those that have not, and with what could not be changed.
func endTasks(ctx context.Context, s *cli.Call, left unended, failed []view.PickError) error {
	if !s.InJSON && len(left.runs) > 0 {
		s.Complain("", problem.New(problem.Failed, problem.T("%s was told to end, and goes on after %s", strings.Join(left.runs, ", "), left.bound), left.hint))
		if left.again != nil {
			cli.GoOn(s, left.again)
		}
	}
	if err := view.TellPicks(ctx, s, failed); err != nil {
		return err
	}
	switch {
	case len(left.runs) == 0:
		return view.Incomplete(s.Unread)
	case left.most > 0:
		return cli.ExitCode(cli.ExitMax)
	}
	return cli.ExitCode(cli.ExitFailed)
}
