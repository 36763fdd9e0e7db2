package rules

import (
	"reflect"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// This file says what happens to a claim after its runner has gone, and after its task was changed.

// Abandoned is the outcome of an occurrence that gets no further attempt, because its task was
// removed, paused or has another command or schedule by now: that of its last attempt.
func Abandoned(last state.Line) state.Line {
	if last.Reason == "" {
		last.Reason = ReasonChanged
	}
	return last
}

// Resting is what is known of the last attempt of a claim that rests, when the runner that made it
// is gone: that it has failed.
func Resting(r state.Record, sched *when.Schedule, now time.Time) state.Line {
	l := Judge(r, sched, Result{Started: r.Started, Ended: now, Unknown: true})
	if r.Task.Policy.Retries > 0 { // else it was cut off, and runs again
		l.Outcome, l.Reason = state.Failed, ""
	}
	return l
}

// Settlement is what happens to a claim whose runner is gone.
type Settlement int

const (
	ToEnd   Settlement = iota // it was interrupted
	ToAdopt                   // its command goes on, and the runner waits for its end
	// Nothing was started for it: it is released, and runs late unless the task has changed.
	ToRelease
	ToRest  // it waits for its next attempt
	ToTell  // a message or an agent is told, at least once
	ToRerun // it is run again
)

// Unbegun reports whether nothing of a claim has begun, according to its record.
func Unbegun(r state.Record) bool {
	return r.Starting.IsZero() && r.Started.IsZero() && r.Attempt == 0
}

// TakingOver returns what happens to a claim whose runner is gone. lives says that the process of
// the claim is alive.
func TakingOver(r state.Record, self state.Ident, lives bool) Settlement {
	tells := r.Task.Type() == state.TypeAgent && r.Halt == ""
	untouched := Unbegun(r) && r.Runner.Boot == self.Boot && r.Runner.NS == self.NS
	switch {
	case r.Task.ID == "" || r.Number == 0:
		return ToEnd
	// an agent is not what has begun: it is ended, and another one is told
	case lives && r.Task.Type() != state.TypeAgent:
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

// reruns reports whether an interrupted occurrence starts again.
func reruns(r state.Record) bool {
	return r.Task.Policy.Rerun && max(r.Attempt, 1) < 1+r.Task.Policy.Retries+maxReruns
}

// Interrupted returns the ledger line of a claim whose runner, or whose machine, died during the
// run. What the run has written is not in it.
func Interrupted(r state.Record) state.Line {
	l := LineOf(r)
	l.Outcome, l.Reason = state.Interrupted, ReasonRunnerDied
	if r.Halt != "" { // its end was asked for, and has come
		l.Outcome, l.Reason = state.Cancelled, HaltReason(r.Halt)
	}
	if first := Begun(r, r.Started); !first.IsZero() {
		l.Started, l.Late = &first, Late(first, r.Due)
	}
	return l
}

// PutOff returns the ledger line of a claim that was put off for a reason, and is not wanted any
// more.
func PutOff(r state.Record, why string) state.Line {
	l := LineOf(r)
	l.Outcome, l.Reason, l.Attempts, l.Text = state.Cancelled, reasonPutOff, 0, why
	return l
}

// Changed reports whether the task of a claim was removed or paused since the claim, or has another
// command or schedule. Then nothing of the claim starts any more. All else that is edited is for
// later occurrences. A run by hand was meant whatever the task's schedule says, so it does not
// count.
func Changed(e state.Entry, r state.Record) bool {
	if r.Manual {
		return false
	}
	other := e.Task.Revision != r.Task.Revision &&
		(!reflect.DeepEqual(e.Task.Run, r.Task.Run) || !reflect.DeepEqual(e.Task.When, r.Task.When))
	return other || e.Held || e.Phase == state.Removed
}

// Wanted reports whether a claim of which nothing was started, and that cannot be given back, may
// start as it is: its task is unchanged, and no other run excludes it.
func Wanted(e state.Entry, r state.Record) bool {
	return e.Task.Revision == r.Task.Revision && !e.Held && e.Phase != state.Removed && e.Tally.Stop == "" &&
		(len(e.Open) == 1 || Overlap(e.Task) == state.OverlapAllow)
}
