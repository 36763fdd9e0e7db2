package rules

import (
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
)

// Reasons of the end of a task that waits for another one's run, which does not come.
const (
	// it ended otherwise than was asked, or has no run any more
	ReasonAfterEnded   = "after_ended"
	ReasonAfterRemoved = "after_removed" // the task was removed before its run
)

// Awaited is what is known of a task that another one waits for.
type Awaited struct {
	// as it is stored: with a run open it is Pending or Ended; Removed also when nothing is known
	// of it
	Phase state.Phase
	Open  bool // something of it runs
	// its occurrences that have ended since the other began to wait, the first of them first
	Ends []state.Line
}

// Followed is what has become of a task that waits for another.
type Followed int

// What Follow answers.
const (
	StillWaits Followed = iota
	HasCome
	NeverComes
)

// Follow says whether what a task waits for has come, and if it never does, why. It is the first
// run that counts, whatever others bring; an occurrence that was not run counts when the task has
// no other. With :any the end of the task is enough.
func Follow(a state.After, w Awaited) (Followed, string) {
	over := !w.Open && (w.Phase == state.Ended || w.Phase == state.Removed)
	i := slices.IndexFunc(w.Ends, func(l state.Line) bool { return l.Outcome.Ran() })
	switch {
	case i >= 0 && a.Fits(w.Ends[i].Outcome):
		return HasCome, ""
	case i >= 0:
		return NeverComes, ReasonAfterEnded
	case !over:
		return StillWaits, ""
	case len(w.Ends) > 0 && a.Fits(w.Ends[len(w.Ends)-1].Outcome):
		return HasCome, ""
	case w.Phase == state.Removed:
		return NeverComes, ReasonAfterRemoved
	}
	return NeverComes, ReasonAfterEnded
}
