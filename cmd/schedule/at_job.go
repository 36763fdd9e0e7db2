package schedule

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/cmd/handover"

	"github.com/ouro-timer/ouro-timer/cmd/cli"

	"github.com/ouro-timer/ouro-timer/cmd/option"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// scriptMost bounds a script, as every text of a task is bounded.
const scriptMost = 1 << 20

// readJob reads what is to happen: a command, a line for the shell, a script, an agent that is told, or nothing but a message.
func readJob(ctx context.Context, s *cli.Call, o *AtOptions) error {
	var ways []problem.Option
	for _, name := range []problem.Option{"c", "file", "agent", problem.Command} {
		if s.Opt.Has(string(name)) || name == problem.Command && s.Dash {
			ways = append(ways, name)
		}
	}
	if len(ways) > 1 {
		return problem.Of(problem.T("%s exclude each other", problem.Options(" and ", ways...)), problem.T("give the command once"))
	}
	at := problem.To("at", o.Sched.Text)
	if len(ways) == 0 {
		if strings.TrimSpace(o.Task.Text) == "" {
			return problem.Of(problem.T("nothing to do at that time"), problem.T("a command: %s; a line for the shell: %s; a message: %s; an agent: %s",
				at.Running("make", "backup"), problem.Set("c", "make backup"), problem.Set("task", "call Bob"), problem.Set("agent", "./agent.py")))
		}
		for _, name := range []problem.Option{"shell", "env"} {
			if s.Opt.Has(string(name)) {
				return problem.Of(problem.T("%s is for commands, and this is a message", name), problem.T("leave it out, or give a command: %s", problem.Set(problem.Command, []string{"COMMAND"})))
			}
		}
		o.Task.Terminal = cli.OwnTerminal(s.World)
		return nil
	}
	job := &o.Task.Run
	here, err := cli.SurroundingsOf(s)
	if err != nil {
		return err
	}
	job.Dir, job.Umask = here.Dir, here.Umask
	if job.Env, err = capture(s); err != nil {
		return err
	}
	switch ways[0] {
	case problem.Command:
		if len(s.Tail) == 0 || s.Tail[0] == "" {
			return noCommandAfter(at)
		}
		if s.Opt.Has("shell") {
			return problem.Of(problem.T("%s is for %s; what is given by %s runs without a shell", problem.Option("shell"), problem.Options(" and ", "c", "file"), problem.Command),
				problem.T("leave it out, or use %s", problem.Set("c", strings.Join(s.Tail, " "))))
		}
		job.Argv = s.Tail
		return shellWord(ctx, s, *job)
	case "agent":
		return readAgent(s, o)
	case "c":
		if job.Shell = s.Opt.Text("c"); strings.TrimSpace(job.Shell) == "" {
			return problem.Of(problem.T("%s has no text", problem.Option("c")), problem.T("%s", at.With("c", "make backup")))
		}
	case "file":
		if job.Script, err = readScript(ctx, s, s.Opt.Text("file")); err != nil {
			return err
		}
	}
	return chooseShell(ctx, s, o)
}

// noCommandAfter refuses a command without words; call is how one is given.
func noCommandAfter(call problem.Call) error {
	return problem.Of(problem.T("no command after %s", problem.Command), problem.T("%s", call.Running("make", "backup")))
}

// shellWord refuses a command of one word with a space in it that is no program: it was meant for
// the shell.
func shellWord(ctx context.Context, s *cli.Call, job state.Job) error {
	word := job.Argv[0]
	if len(job.Argv) > 1 || !strings.ContainsAny(word, " \t\n") {
		return nil
	}
	switch _, err := handover.Programs(s).Path(ctx, word, job.Env["PATH"], job.Dir); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil, proc.Passing(err): // it may be one: a warning says that there is no answer
		return nil
	}
	hint := problem.T("for the shell: %s", problem.Set("c", word))
	if words, err := SplitWords(word); err == nil && len(words) > 0 {
		hint = problem.T("word by word: %s; or %s", problem.Set(problem.Command, words), hint)
	}
	return problem.Of(problem.T("there is no program called %s", cli.Quote(word)), hint)
}

// lackingShell refuses what needs a shell that was not found, with the error of looking for it.
func lackingShell(prog string, err error) error {
	if errors.Is(err, context.Canceled) || proc.Passing(err) {
		return err
	}
	if prog == needs.Shell {
		return problem.Of(problem.T("there is no %s here", needs.Shell), problem.T("give a command that needs no shell: %s; or name another shell with %s",
			problem.To("at", "10m").Running("make", "backup"), problem.Option("shell")))
	}
	return problem.Of(problem.T("there is no shell %s", cli.Quote(prog)), problem.T("%s takes a program such as /bin/bash", problem.Option("shell")))
}

