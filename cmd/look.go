package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// A file system on another machine, or of a process that hangs, may never answer, and who asks it for a folder or a program is then beyond
// every signal. So whoever looks for what a task needs asks here first, which takes a bounded time and ends with ctx.

// look is one for a program, seen from a folder.
type look struct{ program, path, dir string }

const (
	// lookMost is how long a file system has to answer somebody who waits for us. A start gives it longer.
	lookMost = 3 * time.Second
	// lookAgain is how long an answer counts, so that a call about many tasks does not ask for each.
	lookAgain = 10 * time.Second
)

// isPutOff is what becomes of a task for which a file system does not answer.
const isPutOff = "; its start is put off until it does"

// found is what came of a look, and when.
type found struct {
	at   time.Time
	path string
	err  error
}

// foundMost bounds what is remembered of looks: a stream of lines has no end.
const foundMost = 1 << 10

// lookFor looks for a program. Its error is why neither the folder nor the program can be looked at for now, or ctx.Err() when ctx was cancelled;
// whatever else is the matter with them is in what was found.
func (s *session) lookFor(ctx context.Context, l look) (found, error) {
	now := s.Clock.Now()
	if f, ok := s.found[l]; ok && now.Sub(f.at) < lookAgain {
		return f, nil
	}
	spec := proc.Spec{Argv: []string{l.program}, Dir: l.dir, Env: []string{"PATH=" + l.path}, Umask: -1}
	if spec.MayHang() {
		within, cancel := context.WithTimeout(ctx, lookMost)
		defer cancel()
		switch err := proc.Probe(within, spec); {
		case errors.Is(ctx.Err(), context.Canceled):
			return found{}, ctx.Err()
		case proc.Passing(err):
			return found{}, err
		}
	}
	f := found{at: now}
	f.path, f.err = proc.LookPath(l.program, l.path, l.dir)
	if s.found == nil {
		s.found = map[look]found{}
	}
	if len(s.found) == foundMost {
		clear(s.found)
	}
	s.found[l] = f
	return f, nil
}

// taskAnswers reports why what a task names cannot be looked at for now.
func (s *session) taskAnswers(ctx context.Context, t state.Task) error {
	programs, path := programsOf(t)
	for _, text := range []string{t.Run.Shell, t.Policy.If} {
		if word, ok := shellProgram(text); ok {
			programs = append(programs, word)
		}
	}
	for _, program := range programs {
		if _, err := s.lookFor(ctx, look{program, path, t.Run.Dir}); err != nil {
			return err
		}
	}
	return nil
}

// lookPath is proc.LookPath, after asking whether there is an answer.
func (s *session) lookPath(ctx context.Context, name, path, dir string) (string, error) {
	f, err := s.lookFor(ctx, look{name, path, dir})
	if err != nil {
		return "", err
	}
	return f.path, f.err
}
