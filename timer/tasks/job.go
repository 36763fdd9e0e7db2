package tasks

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// job sets what happens: a command, a line for the shell, a script, an agent, or only a message. A
// job that exists is changed.
func (c doing) job(ctx context.Context) error {
	var ways []problem.Option
	for _, way := range []struct {
		name problem.Option
		said bool
	}{{"c", c.Shell != nil}, {"file", c.Script != nil}, {"agent", c.Agent != nil}, {problem.Command, c.Command != nil}} {
		if way.said {
			ways = append(ways, way.name)
		}
	}
	switch {
	case len(ways) > 1:
		return problem.Of(problem.T("%s exclude each other", problem.Options(" and ", ways...)), problem.T("give the command once"))
	case len(ways) == 0 && c.adds:
		return c.message()
	case len(ways) == 0:
		return c.sameJob(ctx)
	case !c.adds && ways[0] == "c" && strings.TrimSpace(*c.Shell) == "":
		return c.noJob()
	}
	return c.newJob(ctx, ways[0])
}

// message makes a task that runs nothing.
func (c doing) message() error {
	if strings.TrimSpace(c.Task.Text) == "" {
		hint := problem.T("a command: %s; a line for the shell: %s; a message: %s; an agent: %s",
			problem.To("at", c.Task.When.Text).Running("make", "backup"), problem.Set("c", "make backup"), problem.Set("task", "call Bob"), problem.Set("agent", "./agent.py"))
		if c.Piped() {
			hint = problem.T("a script on standard input: %s -f -; %s", problem.To("at", c.Task.When.Text), hint)
		}
		return problem.Of(problem.T("nothing to do at that time"), hint)
	}
	if name := c.given("shell", "env"); name != "" {
		return problem.Of(problem.T("%s is for commands, and this is a message", name), problem.T("leave it out, or give a command: %s", problem.Set(problem.Command, []string{"COMMAND"})))
	}
	c.Task.Terminal = c.Terminal()
	return nil
}

// noJob removes the command: the task becomes a message.
func (c doing) noJob() error {
	switch t := &c.Task; {
	case t.Type() == state.TypeMessage:
		return problem.Of(problem.T("task %s has no command to take away", t.ID), problem.T("it is a message; %s changes its text", problem.Option("task")))
	case c.Program != nil || c.Env != nil:
		return problem.Of(problem.T("%s are for commands, and the command is taken away", problem.Options(" and ", "shell", "env")), problem.T("leave them out"))
	default:
		t.Run, t.Terminal = state.Job{}, c.Terminal()
		return nil
	}
}

// sameJob changes the shell and the variables of the existing command.
func (c doing) sameJob(ctx context.Context) error {
	t := &c.Task
	if t.Type() == state.TypeMessage && (c.Program != nil || c.Env != nil) {
		return problem.Of(problem.T("%s are for commands, and task %s is a message", problem.Options(" and ", "shell", "env"), t.ID),
			problem.T("leave them out, or give a command: %s", problem.Set(problem.Command, []string{"COMMAND"})))
	}
	if c.Env != nil {
		named, err := c.named()
		if err != nil {
			return err
		}
		t.Run.Env = both(c.keptEnv(), named)
	}
	if c.Program == nil {
		return nil
	}
	if t.Run.Prog == "" {
		return problem.Of(problem.T("%s is for %s, and task %s runs its command without a shell", problem.Option("shell"), problem.Options(" and ", "c", "file"), t.ID),
			problem.T("leave it out, or give the line for the shell with %s", problem.Option("c")))
	}
	return c.shell(ctx, &t.Run, *c.Program)
}

// newJob sets a command instead of whatever there was. Variables that were named stay.
func (c doing) newJob(ctx context.Context, way problem.Option) error {
	t := &c.Task
	here, err := c.Around()
	if err != nil {
		return err
	}
	away := len(c.On) > 0
	if !away && len(t.On) > 0 { // it was scheduled in a fleet
		node, err := c.Here()
		if err != nil {
			return err
		}
		away = !slices.Equal(t.On, []string{node.Name})
	}
	if away { // the folder and the environment of this machine mean nothing on another one
		here = here.elsewhere()
	}
	job := state.Job{Dir: here.Dir, Umask: here.Umask, Env: here.Env}
	named, err := c.named()
	if err != nil {
		return err
	}
	for name, value := range c.keptEnv() {
		if _, anew := named[name]; !anew && !runner.Captured(name) {
			named[name] = value
		}
	}
	if len(named) > 0 {
		job.Env = both(here.Env, named)
	}
	if err := c.run(ctx, way, &job); err != nil {
		return err
	}
	t.Run, t.Terminal = job, ""
	return nil
}

