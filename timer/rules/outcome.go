package rules

import (
	"errors"
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
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
	return state.Line{Type: kind, TaskID: r.Task.ID, Number: r.Number, Due: &due, Count: 1, Attempts: max(r.Attempt, 1),
		Description: r.Task.Summary(), Node: r.Node}
}

// Judge returns the ledger line of a claim with the result of its attempt. It depends only on the
// arguments.
func Judge(r state.Record, sched *when.Schedule, res Result) state.Line {
	l := LineOf(r)
	l.Backlog = catchingUp(r, sched)
	// It lasts from its first attempt to the end of the last.
	if first := Begun(r, res.Started); !first.IsZero() {
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
			// The error is in the log as well, which keeps the message.
			l.Reason = res.Err.Error()
		}
	case isAgent:
		judgeAgent(&l, r, res)
	case res.Err != nil:
		l.Outcome, l.Reason, l.Text = state.Failed, ReasonNotStarted, res.Err.Error()
		if se, ok := errors.AsType[*proc.StartError](res.Err); ok {
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

// Again reports whether an attempt is followed by another, and after which pause. An attempt that
// would begin at or after the next instant of the task is not made.
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

// BackoffFactor is the factor by which the pause grows when the policy has none. BackoffFactorMost
// is the largest one of a policy.
const (
	BackoffFactor     = 2
	BackoffFactorMost = 10
)

// Backoff returns the pause after the n-th attempt.
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

// Begun returns when the first attempt of a claim started; started is when this one did.
func Begun(r state.Record, started time.Time) time.Time {
	if r.First.IsZero() {
		return started
	}
	return r.First
}

// Late returns how many seconds after its due instant a run started, at least 0.
func Late(started, due time.Time) float64 {
	return max(started.Sub(due).Round(time.Microsecond).Seconds(), 0)
}

// WaitedLine returns the outcome of a wait that its caller reported at told and that ended at now.
// It is not in the inbox, because somebody has it. The recipients that the task names are told all
// the same.
func WaitedLine(r state.Record, told, now time.Time) state.Line {
	l := Judge(r, nil, Result{Started: told, Ended: now})
	if len(r.Task.Policy.Notify) > 0 {
		l.News, l.Tell = state.NewsMessage, channelsOf(r.Task, TellDefaults{})
	}
	return l
}

// Reasons of failed deliveries to an agent.
const (
	ReasonAgentEnded = "agent_ended" // it ended, or closed its streams, before it answered
	ReasonAgentError = "agent_error" // it answered with an error
)

// AgentTextMost is how much of the error of an agent is in the ledger, in characters.
const AgentTextMost = 500

// nearly returns what came instead of an answer, after why there is none.
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
	l.Text = plain.Cut(l.Text, AgentTextMost)
}
