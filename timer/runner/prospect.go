package runner

import (
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

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
