package tasks

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// Stopped is a run that was told to end.
type Stopped struct {
	state.Record
	Over    bool          // it has ended
	Outcome state.Outcome // its outcome in the ledger
	Reason  string
}

// Stop ends the runs of tasks: with TERM, and with KILL 10 s later, or at once. It tells all runs
// before it waits, until none goes on or ctx ends; the results say which are over. It does not
// matter who runs them: it ends those whose runner has died itself. Runs that could not be told
// fail, and the others are ended all the same.
func Stop(ctx context.Context, st state.Store, c clock.Clock, list []state.Entry, kill bool) (runs []*Stopped, failed []Failure) {
	why := rules.Stopped
	if kill {
		why = rules.Killed
	}
	failed = Each(ctx, list, func(e state.Entry) error {
		for _, r := range e.Open { // told in any case, for a runner that starts meanwhile
			if err := st.Halt(ctx, r, why); err != nil && !errors.Is(err, state.ErrEnded) {
				return err
			}
			runs = append(runs, &Stopped{Record: r})
		}
		return nil
	})
	if len(runs) == 0 {
		return runs, failed
	}
	const least, longest = 5 * time.Millisecond, 100 * time.Millisecond
	over, err := endOrphans(ctx, st, c, runs, why)
	for nap := least; err == nil && !over && c.For(ctx, nap) == nil; nap = min(2*nap, longest) {
		over, err = endOrphans(ctx, st, c, runs, why)
	}
	if err == nil {
		err = outcomes(ctx, st, runs)
	}
	if err != nil { // they were told, but how they end cannot be seen
		for _, id := range tasksOf(runs) {
			failed = append(failed, Failure{id, err})
		}
	}
	return runs, failed
}

// tasksOf returns the tasks of the runs, each once.
func tasksOf(runs []*Stopped) (ids []string) {
	for _, r := range runs {
		if !slices.Contains(ids, r.Task.ID) {
			ids = append(ids, r.Task.ID)
		}
	}
	return ids
}

// endOrphans marks the runs that are over, reports whether all are, and ends those whose runner is
// gone, all at the same time.
func endOrphans(ctx context.Context, st state.Store, c clock.Clock, runs []*Stopped, why string) (over bool, err error) {
	open, _, err := st.Open(context.WithoutCancel(ctx))
	if err != nil {
		return false, err
	}
	over = true
	var left []state.Record
	for _, run := range runs {
		at := slices.IndexFunc(open, func(r state.Record) bool { return r.Task.ID == run.Task.ID && r.Number == run.Number })
		if run.Over = at < 0; !run.Over {
			over = false
			left = append(left, open[at])
		}
	}
	errs := make([]error, len(left))
	var wg sync.WaitGroup
	for i, r := range left {
		if runner.Left(r) && ctx.Err() == nil {
			wg.Go(func() { errs[i] = runner.EndLeft(ctx, st, c, r, why) })
		}
	}
	wg.Wait()
	return over, errors.Join(errs...)
}

// outcomes reads how the runs have ended.
func outcomes(ctx context.Context, st state.Ledger, runs []*Stopped) error {
	for _, id := range tasksOf(runs) {
		_, _, err := st.Log(context.WithoutCancel(ctx), id, func(l state.Line) bool {
			wanted := false
			for _, r := range runs {
				if r.Task.ID != id || r.Outcome != "" {
					continue
				}
				if l.Number == r.Number && l.Outcome != "" {
					r.Over, r.Outcome, r.Reason = true, l.Outcome, l.Reason
				}
				wanted = wanted || r.Outcome == ""
			}
			return wanted
		})
		if err != nil {
			return err
		}
	}
	return nil
}
