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

// answers reports why the folder and the program cannot be looked at for now; nil when they can, whatever is the matter with them. It is
// ctx.Err() when ctx was cancelled.
func (s *session) answers(ctx context.Context, l look) error {
	spec := proc.Spec{Argv: []string{l.program}, Dir: l.dir, Env: []string{"PATH=" + l.path}, Umask: -1}
	now := s.Clock.Now()
	if at, ok := s.answered[l]; ok && now.Sub(at) < lookAgain || !spec.MayHang() {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, lookMost)
	defer cancel()
	switch err := proc.Probe(within, spec); {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case proc.Passing(err):
		return err
	}
	if s.answered == nil {
		s.answered = map[look]time.Time{}
	}
	s.answered[l] = now
	return nil
}

// taskAnswers is answers for all that a task names.
func (s *session) taskAnswers(ctx context.Context, t state.Task) error {
	programs, path := programsOf(t)
	for _, text := range []string{t.Run.Shell, t.Policy.If} {
		if word, ok := shellProgram(text); ok {
			programs = append(programs, word)
		}
	}
	for _, program := range programs {
		if err := s.answers(ctx, look{program, path, t.Run.Dir}); err != nil {
			return err
		}
	}
	return nil
}

// lookPath is proc.LookPath, after asking whether there is an answer.
func (s *session) lookPath(ctx context.Context, name, path, dir string) (string, error) {
	if err := s.answers(ctx, look{name, path, dir}); err != nil {
		return "", err
	}
	return proc.LookPath(name, path, dir)
}
