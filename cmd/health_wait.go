package cmd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

const (
	healthTimeout  = 2 * time.Minute
	healthInterval = 10 * time.Millisecond // the least --interval
	healthRedraw   = 200 * time.Millisecond
)

func healthWaitCommand() command {
	return command{
		name: "health-wait", args: "<target>... [-- <command> [<arg>...]]", short: "block until a service is healthy",
		long: `
Tries the targets at once, then every 100 ms for 10 s, then less and less often, until all are healthy or the time is
up. The time is total: look-ups, handshakes and peers that say nothing are in it. Every address of a host is tried.

  http://host/path, https://...   GET answers with 2xx, after at most 10 redirects
  tcp://host:port                 accepts a connection
  tls://host:port                 completes a handshake, with a valid certificate for the host
  unix:///path                    a socket that accepts a connection
  dns:name                        resolves
  file:path                       exists
  exec:line                       /bin/sh -c ends with 0, such as exec:"pg_isready -q"

Exit codes: 0 healthy; 124 not healthy in time; 1 a fault that waiting does not mend (a malformed target, a certificate
for another name or of an unknown authority, HTTP 401 or 403). Refused connections and unknown hosts are waited out.

What follows -- is run once when all is healthy, without a shell and in place of ouro-timer: its input, output, signals
and exit code are its own. It is looked for first: 127 when it is not there, 126 when it cannot be executed. Call
health-wait once for an outage, not in a loop.`,
		examples: []string{
			`ouro-timer health-wait http://localhost:8080/health`,
			`ouro-timer health-wait tcp://localhost:5432 unix:///run/app.sock --timeout 30s -- ./migrate`,
			`ouro-timer health-wait --json --timeout 2m https://api.example.org/`,
			`ouro-timer health-wait exec:"redis-cli ping | grep -q PONG"`,
		},
		tail: true,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "timeout", Usage: "give up after `DURATION` (default 120s; 0 is never)"},
			&cli.StringFlag{Name: "interval", Usage: "the longest pause between attempts, `DURATION` (default 2s)"},
			&cli.BoolFlag{Name: "all", Usage: "wait until all targets are healthy (the default)"},
			&cli.BoolFlag{Name: "any", Usage: "one healthy target is enough"},
			quietFlag("print nothing but errors"), jsonFlag(),
		},
		run: func(ctx context.Context, s *session) error {
			o, err := newHealthWait(s)
			if err != nil {
				return err
			}
			return runHealthWait(ctx, s, o)
		},
	}
}

// healthOptions is a health-wait without a word or a flag left to read.
type healthOptions struct {
	targets []health.Target
	wait    health.Options
	program string   // the path of the command to run; "" for none
	argv    []string // its arguments, with its name
	quiet   bool
}

func newHealthWait(s *session) (healthOptions, error) {
	o := healthOptions{quiet: s.cli.Bool("quiet")}
	const example = "ouro-timer health-wait tcp://localhost:5432"
	v := s.Getenv("OURO_MAX")
	switch {
	case v != "":
		return o, usage("OURO_MAX is "+quote(v)+", but ouro-timer health-wait is bounded by --timeout", "unset OURO_MAX, and give --timeout "+v)
	case len(s.args) == 0:
		return o, usage("there is no target to wait for", example)
	case s.cli.Bool("any") && s.cli.Bool("all"):
		return o, usage("--any and --all exclude each other", "give one of them")
	case s.dash && len(s.tail) == 0:
		return o, usage("there is no command after --", example+" -- make test")
	}
	o.wait.Any = s.cli.Bool("any")
	o.wait.HTTP.Proxy = http.ProxyFromEnvironment
	var err error
	if o.wait.Timeout, err = s.span("timeout", healthTimeout); err != nil {
		return o, err
	}
	if o.wait.Interval, err = s.span("interval", health.DefaultInterval); err != nil {
		return o, err
	}
	if o.wait.Interval < healthInterval {
		return o, usage("--interval must be 10ms or more", "leave it out for 2s")
	}
	if s.dash {
		o.argv = s.tail
		if o.program, err = proc.LookPath(s.tail[0], s.Getenv("PATH"), ""); err != nil {
			return o, notStarted(err)
		}
	}
	return o, o.parse(s)
}

