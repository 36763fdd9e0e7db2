// Package needs says what a task needs to be started, its folder and its programs, and what of that
// is not there. A file system on another machine, or of a process that hangs, may never answer, and
// who asks it is then beyond every signal. So whoever looks for what a task needs asks here, which
// takes a bounded time and ends with its context.
package needs

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// Shell is the program that runs a task's text when nobody says another.
const Shell = "/bin/sh"

// Finder looks for programs, and remembers for a moment what it has found. It is for many
// goroutines.
type Finder struct {
	clock clock.Clock

	mu    sync.Mutex
	found map[look]found
}

// New returns a Finder.
func New(c clock.Clock) *Finder { return &Finder{clock: c, found: map[look]found{}} }

// look is one for a program, seen from a folder.
type look struct{ program, path, dir string }

// found is what came of a look, and when.
type found struct {
	at   time.Time
	path string
	err  error
}

const (
	// lookMost is how long a file system has to answer somebody who waits for us. A start gives it
	// longer.
	lookMost = 3 * time.Second
	// lookAgain is how long an answer counts, so that a call about many tasks does not ask for
	// each.
	lookAgain = 10 * time.Second
	// foundMost bounds what is remembered of looks: a stream of lines has no end.
	foundMost = 1 << 10
)

// look looks for a program. Its error is why neither the folder nor the program can be looked at
// for now, or ctx.Err() when ctx was cancelled; whatever else is the matter with them is in what
// was found.
func (f *Finder) look(ctx context.Context, l look) (found, error) {
	now := f.clock.Now()
	f.mu.Lock()
	was, known := f.found[l]
	f.mu.Unlock()
	if known && now.Sub(was.at).Abs() < lookAgain {
		return was, nil
	}
	spec := proc.Spec{Argv: []string{l.program}, Dir: l.dir, Env: []string{"PATH=" + l.path}, Umask: -1}
	if err := answers(ctx, spec); err != nil {
		return found{}, err
	}
	is := found{at: now}
	is.path, is.err = proc.LookPath(l.program, l.path, l.dir)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.found) == foundMost {
		clear(f.found)
	}
	f.found[l] = is
	return is, nil
}

// answers returns nil if the folder and the program of spec can be looked at now. Otherwise it
// returns why not, or ctx.Err() when ctx was cancelled.
func answers(ctx context.Context, spec proc.Spec) error {
	within, cancel := context.WithTimeout(ctx, lookMost)
	defer cancel()
	switch err := proc.Probe(within, spec); {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case proc.Passing(err):
		return err
	}
	return nil
}

// Path is proc.LookPath, after asking whether there is an answer.
func (f *Finder) Path(ctx context.Context, name, path, dir string) (string, error) {
	is, err := f.look(ctx, look{name, path, dir})
	if err != nil {
		return "", err
	}
	return is.path, is.err
}

// Answers reports why what a task names cannot be looked at for now.
func (f *Finder) Answers(ctx context.Context, t state.Task) error {
	programs, path := Programs(t)
	for _, text := range []string{t.Run.Shell, t.Policy.If} {
		if word, ok := shellProgram(text); ok {
			programs = append(programs, word)
		}
	}
	for _, program := range programs {
		if _, err := f.look(ctx, look{program, path, t.Run.Dir}); err != nil {
			return err
		}
	}
	return nil
}

// Programs are those that a task names, and the PATH on which they are looked for.
func Programs(t state.Task) (programs []string, path string) {
	job := t.Run
	path, ok := job.Env["PATH"]
	if !ok {
		path = "/usr/bin:/bin"
	}
	if len(job.Argv) > 0 {
		programs = append(programs, job.Argv[0])
	}
	if len(job.Agent) > 0 {
		programs = append(programs, job.Agent[0])
	}
	if len(programs) == 0 || t.Policy.If != "" {
		programs = append(programs, cmp.Or(job.Prog, Shell))
	}
	return programs, path
}

// Missing is a program that cannot be started.
type Missing struct {
	Program string
	Absent  bool  // it is not there
	Why     error // why what is there cannot be run, or nil
}

// Missing says that a program cannot be started; nil when it can.
func (f *Finder) Missing(ctx context.Context, name, path, dir string) *Missing {
	_, err := f.Path(ctx, name, path, dir)
	if err == nil {
		return nil
	}
	m := &Missing{Program: name, Absent: errors.Is(err, os.ErrNotExist)}
	if start, ok := errors.AsType[*proc.StartError](err); ok {
		m.Why = start.Err
	}
	return m
}

// Says is a clause about it, as of now: the word for that, or nothing.
func (m *Missing) Says(now string) string {
	if now != "" {
		now = " " + now
	}
	switch {
	case m.Absent:
		return "there is no program " + plain.Quote(m.Program) + now
	case m.Why != nil:
		return plain.Quote(m.Program) + " cannot be run" + now + " (" + m.Why.Error() + ")"
	}
	return plain.Quote(m.Program) + " cannot be run" + now
}