// run sets what a job executes.
func (c doing) run(ctx context.Context, way problem.Option, job *state.Job) (err error) {
	at := problem.To("at", c.Task.When.Text)
	if !c.adds {
		at = problem.To("edit", c.Task.ID)
	}
	switch way {
	case problem.Command:
		if len(c.Command) == 0 || c.Command[0] == "" {
			return problem.Of(problem.T("no command after %s", problem.Command), problem.T("%s", at.Running("make", "backup")))
		}
		if c.Program != nil {
			return problem.Of(problem.T("%s is for %s; what is given by %s runs without a shell", problem.Option("shell"), problem.Options(" and ", "c", "file"), problem.Command),
				problem.T("leave it out, or use %s", problem.Set("c", strings.Join(c.Command, " "))))
		}
		job.Argv = c.Command
		return c.shellWord(ctx, *job)
	case "agent":
		if job.Agent, err = agentWords(*c.Agent); err != nil {
			return err
		}
		if len(job.Agent) == 0 || job.Agent[0] == "" {
			return problem.Of(problem.T("%s has no program", problem.Option("agent")), problem.T("%s", at.With("agent", "./agent.py --quiet").With("title", "Self-review")))
		}
		if c.Program != nil {
			return problem.Of(problem.T("%s is for %s; an agent runs without a shell", problem.Option("shell"), problem.Options(" and ", "c", "file")),
				problem.T("leave it out, or name the shell: %s", problem.Set("agent", "bash -c '...'")))
		}
		return nil
	case "c":
		if job.Shell = *c.Shell; strings.TrimSpace(job.Shell) == "" {
			return problem.Of(problem.T("%s has no text", problem.Option("c")), problem.T("%s", at.With("c", "make backup")))
		}
	case "file":
		if job.Script, err = c.Script(ctx); err != nil {
			return err
		}
	}
	given := cmp.Or(orEmpty(c.Program), c.Task.Run.Prog) // an edit keeps the one of the task
	if err := c.shell(ctx, job, given); err != nil {
		return err
	}
	if line, ok := strings.CutPrefix(job.Script, "#!"); ok && given == "" {
		line, _, _ = strings.Cut(line, "\n")
		if words := strings.Fields(line); len(words) > 0 && filepath.Base(words[len(words)-1]) != filepath.Base(job.Prog) {
			c.Interpreter = words[len(words)-1]
		}
	}
	return nil
}

// ForShell reports whether a command of this one word is likely to be a line for the shell.
func ForShell(word string) bool { return strings.ContainsAny(word, " \t\n") }

// shellWord refuses a command of one word with a space in it that is not a program, because it was
// meant for the shell.
func (c doing) shellWord(ctx context.Context, job state.Job) error {
	word := job.Argv[0]
	if len(job.Argv) > 1 || !ForShell(word) {
		return nil
	}
	switch _, err := c.Programs.Path(ctx, word, job.Env["PATH"], job.Dir); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil, proc.Passing(err): // it may be a program: a warning says that this is unknown
		return nil
	}
	hint := problem.T("for the shell: %s", problem.Set("c", word))
	if words, err := agentWords(word); err == nil && len(words) > 0 {
		hint = problem.T("word by word: %s; or %s", problem.Set(problem.Command, words), hint)
	}
	return problem.Of(problem.T("there is no program called %s", plain.Quote(word)), hint)
}

// shell decides which program runs the line or the script of a job: the given one, or that of the
// settings.
func (c doing) shell(ctx context.Context, job *state.Job, given string) error {
	config, err := c.Settings()
	if err != nil {
		return err
	}
	prog := cmp.Or(given, config.Run.Shell, needs.Shell)
	job.Prog, err = c.Programs.Path(ctx, prog, job.Env["PATH"], job.Dir)
	switch {
	case err == nil, errors.Is(err, context.Canceled), proc.Passing(err):
		return err
	case prog == needs.Shell:
		return problem.Of(problem.T("there is no %s here", needs.Shell), problem.T("give a command that needs no shell: %s; or name another shell with %s",
			problem.To("at", "10m").Running("make", "backup"), problem.Option("shell")))
	}
	return problem.Of(problem.T("there is no shell %s", plain.Quote(prog)), problem.T("%s takes a program such as /bin/bash", problem.Option("shell")))
}

// keptEnv are the variables of the task that stay unless the request has others.
func (c doing) keptEnv() map[string]string {
	kept := maps.Clone(c.Task.Run.Env)
	if c.noEnv {
		maps.DeleteFunc(kept, func(name, _ string) bool { return !runner.Captured(name) })
	}
	return kept
}

// named returns the variables that the request names, with their values.
func (c doing) named() (map[string]string, error) {
	env := map[string]string{}
	for _, pair := range c.Env {
		name, value, has := strings.Cut(pair, "=")
		switch {
		case name == "" || strings.ContainsAny(name, " \t\n\x00"):
			return nil, problem.Of(problem.T("%s is %s", problem.Option("env"), plain.Quote(pair)), problem.T("write %s or %s", problem.Set("env", "NAME"), problem.Set("env", "NAME=VALUE")))
		case slices.Contains(runner.Handed, name):
			return nil, problem.Of(problem.T("%s: every run is given its own", problem.Set("env", name)), problem.T("leave it out"))
		case !has:
			if value, has = c.variable(name); !has {
				return nil, problem.Of(problem.T("%s: no such variable is set", problem.Set("env", name)), problem.T("set it first, or write %s", problem.Set("env", name+"=VALUE")))
			}
		}
		if !utf8.ValidString(value) {
			return nil, problem.Of(problem.T("%s: the value is not valid UTF-8", problem.Set("env", name)), problem.NotText)
		}
		env[name] = value
	}
	return env, nil
}

// variable returns the present value of a variable; when it occurs twice, the last one.
func (c doing) variable(name string) (value string, set bool) {
	for _, have := range c.Environ() {
		if n, v, _ := strings.Cut(have, "="); n == name {
			value, set = v, true
		}
	}
	return value, set
}

// both returns two sets of variables as one. When both have a variable, that of more counts.
func both(env, more map[string]string) map[string]string {
	all := maps.Clone(env)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, more)
	return all
}
