package runner

import (
	"context"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/proc"
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

// EndOrphan ends the command of a claim whose runner is gone, and its group: with TERM, and with
// KILL after the grace. It returns when the command is gone, or with ctx.Err().
func EndOrphan(ctx context.Context, r state.Record, grace time.Duration) error {
	return proc.EndGroup(ctx, identity(r.Child), clock.Awake, grace)
}

// EndedLine is the outcome of a claim whose runner is gone and that somebody has therefore ended.
// End accepts it only if no runner has ended the claim meanwhile.
func EndedLine(ctx context.Context, st state.Outputs, r state.Record, why string, now time.Time) state.Line {
	sched, _ := rules.Schedule(r.Task) // without one it is no catching up
	res := rules.Result{Started: r.Started, Ended: now, Unknown: true, Halted: why}
	if !r.Started.IsZero() {
		stdout, stderr := st.Output(r.Task.ID, r.Number)
		res.Stdout, res.Stderr = trim(ctx, stdout), trim(ctx, stderr)
	}
	return rules.Judge(r, sched, res)
}
