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

// flush writes the outcomes that are to be written, with what is told of them. While the disk is full they are kept and tried again,
// because a claim left open would count as interrupted; when the runner has to end first, so it will.
func (g *engine) flush(ctx context.Context, now time.Time) {
	if len(g.ends) == 0 {
		return
	}
	for {
		wave, later := g.wave(ctx)
		failed := g.write(ctx, wave, now)
		g.ends = append(failed, later...)
		if len(failed) > 0 {
			g.pause = min(max(2*g.pause, 100*time.Millisecond), time.Minute)
			return
		}
		if len(later) == 0 {
			g.pause = 0
			return
		}
	}
}

// wave is what of the ends can be written together, informed. Two of one task cannot where what is told of the second depends on
// whether the first could be written.
func (g *engine) wave(ctx context.Context) (wave, later []state.Ending) {
	if g.Mute {
		return g.ends, nil
	}
	standing := g.standing()
	taken := map[string]bool{}
	for _, e := range g.ends {
		id, was := e.Record.Task.ID, rules.AlertState{}
		if rules.TellsByHistory(e.Record.Task, standing) {
			if taken[id] {
				later = append(later, e)
				continue
			}
			taken[id] = true
			was = g.before(ctx, e.Record)
		}
		e.Line.Inbox, e.Line.Tell, e.Line.News = "", nil, ""
		g.inform(e.Record, was, standing, &e.Line)
		wave = append(wave, e)
	}
	return wave, later
}

// write writes outcomes, and returns those that could not be.
func (g *engine) write(ctx context.Context, ends []state.Ending, now time.Time) (failed []state.Ending) {
	for i := range ends {
		ends[i].Line.At = now
	}
	slices.SortStableFunc(ends, inTurn)
	for i, err := range g.Store.EndAll(context.WithoutCancel(ctx), ends) {
		e := ends[i]
		n := g.runs[claimOf(e.Record)]
		switch {
		case err == nil:
			if n != nil && n.alert != nil {
				n.alert.Count(e.Line)
			}
			g.left(e.Record)
			g.catch = g.catch || g.behind[e.Record.Task.ID]
			g.chains.changed(e.Record.Task.ID)
			g.Ended(e.Record, e.Line)
			if e.Line.Stop != "" {
				g.finish(ctx, e.Record.Task.ID, e.Line.Stop, now)
			}
		case errors.Is(err, state.ErrEnded):
			g.left(e.Record) // somebody who took us for dead has ended it
		case errors.Is(err, state.ErrInvalid):
			g.warn("%s: its outcome (%s) cannot be written: %v", occurrence(e.Record), e.Line.Outcome, err)
			g.left(e.Record)
		default:
			g.warn("%s: its outcome (%s) could not be written: %v", occurrence(e.Record), e.Line.Outcome, err)
			failed = append(failed, e)
		}
	}
	return failed
}

// inTurn is the order in which outcomes are written that came together, and with them what is in the inbox: by when they were due, and those
// of one instant as their tasks were made, whichever of them ended first.
func inTurn(a, b state.Ending) int {
	return cmp.Or(a.Record.Due.Compare(b.Record.Due), state.CompareIDs(a.Record.Task.ID, b.Record.Task.ID))
}

// alert is the alert state of a task of which something was claimed: as it is now, when nothing else runs of it, and the one of our other
// runs. With runs of others only the store knows, and then it is asked by all: what ends without one changes none.
func (g *engine) alert(e state.Entry) *rules.AlertState {
	if len(e.Open) == 0 {
		m := rules.AlertOf(e.Tally)
		return &m
	}
	alerts := map[*rules.AlertState]bool{}
	for _, r := range e.Open {
		if n := g.runs[claimOf(r)]; n != nil {
			alerts[n.alert] = true
		} else {
			alerts[nil] = true
		}
	}
	if len(alerts) == 1 {
		for shared := range alerts {
			return shared
		}
	}
	for _, r := range e.Open {
		if n := g.runs[claimOf(r)]; n != nil {
			n.alert = nil
		}
	}
	return nil
}

// before is the alert state of a task before the end of one of its runs.
func (g *engine) before(ctx context.Context, r state.Record) rules.AlertState {
	if n := g.runs[claimOf(r)]; n != nil && n.alert != nil {
		return *n.alert
	}
	found, err := g.Store.Find(context.WithoutCancel(ctx), r.Task.ID)
	if err != nil || len(found) != 1 {
		return rules.AlertState{} // rather told twice than not at all
	}
	return rules.AlertOf(found[0].Tally)
}

// disperse leaves the alert states of tasks to the store: another runner may write outcomes of them from now on.
func (g *engine) disperse() {
	for _, n := range g.runs {
		n.alert = nil
	}
}

// standing is who is told of tasks that do not say.
func (o Options) standing() rules.Standing {
	if o.Standing == nil {
		return rules.Standing{}
	}
	return o.Standing()
}
