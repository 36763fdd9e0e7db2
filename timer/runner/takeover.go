package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// recover takes over the claims that dead processes have left open: an earlier runner, or one that
// fired a task by hand. It returns the other processes with claims that live: runners that have
// stepped down, those of other machines, and processes that fire a task. Claims about which the
// store does not answer now stay open, and unsettled says so.
func (g *engine) recover(ctx context.Context, now time.Time) (others []state.Ident, err error) {
	g.unsettled = false
	left, others, err := g.openOfOthers(ctx)
	if err != nil {
		return nil, err
	}
	if len(left) > 0 {
		// Before they died they may have begun what they had not begun when it was read.
		dead := left
		if left, others, err = g.openOfOthers(ctx); err != nil {
			return nil, err
		}
		left = slices.DeleteFunc(left, func(r state.Record) bool {
			known := slices.ContainsFunc(dead, func(d state.Record) bool { return d.Runner == r.Runner })
			g.unsettled = g.unsettled || !known
			return !known
		})
	}
	// of two claims of a task only the later can be given back
	for _, r := range slices.Backward(left) {
		if err := g.takeOverClaim(ctx, r, now); err != nil {
			g.unsettled = true
			g.warnOnce("%s was left open, and cannot be taken over yet: %v", occurrence(r), err)
		}
	}
	g.flush(ctx, now)
	return others, nil
}

// openOfOthers reads the open claims that this process does not see to: those that are left by
// processes that are dead now, oldest first, and the processes that live.
func (g *engine) openOfOthers(ctx context.Context) (left []state.Record, living []state.Ident, err error) {
	records, problems, err := g.Store.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	g.problems(problems)
	for _, r := range records {
		switch {
		case g.runs[claimOf(r)] != nil, r.Runner == g.Self && r.Manual: // this process sees to it
		// one of its own that it does not know was granted although the store said that it was not
		case r.Runner != g.Self && g.host.Alive(r.Runner, !rules.Unbegun(r)):
			living = append(living, r.Runner)
		default:
			left = append(left, r)
		}
	}
	return left, living, nil
}

// takeOverClaim settles one claim whose runner is gone. An error says that the store did not
// answer, and that nothing has happened.
func (g *engine) takeOverClaim(ctx context.Context, r state.Record, now time.Time) error {
	sched, _ := g.schedule(r.Task)
	n := &run{r: r, sched: sched, last: string(state.Interrupted)}
	as := r
	// such a store notes durably what was begun, whatever happens to the machine
	if g.shared && rules.Unbegun(r) {
		as.Runner.Boot, as.Runner.NS = g.Self.Boot, g.Self.NS
	}
	what := g.core.takingOver(as, g.Self, r.Child.PID != 0 && g.host.Alive(r.Child, true))
	if what == rules.ToTell || what == rules.ToRerun {
		changed, err := g.taskChanged(ctx, r)
		if err != nil {
			return err
		}
		if changed { // what may have begun once does not begin again
			what = rules.ToEnd
		}
	}
	if !g.fits(r.Task) && (what == rules.ToRest || what == rules.ToTell || what == rules.ToRerun) {
		return nil // a runner that may run it goes on
	}
	switch what {
	case rules.ToEnd:
		g.interrupted(ctx, r)
	case rules.ToAdopt:
		n.adopted = true
		if !g.own(ctx, n) {
			return nil
		}
		// a runner that stays will wait for it; this one sees to it as long as it lives
		if g.Mode != Once {
			g.Say("%s outlived its runner (pid %d); waiting for its end", occurrence(r), r.Child.PID)
		}
		g.host.Adopt(n.r)
		if r.Halt != "" {
			g.halt(n, r.Halt, now)
		}
	case rules.ToRelease:
		return g.releaseLeft(ctx, n)
	case rules.ToRest:
		if g.Mode == Once && r.Retry.After(now) {
			return nil // a runner that stays will make it
		}
		n.resting, n.judged = true, rules.Resting(r, sched, now)
		if !g.own(ctx, n) {
			return nil
		}
		// the clock may have been ahead when the instant was noted
		most := max(rules.BackoffMost, rules.Span(r.Task.Policy.Backoff))
		g.host.Rest(n.r, min(max(r.Retry.Sub(now), 0), most))
	case rules.ToTell:
		if g.own(ctx, n) {
			g.host.Start(n.r, n.last)
		}
	case rules.ToRerun:
		n.judged = g.core.judge(r, sched, rules.Result{Started: r.Started, Ended: now, Unknown: true})
		n.r.Child, n.r.Started = state.Ident{}, time.Time{}
		n.r.Attempt = max(r.Attempt, 1)
		n.resting = true
		if !g.own(ctx, n) {
			return nil
		}
		g.Say("%s was interrupted and is run again", occurrence(r))
		if tooEarly(now, r.Due, claimAhead) { // it was claimed ahead of its instant
			g.host.Rest(n.r, r.Due.Sub(now))
		} else {
			g.ready = append(g.ready, n)
		}
	}
	return nil
}

