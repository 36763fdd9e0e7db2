package runner

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Mutant is an engine with a planted bug.
type Mutant struct {
	Name string
	Make func(o Options, h Host) *Engine
}

// deciding plants a bug into what decide is given, or answers.
func deciding(name string, before func(*state.Entry), after func(*plan, state.Entry, *when.Schedule)) Mutant {
	return mutant(name, func(c *core) {
		c.decide = func(e state.Entry, sched *when.Schedule, now time.Time) plan {
			was := e
			if before != nil {
				before(&e)
			}
			p := decide(e, sched, now)
			if after != nil {
				after(&p, was, sched)
			}
			return p
		}
	})
}

func mutant(name string, plant func(*core)) Mutant {
	return Mutant{name, func(o Options, h Host) *Engine {
		g := newEngine(o, h)
		plant(&g.core)
		return &Engine{g}
	}}
}

// storing plants a bug between the engine and its store.
func storing(name string, wrap func(state.Store) state.Store) Mutant {
	return Mutant{name, func(o Options, h Host) *Engine {
		o.Store = wrap(o.Store)
		return NewEngine(o, h)
	}}
}

type (
	forgetsNotes    struct{ state.Store }
	forgetsReleases struct{ state.Store }
	forgetsRewinds  struct{ state.Store }
	forgetsEnds     struct{ state.Store }
	cutsRanges      struct{ state.Store }
	forgetsOwners   struct{ state.Store }
	rewindsOnce     struct {
		state.Store
		tried map[string]bool
	}
)

func (f forgetsOwners) Note(ctx context.Context, r state.Record) error {
	open, _, _ := f.Open(ctx)
	for _, o := range open {
		if claimOf(o) == claimOf(r) {
			r.Runner = o.Runner
		}
	}
	return f.Store.Note(ctx, r)
}

func (f rewindsOnce) Rewind(ctx context.Context, id string, due, to, now time.Time) error {
	if f.tried[id] {
		return nil
	}
	err := f.Store.Rewind(ctx, id, due, to, now)
	f.tried[id] = err != nil
	return err
}

func (forgetsNotes) Note(context.Context, state.Record) error { return nil }

func (forgetsReleases) Release(context.Context, state.Record) error { return nil }

func (forgetsRewinds) Rewind(context.Context, string, time.Time, time.Time, time.Time) error {
	return nil
}

func (f forgetsEnds) EndAll(ctx context.Context, ends []state.Ending) []error {
	return f.Store.EndAll(ctx, ends)[:0] // the answers, errors among them, are not looked at
}

func (f cutsRanges) Skip(ctx context.Context, id string, due, next time.Time, line state.Line) error {
	if line.DueLast != nil && line.Count > 2 {
		line.DueLast, line.Count = nil, 1 // only the first of a range gets its line
	}
	return f.Store.Skip(ctx, id, due, next, line)
}

// runsAt makes the plan's run one of another instant.
func runsAt(p *plan, due time.Time, sched *when.Schedule) {
	next, _ := sched.Next(due)
	p.steps = []step{{kind: stepRun, due: due, next: next}}
}

func reasonOf(p *plan) string {
	if len(p.steps) > 0 && p.steps[0].skip != nil {
		return p.steps[0].skip.Reason
	}
	return ""
}