// parse reads the targets. One that cannot be read is a fault that waiting does not mend: it is told in the form of a
// result, and nothing is waited for.
func (o *healthOptions) parse(s *session) error {
	r := health.Result{Reason: health.Permanent}
	hints := make([]string, len(s.args))
	var first *health.ParseError
	for i, text := range s.args {
		target, err := health.Parse(text)
		row := health.TargetResult{Target: target.String()}
		if refusal := (*health.ParseError)(nil); errors.As(err, &refusal) {
			row.Target, row.LastError, hints[i] = refusal.Target, refusal.Problem, refusal.Hint
			if first == nil {
				first = refusal
			}
		}
		o.targets, r.Targets = append(o.targets, target), append(r.Targets, row)
	}
	switch {
	case first == nil:
		return nil
	case s.json:
		s.emitHealth(r, hints)
		return exitCode(exitFailed)
	}
	return &failure{exit: exitFailed, code: "failed", message: first.Error(), hint: first.Hint}
}

// span reads a flag that is a length of time; 0 needs no unit.
func (s *session) span(flag string, otherwise time.Duration) (time.Duration, error) {
	text := s.cli.String(flag)
	if !s.cli.IsSet(flag) {
		return otherwise, nil
	}
	if strings.TrimSpace(text) == "0" {
		return 0, nil
	}
	d, err := when.Duration(text)
	if err != nil {
		f := *explain(err)
		f.message = "--" + flag + ": " + f.message
		return 0, &f
	}
	return d, nil
}

// notStarted says why a program cannot be run, with the exit code that a shell would give.
func notStarted(err error) error {
	f := &failure{exit: exitFailed, code: "failed", message: err.Error(), hint: "what follows -- is a program and its arguments, no shell text"}
	if start := (*proc.StartError)(nil); errors.As(err, &start) {
		f.exit = start.ExitCode()
	}
	return f
}

func runHealthWait(ctx context.Context, s *session, o healthOptions) error {
	stop := func() {}
	if s.counts(o.quiet) {
		stop = o.watch(s)
	}
	r := health.Wait(ctx, o.targets, o.wait)
	stop()
	if r.Reason == health.Cancelled {
		return ctx.Err()
	}
	switch {
	case s.json:
		s.emitHealth(r, nil)
	case o.quiet:
	case o.argv != nil: // standard output is the command's
		for _, line := range healthLines(r) {
			s.talk("%s", line)
		}
	default:
		for _, line := range healthLines(r) {
			s.line("%s", line)
		}
	}
	switch {
	case r.Healthy && o.argv != nil:
		if err := s.flush(); err != nil {
			return err
		}
		return become(s.World, o.program, o.argv)
	case r.Healthy:
		return nil
	}
	return o.verdict(s, r)
}

// verdict is the end of a wait without health: the answer was given, but for a word to a person on what to do.
func (o *healthOptions) verdict(s *session, r health.Result) error {
	f := &failure{exit: exitTimedOut, code: "failed", message: "not healthy within " + lasted(o.wait.Timeout),
		hint: "look at the service, or give a longer --timeout; calling again in a loop does not help it up"}
	if r.Reason == health.Permanent {
		f.exit, f.message = exitFailed, "waiting does not mend this"
		f.hint = "correct the target, or wait for the port alone, as tcp://host:port"
	}
	if s.json {
		return exitCode(f.exit)
	}
	if o.quiet {
		f.message += ": " + healthFault(r)
	}
	return f
}

// healthFault is the first fault of a result that explains its end.
func healthFault(r health.Result) string {
	for _, t := range r.Targets {
		if t.LastError != "" && (r.Reason != health.Permanent || t.Permanent) {
			return t.Target + ": " + t.LastError
		}
	}
	return "no answer"
}

// healthLines tells a result to people, a line for each target.
func healthLines(r health.Result) []string {
	lines := make([]string, len(r.Targets))
	for i, t := range r.Targets {
		state := "is healthy"
		switch {
		case t.Healthy:
		case t.LastError != "":
			state = "is not healthy: " + t.LastError
		default:
			state = "has not answered yet"
		}
		lines[i] = fmt.Sprintf("%s %s (%s in %s)", visible(t.Target), visible(state), plural(t.Attempts, "attempt"), lasted(r.Waited))
	}
	return lines
}

