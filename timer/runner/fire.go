package runner

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// ErrGoing is a run that cannot start because another run of its task goes on.
var ErrGoing = errors.New("a run of it goes on")

// Fire runs a task now, in this process, not as an occurrence of its schedule, and returns how the
// run ended. The task's policy applies: the gate, the time-out, further attempts, and overlap. With
// overlap skip, it returns ErrGoing while a run goes on. Nothing is left behind then, except a line
// in the ledger if two began at once. With queue it waits for the other run's end, with replace it
// ends that run first. If this process is killed, the runner handles the claim like that of a dead
// runner. If ctx ends, the command is ended, and the outcome is cancelled.
//
// The options Leader, Mode, MaxParallel, Yield, Standby and Ended have no meaning here.
func Fire(ctx context.Context, o Options, e state.Entry) (state.Line, error) {
	var line state.Line
	o.Ended = func(_ state.Record, l state.Line) { line = l }
	o.MaxParallel = AtMost(1)
	working := context.WithoutCancel(ctx) // what was begun is ended in good order
	seeing, blind := context.WithCancel(working)
	defer blind()
	l, err := newLoop(seeing, seeing, o)
	if err != nil {
		return line, err
	}
	overlap := rules.Overlap(e.Task)
	if overlap == state.OverlapSkip {
		going, err := l.goingBefore(ctx, e.Task.ID, 0)
		if err != nil {
			return line, err
		}
		if len(going) > 0 {
			return line, ErrGoing
		}
	}
	sched, err := l.schedule(e.Task)
	if err != nil {
		return line, err
	}
	r, err := l.Store.Fire(ctx, e.Task.ID, l.Self, l.Clock.Now())
	if err != nil {
		return line, err
	}
	n := &run{r: r, sched: sched, last: e.Tally.Last}
	l.runs[claimOf(r)] = n
	over := func(res rules.Result) {
		n.over = true
		res.Ended = l.Clock.Now()
		l.ends = append(l.ends, state.Ending{Record: r, Line: l.core.judge(r, sched, res)})
	}
	var refused error
	switch why, err := l.awaitOverlap(ctx, r, overlap); {
	case errors.Is(err, ErrGoing):
		refused = err
		over(rules.Result{Gate: ErrGoing.Error()})
		last := &l.ends[len(l.ends)-1].Line
		last.Reason, last.Text = rules.ReasonOverlap, ""
	case ctx.Err() != nil:
		over(rules.Result{Halted: rules.ReasonStopped})
	case err != nil:
		refused = err
		over(rules.Result{Halted: rules.ReasonStopped})
	case why != "":
		over(rules.Result{Halted: why})
	default:
		l.host.Start(r, n.last)
	}
	l.seeFired(ctx)
	l.agents.Close(ctx.Done())
	return line, refused
}

// seeFired sees the one run to its end, and ends it when ctx has ended.
func (l *loop) seeFired(ctx context.Context) {
	for going := true; going; going = l.seeOn(ctx) {
		if ctx.Err() != nil {
			l.haltAll(rules.ReasonStopped, l.Clock.Now())
			ctx = context.WithoutCancel(ctx)
		}
	}
}

// goingBefore returns the claims of a task whose runs go on and whose number is below the given one
// (0: all).
func (l *loop) goingBefore(ctx context.Context, id string, number int) (list []state.Record, err error) {
	records, _, err := l.Store.Open(ctx)
	for _, r := range records {
		if r.Task.ID == id && (number == 0 || r.Number < number) && l.goesOn(r) {
			list = append(list, r)
		}
	}
	return list, err
}

// goesOn reports whether the run of a claim has no end yet: somebody sees to it, or a runner that
// comes makes another attempt.
func (l *loop) goesOn(r state.Record) bool {
	if l.host.Alive(r.Runner, true) || l.host.Alive(r.Child, true) {
		return true
	}
	what := l.core.takingOver(r, l.Self, false)
	return what == rules.ToRest || what == rules.ToRerun
}

// overlapStep is how often Fire looks for the end of another's run, because no system tells of it.
const overlapStep = 100 * time.Millisecond

// awaitOverlap returns when the task's rule of overlap lets the claim start, or with the reason why
// somebody asked for its end.
func (l *loop) awaitOverlap(ctx context.Context, r state.Record, overlap string) (why string, err error) {
	if overlap == state.OverlapAllow {
		return "", nil
	}
	for said := false; ; said = true {
		going, err := l.goingBefore(ctx, r.Task.ID, r.Number)
		if err != nil || len(going) == 0 {
			return "", err
		}
		if overlap == state.OverlapSkip {
			return "", ErrGoing
		}
		for _, o := range going {
			if overlap != state.OverlapReplace {
				continue
			}
			if o.Halt == "" {
				if err := l.Store.Halt(ctx, o, rules.ReasonReplaced); err != nil && !errors.Is(err, state.ErrEnded) {
					return "", err
				}
			}
			if Left(o) {
				if err := EndLeft(ctx, l.Store, l.Clock, o, rules.ReasonReplaced); err != nil {
					return "", err
				}
			}
		}
		if !said {
			l.Say("waiting for the end of %s", occurrence(going[0]))
		}
		halted, err := l.Store.Halted(ctx)
		for _, h := range halted {
			if claimOf(h) == claimOf(r) {
				return h.Halt, nil
			}
		}
		if err == nil {
			err = l.Clock.For(ctx, overlapStep)
		}
		if err != nil {
			return "", err
		}
	}
}