// Mutants are engines with bugs that somebody could make.
var Mutants = []Mutant{
	deciding("an instant is stepped over", nil, func(p *plan, _ state.Entry, sched *when.Schedule) {
		for i, s := range p.steps {
			if s.kind == stepRun && sched != nil && !s.next.IsZero() && s.due.Minute() == 15 {
				p.steps[i].next, _ = sched.Next(s.next)
			}
		}
	}),
	deciding("< for <= at the end of the run before", func(e *state.Entry) {
		if !e.Tally.Busy.IsZero() {
			e.Tally.Busy = e.Tally.Busy.Add(-1)
		}
	}, nil),
	deciding("an instant that came during a run is run after it", func(e *state.Entry) { e.Tally.Busy = time.Time{} }, nil),
	deciding("the window is forgotten", func(e *state.Entry) { e.Task.Policy.Window = "" }, nil),
	deciding("the window holds for messages", func(e *state.Entry) {
		if e.Task.Type() == state.TypeMessage {
			e.Task.Run.Argv = []string{"true"}
		}
	}, nil),
	deciding("catching up with nothing is forgotten", func(e *state.Entry) {
		if e.Task.Policy.Catchup == state.CatchupSkip {
			e.Task.Policy.Catchup = ""
		}
	}, nil),
	deciding("catching up with all is forgotten", func(e *state.Entry) {
		if e.Task.Policy.Catchup == state.CatchupAll {
			e.Task.Policy.Catchup = ""
		}
	}, nil),
	deciding("a backlog has no cap", nil, func(p *plan, e state.Entry, sched *when.Schedule) {
		if reasonOf(p) == reasonCap {
			runsAt(p, e.Due, sched)
		}
	}),
	deciding("the cap is one too many", nil, func(p *plan, e state.Entry, sched *when.Schedule) {
		if l := p.steps; reasonOf(p) == reasonCap && l[0].skip.DueLast != nil {
			to, _ := sched.Latest(e.Due.Add(-1), l[0].skip.DueLast.Add(-1))
			next, _ := sched.Next(to)
			l[0].skip = rangeLine(e, sched, e.Due, to, state.Missed, reasonCap)
			l[0].next = next
			after, _ := sched.Next(next)
			l[1] = step{kind: stepRun, due: next, next: after}
		}
	}),
	deciding("the oldest missed instant is run, not the latest", nil, func(p *plan, e state.Entry, sched *when.Schedule) {
		if reasonOf(p) == reasonCoalesced {
			runsAt(p, e.Due, sched)
		}
	}),
	deciding("missed instants get no line", nil, func(p *plan, _ state.Entry, _ *when.Schedule) {
		if n := len(p.steps); reasonOf(p) == reasonCoalesced {
			p.steps[n-1].due = p.steps[0].due
			p.steps = p.steps[n-1:]
		}
	}),
	deciding("a range counts one too few", nil, func(p *plan, _ state.Entry, _ *when.Schedule) {
		for _, s := range p.steps {
			if s.skip != nil && s.skip.Count > 2 {
				s.skip.Count--
			}
		}
	}),
	deciding("runs are begun beside each other", func(e *state.Entry) { e.Open = nil }, nil),
	deciding("what is queued is skipped", func(e *state.Entry) {
		if e.Task.Policy.Overlap == state.OverlapQueue {
			e.Task.Policy.Overlap = ""
		}
	}, nil),
	deciding("what is to be replaced goes on", nil, func(p *plan, _ state.Entry, _ *when.Schedule) {
		if p.held {
			p.steps = nil
		}
	}),
	deciding("a resumed pause is caught up with", nil, func(p *plan, e state.Entry, _ *when.Schedule) {
		if e.Held && len(p.steps) > 1 {
			p.steps = p.steps[1:]
		}
	}),
	deciding("a pause never ends by itself", nil, func(p *plan, e state.Entry, _ *when.Schedule) {
		if e.Held {
			*p = plan{}
		}
	}),
	mutant("an instant is claimed ahead while a run goes on", func(c *core) {
		c.ahead = func(e state.Entry, sched *when.Schedule, now time.Time) (step, bool) {
			e.Open = nil
			return ahead(e, sched, now)
		}
	}),
	mutant("a stop condition is forgotten", func(c *core) {
		c.judge = func(r state.Record, sched *when.Schedule, res Result) state.Line {
			l := judge(r, sched, res)
			l.Stop = ""
			return l
		}
	}),
	mutant("a gate that says no is a failure", func(c *core) {
		c.judge = func(r state.Record, sched *when.Schedule, res Result) state.Line {
			if res.Gate != "" {
				res.Gate, res.ExitCode = "", 1
			}
			return judge(r, sched, res)
		}
	}),
	mutant("a time-out is a failure", func(c *core) {
		c.judge = func(r state.Record, sched *when.Schedule, res Result) state.Line {
			res.TimedOut = false
			return judge(r, sched, res)
		}
	}),
	mutant("a backlog's runs count as busy", func(c *core) {
		c.judge = func(r state.Record, sched *when.Schedule, res Result) state.Line {
			l := judge(r, sched, res)
			l.Backlog = false
			return l
		}
	}),
	mutant("one attempt too many", func(c *core) {
		c.again = func(r state.Record, sched *when.Schedule, l *state.Line, now time.Time) (time.Duration, bool) {
			if r.Task.Policy.Retries > 0 {
				r.Task.Policy.Retries++
			}
			return again(r, sched, l, now)
		}
	}),
	mutant("an attempt beyond the next instant", func(c *core) {
		c.again = func(r state.Record, _ *when.Schedule, l *state.Line, now time.Time) (time.Duration, bool) {
			return again(r, nil, l, now)
		}
	}),
	mutant("the pause between attempts does not grow", func(c *core) {
		c.again = func(r state.Record, sched *when.Schedule, l *state.Line, now time.Time) (time.Duration, bool) {
			d, yes := again(r, sched, l, now)
			return min(d, backoff(r.Task.Policy, 1)), yes
		}
	}),
	taking("a claim that was begun is given back", toEnd, toRelease),
	taking("an interrupted command is run again unasked", toEnd, toRerun),
	taking("an interrupted command is not run again", toRerun, toEnd),
	taking("a command that outlived its runner is given up", toAdopt, toEnd),
	taking("an unstarted claim is taken for an interrupted one", toRelease, toEnd),
	taking("an attempt that was to come is given up", toRest, toEnd),
	taking("a message that was interrupted is not told", toTell, toEnd),
	storing("attempts are not noted", func(s state.Store) state.Store { return forgetsNotes{s} }),
	storing("claims are not given back", func(s state.Store) state.Store { return forgetsReleases{s} }),
	storing("a clock put back silences a task", func(s state.Store) state.Store { return forgetsRewinds{s} }),
	storing("who takes a claim over is not noted", func(s state.Store) state.Store { return forgetsOwners{s} }),
	storing("a task that runs while the clock is put back is silent", func(s state.Store) state.Store { return rewindsOnce{s, map[string]bool{}} }),
	storing("only the first of a range gets its line", func(s state.Store) state.Store { return cutsRanges{s} }),
	storing("an outcome that could not be written is dropped", func(s state.Store) state.Store { return forgetsEnds{s} }),
}

func taking(name string, from, to settlement) Mutant {
	return mutant(name, func(c *core) {
		c.takingOver = func(r state.Record, self state.Ident, lives bool) settlement {
			if s := takingOver(r, self, lives); s != from {
				return s
			}
			return to
		}
	})
}
