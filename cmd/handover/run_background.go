package handover

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

const (
	// maxStart is how long a started runner may take until it has the lock, and startStep how often
	// that is checked.
	maxStart, startStep = 10 * time.Second, 10 * time.Millisecond
	// aliveFor is how long a runner has to hold the lock before it counts as alive: a killed one
	// holds the lock for a moment.
	aliveFor = 300 * time.Millisecond
)

// RunBackground starts a runner in the background unless one lives. It answers when the runner has
// the lock.
func RunBackground(ctx context.Context, s *cli.Call, st state.Store) error {
	if _, err := s.Settings(); err != nil {
		return err // the runner would end at once, for the same reason
	}
	if _, err := s.Zone(); err != nil {
		return err
	}
	leader, led, err := LivingRunner(ctx, s.Clock, st)
	switch {
	case err != nil:
		return err
	case led && leader.Ident.PID == 0:
		return fmt.Errorf("%w: a runner that has not yet written who it is", state.ErrLed)
	}
	if !led {
		switch h, err := keyDenies(ctx, st); {
		case err != nil:
			return err
		case h.denied:
			return problem.New(problem.Unusable, problem.T("the key of this machine does not permit a runner"),
				problem.T("%s makes a key that does, once the servers know it",
					problem.To("fleet", "permit", "runner").With("key", "FILE")))
		}
	}
	h, ended := RunnerState{Runner: RunnerAlive, Pid: leader.Ident.PID,
		there: runner.InOtherContainer(leader.Ident)}, false
	if !led && s.DryRun {
		h = RunnerState{Runner: RunnerStarted}
	} else if !led {
		if h, ended, err = startAndWait(ctx, s, st); err != nil {
			return err
		}
	}
	s.Answer(BackgroundJSON{s.Stamp(), h.Runner, cli.OrNull(h.Pid), ended, h.there, s.DryRun})
	return nil
}

// BackgroundJSON is the answer of run --background.
type BackgroundJSON struct {
	Now       time.Time `json:"now"`
	Runner    string    `json:"runner"`
	PID       *int      `json:"pid,omitempty" jsonschema:"absent: it would get one, but for --dry-run"`
	Ended     bool      `json:"ended,omitempty" jsonschema:"it found nothing to do, and has ended"`
	Elsewhere bool      `json:"elsewhere,omitempty" jsonschema:"it is in another container, and pid is its number there"`
	DryRun    bool      `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`
}

// Text says whether a runner was started.
func (a BackgroundJSON) Text(o *cli.Out) {
	switch {
	case a.DryRun && a.Runner == RunnerStarted:
		o.Line("would start a runner in the background")
	case a.Ended:
		o.Line("%s a runner (pid %d); nothing was pending, and it has ended", o.Verb("started"), *a.PID)
	case a.Runner == RunnerAlive:
		o.Line("a runner is already alive (%s)", Process(*a.PID, a.Elsewhere))
	default:
		o.Line("%s a runner (pid %d); it ends when nothing is pending", o.Verb("started"), *a.PID)
	}
}

// LivingRunner finds the runner that lives. A dead runner whose lock is still held does not count:
// a new runner waits for that lock.
func LivingRunner(ctx context.Context, c clock.Clock, st state.Leases) (leader state.Leader, led bool, err error) {
	bounded, cancel := cli.WithBound(ctx, c, maxStart)
	defer cancel()
	for waited := time.Duration(0); ; waited += startStep {
		leader, led, err = st.Led(ctx)
		if err != nil || !led {
			return leader, led, err
		}
		if waited >= aliveFor && (runner.Alive(leader.Ident) || runner.InOtherContainer(leader.Ident)) {
			break
		} else if waited >= aliveFor && runner.HasEnded(leader.Ident) {
			return state.Leader{}, false, nil
		}
		if c.For(bounded, startStep) != nil {
			break
		}
	}
	return leader, true, ctx.Err()
}

// startAndWait starts a runner and waits until it has the lock. ended says that it has ended by
// then, with nothing left to do. When another runner was first, that one is returned.
func startAndWait(ctx context.Context, s *cli.Call, st state.Store) (h RunnerState, ended bool, err error) {
	path, err := runnerLogPath(s)
	if err != nil {
		return h, false, err
	}
	var logged int64
	if info, err := os.Stat(path); err == nil {
		logged = info.Size()
	}
	id, err := startRunner(s)
	if err != nil {
		return h, false, fmt.Errorf("no runner could be started: %w", err)
	}
	own := state.Ident{PID: id.PID, Start: id.Start, Boot: id.Boot, NS: id.PIDNS}
	noted := false
	for waited := time.Duration(0); waited < maxStart; waited += startStep {
		lives := runner.Alive(own)
		leader, led, err := st.Led(ctx)
		// the new runner waits for the lock of a dead one
		if err == nil && led && lives && runner.HasEnded(leader.Ident) {
			waited = 0
			if !noted {
				noted = true
				s.Note("waiting for a process that holds the lock of a dead runner (pid %d)", leader.Ident.PID)
			}
		}
		switch {
		case err != nil:
			return h, false, err
		case led && leader.Ident.PID == own.PID:
			return RunnerState{Runner: RunnerStarted, Pid: own.PID}, false, nil
		case led && leader.Ident != own && (runner.Alive(leader.Ident) || runner.InOtherContainer(leader.Ident)):
			// another runner was first; the new one sees that, too, and ends
			return RunnerState{Runner: RunnerAlive, Pid: leader.Ident.PID,
				there: runner.InOtherContainer(leader.Ident)}, false, nil
		case !lives && (!led || runner.HasEnded(leader.Ident)):
			if why := lastLogError(path, logged); why != "" {
				return h, false, problem.New(problem.Failed,
					problem.T("the runner that was started has ended: %s", why),
					problem.T("see its log: tail %s", cli.ShellQuote(path)))
			}
			// on a full disk it could not even say why
			if _, pending, err := state.Next(ctx, st, time.Time{}); err != nil {
				return h, false, err
			} else if pending {
				return h, false, problem.New(problem.Failed,
					problem.T("the runner that was started has ended without a word, and tasks are pending"),
					problem.T("see what is in its way: %s, or %s in the foreground", problem.To("doctor"), problem.To("run")))
			}
			return RunnerState{Runner: RunnerStarted, Pid: own.PID}, true, nil
		}
		if err := s.Clock.For(ctx, startStep); err != nil {
			return h, false, err
		}
	}
	return h, false, problem.New(problem.Failed,
		problem.T("the runner that was started (pid %d) does not have the lock after %v", own.PID, maxStart),
		problem.T("see its log: tail %s", cli.ShellQuote(path)))
}

// lastLogError returns the last error that a runner added to the log after the offset from; empty
// for a runner that ended well.
func lastLogError(path string, from int64) (why string) {
	text, err := plainfile.Read(path, maxLogRead, nil)
	if err != nil {
		return ""
	}
	if from <= int64(len(text)) {
		text = text[from:] // else the log was rotated meanwhile
	}
	for line := range strings.Lines(string(text)) {
		if words, ok := strings.CutPrefix(strings.TrimSpace(line), "ouro-timer: "); ok {
			why = words
		} else if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			why = strings.TrimSpace(line)
		}
	}
	return why
}