// lasted writes a length of time for people, to a tenth of a second or, below one, to a thousandth.
func lasted(d time.Duration) string {
	unit := time.Millisecond
	if d >= time.Second {
		unit = 100 * time.Millisecond
	}
	var start time.Time
	return when.Distance(start, start.Add(d.Round(unit)))
}

// emitHealth writes the result in JSON. hints, if any, say for each target what to type instead.
func (s *session) emitHealth(r health.Result, hints []string) {
	type row struct {
		Target         string   `json:"target"`
		Healthy        bool     `json:"healthy"`
		Attempts       int      `json:"attempts"`
		LastError      *string  `json:"last_error"`
		Hint           *string  `json:"hint"`
		LatencySeconds *float64 `json:"latency_seconds"`
	}
	rows := make([]row, len(r.Targets))
	for i, t := range r.Targets {
		rows[i] = row{Target: t.Target, Healthy: t.Healthy, Attempts: t.Attempts, LastError: orNull(t.LastError)}
		if hints != nil {
			rows[i].Hint = orNull(hints[i])
		}
		if t.Healthy {
			latency := seconds(t.Latency)
			rows[i].LatencySeconds = &latency
		}
	}
	s.emit(struct {
		Now           time.Time `json:"now"`
		Healthy       bool      `json:"healthy"`
		WaitedSeconds float64   `json:"waited_seconds"`
		Attempts      int       `json:"attempts"`
		Reason        *string   `json:"reason"`
		Targets       []row     `json:"targets"`
	}{s.stamp(), r.Healthy, seconds(r.Waited), r.Attempts, orNull(string(r.Reason)), rows})
}

// healthView is the line of a terminal that shows how a wait stands.
type healthView struct {
	mu      sync.Mutex
	targets []health.TargetResult
	left    func() string
}

// watch draws the line on standard error, five times a second, until stop; then it is gone.
func (o *healthOptions) watch(s *session) (stop func()) {
	v := &healthView{targets: make([]health.TargetResult, len(o.targets))}
	for i, t := range o.targets {
		v.targets[i].Target = t.String()
	}
	begun := s.Clock.Now()
	v.left = func() string {
		if o.wait.Timeout <= 0 {
			return lasted(s.Clock.Now().Sub(begun).Truncate(time.Second)) + " so far"
		}
		return lasted(max(0, o.wait.Timeout-s.Clock.Now().Sub(begun)).Round(time.Second)) + " left"
	}
	o.wait.Observe = func(i int, r health.TargetResult) {
		v.mu.Lock()
		v.targets[i] = r
		v.mu.Unlock()
	}
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		drawn := false
		for s.Clock.For(ctx, healthRedraw) == nil { // nothing flashes up for a service that is there
			if foreground(s.Err) {
				width, _ := terminalWidth(s.Err, s.Getenv)
				fmt.Fprint(s.Err, eraseBelow+fit(v.line(), width-1)+"\r")
				drawn = true
			}
		}
		if drawn && foreground(s.Err) {
			fmt.Fprint(s.Err, eraseBelow)
		}
	}()
	return func() {
		cancel()
		select {
		case <-gone:
		case <-time.After(200 * time.Millisecond): // a terminal held by Ctrl-S must not hold what waits for us
		}
	}
}

// line shows the first target that is still waited for, what ails it, and the time.
func (v *healthView) line() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	healthy, first := 0, -1
	for i, t := range v.targets {
		switch {
		case t.Healthy:
			healthy++
		case first < 0 && !t.Permanent:
			first = i
		}
	}
	if first < 0 {
		return ""
	}
	t := v.targets[first]
	text := v.left() + "  " + visible(t.Target)
	if t.LastError != "" {
		text += ": " + visible(t.LastError) + ", " + plural(t.Attempts, "attempt")
	}
	if n := len(v.targets); n > 1 {
		text = fmt.Sprintf("%d of %d healthy, %s", healthy, n, text)
	}
	return text
}
