package rules

import (
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
)

// The reasons for ending a task that waits for a run which does not come.
const (
	// it ended in another way than was asked for, or has no more runs
	ReasonAfterEnded   = "after_ended"
	ReasonAfterRemoved = "after_removed" // the task was removed before its run
)

// Awaited is what is known about a task that another one waits for.
type Awaited struct {
	// as it is stored: Pending or Ended while a run is open; Removed when nothing is known of it
	Phase state.Phase
	Open  bool // a run of it is open
	// its occurrences that have ended since the other task began to wait, earliest first
	Ends []state.Line
}

// Followed is the state of a task that waits for another.
type Followed int

// The results of Follow.
const (
	StillWaits Followed = iota
	HasCome
	NeverComes
)

// Follow returns whether the awaited end has come, or why it never will. The first run counts,
// whatever later ones bring. An occurrence without a run counts when the task has no other one.
// With :any, the end of the task is enough.
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
