// Package daemon has the commands of the runner and around it: run, service, doctor and metrics.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/service"
)

// RunCommand is the command run.
func RunCommand() cli.Command {
	return cli.Command{
		Name: "run", Args: "[--once | --drain | --standby | --background | --status | --stop]",
		Short: "do what is due, when it is due",
		Long: `
The runner is one loop for each user, and at starts it by itself. In the foreground it prints messages on standard output
and talks on standard error. INT and TERM let running commands finish, a second one ends them; HUP reads config.toml
again. A second runner ends with 4 and says who holds the lock; with --standby it takes over when the other ends.

--stop waits for the end of the runner, for 15 s or for --max. A runner whose commands go on for longer starts nothing
more. With --max (or OURO_MAX) the exit code is 75 then, and the answer has the command that goes on waiting.

--output writes k7m2/3 out: TEXT after the ID of the run, or err for standard error; out+ is a part of a line that goes
on, and out! counts what nobody read in time. A slow reader never delays a command.

--metrics serves numbers for Prometheus (ouro-timer metrics prints the same) at /metrics, and at /healthz whether the
loop responds, only on this machine unless another address is named in full.

A runner in the background writes to runs/runner.log. It gives the lock to a runner that a newer ouro-timer starts. To
have a runner after a reboot: ouro-timer service install`,
		Examples: []string{"ouro-timer run", "ouro-timer run --output", "ouro-timer run --background",
			"ouro-timer run --status --json"},
		Options: option.Rows{
			option.Option{Name: "once", Kind: option.Flag, Help: "do what is due now, wait for it, and end"},
			option.Option{Name: "drain", Kind: option.Flag,
				Help: "end when nothing is pending or running, and whoever is to be told now was tried once"},
			option.Option{Name: "standby", Kind: option.Flag,
				Help: "when another runner has the lock, wait for its end and take over (also with --drain)"},
			option.Option{Name: "max-parallel", Kind: option.Whole, Default: strconv.Itoa(parallel),
				Help: "run at most N commands at once; max_parallel in the config says another default"},
			option.Option{Name: "output", Kind: option.Flag,
				Help: "copy what commands write to standard output, line by line, behind the ID of the run"},
			option.Option{Name: "metrics", Kind: option.Text, Value: "ADDR",
				Help: "serve numbers for Prometheus at http://ADDR/metrics, and /healthz; :9464 is 127.0.0.1:9464"},
			option.Option{Name: "background", Kind: option.Flag,
				Help: "start a runner that goes on in the background (it ends when nothing is pending)"},
			option.Option{Name: "status", Kind: option.Flag, Help: "say which runner is alive and what it waits for"},
			option.Option{Name: "stop", Kind: option.Flag, Help: "end the runner; what is pending stays pending"},
			option.Option{Name: "kill", Kind: option.Flag,
				Help: "with --stop: end its commands too, by TERM and 10 s later by KILL, and those that have outlived a runner"},
			cli.MaxFlag.WithHelp("with --stop: wait for its end for at most DURATION, then exit with code 75 (default: OURO_MAX)"),
			option.Option{Name: "pid", Kind: option.Whole, Value: "PID",
				Help: "with --stop: only the runner that is the process PID, and not one that has taken over from it"},
			option.Option{Name: "detached", Kind: option.Flag, Hidden: true,
				Help: "this is the runner in the background"},
			cli.DryFlag, cli.QuietFlag.WithHelp("say nothing on standard error but errors"), cli.ZoneFlag,
			cli.JSONFlag, cli.FieldsFlag,
		},
		Answers: []cli.Shape{
			{Name: "line", Of: view.StreamLine{}, Given: "!status !stop !background",
				Means: "an occurrence or a delivery that has ended", Stream: true},
			{Name: "log-output", Of: view.PieceJSON{}, Given: "!status !stop !background",
				Means: "--output: a line that a command wrote, or a piece of one", Stream: true},
			{Name: "log-problem", Of: view.ProblemJSON{}, Given: "!status !stop !background",
				Means: "something that is wrong", Stream: true},
			{Name: "run-summary", Of: summaryJSON{}, Given: "!status !stop !background",
				Means: "--once, --drain: what was done; the last line"},
			{Name: "run-status", Of: runStatusJSON{}, Given: "status", Means: "--status: whether a runner is alive"},
			{Name: "run-background", Of: handover.BackgroundJSON{}, Given: "background",
				Means: "--background: the runner that was started"},
			{Name: "run-stop", Of: runStopJSON{}, Given: "stop", Means: "--stop: the runner that was ended"},
		},
		Run: runRun,
	}
}

