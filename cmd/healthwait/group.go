package healthwait

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Group is a set of targets that are waited for together, with the options about them.
type Group struct {
	Targets []health.Target
	Options health.Options // without its Timeout
	// after has for each target the seconds until it was found healthy; below zero when it was not.
	after []float64
}

// refuseUnused refuses an option that no target can use. Otherwise the option would be ignored, and
// the wait would not be the one that was meant.
func (g *Group) refuseUnused(s *cli.Call) error {
	for _, use := range uses {
		if use.schemes == nil {
			use.schemes = health.Secured()
		}
		if !s.Opt.Has(use.flag) || slices.ContainsFunc(g.Targets,
			func(t health.Target) bool { return slices.Contains(use.schemes, t.Scheme()) }) {
			continue
		}
		return problem.Of(problem.T("%s is for %s, and no target is of that kind", problem.Option(use.flag),
			plain.List(use.schemes, "and")),
			problem.T("leave it out, or wait for one such as %s", use.example))
	}
	return nil
}

// Docker takes the socket of Docker from DOCKER_HOST if a target needs it.
func (g *Group) Docker(s *cli.Call) error {
	if !slices.ContainsFunc(g.Targets, func(t health.Target) bool { return t.Scheme() == "docker" }) {
		return nil
	}
	g.Options.Docker = s.Getenv("DOCKER_HOST")
	if err := health.CheckDocker(g.Options.Docker); err != nil {
		return problem.Of(problem.T("DOCKER_HOST %v", err),
			problem.T("set it to the socket (DOCKER_HOST=unix:///run/docker.sock), or use Docker's own client: exec:%s",
				cli.Quote("docker inspect -f '{{.State.Running}}' NAME | grep -q true")))
	}
	return nil
}

// Allowed refuses commands of exec: targets and after -- that [run] allow does not list. Without a
// place for config.toml there is no list.
func (g *Group) Allowed(ctx context.Context, s *cli.Call, argv []string) error {
	jobs := []state.Job{{Argv: argv}}
	for _, t := range g.Targets {
		if t.Scheme() == "exec" {
			jobs = append(jobs, state.Job{Shell: t.Arg(), Prog: needs.Shell})
		}
	}
	if len(jobs) == 1 && argv == nil {
		return nil
	}
	if _, err := s.Home(); err != nil {
		return nil
	}
	dir, _ := s.Getwd() // without it a relative path fits no pattern
	for _, job := range jobs {
		job.Dir, job.Env = dir, map[string]string{"PATH": s.Getenv("PATH")}
		if err := cli.CheckAllowed(ctx, s, state.Task{Run: job}); err != nil {
			return err
		}
	}
	return nil
}

// Path returns the PATH for what health-wait executes. A call that executes nothing does not read
// the settings.
func (g *Group) Path(s *cli.Call) (string, error) {
	if !s.Dash && !slices.ContainsFunc(g.Targets, func(t health.Target) bool { return t.Scheme() == "exec" }) {
		return "", nil
	}
	path, err := cli.RunPath(s)
	if err == nil && path != s.Getenv("PATH") {
		s.World = withPath(s.World, path)
		g.Options.Env = s.Environ()
	}
	return path, err
}

// withPath returns the world with another PATH.
func withPath(w cli.World, path string) cli.World {
	environ := w.Environ
	w.Environ = func() []string {
		list := slices.DeleteFunc(slices.Clone(environ()),
			func(pair string) bool { return strings.HasPrefix(pair, "PATH=") })
		return append(list, "PATH="+path)
	}
	return w
}

// Run waits until the targets are healthy or ctx ends.
func (g *Group) Run(ctx context.Context, s *cli.Call) health.Result {
	return g.run(ctx, s, &bounds{begun: s.Clock.Now()})
}

