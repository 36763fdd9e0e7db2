package manage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// FireCommand is the command fire.
func FireCommand() cli.Command {
	return cli.Command{
		Name: "fire", Args: "<id> | --match <text>", Short: "run a task now, in the foreground",
		Long: `
Runs the task once more, now and here: with the folder, the variables and the umask it was scheduled with, whatever
they are here, and nothing on its standard input. What it writes is shown as it comes and is kept, too. Its exit code is
that of ouro-timer fire: 124 when its --timeout was reached, 126 and 127 when it could not be started; when a signal ended
it, fire dies of the same one. A message is told on standard output.

No occurrence is consumed: the task's next one stays, paused and ended tasks can be fired as well, and the ledger marks
the run as manual. Nobody is told of it unless --tell says so. The task's gate (--if), time-out and retries apply; stop
conditions do not. While a run of it goes on, its --overlap says what happens: skip refuses (exit 1), queue waits,
replace ends the other, allow runs beside it. A one-shot has no --overlap, since no instant of its own can meet it:
while it runs fire refuses, and ouro-timer stop ends what runs. Instants that fall due meanwhile are treated as during
any other run. INT and TERM end the command and its group.

It lasts as long as the command does and knows no --max. To go on with something else, let the shell keep it:
ouro-timer fire k7m2 >fire.out 2>&1 & and later ouro-timer log k7m2`,
		Examples: []string{"ouro-timer fire k7m2", `ouro-timer fire --match backup --json`},
		Ids:      "any",
		Exits:    []int{cli.ExitTimedOut}, Passes: true,
		Arguments: []option.Argument{{Name: "id", Kind: option.ID}},
		Options: option.Rows{cli.MatchFlag(), option.Option{Name: "tell", Kind: option.Flag,
			Help: "tell of the run, and put it into the inbox, as if it had been due"}, cli.DryFlag(),
			cli.QuietFlag("say nothing but what the command says"), cli.ZoneFlag(), cli.JsonFlag(), cli.FieldsFlag()},
		Answers: []cli.Shape{{Name: "fire", Of: fireJSON{}, Says: "how the run ended, and what it wrote"}},
		Run:     runFire,
	}
}

func runFire(ctx context.Context, s *cli.Call) error {
	if v := s.Getenv("OURO_MAX"); v != "" && !s.DryRun {
		return problem.Of(problem.T("OURO_MAX is %s, but %s lasts as long as its command", cli.Quote(v),
			problem.To("fire")),
			problem.T("unset OURO_MAX, and let the shell keep it: %s >fire.out 2>&1 &", problem.To("fire", "...")))
	}
	if len(s.Args) > 1 {
		return cli.Instead(problem.T("fire takes one ID"), problem.To("fire", s.Args[0]))
	}
	zone, err := s.Zone()
	if err != nil {
		return err
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	found, failed, err := view.Pick(ctx, s, st, func(e state.Entry) bool { return e.Phase != state.Removed })
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		return failed[0].Problem
	}
	e := found[0]
	o, err := tasks.Firing(ctx, schedule.WorldOf(s), st, e, s.Opt.Bool("tell"))
	if err != nil {
		return err
	}
	o.Asked = schedule.NewAgentRequests(s, true).Answer
	if s.DryRun {
		return wouldFire(s, e, zone)
	}
	show := &followed{Processes: runner.Processes{Scratch: st.Scratch}, clock: s.Clock}
	if !s.InJSON {
		show.out, show.err = s.World.Out, s.Err
	}
	defer cli.DeafToPipes()()
	o.Commands, o.AgentStderr = show, show.err
	o.Say = func(format string, a ...any) { s.Talk("%s", cli.Visible(fmt.Sprintf(format, a...))) }
	o.Deliver = func(r state.Record) error {
		if s.InJSON {
			return nil // the line of the ledger has the error
		}
		s.Line("%s", cli.Visible(r.Task.Text))
		if err := s.Flush(); err != nil {
			return err
		}
		if _, here := s.Width(); here || r.Task.Terminal == "" {
			return nil
		}
		return notify.Terminal(r.Task.Terminal, reminder(r))
	}
	line, err := runner.Fire(ctx, o, e)
	show.finish()
	switch {
	case errors.Is(err, runner.ErrGoing):
		return GoesOn(e)
	case err != nil:
		return err
	}
	if len(line.Tell) > 0 {
		s.WarnAll(handover.HandOver(ctx, s, st).Warnings()) // the runner delivers what is told
	}
	answer := fireJSON{Now: s.Now(zone), line: line}
	if s.InJSON {
		row := view.AsLineJSON(line, zone)
		if row.Stdout != nil {
			stdout, stderr := st.Output(line.TaskID, line.Number)
			row.Stdout.Read(context.WithoutCancel(ctx), stdout, view.OutputMost)
			row.Stderr.Read(context.WithoutCancel(ctx), stderr, view.OutputMost)
		}
		answer.LineJSON = row
	}
	s.Answer(answer)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return firedCode(line)
}

// fireJSON is the answer of fire: the line of the ledger, and what the command wrote.
type fireJSON struct {
	Now time.Time `json:"now"`
	view.LineJSON
	DryRun bool `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`

	line state.Line
	what string // in a dry run: what would run
}

