package runner

import (
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// Prospect is what the next runner will do about a claim whose runner is gone.
type Prospect int

// The prospects.
const (
	// its outcome is written: interrupted, or cancelled if somebody asked for its end
	Ends    Prospect = iota
	Adopted          // its command goes on, and its end is awaited
	// nothing was started for it: it runs, late, unless the task has changed meanwhile
	Runs
	Retried // its next attempt is made at its instant
	Told    // its message is told, perhaps for the second time
	Reruns  // its command is started again (--rerun-interrupted)
)

// ProspectOf returns what a runner that is started here as self will do about a claim. It uses the
// runner's own decision.
func ProspectOf(r state.Record, self state.Ident) Prospect {
	switch rules.TakingOver(r, self, r.Child.PID != 0 && Alive(r.Child)) {
	case rules.ToAdopt:
		return Adopted
	case rules.ToRelease:
		return Runs
	case rules.ToRest:
		return Retried
	case rules.ToTell:
		return Told
	case rules.ToRerun:
		return Reruns
	}
	return Ends
}
