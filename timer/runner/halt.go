package runner

import (
	"context"
	"errors"
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

// listen asks again what halts could not find out. It is not ok if the store still does not answer.
func (g *engine) listen(ctx context.Context, now time.Time) (ok bool) {
	if g.unheard {
		g.halts(ctx, now)
	}
	return !g.unheard
}

// halt ends a run of ours, its pause, or its wait for room.
func (g *engine) halt(n *run, why string, now time.Time) {
	n.halt = why
	if i := slices.Index(g.ready, n); i >= 0 {
		g.ready = slices.Delete(g.ready, i, i+1)
		n.over = true
		g.ends = append(g.ends, state.Ending{Record: n.r, Line: g.core.judge(n.r, n.sched, rules.Result{Halted: why, Started: n.r.Started, Ended: now, Unknown: true})})
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

// Left reports whether the runner of a claim is gone, as far as can be seen from here.
func Left(r state.Record) bool {
	return !Alive(r.Runner) && !InOtherContainer(r.Runner) && !Distant(r)
}

// EndLeft ends a run whose runner is gone: its command and the group of that, with TERM, and with
// KILL 10 s later, or at once when it is to be killed. If a runner came first, its outcome counts.
// When ctx ends, the next call, or a runner, does the rest.
func EndLeft(ctx context.Context, st state.Store, c clock.Clock, r state.Record, why string) error {
	if err := proc.EndGroup(ctx, identity(r.Child), clock.Awake, graceFor(why)); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	working, now := context.WithoutCancel(ctx), c.Now()
	sched, _ := rules.Schedule(r.Task) // without one it is no catching up
	res := rules.Result{Started: r.Started, Ended: now, Unknown: true, Halted: why}
	if !r.Started.IsZero() {
		stdout, stderr := st.Output(r.Task.ID, r.Number)
		res.Stdout, res.Stderr = trim(working, stdout), trim(working, stderr)
	}
	line := rules.Judge(r, sched, res)
	line.At = now
	if err := st.End(working, r, line); !errors.Is(err, state.ErrEnded) {
		return err
	}
	return nil
}
