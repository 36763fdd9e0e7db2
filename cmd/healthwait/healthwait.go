// Package healthwait has the command health-wait, which blocks until services are healthy.
package healthwait

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// Command is the command health-wait.
func Command() cli.Command {
	return cli.Command{
		Exits: []int{cli.ExitNotFound, cli.ExitTimedOut}, Passes: true,
		Name: "health-wait", Args: "<target>... [-- <command> [<arg>...]]", Short: "block until a service is healthy",
		Long: `
Tries the targets at once, then every 100 ms for 10 s, then less and less often, until all are healthy or the time is
up. The time is total: look-ups, handshakes and peers that say nothing are in it. Every address of a host is tried.

  http://host/path, https://...   GET answers with 2xx, after at most 10 redirects
  tcp://host:port                 accepts a connection
  tls://host:port                 completes a handshake, with a valid certificate for the host
  unix:///path                    a socket that accepts a connection
  dns:name, dns://server/name     resolves; that server answers with an address (?type=MX: with that record)
  file:path                       exists
  pid:number                      the process runs; with --invert: it has ended
  task:ID, task:ID/N              the task, or its N-th occurrence, has ended well; with --invert: otherwise
  docker:name                     the container is healthy, or runs where it has no check of its own
  exec:line                       /bin/sh -c ends with 0, such as exec:"make check"

Servers are asked in their own protocol whether they are ready, which is more than an open port: PostgreSQL that is
starting up and Redis that is loading are not. A server that demands a password is ready. A port that is not given is
the usual one.

  postgres://host/db    mysql://host    redis://host, rediss://    amqp://host, amqps://    nats://host
  kafka://host          grpc://host:port/service, grpcs:// (its health service says SERVING)

--invert waits for the opposite: a port to be free, a file or a process to be gone. Options that belong to a scheme
(--status to http, --non-empty to file) hold for all targets of it.

Exit codes: 0 healthy; 124 not healthy in time; 75 --max was reached, call again as the answer says; 1 a fault that
waiting does not mend (a malformed target, a certificate for another name or of an unknown authority, HTTP 401 or 403,
a command that is not there, a task that failed); 3 there is no such task. Refused connections and unknown hosts are
no such faults: the call goes on waiting.

The command after -- is run once when all targets are healthy, without a shell and in place of ouro-timer: its input,
output, signals and exit code are its own. health-wait looks for it first: 127 when it is not there, 126 when it cannot
be executed. Call health-wait once for an outage, not in a loop; where a call may not block for long, give --max and go
on as the answer says. With --json the answer is one object, which has the command's exit code and the end of what it
wrote (command), and comes when the command has ended; --stream answers first, then passes on what the command writes.
--max bounds the wait for the targets, and not the command: where that must not block either, run it by ouro-timer at
now --wait --max.

--dry-run tries no target and runs nothing: it says what would be waited for, and refuses what a real call refuses.`,
		Examples: []string{
			`ouro-timer health-wait http://localhost:8080/health`,
			`ouro-timer health-wait tcp://localhost:5432 unix:///run/app.sock --timeout 30s -- ./migrate`,
			`ouro-timer health-wait --json --timeout 10m --max 110s https://api.example.org/`,
			`ouro-timer health-wait http://localhost:8080/ --status 200,204 --body '"ready": *true' --stable 10s`,
			`ouro-timer health-wait --invert tcp://localhost:8080 -- ./server`,
			`ouro-timer health-wait postgres://db/app redis://cache docker:worker -- ./migrate`,
		},
		Tail:      true,
		Arguments: []option.Argument{{Name: "target", Kind: option.Target, Required: true, Many: true}},
		Options:   flags(),
		Answers: []cli.Shape{
			{Name: "health-wait", Of: answerJSON{}, Given: "!dry-run", Means: "whether the targets are healthy"},
			{Name: "health-wait-dry-run", Of: dryRunJSON{}, Given: "dry-run",
				Means: "--dry-run: what would be waited for, and then run"},
		},
		Run: func(ctx context.Context, s *cli.Call) error {
			o, err := newHealthWait(ctx, s)
			if err != nil {
				return err
			}
			if s.DryRun {
				o.answerDryRun(s)
				return nil
			}
			return runHealthWait(ctx, s, o)
		},
	}
}

