package daemon

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// runStop tells the runner to end, and waits for that as long as --max says, or 15 s. When there is
// none, it waits for runners that were told before and still wait for their commands; --kill ends
// those of all of them.
func runStop(ctx context.Context, s *cli.Call, st state.Store) error {
	given, err := cli.Bound(s)
	if err != nil {
		return err
	}
	limit := cmp.Or(given, cli.StopWait)
	limited, cancel := cli.WithBound(ctx, s.Clock, limit)
	defer cancel()
	standby := st.Standby(ctx)
	leader, led, err := runnerToStop(limited, s, st)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	var ending []state.Ident // the runners that are or were told to end
	if !led || s.Opt.Bool("kill") {
		if ending, err = endingAlready(ctx, s, st, leader); err != nil {
			return err
		}
	}
	if led {
		ending = slices.Insert(ending, 0, leader.Ident)
	}
	if s.DryRun {
		killed, err := endLeft(limited, s, st)
		if err != nil {
			return err
		}
		return answerStopped(s, ending, nil, killed, led, 0, 0)
	}
	for _, i := range ending {
		if !led && !s.Opt.Bool("kill") {
			break // they were told before
		}
		if err := signalEnd(ctx, s, i); err != nil && (i == leader.Ident || runner.Alive(i)) {
			return err
		}
	}
	for _, i := range ending {
		s.Note("waiting for the runner (pid %d) to end, at most %s", i.PID, limit)
	}
	var left []state.Ident // the runners that have not ended in time
	for _, i := range ending {
		if runner.AwaitEnd(limited, s.Clock, i, limit) != nil && runner.Alive(i) {
			left = append(left, i)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(left) > 0 && led && given == 0 {
		now, led, err := st.Led(ctx)
		if err != nil {
			return err
		}
		if led && now.Ident == leader.Ident {
			return problem.New(problem.Failed, problem.T("the runner (pid %d) was told to end and goes on",
				leader.Ident.PID),
				problem.T("%s says more; %s ends it with its commands", problem.To("doctor"),
					problem.To("run").With("stop", true).With("kill", true)))
		}
	}
	next, err := successor(ctx, s.Clock, st, standby)
	if err != nil {
		return err
	}
	killed, err := endLeft(limited, s, st)
	if err != nil {
		return err
	}
	return answerStopped(s, ending, left, killed, led, next, given)
}

// endLeft ends, with --kill, the commands that have outlived their runner. With --pid that is only
// that one.
func endLeft(ctx context.Context, s *cli.Call, st state.Store) ([]*tasks.Stopped, error) {
	if !s.Opt.Bool("kill") {
		return nil, nil
	}
	open, _, err := st.Open(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	var list []state.Entry
	for _, r := range open {
		pid := s.Opt.Int("pid")
		if runner.Left(r) && runner.Alive(r.Child) && (pid == 0 || pid == r.Runner.PID) {
			list = append(list, state.Entry{Task: r.Task, Open: []state.Record{r}})
		}
	}
	killed, failed := tasks.Stop(ctx, st, s.Clock, list, false)
	if len(failed) > 0 {
		return nil, failed[0].Err
	}
	return killed, nil
}

// runnerToStop returns the runner that holds the lock, and whether the call means that one. A
// runner that has just taken the lock has not yet written who it is, and one that has died is about
// to lose the lock, so it waits a moment for a living one.
func runnerToStop(ctx context.Context, s *cli.Call, st state.Leases) (leader state.Leader, led bool, err error) {
	moment, cancel := cli.WithBound(ctx, s.Clock, 2*time.Second)
	defer cancel()
	leader, led, err = st.Led(context.WithoutCancel(ctx))
	for err == nil && led && !runner.Alive(leader.Ident) && !runner.InOtherContainer(leader.Ident) &&
		s.Clock.For(moment, 20*time.Millisecond) == nil {
		leader, led, err = st.Led(context.WithoutCancel(ctx))
	}
	pid := s.Opt.Int("pid")
	return leader, led && (pid == 0 || pid == leader.Ident.PID), err
}

// signalEnd sends TERM to a runner, and with --kill a second one, which ends its commands, too. A
// runner that was stopped by SIGSTOP gets SIGCONT first, because it receives no signals before.
// On Windows, which has no TERM, --kill ends it at once.
func signalEnd(ctx context.Context, s *cli.Call, i state.Ident) error {
	switch {
	case i.PID == 0:
		return problem.New(problem.Failed, problem.T("the runner has not written yet who it is"),
			problem.T("call again in a moment"))
	case !runner.Alive(i):
		return problem.New(problem.Failed,
			problem.T("the runner (pid %d) is in another container or on another machine", i.PID),
			problem.T("end it where it was started, such as in its container"))
	}
	err := runner.Signal(i, syscall.SIGTERM)
	switch {
	case errors.Is(err, errors.ErrUnsupported) && s.Opt.Bool("kill"):
		return runner.Signal(i, syscall.SIGKILL)
	case errors.Is(err, errors.ErrUnsupported):
		return problem.New(problem.Unsupported, problem.T("a runner in the background cannot be told to end on this system"),
			problem.T("%s ends it at once, and its commands with it", problem.To("run").With("stop", true).With("kill", true)))
	case err != nil:
		return problem.New(problem.Failed, problem.T("the runner (pid %d) cannot be told to end: %v", i.PID, err),
			problem.Text{})
	}
	if s.Opt.Bool("kill") {
		// Two TERMs that arrive together count as one.
		if err := s.Clock.For(ctx, 100*time.Millisecond); err != nil {
			return err
		}
		if runner.Alive(i) {
			_ = runner.Signal(i, syscall.SIGTERM) // an error means that it has ended already
		}
	}
	if runner.Suspended(i) {
		if err := runner.Continue(i); err != nil && runner.Alive(i) {
			return problem.New(problem.Failed,
				problem.T("the runner (pid %d) is stopped and cannot be continued: %v", i.PID, err), problem.Text{})
		}
	}
	return nil
}

// endingAlready returns the runners that do not hold the lock and wait for their commands. With
// --pid it is only that one.
func endingAlready(ctx context.Context, s *cli.Call, st state.Store, leader state.Leader) ([]state.Ident, error) {
	others, err := otherRunners(ctx, st, leader, time.UTC)
	if err != nil {
		return nil, err
	}
	open, err := steppedDown(ctx, st, leader, others)
	if err != nil {
		return nil, err
	}
	ending := open.ending
	if pid := s.Opt.Int("pid"); pid != 0 {
		ending = slices.DeleteFunc(ending, func(i state.Ident) bool { return i.PID != pid })
	}
	return ending, nil
}

// runStopJSON is the answer of run --stop.
type runStopJSON struct {
	Now       time.Time      `json:"now"`
	Stopped   *int           `json:"stopped_pid,omitempty"`
	Runner    *string        `json:"runner,omitempty" jsonschema:"none: there was none to stop"`
	TakenOver *int           `json:"taken_over_pid,omitempty" jsonschema:"one that stood by, and is the runner now"`
	Killed    []string       `json:"killed,omitempty" jsonschema:"the runs that had outlived their runner, and were ended by --kill"`
	Waits     bool           `json:"waits,omitempty" jsonschema:"for the commands that run; it starts nothing more"`
	Continue  cli.ArgvOrNull `json:"continue,omitempty" jsonschema:"what goes on waiting; absent when there is nothing to wait for, or no --max"`
	DryRun    bool           `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`

	left  []state.Ident // the runners that have not ended
	going []string      // the runs without a runner that were told to end, and have not ended
	told  bool          // a runner held the lock and was told to end now
	pid   int           // the value of --pid; 0 when it is not given
	most  time.Duration
}

// answerStopped answers which runners and which runs without one have ended. told says that a
// runner held the lock and was told to end now.
func answerStopped(s *cli.Call, ending, left []state.Ident, killed []*tasks.Stopped, told bool, next int,
	most time.Duration) error {
	stopped := 0
	if len(ending) > 0 {
		stopped = ending[0].PID
	}
	answer := runStopJSON{Now: s.Stamp(), Stopped: cli.OrNull(stopped), TakenOver: cli.OrNull(next),
		DryRun: s.DryRun, left: left, told: told, pid: s.Opt.Int("pid"), most: most}
	for _, r := range killed {
		to := &answer.Killed
		if !r.Over {
			to = &answer.going
		}
		*to = append(*to, state.OccurrenceID(r.Task.ID, r.Number))
	}
	answer.Waits = len(left)+len(answer.going) > 0
	if stopped == 0 && len(left) == 0 {
		answer.Runner = cli.OrNull(handover.RunnerNone)
	}
	if answer.Waits && most > 0 {
		more := problem.To("run").With("stop", true)
		if len(left) > 0 {
			more = more.With("pid", left[0].PID)
		} else if answer.pid != 0 {
			more = more.With("pid", answer.pid)
		}
		answer.Continue = cli.ContinueWith(s, cli.With(more.With("max", cli.BoundText(s)), s.Opt, "kill", "quiet",
			"json", "fields"))
	}
	s.Answer(answer)
	if answer.Continue == nil {
		return nil
	}
	return cli.ExitCode(cli.ExitMax)
}

// Text says which runner has ended, and which goes on.
func (a runStopJSON) Text(o *cli.Out) {
	switch {
	case len(a.left) > 0 && a.told:
		o.Line("%s the runner (pid %d): it starts nothing more, and ends when its commands have",
			o.Verb("stopped"), *a.Stopped)
	case len(a.left) > 0:
		for _, i := range a.left {
			o.Line("the runner (pid %d) is ending: it starts nothing more, and waits for its commands", i.PID)
		}
	case a.Stopped != nil:
		o.Line("%s the runner (pid %d)", o.Verb("stopped"), *a.Stopped)
	case a.pid != 0:
		o.Line("no runner with the pid %d is alive", a.pid)
	default:
		o.Line("no runner is alive")
	}
	for _, id := range a.Killed {
		o.Line("%s %s, which had outlived its runner", o.Verb("ended"), id)
	}
	for _, id := range a.going {
		o.Line("%s, which has outlived its runner, is told to end and goes on", id)
	}
	if len(a.left) > 0 {
		o.Hint("%s stop ID ends a command", o.Program())
	}
	if a.TakenOver != nil {
		o.Note("note: pid %d stood by and has taken over; %s run --stop ends that, too", *a.TakenOver, o.Program())
	}
	if a.Continue != nil {
		o.Warn("it is still ending after %s", a.most)
		o.HintAlways("call again: %s", cli.ShellLine(a.Continue))
	}
}

// successor returns the process that stood by and has taken over from a runner that was stopped; 0
// when there is none.
func successor(ctx context.Context, c clock.Clock, st state.Leases, standby []int) (int, error) {
	if len(standby) == 0 {
		return 0, nil
	}
	for range 50 { // taking the lock and writing so takes a moment
		leader, led, err := st.Led(ctx)
		if err != nil || led && slices.Contains(standby, leader.Ident.PID) {
			return leader.Ident.PID, err
		}
		if err := c.For(ctx, 20*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return 0, nil
}
