package storetest

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Want is an occurrence to claim, and the task's due instant after it.
type Want struct {
	ID        string
	Due, Next time.Time
}

// Granted is the answer to a want.
type Granted struct {
	Record state.Record
	Err    error
}

// ClaimAll does for each want, in order, what Claim does, in one call of Change.
func ClaimAll(ctx context.Context, s state.Changer, wants []Want, by state.Ident, now time.Time) []Granted {
	changes := make([]state.Change, len(wants))
	for i, w := range wants {
		changes[i] = state.Change{ID: w.ID, Due: w.Due, Now: now, Rule: state.Claim(w.Due, w.Next, by, now)}
	}
	all := make([]Granted, len(wants))
	for i, answer := range s.Apply(ctx, changes...) {
		open := answer.Doc.Claim(wants[i].Due)
		switch {
		case answer.Err != nil:
			all[i].Err = answer.Err
		case open < 0:
			all[i].Err = state.ErrTaken
		default:
			all[i].Record = answer.Doc.Open[open].Clone()
		}
	}
	return all
}
