package tasks

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Await says whose end is waited for.
type Await struct {
	ID     string
	Number int          // of the run; 0: the next end of any, or of a task that is over its last one
	After  *state.Place // ends that were written before do not count; nil: those before the wait begins
}

// awaitPause is the least time between two looks.
const awaitPause = 10 * time.Millisecond

// End waits until a run or an instant of the task has ended, and returns its line in the ledger. When ctx ends first it returns its error, and the
// place to go on from. problem.Cancelled when nothing can end any more, as the task was removed.
func (a Await) End(ctx context.Context, st state.Store, c clock.Clock) (line state.Line, at state.Place, err error) {
	changed, err := st.WatchLog(ctx, a.ID)
	if err != nil {
		return line, at, err
	}
	if a.After != nil {
		at = *a.After
	} else if at, _, err = st.Log(ctx, a.ID, func(state.Line) bool { return false }); err != nil {
		return line, at, err
	}
	for {
		over, err := a.over(ctx, st) // asked first: what the task's end was told with is then read below
		if err != nil {
			return line, at, err
		}
		var found bool
		switch {
		case a.Number > 0:
			line, found, err = a.ofRun(ctx, st)
		default:
			line, at, found, err = a.next(ctx, st, at)
			if err == nil && !found && over && a.After == nil {
				line, found, err = a.last(ctx, st)
			}
		}
		switch {
		case err != nil:
			return line, at, err
		case found:
			spelled := []state.Line{line}
			err = st.Spell(ctx, spelled)
			return spelled[0], at, err
		case over && a.Number > 0:
			return line, at, problem.New(problem.NotFound, problem.T("the ledger has no occurrence %s", state.OccurrenceID(a.ID, a.Number)),
				problem.T("%s shows the latest", problem.To("log", a.ID).With("n", 20)))
		case over:
			return line, at, problem.New(problem.Cancelled, problem.T("nothing of task %s runs any more, and no end of it was noted", a.ID), problem.T("%s says what became of it", problem.To("show", a.ID)))
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

// ends reports whether a line says how a run or an instant ended.
func ends(l state.Line) bool {
	return l.Outcome != "" && (l.Type == state.LineOccurrence || l.Type == state.LineManual)
}

// over reports whether nothing of the task can end any more.
func (a Await) over(ctx context.Context, st state.Tasks) (bool, error) {
	list, err := st.Find(ctx, a.ID)
	if errors.Is(err, state.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return len(list[0].Open) == 0 && (list[0].Phase == state.Ended || list[0].Phase == state.Removed), nil
}

// next is the first end after a place, which moves on.
func (a Await) next(ctx context.Context, st state.Ledger, from state.Place) (line state.Line, at state.Place, found bool, err error) {
	at, _, err = st.After(ctx, a.ID, from, func(l state.Line) bool {
		if found = l.TaskID == a.ID && ends(l); found {
			line = l
		}
		return !found
	})
	return line, at, found, err
}

// last is the latest end of all.
func (a Await) last(ctx context.Context, st state.Ledger) (line state.Line, found bool, err error) {
	_, _, err = st.Log(ctx, a.ID, func(l state.Line) bool {
		if found = ends(l); found {
			line = l
		}
		return !found
	})
	return line, found, err
}

// ofRun is the end of the one run.
func (a Await) ofRun(ctx context.Context, st state.Ledger) (line state.Line, found bool, err error) {
	_, _, _, err = st.Occurrence(ctx, a.ID, a.Number, func(l state.Line) bool {
		if found = ends(l) && l.Number <= a.Number && a.Number < l.Number+max(l.Count, 1); found {
			line = l
		}
		return !found
	})
	return line, found, err
}
