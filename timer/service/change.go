package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// Status is the state of a service.
type Status struct {
	Installed bool  `json:"installed"`
	Current   bool  `json:"current" jsonschema:"the file is as this program would write it"`
	Enabled   bool  `json:"enabled" jsonschema:"it starts at login, or with the machine"`
	Active    *bool `json:"active,omitempty" jsonschema:"it runs; absent: the manager cannot be asked"`
	Linger    *bool `json:"linger,omitempty" jsonschema:"it starts before a login; absent: there is no telling"`
	Silent    error `json:"-"` // why the manager of services cannot be asked
}

// Runs reports whether it certainly runs.
func (s Status) Runs() bool { return s.Active != nil && *s.Active }

// Survives reports whether the service starts by itself. It asks no program.
func (p Plan) Survives() bool {
	for _, path := range p.proof {
		if _, err := os.Lstat(path); err != nil {
			return false
		}
	}
	return len(p.proof) > 0
}

// Look finds out the state of the service.
func (p Plan) Look(ctx context.Context, t Tools) (s Status) {
	text, err := os.ReadFile(p.Path)
	s.Installed, s.Current = err == nil, string(text) == p.Text
	s.Enabled = s.Installed && p.Survives()
	if p.linger != "" {
		_, err := os.Stat(p.linger)
		s.Linger = new(err == nil)
	}
	if _, s.Silent = t.call(ctx, p.probe); s.Silent == nil {
		_, err := t.call(ctx, p.asks)
		s.Active = new(err == nil)
	}
	return s
}

// Change is a change of a service. The zero value does nothing.
type Change struct {
	Write, Remove string     // the path of its file
	Calls         [][]string // the calls after the file is written, or before it is removed
	plan          Plan
}

// Install returns the change that installs a service in such a state. A service that runs from an
// older file is ended first.
func (p Plan) Install(is Status) Change {
	c := Change{Write: p.Path, Calls: p.On, plan: p}
	switch {
	case is.Current && is.Enabled && is.Runs():
		return Change{}
	case is.Installed:
		c.Calls = slices.Concat(p.Off, p.On)
	}
	return c
}

// Uninstall returns the change that removes it. When the manager cannot be asked, only files are
// removed.
func (p Plan) Uninstall(is Status) Change {
	c := Change{Remove: p.Path, Calls: p.Off, plan: p}
	switch {
	case !is.Installed && !is.Enabled:
		return Change{}
	case is.Active == nil:
		c.Calls = nil
	}
	return c
}

// ErrUnwritten is the error of an installation that has not begun, because its file could not be
// written.
var ErrUnwritten = errors.New("the service could not be written")

// Do makes the change and returns its calls. When an installation fails, it is undone, and
// *CallError has the call that failed. Look finds what could not be removed.
func (c Change) Do(ctx context.Context, t Tools) (called [][]string, err error) {
	if c.Remove != "" {
		return c.plan.remove(ctx, t), nil
	}
	mode := os.FileMode(0o644)
	if c.plan.script {
		mode = 0o755
	}
	if err := write(c.Write, c.plan.Text, mode); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnwritten, err)
	}
	for i, argv := range c.Calls {
		if _, err := t.call(ctx, argv); err != nil && i >= len(c.Calls)-len(c.plan.On) {
			c.plan.remove(ctx, t)
			return nil, &CallError{argv, err}
		}
	}
	return c.Calls, nil
}

// remove removes the service as far as it exists, with the folders that only it was in.
func (p Plan) remove(ctx context.Context, t Tools) (called [][]string) {
	if _, err := t.call(ctx, p.probe); err == nil {
		for _, argv := range p.Off {
			if _, err := t.call(ctx, argv); err == nil || len(called) > 0 {
				called = append(called, argv)
			}
		}
	}
	for _, path := range append([]string{p.Path}, p.proof...) {
		_ = os.Remove(path) // the caller checks what is left
	}
	if p.reload != nil {
		if _, err := t.call(ctx, p.reload); err == nil {
			called = append(called, p.reload)
		}
	}
	for _, dir := range p.folders {
		if err := os.Remove(dir); err != nil && !os.IsNotExist(err) { // others use it
			break
		}
	}
	return called
}

// write writes the file, whole, and waits until the disk has it, its name and those of its folders
// that were not there. Otherwise a loss of power soon after could leave an empty file, or none.
func write(path, text string, mode os.FileMode) error {
	dirs := []string{filepath.Dir(path)}
	for dir := dirs[0]; ; {
		if _, err := os.Stat(dir); !os.IsNotExist(err) || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
		dirs = append(dirs, dir)
	}
	if err := os.MkdirAll(dirs[0], 0o755); err != nil {
		return err
	}
	if err := plainfile.Replace(path, []byte(text), mode); err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := plainfile.SyncFolder(dir); err != nil {
			return err
		}
	}
	return nil
}

// Check lets the tool of the manager check the file before it is installed. refused is why it would
// not be accepted; says is what the tool says about a file that it accepts. Where there is no such
// tool, or it cannot judge the file, both are empty, and the start of the service decides.
func (p Plan) Check(ctx context.Context, t Tools) (says, refused string) {
	dir, err := os.MkdirTemp("", "ouro-timer-service-")
	if err != nil {
		return "", ""
	}
	defer os.RemoveAll(dir)
	name := filepath.Base(p.Path)
	file := filepath.Join(dir, name)
	if os.WriteFile(file, []byte(p.Text), 0o600) != nil {
		return "", ""
	}
	out, err := t.call(ctx, append(slices.Clone(p.lint), file))
	for line := range strings.Lines(out) { // it may report other services as well
		if !strings.Contains(line, name) {
			continue
		}
		about := strings.TrimSpace(strings.ReplaceAll(line, dir+string(filepath.Separator), ""))
		switch {
		case err != nil:
			return "", about
		case p.warns:
			return about, ""
		}
		break
	}
	return "", ""
}

// Tools says where the programs of the system are, and what they get.
type Tools struct {
	Path string
	Env  []string
}

// maxCall is how long a call of the manager may take. Stopping waits for a runner that waits for
// its commands.
const maxCall = time.Minute

// CallError is a call that failed.
type CallError struct {
	Argv []string
	Err  error
}

func (e *CallError) Error() string { return state.ShellLine(e.Argv) + ": " + e.Err.Error() }

func (e *CallError) Unwrap() error { return e.Err }

// call calls a program of the system and returns its output. Its error has the first line of that,
// or else how it ended; it is *proc.StartError when there is no such program.
func (t Tools) call(ctx context.Context, argv []string) (says string, err error) {
	path, err := proc.LookPath(argv[0], t.Path, "")
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, maxCall)
	defer cancel()
	c := exec.CommandContext(ctx, path, argv[1:]...)
	c.Env, c.WaitDelay = t.Env, time.Second // what it has left behind may hold its output open
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err = c.Run()
	says = strings.TrimSpace(out.String())
	if line, _, _ := strings.Cut(says, "\n"); err != nil && line != "" {
		err = errors.New(line)
	}
	return says, err
}