// ProspectOf returns what a runner that is started here as self will do about a claim whose runner
// is gone.
func ProspectOf(r state.Record, self state.Ident) rules.Settlement {
	return rules.TakingOver(r, self, r.Child.PID != 0 && Alive(r.Child))
}

// fits reports whether a task may run on this machine.
func (g *engine) fits(t state.Task) bool {
	fleet, shared := state.SharedBy(g.Store)
	return !shared || fleet.Here().Fits(t.On)
}

// releaseLeft releases a claim whose runner is gone and had begun nothing of it. If the claim
// cannot be released, because an instant waits behind it or later ones have ended, it starts if it
// is still wanted. An error says that the store did not answer, and that nothing has happened.
func (g *engine) releaseLeft(ctx context.Context, n *run) error {
	r := n.r
	err := g.Store.Release(ctx, r)
	switch {
	case err == nil:
		if g.fits(r.Task) {
			g.agenda.put(state.Slot{ID: r.Task.ID, Due: r.Due})
		}
		return nil
	case errors.Is(err, state.ErrEnded):
		return nil
	case !errors.Is(err, state.ErrTaken) && !errors.Is(err, state.ErrNotFound):
		return err
	}
	if !g.fits(r.Task) {
		return nil // a runner that may run it looks
	}
	start, err := g.wanted(ctx, r)
	if !start && err == nil && (r.Task.Told() || r.Task.Type() == state.TypeAgent) {
		var changed bool
		changed, err = g.taskChanged(ctx, r)
		start = !changed // told at least once
	}
	switch {
	case err != nil:
		return err
	case !start:
		g.interrupted(ctx, r)
	case g.own(ctx, n):
		g.host.Start(n.r, n.last)
	}
	return nil
}

// taskChanged is rules.Changed for the task as it is now. A task that is not there any more has
// changed.
func (g *engine) taskChanged(ctx context.Context, r state.Record) (bool, error) {
	e, err := g.entry(ctx, g.Store.Find, r.Task.ID)
	if errors.Is(err, state.ErrNotFound) {
		return !r.Manual, nil
	}
	return err == nil && rules.Changed(e, r), err
}

// wanted is rules.Wanted for the task as it is now. Of one that is not there any more nothing is.
func (g *engine) wanted(ctx context.Context, r state.Record) (bool, error) {
	e, err := g.entry(ctx, g.Store.Find, r.Task.ID)
	if errors.Is(err, state.ErrNotFound) {
		return false, nil
	}
	return err == nil && rules.Wanted(e, r), err
}

// own makes a claim that was taken over ours, so that no other runner takes it over from us. It is
// not ok if a runner of another machine has it.
func (g *engine) own(ctx context.Context, n *run) (ok bool) {
	n.r.Runner = g.Self
	err := g.Store.Note(context.WithoutCancel(ctx), n.r)
	if errors.Is(err, state.ErrTaken) {
		return false
	}
	g.runs[claimOf(n.r)] = n
	if n.r.Fence > 0 { // it has another one by now, and the name of this machine
		e, unfound := g.entry(context.WithoutCancel(ctx), g.Store.Find, n.r.Task.ID)
		err = errors.Join(err, unfound)
		for _, open := range e.Open {
			if open.Number == n.r.Number {
				n.r.Fence, n.r.Node = open.Fence, open.Node
			}
		}
	}
	if err != nil {
		g.warn("%s: who sees to it now could not be noted: %v", occurrence(n.r), err)
	}
	return true
}

// interrupted ends a claim whose runner, or whose machine, died during the run.
func (g *engine) interrupted(ctx context.Context, r state.Record) {
	if slices.ContainsFunc(g.ends, func(e state.Ending) bool { return claimOf(e.Record) == claimOf(r) }) {
		return // it could not be written yet
	}
	l := rules.Interrupted(r)
	if l.Started != nil {
		stdout, stderr := g.Store.Output(r.Task.ID, r.Number)
		l.Stdout, l.Stderr = trim(ctx, stdout), trim(ctx, stderr)
	}
	g.ends = append(g.ends, state.Ending{Record: r, Line: l})
}
