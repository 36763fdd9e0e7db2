package runner

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// flush writes the outcomes that are to be written, with what is told of them. While the disk is
// full it keeps them and tries again after a pause, because an open claim counts as interrupted. If
// the runner has to end first, that is what happens.
func (g *engine) flush(ctx context.Context, now time.Time) {
	if len(g.ends) == 0 || tooEarly(now, g.flushAt, pauseMost) {
		return
	}
	if g.ends = g.write(ctx, g.ends, now); len(g.ends) == 0 {
		g.pause, g.flushAt = 0, time.Time{}
		return
	}
	g.pause = min(max(2*g.pause, 100*time.Millisecond), pauseMost)
	g.flushAt = now.Add(g.pause)
}

// pauseMost is the longest pause between two tries to write outcomes.
const pauseMost = time.Minute

// write writes outcomes with what is told of them, and returns those that it could not write.
func (g *engine) write(ctx context.Context, ends []state.Ending, now time.Time) (failed []state.Ending) {
	order(ends)
	standing := g.standing()
	written := make([]state.Line, len(ends))
	for i := range ends {
		ends[i].Line.At = now
		written[i] = ends[i].Line
		if g.Mute {
			continue
		}
		ends[i].Tell = func(before state.Tally, l *state.Line) {
			g.core.inform(ends[i].Record, before, standing, l)
			written[i] = *l
		}
	}
	for i, err := range g.Store.EndAll(context.WithoutCancel(ctx), ends) {
		e := ends[i]
		switch {
		case err == nil:
			e.Line = written[i]
			g.dropClaim(e.Record)
			g.rewindAgain = g.rewindAgain || g.unmoved[e.Record.Task.ID]
			g.chains.changed(e.Record.Task.ID)
			g.Ended(e.Record, e.Line)
			if e.Line.Stop != "" {
				g.finish(ctx, e.Record.Task.ID, e.Line.Stop, now)
			}
		case errors.Is(err, state.ErrEnded):
			g.dropClaim(e.Record) // another process, which took us for dead, has ended it
		case errors.Is(err, state.ErrInvalid):
			g.warn("%s: its outcome (%s) cannot be written: %v", occurrence(e.Record), e.Line.Outcome, err)
			g.dropClaim(e.Record)
		default:
			g.warn("%s: its outcome (%s) could not be written: %v", occurrence(e.Record), e.Line.Outcome, err)
			failed = append(failed, e)
		}
	}
	return failed
}

// order orders outcomes that are written together, and with them the inbox: by when they were due,
// and at the same instant in the order in which their tasks were made. Those of one task come in
// the order in which they ended, because the last one says whether the task fails; one of which
// nobody saw the end comes before.
func order(ends []state.Ending) {
	slices.SortStableFunc(ends, func(a, b state.Ending) int {
		return cmp.Or(a.Record.Due.Compare(b.Record.Due), state.CompareIDs(a.Record.Task.ID, b.Record.Task.ID))
	})
	places := map[string][]int{}
	for i, e := range ends {
		places[e.Record.Task.ID] = append(places[e.Record.Task.ID], i)
	}
	for _, at := range places {
		if len(at) == 1 {
			continue
		}
		of := make([]state.Ending, len(at))
		for i, place := range at {
			of[i] = ends[place]
		}
		slices.SortStableFunc(of, func(a, b state.Ending) int { return ended(a).Compare(ended(b)) })
		for i, place := range at {
			ends[place] = of[i]
		}
	}
}

// ended is when somebody saw the end; zero: nobody did.
func ended(e state.Ending) time.Time {
	if e.Line.Ended == nil {
		return time.Time{}
	}
	return *e.Line.Ended
}

// standing says who is told of tasks that name nobody.
func (o Options) standing() rules.TellDefaults {
	if o.Standing == nil {
		return rules.TellDefaults{}
	}
	return o.Standing()
}
