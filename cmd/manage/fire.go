package manage

import (
	"cmp"
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
Runs the task once more, now and here: with the folder, variables and umask that it was scheduled with, not those of
this call, and with an empty standard input. What it writes is shown as it comes and is kept, too. fire exits with the
exit code of the command: 124 when its --timeout was reached, 126 and 127 when it could not be started; when a signal
ended the command, the same signal ends fire. A message is written to standard output.

No occurrence is consumed: the task's next one stays, paused and ended tasks can be fired as well, and the ledger marks
the run as manual. Nobody is told of the run without --tell. The task's gate (--if), time-out and retries apply; stop
conditions do not. While another run of the task goes on, --overlap of the task decides: skip refuses (exit 1), queue
waits, replace ends the other run, allow runs beside it. A one-shot has no --overlap: while it runs fire refuses, and
ouro-timer stop ends the run. Instants that fall due meanwhile are treated as during any other run. INT and TERM end
the command and its group.

fire lasts as long as the command and has no --max. To do something else meanwhile, run it in the background of the
shell: ouro-timer fire k7m2 >fire.out 2>&1 & and later ouro-timer log k7m2`,
		Examples: []string{"ouro-timer fire k7m2", `ouro-timer fire --match backup --json`},
		Ids:      "any",
		Exits:    []int{cli.ExitTimedOut}, Passes: true,
		Arguments: []option.Argument{{Name: "id", Kind: option.ID}},
		Options: option.Rows{cli.MatchFlag, option.Option{Name: "tell", Kind: option.Flag,
			Help: "tell of the run, and put it into the inbox, as if it had been due"}, cli.DryFlag,
			cli.QuietFlag.WithHelp("write nothing but what the command writes"), cli.ZoneFlag, cli.JSONFlag,
			cli.FieldsFlag},
		Answers: []cli.Shape{{Name: "fire", Of: fireJSON{}, Means: "how the run ended, and what it wrote"}},
		Run:     runFire,
	}
}

func runFire(ctx context.Context, s *cli.Call) error {
	if v := s.Getenv("OURO_MAX"); v != "" && !s.DryRun {
		return problem.Of(problem.T("OURO_MAX is %s, but %s lasts as long as its command", cli.Quote(v),
			problem.To("fire")),
			problem.T("unset OURO_MAX, and run it in the background of the shell: %s >fire.out 2>&1 &",
				problem.To("fire", "...")))
	}
	if len(s.Args) > 1 {
		return cli.CallInstead(problem.T("fire takes one ID"), problem.To("fire", s.Args[0]))
	}
	st, zone, err := cli.OpenInZone(s)
	if err != nil {
		return err
	}
	e, err := view.PickOne(ctx, s, st, func(e state.Entry) bool { return e.Phase != state.Removed })
	if err != nil {
		return err
	}
	o, err := tasks.Firing(ctx, schedule.WorldOf(s), st, e, s.Opt.Bool("tell"))
	if err != nil {
		return err
	}
	o.Asked = schedule.NewAgentRequests(s, true).Answer
	if s.DryRun {
		return wouldFire(s, e, zone)
	}
	show := &tailedProcesses{Processes: runner.Processes{Scratch: st.Scratch}, clock: s.Clock}
	if !s.InJSON {
		show.out, show.err = s.World.Out, s.Err
	}
	defer cli.BrokenPipesAreErrors()()
	o.Commands, o.AgentStderr = show, show.err
	o.Say = func(format string, a ...any) { s.Note("%s", cli.Visible(fmt.Sprintf(format, a...))) }
	var unwritten error // the message
	o.Deliver = func(r state.Record) error {
		if unwritten = write(s, r); unwritten != nil {
			return unwritten
		}
		return writeTerminal(s, r)
	}
	line, err := runner.Fire(ctx, o, e)
	show.finish()
	switch {
	case errors.Is(err, runner.ErrGoing):
		return AlreadyRunning(e)
	case err != nil:
		return err
	}
	if len(line.Tell) > 0 {
		s.WarnAll(handover.HandOver(ctx, s, st).Warnings()) // the runner delivers what is told
	}
	answerFire(ctx, s, st, line, zone)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch err := firedCode(line); {
	case err != nil:
		return err
	case unwritten != nil:
		return unwritten
	case show.lost != nil && !errors.Is(show.lost, syscall.EPIPE): // who has read enough is content
		return cli.Unwritten(show.lost)
	}
	return nil
}

// answerFire answers with the line of the ledger and, with --json, what the command wrote.
func answerFire(ctx context.Context, s *cli.Call, st state.Store, line state.Line, zone *time.Location) {
	answer := fireJSON{Now: s.Now(zone), line: line}
	if s.InJSON {
		answer.LineJSON = view.LineWithOutput(context.WithoutCancel(ctx), st, line, zone, view.OutputMost)
	}
	s.Answer(answer)
}

// write writes a message to standard output. With --json the text is in the answer.
func write(s *cli.Call, r state.Record) error {
	if s.InJSON {
		return nil
	}
	s.Line("%s", cli.Visible(r.Task.Text))
	return s.Flush()
}

// writeTerminal writes a message to the terminal that the task was set from, when standard output
// is none.
func writeTerminal(s *cli.Call, r state.Record) error {
	if _, terminal := s.Width(); s.InJSON || terminal || r.Task.Terminal == "" {
		return nil
	}
	return notify.Terminal(r.Task.Terminal, reminder(r))
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
		o.Note("%s %s", state.OccurrenceID(a.line.TaskID, a.line.Number), view.OutcomeWords(a.line))
	}
}

// AlreadyRunning returns the error for a task that is running and may not run twice at once.
func AlreadyRunning(e state.Entry) error {
	why := "its overlap is skip"
	if !e.Task.Recurring() {
		why = "a one-shot does not run beside itself"
	}
	return problem.New(problem.Running, problem.T("task %s is running, and %s", e.Task.ID, why),
		problem.T("%s shows the run, %s ends it", problem.To("log", e.Task.ID), problem.To("stop", e.Task.ID)))
}

// wouldFire answers fire --dry-run. The line in the answer has no outcome, because nothing runs,
// not even the gate (--if).
func wouldFire(s *cli.Call, e state.Entry, zone *time.Location) error {
	skips := cmp.Or(e.Task.Policy.Overlap, state.OverlapSkip) == state.OverlapSkip || !e.Task.Recurring()
	if tasks.IsRunning(e) && skips && e.Task.Type() == state.TypeCommand {
		return AlreadyRunning(e)
	}
	now := s.Now(zone)
	line := state.Line{At: now, Count: 1, Description: e.Task.Summary()}.Of(e.Task.ID, 0, now)
	line.Type = state.LineManual
	s.Answer(fireJSON{now, view.AsLineJSON(line, zone), true, line, view.Describe(e.Task)})
	return nil
}

// firedCode returns the error by which fire ends as the command did.
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
		// Other signals could make this program write a core dump.
		return cli.ExitCode(128 + int(sig))
	case l.Outcome == state.Failed && l.ExitCode != nil && *l.ExitCode > 0:
		return cli.ExitCode(*l.ExitCode)
	}
	return cli.ExitCode(cli.ExitFailed)
}

// tailedProcesses starts commands as the runner does, and shows what they write while they run.
// Commands write to files, so a reader that is slow or gone delays only this call, and not the
// command.
type tailedProcesses struct {
	runner.Processes
	clock    clock.Clock
	out, err io.Writer // nil when nothing is shown

	streams []*tail // the output of the latest attempt
	lost    error   // why some of the output was not shown
}

// Start starts an attempt. It first shows the rest of the output of the previous attempt, because
// the new attempt overwrites the files.
func (f *tailedProcesses) Start(ctx context.Context, r state.Record, env []string, stdout, stderr state.Stream,
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
			continue // log can show the output later
		}
		ctx, stop := context.WithCancel(context.Background())
		one := &tail{from: written, to: s.to, stop: stop, done: make(chan struct{})}
		go one.run(ctx, f.clock)
		f.streams = append(f.streams, one)
	}
	return c, nil
}

// finish shows the rest of the output.
func (f *tailedProcesses) finish() {
	for _, s := range f.streams {
		s.stop()
		<-s.done
		if f.lost == nil {
			f.lost = s.err
		}
	}
	f.streams = nil
}

// tail copies a growing file.
type tail struct {
	from state.StreamReader
	to   io.Writer
	stop context.CancelFunc // called when the file has stopped growing
	done chan struct{}
	err  error // why it ended early; it may be read once done is closed
}

// tailPause is the longest pause between two reads of a file. People do not notice it.
const tailPause = 50 * time.Millisecond

func (f *tail) run(ctx context.Context, c clock.Clock) {
	defer close(f.done)
	defer f.from.Close() // the next attempt may make the file shorter
	for pause := time.Millisecond; ; pause = min(2*pause, tailPause) {
		over := ctx.Err() != nil
		n, err := io.Copy(f.to, f.from)
		if err != nil || over {
			f.err = err
			return // when nobody reads the output of fire any more, the run still goes on
		}
		if n > 0 {
			pause = time.Millisecond
		}
		_ = c.For(ctx, pause) // an error means that ctx has ended, which the next round sees
	}
}

// reminder returns a message as it is written to a terminal.
func reminder(r state.Record) string {
	if r.Task.Description != "" {
		return "reminder: " + r.Task.Description + ": " + r.Task.Text
	}
	return "reminder: " + r.Task.Text
}
