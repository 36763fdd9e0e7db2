package runner

import (
	"context"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// stock is what was read of one-shots that are due and found no room, while nothing else stood among them: the next to begin, in order. Where
// much is due at once it spares a look at the queue, with all its names, at each end of a run.
//
// It is only what to try: whoever claims reads the task again, and finds out whether it was moved, paused or taken meanwhile.
type stock struct {
	entries []state.Entry
	read    time.Time
}

// stockMost is how long it counts. So long, at most, it takes until something is noticed that is not to wait for room: a recurring task in
// between, whose next instant has come, or one that is to be skipped.
const stockMost = 100 * time.Millisecond

// lasts reports whether there is a stock that counts at now.
func (g *engine) lasts(now time.Time) bool {
	since := now.Sub(g.stock.read)
	return len(g.stock.entries) > 0 && since >= 0 && since < stockMost && g.Mode != Once && len(g.stuck) == 0 && len(g.held) == 0
}

// plain reports whether all there is to decide about an entry is that it runs once there is room.
func plain(e state.Entry, now time.Time) bool {
	most, _ := rulesOf(e.Task).limit()
	return !e.Task.Recurring() && e.Task.Type() != state.TypeWait && !e.Held && len(e.Open) == 0 && e.Tally.Stop == "" && most == 0 && !e.Due.After(now)
}

// settle writes the outcomes of what has ended. Where one-shots wait for the room, they get it first: a place is not empty for as long as the
// disk takes for the outcome of who had it. Everything else is for the next pass, which follows.
func (g *engine) settle(ctx context.Context, now time.Time) {
	if free := g.MaxParallel - g.taken(); g.short && free > 0 && g.pause == 0 && ctx.Err() == nil {
		g.refill(ctx, now, free)
	}
	g.flush(ctx, now)
}

// refill begins one-shots that were due when the last look found no room for them.
func (g *engine) refill(ctx context.Context, now time.Time, free int) {
	if g.Mode == Once {
		now = g.looked
	}
	var jobs []job
	var o outlook // the next pass says it, as it does errors
	// begin prepares of the entries as many as there is room for, and returns the others.
	begin := func(entries []state.Entry) []state.Entry {
		for i, e := range entries {
			if len(jobs) == free {
				return entries[i:]
			}
			if e.Task.Recurring() || e.Held || len(e.Open) > 0 || g.stuck[e.Task.ID] || g.delays[e.Task.ID].waits(now) || slices.ContainsFunc(jobs, func(j job) bool { return j.entry.Task.ID == e.Task.ID }) {
				continue
			}
			if j, _, err := g.prepare(ctx, e, nil, now, &o); err == nil && j.run {
				jobs = append(jobs, j)
			}
		}
		return nil
	}
	if g.lasts(now) {
		g.stock.entries = begin(g.stock.entries)
	}
	if len(jobs) < free {
		entries, problems, err := g.Store.DueBy(ctx, g.looked, g.window(free, g.idle)+g.MaxParallel)
		others := err != nil || len(problems) > 0 || slices.ContainsFunc(entries, func(e state.Entry) bool { return !plain(e, now) })
		if g.stock = (stock{begin(entries), now}); others {
			g.stock = stock{}
		}
	}
	g.claim(ctx, jobs, now, &o)
}
