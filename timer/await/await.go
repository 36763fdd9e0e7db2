// Package await waits for the end of a run of a task, which the ledger tells.
package await

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Run says whose end is waited for.
type Run struct {
	ID string
	// Number is the number of the run. With 0 it is the next end of any run, or the last one of a
	// task that is over.
	Number int
	// After is the place in the ledger after which ends count; nil means the place where the ledger
	// ends now.
	After *state.Place
}

// awaitPause is the least time between two looks.
const awaitPause = 10 * time.Millisecond

// End waits until a run or an instant of the task has ended, and returns its line in the ledger.
// When ctx ends first it returns its error, and the place to go on from. It returns
// problem.Cancelled when nothing can end any more, because the task was removed.
func (a Run) End(ctx context.Context, st state.Store, c clock.Clock) (line state.Line, at state.Place, err error) {
	changed, err := st.WatchLog(ctx, a.ID)
	if err != nil {
		return line, at, err
	}
	if at, err = a.begin(ctx, st); err != nil {
		return line, at, err
	}
	for {
		var found bool
		if line, at, found, err = a.look(ctx, st, at); found || err != nil {
			return line, at, err
		}
		select {
		case <-ctx.Done():
			return line, at, ctx.Err()
		case <-changed:
		}
		if err := c.For(ctx, awaitPause); err != nil {
			return line, at, err
		}
	}
}

// Look looks once, and does not wait. Its errors are those of End.
func (a Run) Look(ctx context.Context, st state.Store) (line state.Line, found bool, err error) {
	at, err := a.begin(ctx, st)
	if err == nil {
		line, _, found, err = a.look(ctx, st, at)
	}
	return line, found, err
}

// begin returns the place in the ledger from which ends count.
func (a Run) begin(ctx context.Context, st state.Ledger) (at state.Place, err error) {
	if a.After != nil {
		return *a.After, nil
	}
	at, _, err = st.Log(ctx, a.ID, func(state.Line) bool { return false })
	return at, err
}

// look looks for the end from a place on, and returns the place to go on from. It asks first
// whether the task is over, so that it reads everything that was written before.
func (a Run) look(ctx context.Context, st state.Store, from state.Place) (line state.Line, at state.Place, found bool,
	err error) {
	at = from
	over, removed, err := a.over(ctx, st)
	if err != nil {
		return line, at, false, err
	}
	// ends looks for the first line that says how the run ended. A line may stand for several.
	ends := func(l state.Line) bool {
		of := l.TaskID == a.ID && (l.Type == state.LineOccurrence || l.Type == state.LineManual)
		asked := a.Number == 0 || l.Has(a.Number)
		if found = of && asked && l.Outcome != ""; found {
			line = l
		}
		return !found
	}
	if a.Number > 0 {
		_, _, _, err = st.Occurrence(ctx, a.ID, a.Number, ends)
	} else {
		at, _, err = st.After(ctx, a.ID, at, ends)
		if err == nil && !found && over && a.After == nil { // the latest end of all
			_, _, err = st.Log(ctx, a.ID, ends)
		}
	}
	switch {
	case err != nil:
		return line, at, false, err
	case found:
		spelled := []state.Line{line}
		err = st.Spell(ctx, spelled)
		return spelled[0], at, true, err
	case over && a.Number > 0:
		return line, at, false, problem.New(problem.NotFound,
			problem.T("the ledger has no occurrence %s", state.OccurrenceID(a.ID, a.Number)),
			problem.T("%s shows the latest", problem.To("log", a.ID).With("n", 20)))
	case removed:
		return line, at, false, problem.New(problem.Cancelled, problem.T("task %s was removed", a.ID),
			problem.T("%s undoes that", problem.To("restore", a.ID)))
	case over:
		return line, at, false, problem.New(problem.Cancelled,
			problem.T("nothing of task %s runs any more, and its ledger has no end of it", a.ID),
			problem.T("%s says what became of it", problem.To("show", a.ID)))
	}
	return line, at, false, nil
}

// over reports whether nothing of the task can end any more, and whether that is because it was
// removed.
func (a Run) over(ctx context.Context, st state.Tasks) (over, removed bool, err error) {
	list, err := st.Find(ctx, a.ID)
	if errors.Is(err, state.ErrNotFound) {
		return true, false, nil
	}
	if err != nil || len(list[0].Open) > 0 {
		return false, false, err
	}
	removed = list[0].Phase == state.Removed
	return removed || list[0].Phase == state.Ended, removed, nil
}