// healthWait is a call of health-wait whose words and options were read.
type healthWait struct {
	group   Group
	bounds  bounds
	program string   // the path of the command to run; "" when there is none
	argv    []string // the words of the command
	quiet   bool
	repeat  problem.Call // this call without its bounds and its command
}

// newHealthWait reads the words and options of a call.
func newHealthWait(ctx context.Context, s *cli.Call) (o healthWait, err error) {
	o.quiet, o.bounds.begun = s.Quiet, s.Clock.Now()
	r := reader{ctx, s, &o.bounds, &o.group.Options}
	example := problem.To("health-wait", "tcp://localhost:5432")
	switch {
	case len(s.Args) == 0:
		return o, cli.CallInstead(problem.T("there is no target to wait for"), example)
	case s.Opt.Bool("any") && s.Opt.Bool("all"):
		return o, cli.Excluding("any", "all")
	case s.Opt.Bool("stream") && (!s.Dash || !s.InJSON):
		return o, problem.Of(problem.T("%s passes on what a command writes, beside the answer in JSON",
			problem.Option("stream")),
			problem.T("%s", example.With("json", true).With("stream", true).Running("make", "test")))
	case s.Dash && len(s.Tail) == 0:
		return o, cli.CallInstead(problem.T("there is no command after %s", problem.Command),
			example.Running("make", "test"))
	}
	o.group.Options.Any, o.group.Options.Invert, o.group.Options.KeepTrying = s.Opt.Bool("any"), s.Opt.Bool("invert"),
		s.Opt.Bool("keep-trying")
	o.group.Options.HTTP.Proxy = http.ProxyFromEnvironment
	bad := o.parse(s)
	if bad == nil {
		if err := o.group.refuseUnused(s); err != nil {
			return o, err
		}
	}
	if err := o.bounds.read(s); err != nil {
		return o, err
	}
	for _, read := range []func() error{r.attempts, r.web, r.trust, r.file} {
		if err := read(); err != nil {
			return o, err
		}
	}
	if err := o.group.Docker(s); err != nil {
		return o, err
	}
	path, err := o.group.Path(s)
	if err != nil {
		return o, err
	}
	if s.Dash {
		o.argv = s.Tail
		if o.program, err = proc.LookPath(s.Tail[0], path, ""); err != nil {
			return o, notStarted(err)
		}
	}
	if bad != nil {
		return o, bad.answer(s, &o)
	}
	if err := o.group.Allowed(ctx, s, o.argv); err != nil {
		return o, err
	}
	o.repeat = o.repeatCall(s)
	return o, o.group.tasks(ctx, s)
}

// badTargets are the targets of a call, some of which cannot be read. The answer has the form of a
// result.
type badTargets struct {
	result health.Result
	hints  []problem.Text // for each target: what to type instead, if anything
	first  *health.ParseError
	hint   problem.Text // the hint of the first
}

// parse reads the targets; it returns nil when all can be read.
func (o *healthWait) parse(s *cli.Call) *badTargets {
	// A bare word after a good target is more often a command than another target.
	var command problem.Text
	u := &badTargets{result: health.Result{Reason: health.Permanent}, hints: make([]problem.Text, len(s.Args))}
	for i, text := range s.Args {
		target, err := health.Parse(text)
		row := health.TargetResult{Target: target.String()}
		if refusal, ok := errors.AsType[*health.ParseError](err); ok {
			row.Target, row.Permanent, u.hints[i] = refusal.Target, true, problem.T(refusal.Hint)
			row.Last = health.Cause{Kind: health.NoTarget, Subject: refusal.Problem}
			if i > 0 && u.first == nil && !s.Dash && refusal.Bare && !strings.ContainsAny(text, ":/.") {
				command = problem.T("a command stands after %s: ... %s", problem.Command,
					problem.Set(problem.Command, s.Args[i:]))
			}
			if !command.Empty() {
				u.hints[i] = command
			}
			if u.first == nil {
				u.first, u.hint = refusal, u.hints[i]
			}
		}
		o.group.Targets, u.result.Targets = append(o.group.Targets, target), append(u.result.Targets, row)
	}
	if u.first == nil {
		return nil
	}
	return u
}

// Refused is the problem of a target that cannot be read.
func Refused(e *health.ParseError, hint problem.Text) *problem.Problem {
	between := " "
	if e.Clause {
		between = ": "
	}
	return problem.Of(problem.T("target %s%s%s", cli.Quote(e.Target), between, e.Problem), hint)
}