// chooseShell settles which program runs the text or the script.
func chooseShell(ctx context.Context, s *cli.Call, o *AtOptions) error {
	job := &o.Task.Run
	config, err := s.Settings()
	if err != nil {
		return err
	}
	given := s.Opt.Has("shell") && s.Opt.Text("shell") != "" || job.Prog != "" // an edit keeps the one the task has
	switch {
	case s.Opt.Text("shell") != "":
		job.Prog = s.Opt.Text("shell")
	case job.Prog == "":
		job.Prog = cli.OrElse(config.Run.Shell, needs.Shell)
	}
	path, err := handover.Programs(s).Path(ctx, job.Prog, job.Env["PATH"], job.Dir)
	if err != nil {
		return lackingShell(job.Prog, err)
	}
	job.Prog = path
	if line, ok := strings.CutPrefix(job.Script, "#!"); ok && !given {
		line, _, _ = strings.Cut(line, "\n")
		if words := strings.Fields(line); len(words) > 0 && filepath.Base(words[len(words)-1]) != filepath.Base(job.Prog) {
			o.warnings = append(o.warnings, cli.Warning{Kind: cli.WarnShell, Text: problem.T("the script names %s in its first line, and %s will run it; %s changes that",
				cli.Quote(words[len(words)-1]), job.Prog, problem.Option("shell"))})
		}
	}
	return nil
}

// readScript reads a script whole: what runs later is what was there when it was scheduled.
func readScript(ctx context.Context, s *cli.Call, name string) (string, error) {
	var b []byte
	var err error
	read := make(chan struct{})
	go func() { // what it is read from may be a pipe that nobody writes to: the caller can still end us
		defer close(read)
		if name == "-" {
			b, err = io.ReadAll(io.LimitReader(s.In, scriptMost+1))
			return
		}
		var f *os.File
		if f, err = os.Open(path(s, name)); err == nil {
			defer f.Close()
			b, err = io.ReadAll(io.LimitReader(f, scriptMost+1))
		}
	}()
	select {
	case <-read:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	itself := problem.Set(problem.Command, []string{"/path/to/script"})
	switch {
	case err != nil:
		return "", problem.Of(problem.T("the script cannot be read: "+err.Error()), problem.T("%s takes a file that can be read", problem.Option("file")))
	case len(b) > scriptMost:
		return "", problem.New(problem.Limit, problem.T("the script is longer than 1 MiB"), problem.T("keep it in a file and schedule that: %s", itself))
	case len(strings.TrimSpace(string(b))) == 0:
		return "", problem.Of(problem.T("the script is empty"), problem.T("%s takes a file with commands, or - for standard input", problem.Option("file")))
	case !utf8.Valid(b):
		return "", problem.Of(problem.T("the script is not valid UTF-8"), problem.T("schedule the file itself: %s", itself))
	}
	return string(b), nil
}

// path is a file name of the user's, made absolute.
func path(s *cli.Call, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if dir, err := s.Getwd(); err == nil {
		return filepath.Join(dir, name)
	}
	return name
}

// capture is the environment of a command: the captured variables that are set now, and what --env names.
func capture(s *cli.Call) (map[string]string, error) {
	here, err := cli.SurroundingsOf(s)
	if err != nil {
		return nil, err
	}
	named := s.Opt.List("env")
	if len(named) == 0 {
		return here.Env, nil
	}
	env := maps.Clone(here.Env)
	for _, pair := range named {
		name, value, has := strings.Cut(pair, "=")
		if name == "" || strings.ContainsAny(name, " \t\n\x00") {
			return nil, problem.Of(problem.T("%s is %s", problem.Option("env"), cli.Quote(pair)), problem.T("write %s or %s", problem.Set("env", "NAME"), problem.Set("env", "NAME=VALUE")))
		}
		if name == runner.OriginVariable {
			return nil, problem.Of(problem.T("%s: every run is given its own", problem.Set("env", name)), problem.T("leave it out"))
		}
		if !has {
			set := false
			for _, have := range s.Environ() {
				if n, v, _ := strings.Cut(have, "="); n == name {
					value, set = v, true
				}
			}
			if !set {
				return nil, problem.Of(problem.T("%s: no such variable is set", problem.Set("env", name)), problem.T("set it first, or write %s", problem.Set("env", name+"=VALUE")))
			}
		}
		if !utf8.ValidString(value) {
			return nil, problem.Of(problem.T("%s: the value is not valid UTF-8", problem.Set("env", name)), option.NotText)
		}
		env[name] = value
	}
	return env, nil
}
