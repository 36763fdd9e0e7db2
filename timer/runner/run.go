package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// Processes starts the commands of claims as processes of this machine.
type Processes struct{}

// Command is a command that was started. The methods may be called from any goroutine.
type Command interface {
	Identity() proc.Identity
	Wait() proc.Result
	// Stop ends it and its group: TERM, and KILL after the grace.
	Stop(grace time.Duration)
}

type command struct{ *proc.Process }

func (c command) Stop(grace time.Duration) {
	// What the system would not let us end, nobody can; its end is waited for all the same.
	_ = c.Process.Stop(clock.Awake, grace)
}

// Start starts the command of a claim with its output in the two files.
func (Processes) Start(r state.Record, env []string, stdout, stderr string) (Command, error) {
	if err := os.MkdirAll(filepath.Dir(stdout), 0o700); err != nil {
		return nil, err
	}
	out, err := os.OpenFile(stdout, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	errs, err := os.OpenFile(stderr, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer errs.Close()
	spec := proc.Spec{Argv: argv(r.Task.Run), Dir: r.Task.Run.Dir, Env: env, Umask: r.Task.Run.Umask, Stdout: out, Stderr: errs}
	if r.Task.Run.Script != "" {
		script, err := scriptFile(r.Task.Run.Script)
		if err != nil {
			return nil, err
		}
		defer script.Close()
		spec.Stdin = script
	}
	p, err := proc.Start(spec)
	if err != nil {
		return nil, err
	}
	return command{p}, nil
}

// scriptFile is a stored script as a file to read from, which has no name any more: it goes when the shell has ended.
func scriptFile(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "ouro-timer-script-")
	if err != nil {
		return nil, err
	}
	name := f.Name()
	defer os.Remove(name)
	if _, err = f.WriteString(text); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Output of a run that is kept: so much of its beginning and of its end.
const (
	keepHead = 64 << 10
	keepTail = 192 << 10
)

// stopGrace is how long a command that is told to end has before it is killed.
const stopGrace = 10 * time.Second

// perform runs a claimed command to its end and writes the outcome. It returns when the ledger has it. That ctx ends does
// not end the command.
func (l *loop) perform(ctx context.Context, r state.Record, last string) {
	line := l.lineOf(r)
	stdout, stderr := l.Store.OutputPaths(r.Task.ID, r.Number)
	c, err := l.Commands.Start(r, environ(r, last), stdout, stderr)
	if err != nil {
		now := l.Clock.Now()
		line.Outcome, line.Reason = state.Failed, reasonNotStarted
		line.Started, line.Ended, line.Late, line.Text = &now, &now, late(now, r.Due), err.Error()
		var se *proc.StartError
		if errors.As(err, &se) {
			code := se.ExitCode()
			line.ExitCode = &code
		}
		l.end(ctx, r, line)
		return
	}
	r.Child, r.Started = ident(c.Identity()), l.Clock.Now()
	l.track(r, c)
	if err := l.Store.Started(context.WithoutCancel(ctx), r); err != nil {
		l.Say("%s: its process could not be noted: %v", occurrence(r), err)
	}
	l.Say("%s started (pid %d): %s", occurrence(r), r.Child.PID, r.Task.Summary())
	result := c.Wait()
	ended := l.Clock.Now()
	line.Started, line.Ended, line.Late = &result.Started, &ended, late(result.Started, r.Due)
	line.User, line.System, line.MaxRSS = result.User.Seconds(), result.System.Seconds(), result.MaxRSS
	line.Outcome = state.Failed
	switch {
	case result.Signal != "":
		line.Signal = result.Signal
	default:
		code := result.ExitCode
		line.ExitCode = &code
		if code == 0 {
			line.Outcome = state.OK
		}
	}
	line.Stdout, line.Stderr = kept(stdout), kept(stderr)
	l.end(ctx, r, line)
}

// kept trims a run's output file and says what is left. A file that cannot be trimmed is whole, and is left so.
func kept(path string) state.Output {
	out, err := proc.Trim(path, keepHead, keepTail)
	if err != nil {
		if info, err := os.Stat(path); err == nil {
			return state.Output{Bytes: info.Size()}
		}
	}
	return state.Output{Bytes: out.Bytes, Truncated: out.Truncated}
}

// deliver tells a message, and again after a crash in between: a message is told at least once.
func (l *loop) deliver(ctx context.Context, r state.Record) {
	line := l.lineOf(r)
	now := l.Clock.Now()
	line.Started, line.Late, line.Text, line.Outcome = &now, late(now, r.Due), r.Task.Text, state.OK
	if err := l.Deliver(r); err != nil {
		line.Reason = err.Error() // it is in the log all the same, which is where messages are kept
	}
	ended := l.Clock.Now()
	line.Ended = &ended
	l.end(ctx, r, line)
}

// recover ends the claims that a runner before this one left open.
func (l *loop) recover(ctx context.Context) error {
	records, problems, err := l.Store.Open(ctx)
	if err != nil {
		return err
	}
	l.problems(problems)
	for _, r := range records {
		if identity(r.Runner).Alive() && r.Runner != l.Self {
			continue // another runner, by mishap; the claim is its to end
		}
		switch {
		case r.Task.Type() == state.TypeMessage:
			l.spawn(r, func() { l.deliver(ctx, r) })
		case r.Child.PID != 0 && identity(r.Child).Alive():
			if l.Mode == Once {
				continue // a runner that stays will see its end
			}
			l.Say("%s outlived its runner (pid %d); waiting for its end", occurrence(r), r.Child.PID)
			l.spawn(r, func() { l.adopt(ctx, r) })
		default:
			line := l.lineOf(r)
			line.Outcome, line.Reason = state.Interrupted, reasonRunnerDied
			l.finish(r, &line, stdoutOf(l, r))
			l.end(ctx, r, line)
		}
	}
	return nil
}

// adopt waits for the end of a command that a runner before this one started. Its exit code went with that runner.
func (l *loop) adopt(ctx context.Context, r state.Record) {
	if proc.WaitGone(ctx, identity(r.Child)) != nil {
		return // this runner ends first; the next one goes on waiting
	}
	line := l.lineOf(r)
	line.Outcome, line.Reason = state.Interrupted, reasonExitUnknown
	l.finish(r, &line, stdoutOf(l, r))
	l.end(ctx, r, line)
}

// finish fills a line with what is known of a run whose end nobody saw.
func (l *loop) finish(r state.Record, line *state.Line, paths [2]string) {
	if line.Reason == reasonExitUnknown {
		now := l.Clock.Now()
		line.Ended = &now
	} // else it ended when nobody looked
	if !r.Started.IsZero() {
		started := r.Started
		line.Started, line.Late = &started, late(started, r.Due)
		line.Stdout, line.Stderr = kept(paths[0]), kept(paths[1])
	}
}

func stdoutOf(l *loop, r state.Record) [2]string {
	stdout, stderr := l.Store.OutputPaths(r.Task.ID, r.Number)
	return [2]string{stdout, stderr}
}

// end writes the outcome and closes the claim. While the disk is full the outcome is kept and tried again, because a claim
// left open would count as interrupted; when the runner has to end first, so it will.
func (l *loop) end(ctx context.Context, r state.Record, line state.Line) {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, time.Minute) {
		line.At = l.Clock.Now()
		err := l.Store.End(context.WithoutCancel(ctx), r, line)
		if err == nil {
			l.Ended(r, line)
			return
		}
		if errors.Is(err, state.ErrEnded) {
			return // somebody who took us for dead has ended it
		}
		l.Say("%s: its outcome (%s) could not be written: %v", occurrence(r), line.Outcome, err)
		if l.Clock.For(ctx, pause) != nil {
			return
		}
	}
}

// lineOf begins the ledger line of a claim.
func (l *loop) lineOf(r state.Record) state.Line {
	due := r.Due
	kind := state.LineOccurrence
	if r.Manual {
		kind = state.LineManual
	}
	return state.Line{Type: kind, TaskID: r.Task.ID, Number: r.Number, Due: &due, Count: 1, Attempts: 1, Description: r.Task.Summary()}
}

// late is how long after its due instant a run started, in seconds; never negative.
func late(started, due time.Time) float64 {
	return max(started.Sub(due).Round(time.Microsecond).Seconds(), 0)
}

func occurrence(r state.Record) string { return state.OccurrenceID(r.Task.ID, r.Number) }

func ident(p proc.Identity) state.Ident {
	return state.Ident{PID: p.PID, Start: p.Start, Boot: p.Boot, NS: p.PIDNS}
}

func identity(i state.Ident) proc.Identity {
	return proc.Identity{PID: i.PID, Start: i.Start, Boot: i.Boot, PIDNS: i.NS}
}

// Self is the identity of this process.
func Self() (state.Ident, error) {
	id, err := proc.Self()
	if err != nil {
		return state.Ident{}, fmt.Errorf("telling this process's identity: %w", err)
	}
	return ident(id), nil
}