// answer refuses the call. With --json it answers in the form of a result.
func (u *badTargets) answer(s *cli.Call, o *healthWait) error {
	f := Refused(u.first, u.hint)
	f.Code = problem.Failed
	if s.InJSON {
		s.Answer(o.answer(s, u.result, u.hints, nil, f))
		return cli.ExitCode(f.ExitCode())
	}
	return f
}

// notStarted returns why a program cannot be run, with the exit code of a shell.
func notStarted(err error) error {
	f := problem.New(problem.Failed, problem.T(err.Error()),
		problem.T("give the name or the path of a program and its arguments after %s; a line for the shell is sh -c 'LINE'", problem.Command))
	if start, ok := errors.AsType[*proc.StartError](err); ok {
		f.Exit = start.ExitCode()
	}
	return f
}

func runHealthWait(ctx context.Context, s *cli.Call, o healthWait) error {
	stop := func() {}
	if view.ShowsCountdown(s, o.quiet) {
		stop = o.watch(s)
	}
	r := o.group.run(ctx, s, &o.bounds)
	stop()
	if r.Reason == health.Cancelled {
		answerBeforeEnd(s, func(s *cli.Call) { o.tell(s, r, nil, nil) })
		return ctx.Err()
	}
	further := cli.ContinueWith(s, o.continueCall(s, r))
	captures := r.Healthy && o.argv != nil && s.InJSON && !s.Opt.Bool("stream")
	var ran *commandJSON
	if captures {
		var err error
		if ran, err = o.runCaptured(ctx, s); err != nil {
			return err
		}
	}
	if ran != nil && ran.Stdout.Bytes+ran.Stderr.Bytes > 0 {
		s.RelaysOutput()
	}
	o.tell(s, r, further, ran)
	switch {
	case captures && ctx.Err() != nil:
		return ctx.Err()
	case captures:
		return ran.code()
	case r.Healthy && o.argv != nil:
		if err := s.Flush(); err != nil {
			return err
		}
		s.MarkOwnOutput()
		return become(s.World, o.program, o.argv)
	case r.Healthy:
		return nil
	case further != nil:
		s.ShowContinue(further)
		return cli.ExitCode(cli.ExitMax)
	}
	return o.verdict(s, r)
}

// tell answers. ran is the result of the command, if it was run already.
func (o *healthWait) tell(s *cli.Call, r health.Result, further cli.ArgvOrNull, ran *commandJSON) {
	var fault *problem.Problem
	if r.Reason == health.Permanent {
		fault = o.fault(r)
		fault.Message = problem.T("%s: %s", fault.Message, firstFault(r))
	}
	answer := o.answer(s, r, o.hints(r, further), further, fault)
	answer.Command = ran
	if !o.quiet {
		for i := range r.Targets {
			answer.lines = append(answer.lines, o.group.Line(r, i))
		}
		answer.toStderr = o.argv != nil
	}
	s.Answer(answer)
}

// maxSignalDelay bounds how long the end by a signal waits for the reader of the answer.
const maxSignalDelay = 300 * time.Millisecond

// answerBeforeEnd answers before a signal ends the process. A reader that does not read must not
// prevent the end.
func answerBeforeEnd(s *cli.Call, tell func(*cli.Call)) {
	told := make(chan struct{})
	last := *s
	go func() {
		defer close(told)
		tell(&last)
		_ = last.Stdout.Flush() // nobody could read of an error
	}()
	select {
	case <-told:
	case <-time.After(maxSignalDelay):
		s.Stdout = bufio.NewWriter(io.Discard)
	}
}

// continueCall returns the call that goes on with a wait that ended at --max; none when it is over.
func (o *healthWait) continueCall(s *cli.Call, r health.Result) problem.Call {
	if r.Healthy || r.Reason != health.TimedOut || !o.bounds.maxCameFirst(s.Clock.Now()) {
		return problem.Call{}
	}
	c := o.repeat.With("timeout", "0")
	if !o.bounds.due.IsZero() {
		c = o.repeat.With("until", o.bounds.due.Format(time.RFC3339Nano))
	}
	return c.With("max", cli.BoundText(s)).Running(o.argv...)
}
