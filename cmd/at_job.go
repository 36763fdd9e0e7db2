package cmd

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// scriptMost bounds a script, as every text of a task is bounded.
const scriptMost = 1 << 20

// readJob reads what is to happen: a command, a line for the shell, a script, an agent that is told, or nothing but a message.
func (s *session) readJob(ctx context.Context, o *atOptions) error {
	ways := []string{}
	for _, w := range []struct {
		name string
		set  bool
	}{{"-c", s.cli.IsSet("c")}, {"-f", s.cli.IsSet("file")}, {"--agent", s.cli.IsSet("agent")}, {"--", s.dash}} {
		if w.set {
			ways = append(ways, w.name)
		}
	}
	if len(ways) > 1 {
		return usage(strings.Join(ways, " and ")+" exclude each other", "give the command once")
	}
	if len(ways) == 0 {
		if strings.TrimSpace(o.task.Text) == "" {
			what := shellQuote(o.sched.Text)
			return usage("nothing to do at that time", "a command: ouro-timer at "+what+" -- make backup; a line for the shell: -c 'make backup'; a message: --task \"call Bob\"")
		}
		for _, flag := range []string{"shell", "env"} {
			if s.cli.IsSet(flag) {
				return usage("--"+flag+" is for commands, and this is a message", "leave it out, or give a command: -- COMMAND")
			}
		}
		o.task.Terminal = ownTerminal(s.World)
		return nil
	}
	job := &o.task.Run
	here, err := s.surroundings()
	if err != nil {
		return err
	}
	job.Dir, job.Umask = here.dir, here.umask
	if job.Env, err = s.capture(); err != nil {
		return err
	}
	switch ways[0] {
	case "--":
		if len(s.tail) == 0 || s.tail[0] == "" {
			return usage("no command after --", "ouro-timer at "+shellQuote(o.sched.Text)+" -- make backup")
		}
		if s.cli.IsSet("shell") {
			return usage("--shell is for -c and -f; a command after -- runs without a shell", "use -c "+shellQuote(strings.Join(s.tail, " ")))
		}
		job.Argv = s.tail
		return s.shellWord(ctx, *job)
	case "--agent":
		return s.readAgent(o)
	case "-c":
		if job.Shell = s.cli.String("c"); strings.TrimSpace(job.Shell) == "" {
			return usage("-c has no text", "ouro-timer at "+shellQuote(o.sched.Text)+" -c 'make backup'")
		}
	case "-f":
		if job.Script, err = s.readScript(ctx, s.cli.String("file")); err != nil {
			return err
		}
	}
	return s.chooseShell(ctx, o)
}

// shellWord refuses a command of one word with a space in it that is no program: it was meant for
// the shell.
func (s *session) shellWord(ctx context.Context, job state.Job) error {
	word := job.Argv[0]
	if len(job.Argv) > 1 || !strings.ContainsAny(word, " \t\n") {
		return nil
	}
	switch _, err := s.programs().Path(ctx, word, job.Env["PATH"], job.Dir); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil, proc.Passing(err): // it may be one: a warning says that there is no answer
		return nil
	}
	return usage("there is no program called "+quote(word), "without the quotes: -- "+word+"; or for the shell: -c "+shellQuote(word))
}

// lackingShell refuses what needs a shell that was not found, with the error of looking for it.
func lackingShell(prog string, err error) error {
	if errors.Is(err, context.Canceled) || proc.Passing(err) {
		return err
	}
	if prog == needs.Shell {
		return usage("there is no "+needs.Shell+" here", "give the command behind --, so that no shell is needed: ouro-timer at 10m -- make backup; or name another shell with --shell")
	}
	return usage("there is no shell "+quote(prog), "--shell takes a program such as /bin/bash")
}

