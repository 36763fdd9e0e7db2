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

// Captured reports whether commands see a variable as it was when they were scheduled.
func Captured(name string) bool {
	return strings.HasPrefix(name, "LC_") || slices.Contains(captured, name)
}

// captured are these variables, besides LC_*. OURO_HOME and OURO_STORE are two of them: what a
// command schedules belongs to the same state as its own task.
var captured = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "OURO_HOME", "OURO_STORE"}

// CapturedNames are the variables for which Captured is true, except LC_*.
func CapturedNames() []string { return slices.Clone(captured) }

// Forbidden returns the first part of a task that the patterns do not allow, or nil. Nil patterns
// allow everything. Text and scripts, and the text of --if, are commands of the shell that reads
// them: if no shell is allowed, none of them is. A program is judged by where it is found now,
// because the run would find it there.
//
// The error is that of proc.Probe, if a file system on the way to a program does not answer in
// time, or ctx.Err(). Then nothing is known.
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

// confined is the task as it runs while there are patterns, with the allowed part of its PATH. An
// agent keeps the PATH with which it was scheduled, because tasks that tell the same agent share
// it.
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

// probe reports whether the programs of an occurrence can be looked for without waiting forever.
// Other faults are found later.
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

// found is the path that would be executed for a name, even if there is no such file yet. It is
// empty for a name that is nowhere.
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
