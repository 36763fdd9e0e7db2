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
	// after the clock was put back, nothing waits
	if wait := g.flushAt.Sub(now); len(g.ends) == 0 || wait > 0 && wait <= pauseMost {
		return
	}
	for {
		batch, rest := g.nextBatch(ctx)
		failed := g.write(ctx, batch, now)
		g.ends = append(failed, rest...)
		if len(failed) > 0 {
			g.pause = min(max(2*g.pause, 100*time.Millisecond), pauseMost)
			g.flushAt = now.Add(g.pause)
			return
		}
		if len(rest) == 0 {
			g.pause, g.flushAt = 0, time.Time{}
			return
		}
	}
}

// pauseMost is the longest pause between two tries to write outcomes.
const pauseMost = time.Minute

// nextBatch returns the ends that can be written together, with what is told of them. Two ends of a
// task cannot if what is told of the second depends on whether the first could be written.
func (g *engine) nextBatch(ctx context.Context) (batch, rest []state.Ending) {
	if g.Mute {
		return g.ends, nil
	}
	standing := g.standing()
	taken := map[string]bool{}
	for _, e := range g.ends {
		id, was := e.Record.Task.ID, rules.AlertState{}
		if rules.TellsByHistory(e.Record.Task, standing) {
			if taken[id] {
				rest = append(rest, e)
				continue
			}
			taken[id] = true
			was = g.alertBefore(ctx, e.Record)
		}
		e.Line.Inbox, e.Line.Tell, e.Line.News = "", nil, ""
		g.inform(e.Record, was, standing, &e.Line)
		batch = append(batch, e)
	}
	return batch, rest
}

// write writes outcomes, and returns those that it could not write.
func (g *engine) write(ctx context.Context, ends []state.Ending, now time.Time) (failed []state.Ending) {
	for i := range ends {
		ends[i].Line.At = now
	}
	slices.SortStableFunc(ends, inOrder)
	for i, err := range g.Store.EndAll(context.WithoutCancel(ctx), ends) {
		e := ends[i]
		switch {
		case err == nil:
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

// inOrder orders outcomes that came together, and with them the inbox: by when they were due, and
// at the same instant in the order in which their tasks were made. It does not matter which ended
// first.
func inOrder(a, b state.Ending) int {
	return cmp.Or(a.Record.Due.Compare(b.Record.Due), state.CompareIDs(a.Record.Task.ID, b.Record.Task.ID))
}

// alert is the alert state of a task of which something was claimed, if nothing else runs of it.
// Otherwise only the store knows it once the first of the runs has ended, and all of them ask it.
func (g *engine) alert(e state.Entry) *rules.AlertState {
	if len(e.Open) == 0 {
		m := rules.AlertOf(e.Tally)
		return &m
	}
	for _, r := range e.Open {
		if n := g.runs[claimOf(r)]; n != nil {
			n.alert = nil
		}
	}
	return nil
}

// alertBefore is the alert state of a task before the end of one of its runs.
func (g *engine) alertBefore(ctx context.Context, r state.Record) rules.AlertState {
	if n := g.runs[claimOf(r)]; n != nil && n.alert != nil {
		return *n.alert
	}
	e, _ := g.entry(context.WithoutCancel(ctx), g.Store.Find, r.Task.ID)
	return rules.AlertOf(e.Tally) // if it is not known: rather told twice than not at all
}

// disperse leaves the alert states of tasks to the store, because another runner may write outcomes
// of them from now on.
func (g *engine) disperse() {
	for _, n := range g.runs {
		n.alert = nil
	}
}

// standing says who is told of tasks that name nobody.
func (o Options) standing() rules.TellDefaults {
	if o.Standing == nil {
		return rules.TellDefaults{}
	}
	return o.Standing()
}
