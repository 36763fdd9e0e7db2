package rules

import (
	"errors"
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/agent"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// LineOf begins the ledger line of a claim.
func LineOf(r state.Record) state.Line {
	due := r.Due
	kind := state.LineOccurrence
	if r.Manual {
		kind = state.LineManual
	}
	return state.Line{Type: kind, TaskID: r.Task.ID, Number: r.Number, Due: &due, Count: 1, Attempts: max(r.Attempt, 1), Description: r.Task.Summary()}
}

// Judge is the ledger line of a claim whose attempt ended so. It is a function of its arguments alone.
func Judge(r state.Record, sched *when.Schedule, res Result) state.Line {
	l := LineOf(r)
	l.Backlog = catchingUp(r, sched)
	if first := Begun(r, res.Started); !first.IsZero() { // it lasts from its first attempt to the end of its last
		l.Started, l.Late = &first, Late(first, r.Due)
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
		l.Outcome, l.Reason, l.Text = state.Failed, ReasonNotAllowed, res.Err.Error()
	case res.Gate != "":
		l.Outcome, l.Reason, l.Text, l.Attempts = state.Skipped, reasonGate, res.Gate, 0
	case res.Halted == ReasonCutOff:
		l.Outcome, l.Reason = state.Interrupted, ReasonCutOff
	case res.Halted != "":
		l.Outcome, l.Reason = state.Cancelled, HaltReason(res.Halted)
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
		l.Outcome, l.Reason, l.Text = state.Failed, ReasonNotStarted, res.Err.Error()
		var se *proc.StartError
		if errors.As(res.Err, &se) {
			code := se.ExitCode()
			l.ExitCode = &code
		}
	case res.Signal == "" && res.ExitCode == 0:
		l.Outcome = state.OK
	case res.Memory:
		l.Outcome, l.Reason = state.Failed, ReasonMemory
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

// reruns reports whether what was interrupted is begun again.
func reruns(r state.Record) bool {
	return r.Task.Policy.Rerun && max(r.Attempt, 1) < 1+r.Task.Policy.Retries+rerunMost
}

// Again says whether an attempt that ended so is followed by another, and after which pause. One that would begin at or after
// the task's next instant is abandoned.
func Again(r state.Record, sched *when.Schedule, l *state.Line, now time.Time) (pause time.Duration, yes bool) {
	if l.Reason == ReasonCutOff && reruns(r) {
		return BackoffLeast, true
	}
	if l.Outcome != state.Failed && l.Outcome != state.TimedOut || l.Reason == ReasonNotAllowed || l.Stop != "" || r.Task.Policy.Retries < max(r.Attempt, 1) {
		return 0, false
	}
	pause = Backoff(r.Task.Policy, max(r.Attempt, 1))
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

// Settlement is what becomes of a claim whose runner is gone.
type Settlement int

const (
	ToEnd     Settlement = iota // it was interrupted
	ToAdopt                     // its command goes on, and its end is waited for
	ToRelease                   // nothing was started for it: it is given back and, unless something else has come of the task, run late
	ToRest                      // it waits for its next attempt
	ToTell                      // a message, or an agent, is told at least once
	ToRerun                     // it is run again
)

// Unbegun reports whether nothing of a claim was begun, as far as it says.
func Unbegun(r state.Record) bool {
	return r.Starting.IsZero() && r.Started.IsZero() && r.Attempt == 0
}

// TakingOver decides that; lives says that the claim's process does.
func TakingOver(r state.Record, self state.Ident, lives bool) Settlement {
	tells := r.Task.Type() == state.TypeAgent && r.Halt == ""
	untouched := Unbegun(r) && r.Runner.Boot == self.Boot && r.Runner.NS == self.NS
	switch {
	case r.Task.ID == "" || r.Number == 0:
		return ToEnd
	case lives && r.Task.Type() != state.TypeAgent: // an agent is not what was begun: it is ended, and another one told
		return ToAdopt
	case r.Manual:
		return ToEnd
	case untouched:
		return ToRelease
	case !r.Retry.IsZero() && r.Halt == "":
		return ToRest
	case r.Task.Told(), tells:
		return ToTell
	case reruns(r) && r.Halt == "":
		return ToRerun
	}
	return ToEnd
}

// BackoffFactor is by what the pause grows when the policy does not say, BackoffFactorMost the most that it may say.
const (
	BackoffFactor     = 2
	BackoffFactorMost = 10
)

// Backoff is the pause after the n-th attempt.
func Backoff(p state.Policy, n int) time.Duration {
	d := Span(p.Backoff)
	if d <= 0 {
		d = BackoffLeast
	}
	factor := time.Duration(p.Factor)
	if factor == 0 {
		factor = BackoffFactor
	}
	for range n - 1 {
		if d >= BackoffMost || factor == 1 {
			break
		}
		d *= factor
	}
	return min(d, max(BackoffMost, Span(p.Backoff)))
}

// Begun is when the first attempt at a claim started; started is when this one did.
func Begun(r state.Record, started time.Time) time.Time {
	if r.First.IsZero() {
		return started
	}
	return r.First
}

// Late is how long after its due instant a run started, in seconds; never negative.
func Late(started, due time.Time) float64 {
	return max(started.Sub(due).Round(time.Microsecond).Seconds(), 0)
}

// WaitedLine is the outcome of a wait that whoever waited has told at that instant, and is ended at now. It is not mail: somebody has it. Whom
// the task names itself are told all the same.
func WaitedLine(r state.Record, told, now time.Time) state.Line {
	l := Judge(r, nil, Result{Started: told, Ended: now})
	if len(r.Task.Policy.Notify) > 0 {
		l.News, l.Tell = state.NewsMessage, channelsOf(r.Task, TellDefaults{})
	}
	return l
}

// reasons of deliveries to an agent that failed.
const (
	ReasonAgentEnded = "agent_ended" // it came to its end, or closed its streams, before it answered
	ReasonAgentError = "agent_error" // it answered with an error
)

// AgentTextMost bounds what of an agent's error is in the ledger, in characters.
const AgentTextMost = 500

// nearly is what there was in place of an answer, behind why there is none.
func nearly(res Result) string {
	if res.Nearly == "" {
		return ""
	}
	return "; " + res.Nearly
}

// judgeAgent completes the line of an attempt to tell an agent that was neither halted nor skipped.
func judgeAgent(l *state.Line, r state.Record, res Result) {
	var refused *agent.Error
	var start *proc.StartError
	switch {
	case res.TimedOut:
		l.Text = fmt.Sprintf("no answer within %s", Span(r.Task.Policy.Timeout)) + nearly(res)
	case res.Err == nil:
		l.Outcome, l.Text = state.OK, r.Task.Said()
	case errors.As(res.Err, &refused):
		l.Outcome, l.Reason, l.Text = state.Failed, ReasonAgentError, refused.Error()
	case errors.As(res.Err, &start):
		code := start.ExitCode()
		l.Outcome, l.Reason, l.Text, l.ExitCode = state.Failed, ReasonNotStarted, res.Err.Error(), &code
	default:
		l.Outcome, l.Reason, l.Text = state.Failed, ReasonAgentEnded, res.Err.Error()+nearly(res)
	}
	if text := []rune(l.Text); len(text) > AgentTextMost {
		l.Text = string(text[:AgentTextMost-1]) + "…"
	}
}