func runRun(ctx context.Context, s *cli.Call) error {
	if err := cli.NoArguments(s); err != nil {
		return err
	}
	given, err := modeOf(s)
	if err != nil {
		return err
	}
	if err := checkMode(s, given); err != nil {
		return err
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	switch given {
	case "background":
		return handover.RunBackground(ctx, s, st)
	case "status":
		return runStatus(ctx, s, st)
	case "stop":
		return runStop(ctx, s, st)
	case "once":
		if s.DryRun {
			return planRun(ctx, s, st)
		}
		return runLoop(ctx, s, st, runner.Once, "foreground")
	case "drain":
		return runLoop(ctx, s, st, runner.Drain, "foreground")
	case "detached":
		return runDetached(ctx, s, st)
	}
	return runLoop(ctx, s, st, runner.Forever, "foreground")
}

// modeOf returns the one option that says what run does; empty for the runner in the foreground.
func modeOf(s *cli.Call) (given string, err error) {
	for _, mode := range []string{"once", "drain", "background", "status", "stop", "detached"} {
		if !s.Opt.Bool(mode) {
			continue
		}
		if given != "" {
			return "", cli.Excluding(problem.Option(given), problem.Option(mode))
		}
		given = mode
	}
	return given, nil
}

// checkMode refuses options that have no meaning in a mode of run.
func checkMode(s *cli.Call, given string) error {
	for _, of := range []string{"kill", "max", "pid"} {
		if value := s.Opt.Value(of); value != nil && value != false && given != "stop" {
			return cli.CallInstead(problem.T("%s goes with %s", problem.Option(of), problem.Option("stop")),
				problem.To("run").With("stop", true).With(problem.Option(of), value))
		}
	}
	if s.Opt.Has("pid") && s.Opt.Int("pid") < 1 {
		return problem.Of(problem.T("%s is %d, which is not a process", problem.Option("pid"), s.Opt.Int("pid")),
			problem.T("%s shows the runners", problem.To("run").With("status", true)))
	}
	if s.Opt.Bool("standby") && given != "" && given != "drain" {
		return cli.Excluding("standby", problem.Option(given)).
			Advising(problem.T("%s, or %s", problem.To("run").With("standby", true),
				problem.To("run").With("drain", true).With("standby", true)))
	}
	if s.Opt.Has("max-parallel") && (given == "status" || given == "stop" || given == "background") {
		return cli.Excluding("max-parallel", problem.Option(given)).
			Advising(problem.T("a runner in the background takes it from config.toml: max_parallel, below [run]"))
	}
	if s.Opt.Bool("output") && (given == "status" || given == "stop" || given == "background" || given == "detached") {
		return cli.Excluding("output", problem.Option(given)).
			Advising(problem.T("a runner in the background keeps what commands write: %s shows it as it comes",
				problem.To("log", "ID").With("follow", true)))
	}
	if s.Opt.Has("metrics") && given != "" && given != "drain" {
		return cli.Excluding("metrics", problem.Option(given)).
			Advising(problem.T("it is for a runner that stays: %s",
				problem.To("run").With("metrics", s.Opt.Text("metrics"))))
	}
	if s.Opt.Has("max-parallel") && s.Opt.Int("max-parallel") < 1 {
		return problem.Of(problem.T("%s must be 1 or more", problem.Option("max-parallel")),
			problem.T("leave it out for the default"))
	}
	if s.DryRun && given != "once" && given != "stop" && given != "background" {
		return problem.Of(problem.T("%s goes with %s and %s", problem.Option("dry-run"),
			problem.Options(", ", "once", "stop"), problem.Option("background")),
			problem.T("%s says what is due; what comes later: %s",
				problem.To("run").With("once", true).With("dry-run", true), problem.To("simulate")))
	}
	if v := s.Getenv("OURO_MAX"); v != "" && !s.DryRun && (given == "" || given == "once" || given == "drain") {
		return problem.Of(problem.T("OURO_MAX is %s, but a runner in the foreground lasts as long as its commands",
			cli.Quote(v)), problem.T("%s starts one in the background and does not wait; or unset OURO_MAX",
			problem.To("run").With("background", true)))
	}
	return nil
}

// parallel is how many commands run at once when config.toml does not say.
const parallel = 32

// runLoop runs the runner in this process. how is foreground or background.
func runLoop(ctx context.Context, s *cli.Call, st state.Store, mode runner.Mode, how string) error {
	hangups, stopListening := cli.ReloadOnHangup(s)
	defer stopListening()
	config, err := s.Settings()
	if err != nil {
		return err
	}
	zone, err := s.Zone()
	if err != nil {
		return err
	}
	self, err := runner.SelfIn(st)
	if err != nil {
		return err
	}
	listener, err := listenForMetrics(ctx, s)
	if err != nil {
		return err
	}
	kill, stop := secondSignal()
	defer stop()
	cgroups, _ := proc.OwnCgroups() // a run that needs a cgroup fails with the error
	o := runner.Options{
		Store: st, Clock: s.Clock, Awake: clock.Awake, Commands: runner.Processes{Scratch: st.Scratch,
			Cgroups: cgroups}, Self: self, Mode: mode, Kill: kill,
		Leader:  state.Leader{Ident: self, Version: cli.Version, Mode: how},
		Standby: s.Opt.Bool("standby"), Lull: lull(), Idle: pauseCollector,
	}
	foreground := how == "foreground"
	if !foreground {
		yield, stopYielding := runner.Yielding()
		defer stopYielding()
		o.Yield, o.Leader.Yields = yield, yield != nil
	}
	v := newConsole(s, foreground, zone)
	if !foreground { // nobody reads what it says
		v.keepTrouble = st.SetTrouble
	}
	v.setOptions(&o)
	sender, err := newSender(s, st, config)
	if err != nil {
		return err
	}
	sender.setOptions(&o)
	if s.Opt.Has("max-parallel") {
		o.MaxParallel = func() int { return s.Opt.Int("max-parallel") }
	}
	o.Linger, o.DayFile, o.Asked = !foreground, handover.Programs(s).Text, schedule.NewAgentRequests(s, false).Answer
	// These get a value when config.toml was read again.
	toRunner, toHeartbeat := make(chan struct{}, 1), make(chan struct{}, 1)
	o.Again = toRunner
	go rereadOnHangup(s.Opt, hangups, []chan<- struct{}{toRunner, toHeartbeat}, sender, v)
	live := &liveness{probe: make(chan func()), notifier: service.Notifier{Socket: s.Getenv("NOTIFY_SOCKET")},
		watchdog: service.Watchdog(s.Getenv, os.Getpid()), warn: v.say}
	runnerCtx, endRunner := context.WithCancel(context.WithoutCancel(ctx))
	live.setOptions(runnerCtx, &o, st, func(l state.Leader) string { return leaderText(l, zone) })
	o.Begun = func(r state.Record) { sender.pingStarts(r, v.say) }
	heartbeat := &heartbeatPinger{c: sender, st: st, liveness: live, say: v.warn, again: toHeartbeat}
	if onLead := o.OnLead; mode != runner.Once {
		o.OnLead = sync.OnceFunc(func() { onLead(); go heartbeat.run(runnerCtx) })
	}
	stopping := make(chan struct{})
	go func() {
		defer close(stopping)
		live.notifyEnd(runnerCtx, ctx)
	}()
	if listener != nil {
		o.Say("numbers for Prometheus: http://%s/metrics", listener.Addr())
		defer serveMetrics(listener, metricsSource(s, st), live)()
	}
	ballast := make([]byte, ballastSize)
	err = runner.Run(ctx, o)
	runtime.KeepAlive(ballast)
	if endRunner(); err != nil && ctx.Err() == nil && !errors.Is(err, state.ErrLed) {
		heartbeat.ended()
	}
	<-stopping
	v.close(ctx, kill)
	if err == nil && ctx.Err() == nil && s.InJSON {
		return summary(ctx, s, st, int(v.ended.Load()), zone)
	}
	if errors.Is(err, state.ErrLed) {
		if leader, led, e := st.Led(ctx); e == nil && led {
			return fmt.Errorf("%w: %s", state.ErrLed, leaderText(leader, zone))
		}
	}
	if err == nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// ballastSize is memory that a runner allocates and never touches, so that the machine does not
// give it any. The garbage collector runs when the memory in use has doubled, and so waits for this
// much garbage and not for 4 MB. That saves a tenth of the time of a burst; a larger ballast saves
// nothing that can be measured, and its garbage takes real memory.
const ballastSize = 12 << 20

// leaderText says which runner has the lock.
func leaderText(l state.Leader, zone *time.Location) string {
	if l.Ident.PID == 0 {
		return "a runner that has not yet written who it is"
	}
	text := fmt.Sprintf("%s, since %s", handover.Process(l.Ident.PID, runner.InOtherContainer(l.Ident)),
		view.Stamp(l.Since.In(zone)))
	switch {
	case runner.Suspended(l.Ident):
		text += ", stopped"
	case runner.HasEnded(l.Ident):
		text += "; it is gone, and a process that it was starting still has the lock (ouro-timer doctor says how to " +
			"find it)"
	}
	return text
}

// summaryJSON is the last line of run --once --json and of run --drain --json.
type summaryJSON struct {
	Now    time.Time  `json:"now"`
	Type   string     `json:"type" jsonschema:"summary"`
	Ended  int        `json:"ended" jsonschema:"how many occurrences have ended"`
	Next   *time.Time `json:"next,omitempty" jsonschema:"the next instant that is due; absent: none"`
	DryRun bool       `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`
}

// Text says when a dry run has nothing to do. All else was written before.
func (a summaryJSON) Text(o *cli.Out) {
	if a.DryRun && a.Ended == 0 {
		o.Note("Nothing is due.")
	}
}

// summary writes the last line of run --once --json and of run --drain --json.
func summary(ctx context.Context, s *cli.Call, st state.Tasks, ended int, zone *time.Location) error {
	next, pending, err := state.Next(ctx, st, time.Time{})
	if err != nil {
		return err
	}
	answer := summaryJSON{Now: s.Now(zone), Type: "summary", Ended: ended}
	if pending {
		answer.Next = cli.Instant(next, zone)
	}
	s.Answer(answer)
	return nil
}

// runDetached is the runner in the background. When another runner holds the lock it tries for a
// moment (state.LeadWait), because that one may be ending, and else leaves the work to it.
func runDetached(ctx context.Context, s *cli.Call, st state.Store) error {
	proc.Name("ouro-timer")
	s.Err = handover.OpenRunnerLog(s)
	err := runLoop(ctx, s, st, runner.Drain, "background")
	if errors.Is(err, state.ErrLed) {
		if leader, led, e := st.Led(ctx); e != nil || !led || !runner.HasEnded(leader.Ident) {
			return nil
		}
	}
	if err != nil && ctx.Err() == nil {
		// An error here is already in the log.
		_ = st.SetTrouble(state.Trouble{At: s.Clock.Now(), Text: cli.Visible(cli.Explain(err).Error())})
	}
	return err
}
