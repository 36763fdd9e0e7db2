package runner

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// Captured reports whether a variable is one that every command sees as it was when it was scheduled.
func Captured(name string) bool {
	return strings.HasPrefix(name, "LC_") || slices.Contains(captured, name)
}

// captured are those beside LC_*. OURO_HOME is one: what a command schedules in its turn belongs into the state that its own task is in.
var captured = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "OURO_HOME"}

// CapturedNames are the variables beside LC_* of which Captured reports that they are.
func CapturedNames() []string { return slices.Clone(captured) }

// Forbidden is the first part of a task that the patterns do not allow; nil when they allow all of it. Nil patterns allow everything.
// Text and scripts are commands of the shell that reads them, the text of --if among them: where no shell is allowed, none of that is. A
// program is judged by where it is found now, which is where the run would find it. The error is that of proc.Probe, where a file system
// on the way to one does not answer in time, or ctx.Err(): then nothing is known.
func Forbidden(ctx context.Context, t state.Task, patterns []string) (*rules.Refusal, error) {
	if patterns == nil {
		return nil, nil
	}
	t = confined(t, patterns)
	if err := probe(ctx, t); err != nil {
		return nil, err
	}
	for _, argv := range commands(t) {
		program := found(argv[0], t.Run)
		if !state.Allows(patterns, program, argv[1:]) {
			return &rules.Refusal{Argv: argv, Program: program}, nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Run.Env)) {
		if !Captured(name) {
			return &rules.Refusal{Variable: name}, nil
		}
	}
	return nil, nil
}

// confined is the task as it runs while there are patterns, with the part of its PATH that counts then. Of an agent process it is the one that it was scheduled with:
// tasks that tell the same one share it.
func confined(t state.Task, patterns []string) state.Task {
	if patterns == nil || t.Type() == state.TypeAgent || len(commands(t)) == 0 {
		return t
	}
	env := maps.Clone(t.Run.Env)
	if env == nil {
		env = map[string]string{}
	}
	env["PATH"] = state.PathOf(patterns, env["PATH"])
	t.Run.Env = env
	return t
}

// commands are the command lines that an occurrence of a task executes.
func commands(t state.Task) (list [][]string) {
	switch t.Type() {
	case state.TypeCommand:
		list = append(list, argv(t.Run))
	case state.TypeAgent:
		list = append(list, t.Run.Agent)
	}
	if t.Policy.If != "" {
		list = append(list, argv(gateOf(t)))
	}
	return list
}

// probe reports whether what an occurrence of a task executes can be looked for without waiting for
// ever. What else is the matter with it is found out later.
func probe(ctx context.Context, t state.Task) error {
	for _, argv := range commands(t) {
		if err := proc.Probe(ctx, proc.Spec{Argv: argv, Dir: t.Run.Dir, Env: []string{"PATH=" + t.Run.Env["PATH"]}, Umask: -1}); proc.Passing(err) || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// gateOf is the command of --if.
func gateOf(t state.Task) state.Job {
	shell := t.Run.Prog
	if shell == "" {
		shell = "/bin/sh"
	}
	return state.Job{Shell: t.Policy.If, Prog: shell, Dir: t.Run.Dir, Umask: t.Run.Umask}
}

// found is the program that would be executed for a name, also where there is none yet; empty for a name that is nowhere.
func found(name string, j state.Job) string {
	path, ok := j.Env["PATH"]
	if !ok {
		path = "/usr/bin:/bin"
	}
	program, err := proc.LookPath(name, path, j.Dir)
	switch {
	case err == nil:
		return program
	case !strings.Contains(name, "/"):
		return ""
	case filepath.IsAbs(name):
		return name
	}
	return filepath.Join(j.Dir, name)
}