// chooseShell settles which program runs the text or the script.
func (s *session) chooseShell(ctx context.Context, o *atOptions) error {
	job := &o.task.Run
	config, err := s.settings()
	if err != nil {
		return err
	}
	given := s.cli.IsSet("shell") && s.cli.String("shell") != "" || job.Prog != "" // an edit keeps the one the task has
	switch {
	case s.cli.String("shell") != "":
		job.Prog = s.cli.String("shell")
	case job.Prog == "":
		job.Prog = orElse(config.Run.Shell, needs.Shell)
	}
	path, err := s.programs().Path(ctx, job.Prog, job.Env["PATH"], job.Dir)
	if err != nil {
		return lackingShell(job.Prog, err)
	}
	job.Prog = path
	if line, ok := strings.CutPrefix(job.Script, "#!"); ok && !given {
		line, _, _ = strings.Cut(line, "\n")
		if words := strings.Fields(line); len(words) > 0 && filepath.Base(words[len(words)-1]) != filepath.Base(job.Prog) {
			o.warnings = append(o.warnings, "the script names "+quote(words[len(words)-1])+" in its first line, and "+job.Prog+" will run it; --shell changes that")
		}
	}
	return nil
}

// readScript reads a script whole: what runs later is what was there when it was scheduled.
func (s *session) readScript(ctx context.Context, name string) (string, error) {
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
		if f, err = os.Open(s.path(name)); err == nil {
			defer f.Close()
			b, err = io.ReadAll(io.LimitReader(f, scriptMost+1))
		}
	}()
	select {
	case <-read:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	switch {
	case err != nil:
		return "", usage("the script cannot be read: "+err.Error(), "-f takes a file that can be read")
	case len(b) > scriptMost:
		return "", &failure{exit: exitUsage, code: codeLimit, message: "the script is longer than 1 MiB", hint: "keep it in a file and schedule that: -- /path/to/script"}
	case len(strings.TrimSpace(string(b))) == 0:
		return "", usage("the script is empty", "-f takes a file with commands, or - for standard input")
	case !utf8.Valid(b):
		return "", usage("the script is not valid UTF-8", "schedule the file itself: -- /path/to/script")
	}
	return string(b), nil
}

// path is a file name of the user's, made absolute.
func (s *session) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if dir, err := s.Getwd(); err == nil {
		return filepath.Join(dir, name)
	}
	return name
}

// surroundings are what a command gets of where it was scheduled.
type surroundings struct {
	dir   string
	umask int
	env   map[string]string // never changed: many tasks may share it
}

// surroundings are those of this call.
func (s *session) surroundings() (*surroundings, error) {
	if s.around != nil {
		return s.around, nil
	}
	dir, err := s.Getwd()
	if err != nil {
		return nil, &failure{exit: exitFailed, code: codeFailed, message: "the present folder cannot be told: " + err.Error(), hint: "change to a folder that exists"}
	}
	env := map[string]string{}
	for _, pair := range s.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "LC_") && utf8.ValidString(pair) {
			env[name] = value
		}
	}
	for _, name := range runner.CapturedNames() {
		if value := s.Getenv(name); value != "" && utf8.ValidString(value) {
			env[name] = value
		}
	}
	if env["PATH"], err = s.runPath(); err != nil {
		return nil, err
	}
	if env["PATH"] == "" || !utf8.ValidString(env["PATH"]) {
		delete(env, "PATH")
	}
	s.around = &surroundings{dir, proc.Umask(), env}
	return s.around, nil
}

// capture is the environment of a command: the captured variables that are set now, and what --env names.
func (s *session) capture() (map[string]string, error) {
	here, err := s.surroundings()
	if err != nil {
		return nil, err
	}
	named := s.cli.StringSlice("env")
	if len(named) == 0 {
		return here.env, nil
	}
	env := maps.Clone(here.env)
	for _, pair := range named {
		name, value, has := strings.Cut(pair, "=")
		if name == "" || strings.ContainsAny(name, " \t\n\x00") {
			return nil, usage("--env is "+quote(pair), "write --env NAME or --env NAME=VALUE")
		}
		if name == runner.OriginVariable {
			return nil, usage("--env "+name+": every run is given its own", "leave it out")
		}
		if !has {
			set := false
			for _, have := range s.Environ() {
				if n, v, _ := strings.Cut(have, "="); n == name {
					value, set = v, true
				}
			}
			if !set {
				return nil, usage("--env "+name+": no such variable is set", "set it first, or write --env "+name+"=VALUE")
			}
		}
		if !utf8.ValidString(value) {
			return nil, usage("--env "+name+": the value is not valid UTF-8", notText)
		}
		env[name] = value
	}
	return env, nil
}
