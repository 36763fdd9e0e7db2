package rules

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// How somebody asked for the end of a run makes no difference to the reason in the ledger; the signal tells that.
func TestHaltedHasOneReason(t *testing.T) {
	start := at(t, "2026-11-23 09:00")
	r := state.Record{Task: state.Task{ID: "k7m2", Run: state.Job{Argv: []string{"true"}}}, Number: 1, Due: start, Started: start}
	for _, c := range []struct{ halt, reason string }{
		{Stopped, "stopped"}, {Killed, "stopped"}, {ReasonReplaced, "replaced"}, {ReasonRunnerEnds, "runner_ends"},
	} {
		l := Judge(r, nil, Result{Started: start, Ended: start.Add(time.Second), Signal: "KILL", Halted: c.halt})
		if l.Outcome != state.Cancelled || l.Reason != c.reason {
			t.Errorf("halted for %q: %s (%s), want cancelled (%s)", c.halt, l.Outcome, l.Reason, c.reason)
		}
	}
}
