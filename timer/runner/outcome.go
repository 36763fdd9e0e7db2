package runner

import (
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// lineOf begins the ledger line of a claim.
func lineOf(r state.Record) state.Line {
	due := r.Due
	kind := state.LineOccurrence
	if r.Manual {
		kind = state.LineManual
	}
	return state.Line{Type: kind, TaskID: r.Task.ID, Number: r.Number, Due: &due, Count: 1, Attempts: max(r.Attempt, 1), Description: r.Task.Summary()}
}

// judge is the ledger line of a claim whose attempt ended so. It is a function of its arguments alone.
func judge(r state.Record, sched *when.Schedule, res Result) state.Line {
	l := lineOf(r)
	l.Backlog = catchingUp(r, sched)
	if first := begun(r, res.Started); !first.IsZero() { // it lasts from its first attempt to the end of its last
		l.Started, l.Late = &first, late(first, r.Due)
	}
	if !res.Ended.IsZero() {
		l.Ended = &res.Ended
	}
	l.User, l.System, l.MaxRSS = res.User.Seconds(), res.System.Seconds(), res.MaxRSS
	l.Stdout, l.Stderr, l.Ignored = res.Stdout, res.Stderr, res.Ignored
	isAgent := r.Task.Type() == state.TypeAgent
	switch {
	case res.Signal != "":
		l.Signal = res.Signal
	case !res.Unknown && !res.Started.IsZero() && res.Err == nil && r.Task.Type() == state.TypeCommand:
		l.ExitCode = &res.ExitCode
	}
	switch {
	case errors.As(res.Err, new(*Refusal)):
		l.Outcome, l.Reason, l.Text = state.Failed, reasonNotAllowed, res.Err.Error()
	case res.Gate != "":
		l.Outcome, l.Reason, l.Text, l.Attempts = state.Skipped, reasonGate, res.Gate, 0
	case res.Halted != "":
		l.Outcome, l.Reason = state.Cancelled, haltReason(res.Halted)
	case res.TimedOut:
		l.Outcome = state.TimedOut
		if isAgent {
			judgeAgent(&l, r, res)
		}
	case res.Unknown:
		l.Outcome, l.Reason = state.Interrupted, reasonExitUnknown
	case r.Task.Told():
		l.Outcome, l.Text = state.OK, r.Task.Said()
		if res.Err != nil {
			l.Reason = res.Err.Error() // it is in the log all the same, which is where messages are kept
		}
	case isAgent:
		judgeAgent(&l, r, res)
	case res.Err != nil:
		l.Outcome, l.Reason, l.Text = state.Failed, reasonNotStarted, res.Err.Error()
		var se *proc.StartError
		if errors.As(res.Err, &se) {
			code := se.ExitCode()
			l.ExitCode = &code
		}
	case res.Signal == "" && res.ExitCode == 0:
		l.Outcome = state.OK
	default:
		l.Outcome = state.Failed
	}
	if l.Outcome == state.OK {
		l.StdoutSum = res.Sum
	}
	switch {
	case r.Manual:
	case r.Task.Policy.UntilOK && l.Outcome == state.OK:
		l.Stop = "until_ok"
	case r.Task.Policy.UntilOutput != "" && res.Matched && (l.Outcome == state.OK || l.Outcome == state.Failed):
		l.Stop = "until_output"
	}
	return l
}

// again says whether an attempt that ended so is followed by another, and after which pause. One that would begin at or after
// the task's next instant is abandoned.
func again(r state.Record, sched *when.Schedule, l *state.Line, now time.Time) (pause time.Duration, yes bool) {
	if l.Outcome != state.Failed && l.Outcome != state.TimedOut || l.Reason == reasonNotAllowed || l.Stop != "" || r.Task.Policy.Retries < max(r.Attempt, 1) {
		return 0, false
	}
	pause = backoff(r.Task.Policy, max(r.Attempt, 1))
	if sched != nil && !r.Manual {
		if next, ok := sched.Next(r.Due); ok && !now.Add(pause).Before(next) {
			if l.Reason == "" {
				l.Reason = reasonNextDue
			}
			return 0, false
		}
	}
	return pause, true
}

// settlement is what becomes of a claim whose runner is gone.
type settlement int

const (
	toEnd     settlement = iota // it was interrupted
	toAdopt                     // its command goes on, and its end is waited for
	toRelease                   // nothing was started for it: it is given back and, unless something else has come of the task, run late
	toRest                      // it waits for its next attempt
	toTell                      // a message, or an agent, is told at least once
	toRerun                     // it is run again
)

// takingOver decides that; lives says that the claim's process does.
func takingOver(r state.Record, self state.Ident, lives bool) settlement {
	tells := r.Task.Type() == state.TypeAgent && r.Halt == ""
	untouched := r.Starting.IsZero() && r.Started.IsZero() && r.Attempt == 0 && r.Runner.Boot == self.Boot && r.Runner.NS == self.NS
	switch {
	case r.Task.ID == "" || r.Number == 0:
		return toEnd
	case lives && r.Task.Type() != state.TypeAgent: // an agent is not what was begun: it is ended, and another one told
		return toAdopt
	case r.Manual:
		return toEnd
	case untouched:
		return toRelease
	case !r.Retry.IsZero() && r.Halt == "":
		return toRest
	case r.Task.Told(), tells:
		return toTell
	case r.Task.Policy.Rerun && r.Halt == "" && max(r.Attempt, 1) < 1+r.Task.Policy.Retries+rerunMost:
		return toRerun
	}
	return toEnd
}

// Prospect is what the next runner does about a claim whose runner is gone, for who tells of it beforehand.
type Prospect int

// The prospects.
const (
	Ends    Prospect = iota // its outcome is written: interrupted, or cancelled when somebody asked for its end
	Adopted                 // its command goes on, and its end is waited for
	Runs                    // nothing was started for it: it runs, late, unless the task has changed meanwhile
	Retried                 // its next attempt is made when its time has come
	Told                    // its message is told, perhaps for the second time
	Reruns                  // its command is started again (--rerun-interrupted)
)

// ProspectOf says what a runner that is started here as self will do about a claim. It is the runner's own decision.
func ProspectOf(r state.Record, self state.Ident) Prospect {
	switch takingOver(r, self, r.Child.PID != 0 && Alive(r.Child)) {
	case toAdopt:
		return Adopted
	case toRelease:
		return Runs
	case toRest:
		return Retried
	case toTell:
		return Told
	case toRerun:
		return Reruns
	}
	return Ends
}

// backoff is the pause after the n-th attempt.
func backoff(p state.Policy, n int) time.Duration {
	d := span(p.Backoff)
	if d <= 0 {
		d = BackoffLeast
	}
	for range n - 1 {
		if d >= backoffMost {
			break
		}
		d *= 2
	}
	return min(d, max(backoffMost, span(p.Backoff)))
}

// begun is when the first attempt at a claim started; started is when this one did.
func begun(r state.Record, started time.Time) time.Time {
	if r.First.IsZero() {
		return started
	}
	return r.First
}

// late is how long after its due instant a run started, in seconds; never negative.
func late(started, due time.Time) float64 {
	return max(started.Sub(due).Round(time.Microsecond).Seconds(), 0)
}

// WaitedLine is the outcome of a wait that whoever waited has told at that instant, and is ended at now. It is no mail: somebody has it.
func WaitedLine(r state.Record, told, now time.Time) state.Line {
	return judge(r, nil, Result{Started: told, Ended: now})
}