// Text says how the run ended when it did not go well. Its output was shown while it ran.
func (a fireJSON) Text(o *cli.Out) {
	switch {
	case a.DryRun:
		o.Line("would run %s (%s)", a.line.TaskID, a.what)
	case a.line.Outcome != state.OK:
		o.Talk("%s %s", state.OccurrenceID(a.line.TaskID, a.line.Number), view.OutcomeWords(a.line))
	}
}

// GoesOn is the problem of a task that runs already and may not run twice at once.
func GoesOn(e state.Entry) error {
	why := "its overlap is skip"
	if !e.Task.Recurring() {
		why = "a one-shot does not run beside itself"
	}
	return problem.New(problem.Running, problem.T("a run of task %s goes on, and %s", e.Task.ID, why),
		problem.T("%s shows it, %s ends it", problem.To("log", e.Task.ID), problem.To("stop", e.Task.ID)))
}

// wouldFire answers fire --dry-run. Its line has no outcome, and the gate (--if) is not run.
func wouldFire(s *cli.Call, e state.Entry, zone *time.Location) error {
	skips := cli.OrElse(e.Task.Policy.Overlap, state.OverlapSkip) == state.OverlapSkip || !e.Task.Recurring()
	if tasks.IsRunning(e) && skips && e.Task.Type() == state.TypeCommand {
		return GoesOn(e)
	}
	now := s.Now(zone)
	line := state.Line{At: now, Count: 1, Description: e.Task.Summary()}.Of(e.Task.ID, 0, now)
	line.Type = state.LineManual
	s.Answer(fireJSON{now, view.AsLineJSON(line, zone), true, line, view.Describe(e.Task)})
	return nil
}

// firedCode makes fire end as the command did.
func firedCode(l state.Line) error {
	switch {
	case l.Outcome == state.OK:
		return nil
	case l.Outcome == state.TimedOut:
		return cli.ExitCode(cli.ExitTimedOut)
	case l.Signal != "":
		sig, ok := cli.SignalNamed(l.Signal)
		switch {
		case !ok:
			return cli.ExitCode(cli.ExitFailed)
		case sig == syscall.SIGINT || sig == syscall.SIGTERM || sig == syscall.SIGHUP || sig == syscall.SIGKILL:
			return &cli.Signalled{Signal: sig}
		}
		// Other signals would make this program write what nobody asked for, such as a core.
		return cli.ExitCode(128 + int(sig))
	case l.Outcome == state.Failed && l.ExitCode != nil && *l.ExitCode > 0:
		return cli.ExitCode(*l.ExitCode)
	}
	return cli.ExitCode(cli.ExitFailed)
}

// followed starts commands as the runner does, and shows what they write while they run. Commands
// write to files, so a reader that is slow or gone delays only this call, and not the command.
type followed struct {
	runner.Processes
	clock    clock.Clock
	out, err io.Writer // nil when nothing is shown

	streams []*follow // the output of the latest attempt
}

// Start starts an attempt. It first shows the rest of what the attempt before it wrote, because the
// files are written anew.
func (f *followed) Start(ctx context.Context, r state.Record, env []string, stdout, stderr state.Stream,
	begin func() error) (runner.Command, error) {
	if stdout == nil { // the command is the gate (--if)
		return f.Processes.Start(ctx, r, env, stdout, stderr, begin)
	}
	f.finish()
	c, err := f.Processes.Start(ctx, r, env, stdout, stderr, begin)
	if err != nil {
		return c, err
	}
	for _, s := range []struct {
		from state.Stream
		to   io.Writer
	}{{stdout, f.out}, {stderr, f.err}} {
		if s.to == nil {
			continue
		}
		written, err := s.from.Open(ctx)
		if err != nil {
			continue // log shows it later
		}
		ctx, stop := context.WithCancel(context.Background())
		one := &follow{from: written, to: s.to, stop: stop, done: make(chan struct{})}
		go one.run(ctx, f.clock)
		f.streams = append(f.streams, one)
	}
	return c, nil
}

// finish shows the rest of the output.
func (f *followed) finish() {
	for _, s := range f.streams {
		s.finish()
	}
	f.streams = nil
}

// follow copies a file that grows.
type follow struct {
	from state.StreamReader
	to   io.Writer
	stop context.CancelFunc // says that the file grows no more
	done chan struct{}
}

// followStep is the longest pause between two looks at a file. It is too short to be seen.
const followStep = 50 * time.Millisecond

func (f *follow) run(ctx context.Context, c clock.Clock) {
	defer close(f.done)
	defer f.from.Close() // the next attempt may make the file shorter
	for nap := time.Millisecond; ; nap = min(2*nap, followStep) {
		over := ctx.Err() != nil
		n, err := io.Copy(f.to, f.from)
		if err != nil || over {
			return // nobody reads our output any more, and the run goes on
		}
		if n > 0 {
			nap = time.Millisecond
		}
		_ = c.For(ctx, nap) // an error means the end, which the next round sees
	}
}

func (f *follow) finish() {
	f.stop()
	<-f.done
}

// reminder returns a message as it is written to a terminal.
func reminder(r state.Record) string {
	if r.Task.Description != "" {
		return "reminder: " + r.Task.Description + ": " + r.Task.Text
	}
	return "reminder: " + r.Task.Text
}