// run waits. A deadline that was given as an instant holds even when the clock is set forward or
// the machine sleeps. A timeout is measured by a clock that nobody can set.
func (g *Group) run(ctx context.Context, s *cli.Call, b *bounds) health.Result {
	now := s.Clock.Now()
	bound, once := b.bound(now), b.onceOnly(now)
	options := g.Options
	options.Timeout = bound
	begun := clock.Here(s.Clock)
	g.after = slices.Repeat([]float64{-1}, len(g.Targets))
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	var passed atomic.Bool
	tried := make(map[int]bool, len(g.Targets))
	options.Observe = func(i int, r health.TargetResult) {
		if r.Healthy {
			g.after[i] = cli.Seconds(begun.Since(s.Clock))
		}
		if g.Options.Observe != nil {
			g.Options.Observe(i, r)
		}
		if tried[i] = true; once && len(tried) == len(g.Targets) {
			passed.Store(true)
			cancel()
		}
	}
	if b.until {
		last := b.due
		if least := s.Clock.Now().Add(bound); last.Before(least) {
			last = least
		}
		go func() {
			if s.Clock.Until(limited, last.Add(wallGrace)) == nil {
				passed.Store(true)
				cancel()
			}
		}()
	}
	r := health.Wait(limited, g.Targets, options)
	if r.Reason == health.Cancelled && ctx.Err() == nil && passed.Load() {
		r.Reason = health.TimedOut
	}
	return r
}

// Line returns a line about a target for people.
func (g *Group) Line(r health.Result, i int) string {
	t, when := r.Targets[i], " in "+lasted(r.Waited)
	if t.Healthy && g.after != nil {
		when = ", " + g.resultWord(i) + "after " + lasted(time.Duration(g.after[i]*float64(time.Second)))
	}
	return fmt.Sprintf("%s %s (%s%s)", cli.Visible(t.Target), cli.Visible(g.stateText(i, t)),
		cli.Plural(t.Attempts, "attempt"), when)
}

// resultWord returns the word for the good result of a target; empty when Line says it otherwise.
func (g *Group) resultWord(i int) string {
	switch {
	case !g.Options.Invert:
		return "healthy "
	case g.onlyExists(i):
		return "gone "
	}
	return ""
}

// stateText says for people how a target was at the end.
func (g *Group) stateText(i int, t health.TargetResult) string {
	switch {
	case t.Healthy && g.Options.Invert && g.onlyExists(i):
		return "is not there" + foundText(t)
	case t.Healthy && g.Options.Invert:
		return "is not healthy, as asked" + foundText(t)
	case t.Healthy:
		return "is healthy"
	case t.Streak > 0:
		return "is not yet proven: " + t.Last.String()
	case t.Last.IsZero():
		return "has not answered yet"
	case !g.Options.Invert:
		return "is not healthy: " + t.Last.String()
	case t.Last.Stays():
		return t.Last.String()
	}
	return "is not known to be gone: " + t.Last.String()
}

// foundText says what was found instead of a target that should be gone.
func foundText(t health.TargetResult) string {
	if t.Seen.IsZero() {
		return ""
	}
	return ": " + t.Seen.String()
}

// onlyExists reports whether a target only has to exist.
func (g *Group) onlyExists(i int) bool {
	switch g.Targets[i].Scheme() {
	case "tcp", "unix", "pid":
		return true
	case "file":
		return g.Options.File == health.File{}
	}
	return false
}

// Row is a target in JSON.
type Row struct {
	Target         string   `json:"target"`
	Healthy        bool     `json:"healthy"`
	Attempts       int      `json:"attempts"`
	LastError      *string  `json:"last_error,omitempty"`
	Hint           *string  `json:"hint,omitempty"`
	LatencySeconds *float64 `json:"latency_seconds,omitempty"`
	Permanent      bool     `json:"permanent,omitempty" jsonschema:"waiting does not mend the last error"`
	Streak         int      `json:"streak" jsonschema:"good answers in a row"`
	HealthyAfter   *float64 `json:"healthy_after_seconds,omitempty"`
	Seen           *string  `json:"seen,omitempty" jsonschema:"with --invert, what was found in its place"`
	Fault          *string  `json:"fault,omitempty" jsonschema:"the kind of the last error, in one word, such as refused, status, no_answer"`
}

// Row returns the row of a target for JSON.
func (g *Group) Row(r health.Result, i int) Row {
	t := r.Targets[i]
	row := Row{Target: t.Target, Healthy: t.Healthy, Attempts: t.Attempts, LastError: cli.OrNull(t.Last.String()),
		Fault:     cli.OrNull(string(t.Last.Kind)),
		Permanent: t.Permanent, Streak: t.Streak, Seen: cli.OrNull(t.Seen.String())}
	if t.Healthy {
		row.LatencySeconds = new(cli.Seconds(t.Latency))
		if g.after != nil {
			row.HealthyAfter = &g.after[i]
		}
	}
	return row
}
