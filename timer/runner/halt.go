package runner

import (
	"context"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// halts ends what somebody asked to be ended.
func (g *engine) halts(ctx context.Context, now time.Time) {
	if g.unheard = false; len(g.runs) == 0 {
		return
	}
	records, err := g.Store.Halted(ctx)
	if err != nil {
		g.unheard = true
		return
	}
	for _, r := range records {
		if n := g.runs[claimOf(r)]; n != nil && r.Halt != "" && r.Halt != n.halt {
			g.halt(n, r.Halt, now)
		}
	}
}

// halt ends a run of ours, its pause, or its wait for room.
func (g *engine) halt(n *run, why string, now time.Time) {
	n.halt = why
	if i := slices.Index(g.ready, n); i >= 0 {
		g.ready = slices.Delete(g.ready, i, i+1)
		n.over = true
		g.ends = append(g.ends, state.Ending{Record: n.r, Line: g.judge(n.r, n.sched, rules.Result{Halted: why, Started: n.r.Started, Ended: now, Unknown: true})})
		return
	}
	g.host.Halt(n.r, why)
}

// haltAll ends all that runs.
func (g *engine) haltAll(why string, now time.Time) {
	for _, n := range g.runs {
		if !n.over && n.halt == "" {
			g.halt(n, why, now)
		}
	}
}
