package waiting

import (
	"context"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/needs"
)

// allowed refuses commands of exec: targets and behind -- that [run] allow does not have. Where there is no place for a config.toml there
// is no list.
func (o *healthOptions) allowed(ctx context.Context, s *cli.Call) error {
	jobs := []state.Job{{Argv: o.argv}}
	for _, t := range o.targets {
		if t.Scheme() == "exec" {
			jobs = append(jobs, state.Job{Shell: t.Arg(), Prog: needs.Shell})
		}
	}
	if len(jobs) == 1 && o.argv == nil {
		return nil
	}
	if _, err := s.Home(); err != nil {
		return nil
	}
	dir, _ := s.Getwd() // where it cannot be told, a relative path is none of the list's
	for _, job := range jobs {
		job.Dir, job.Env = dir, map[string]string{"PATH": s.Getenv("PATH")}
		if err := cli.CheckAllowed(ctx, s, state.Task{Run: job}); err != nil {
			return err
		}
	}
	return nil
}

// runPath is the PATH of what health-wait executes, which has it from then on. A call that executes nothing has no need of the settings.
func (o *healthOptions) runPath(s *cli.Call) (string, error) {
	if !s.Dash && !slices.ContainsFunc(o.targets, func(t health.Target) bool { return t.Scheme() == "exec" }) {
		return "", nil
	}
	path, err := cli.RunPath(s)
	if err == nil && path != s.Getenv("PATH") {
		s.World = withPath(s.World, path)
		o.wait.Env = s.Environ()
	}
	return path, err
}

// withPath is the world with another PATH for what is executed.
func withPath(w cli.World, path string) cli.World {
	environ := w.Environ
	w.Environ = func() []string {
		list := slices.DeleteFunc(slices.Clone(environ()), func(pair string) bool { return strings.HasPrefix(pair, "PATH=") })
		return append(list, "PATH="+path)
	}
	return w
}
