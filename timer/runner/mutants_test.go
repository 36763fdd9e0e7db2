package runner

import (
	"context"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Mutant is an engine with a planted bug.
type Mutant struct {
	Name     string
	Make     func(o Options, h Host) *Engine         // nil: as it should be
	Notifier func(o notifier.Options) *notifier.Plan // nil: as it should be
}

// deciding plants a bug into what decide is given, or answers.
func deciding(name string, before func(*state.Entry), after func(*rules.Plan, state.Entry, *when.Schedule)) Mutant {
	return mutant(name, func(c *core) {
		c.decide = func(e state.Entry, sched *when.Schedule, now time.Time) rules.Plan {
			was := e
			if before != nil {
				before(&e)
			}
			p := rules.Decide(e, sched, now)
			if after != nil {
				after(&p, was, sched)
			}
			return p
		}
	})
}

func mutant(name string, plant func(*core)) Mutant {
	return Mutant{Name: name, Make: func(o Options, h Host) *Engine {
		g := newEngine(o, h)
		plant(&g.core)
		return &Engine{g}
	}}
}

// storing plants a bug between the engine and its store.
func storing(name string, wrap func(state.Store) state.Store) Mutant {
	return Mutant{Name: name, Make: func(o Options, h Host) *Engine {
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

func (f rewindsOnce) Rewind(ctx context.Context, t state.Task, due, now time.Time) (state.Entry, error) {
	if f.tried[t.ID] {
		return state.Entry{}, nil
	}
	e, err := f.Store.Rewind(ctx, t, due, now)
	f.tried[t.ID] = err != nil
	return e, err
}

func (forgetsNotes) Note(context.Context, state.Record) error { return nil }

func (forgetsReleases) Release(context.Context, state.Record) error { return nil }

func (forgetsRewinds) Rewind(context.Context, state.Task, time.Time, time.Time) (state.Entry, error) {
	return state.Entry{}, nil
}

func (f forgetsEnds) EndAll(ctx context.Context, ends []state.Ending) []error {
	return f.Store.EndAll(ctx, ends)[:0] // the answers, errors among them, are not looked at
}

func (f cutsRanges) Apply(ctx context.Context, changes ...state.Change) []state.Applied {
	for i, c := range changes {
		changes[i].Rule = func(d state.Doc) (state.Doc, []state.Line, error) {
			d, lines, err := c.Rule(d)
			for k, line := range lines {
				if line.DueLast != nil && line.Count > 2 {
					lines[k].DueLast, lines[k].Count = nil, 1 // only the first of a range gets its line
				}
			}
			return d, lines, err
		}
	}
	return f.Store.Apply(ctx, changes...)
}

// runsAt makes the plan's run one of another instant.
func runsAt(p *rules.Plan, due time.Time, sched *when.Schedule) {
	next, _ := sched.Next(due)
	p.Steps = []rules.Step{{Kind: rules.StepRun, Due: due, Next: next}}
}

func reasonOf(p *rules.Plan) string {
	if len(p.Steps) > 0 && p.Steps[0].Skip != nil {
		return p.Steps[0].Skip.Reason
	}
	return ""
}

// Mutants are engines with bugs that somebody could make.
var Mutants = []Mutant{
	deciding("an instant is stepped over", nil, func(p *rules.Plan, _ state.Entry, sched *when.Schedule) {
		for i, s := range p.Steps {
			if s.Kind == rules.StepRun && sched != nil && !s.Next.IsZero() && s.Due.Minute() == 15 {
				p.Steps[i].Next, _ = sched.Next(s.Next)
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
	deciding("a backlog has no cap", nil, func(p *rules.Plan, e state.Entry, sched *when.Schedule) {
		if reasonOf(p) == rules.ReasonCap {
			runsAt(p, e.Due, sched)
		}
	}),
	deciding("the cap is one too many", nil, func(p *rules.Plan, e state.Entry, sched *when.Schedule) {
		if l := p.Steps; reasonOf(p) == rules.ReasonCap && l[0].Skip.DueLast != nil {
			to, _ := sched.Latest(e.Due.Add(-1), l[0].Skip.DueLast.Add(-1))
			next, _ := sched.Next(to)
			l[0].Skip = rules.RangeLine(e, sched, e.Due, to, state.Missed, rules.ReasonCap)
			l[0].Next = next
			after, _ := sched.Next(next)
			l[1] = rules.Step{Kind: rules.StepRun, Due: next, Next: after}
		}
	}),
	deciding("the oldest missed instant is run, not the latest", nil, func(p *rules.Plan, e state.Entry, sched *when.Schedule) {
		if reasonOf(p) == rules.ReasonCoalesced {
			runsAt(p, e.Due, sched)
		}
	}),
	deciding("missed instants get no line", nil, func(p *rules.Plan, _ state.Entry, _ *when.Schedule) {
		if n := len(p.Steps); reasonOf(p) == rules.ReasonCoalesced {
			p.Steps[n-1].Due = p.Steps[0].Due
			p.Steps = p.Steps[n-1:]
		}
	}),
	deciding("a range counts one too few", nil, func(p *rules.Plan, _ state.Entry, _ *when.Schedule) {
		for _, s := range p.Steps {
			if s.Skip != nil && s.Skip.Count > 2 {
				s.Skip.Count--
			}
		}
	}),
	deciding("runs are begun beside each other", func(e *state.Entry) { e.Open = nil }, nil),
	deciding("what is queued is skipped", func(e *state.Entry) {
		if e.Task.Policy.Overlap == state.OverlapQueue {
			e.Task.Policy.Overlap = ""
		}
	}, nil),
	deciding("what is to be replaced goes on", nil, func(p *rules.Plan, _ state.Entry, _ *when.Schedule) {
		if p.Waits {
			p.Steps = nil
		}
	}),
	deciding("a resumed pause is caught up with", nil, func(p *rules.Plan, e state.Entry, _ *when.Schedule) {
		if e.Held && len(p.Steps) > 1 {
			p.Steps = p.Steps[1:]
		}
	}),
	deciding("a pause never ends by itself", nil, func(p *rules.Plan, e state.Entry, _ *when.Schedule) {
		if e.Held {
			*p = rules.Plan{}
		}
	}),
	mutant("an instant is claimed ahead while a run goes on", func(c *core) {
		c.ahead = func(e state.Entry, sched *when.Schedule, now time.Time) (rules.Step, bool) {
			e.Open = nil
			return rules.Ahead(e, sched, now)
		}
	}),
	mutant("a stop condition is forgotten", func(c *core) {
		c.judge = func(r state.Record, sched *when.Schedule, res rules.Result) state.Line {
			l := rules.Judge(r, sched, res)
			l.Stop = ""
			return l
		}
	}),
	mutant("a gate that says no is a failure", func(c *core) {
		c.judge = func(r state.Record, sched *when.Schedule, res rules.Result) state.Line {
			if res.Gate != "" {
				res.Gate, res.ExitCode = "", 1
			}
			return rules.Judge(r, sched, res)
		}
	}),
	mutant("a time-out is a failure", func(c *core) {
		c.judge = func(r state.Record, sched *when.Schedule, res rules.Result) state.Line {
			res.TimedOut = false
			return rules.Judge(r, sched, res)
		}
	}),
	mutant("a backlog's runs count as busy", func(c *core) {
		c.judge = func(r state.Record, sched *when.Schedule, res rules.Result) state.Line {
			l := rules.Judge(r, sched, res)
			l.Backlog = false
			return l
		}
	}),
	mutant("one attempt too many", func(c *core) {
		c.again = func(r state.Record, sched *when.Schedule, l *state.Line, now time.Time) (time.Duration, bool) {
			if r.Task.Policy.Retries > 0 {
				r.Task.Policy.Retries++
			}
			return rules.Again(r, sched, l, now)
		}
	}),
	mutant("an attempt beyond the next instant", func(c *core) {
		c.again = func(r state.Record, _ *when.Schedule, l *state.Line, now time.Time) (time.Duration, bool) {
			return rules.Again(r, nil, l, now)
		}
	}),
	mutant("the pause between attempts does not grow", func(c *core) {
		c.again = func(r state.Record, sched *when.Schedule, l *state.Line, now time.Time) (time.Duration, bool) {
			d, yes := rules.Again(r, sched, l, now)
			return min(d, rules.Backoff(r.Task.Policy, 1)), yes
		}
	}),
	taking("a claim that was begun is given back", rules.ToEnd, rules.ToRelease),
	taking("an interrupted command is run again unasked", rules.ToEnd, rules.ToRerun),
	taking("an interrupted command is not run again", rules.ToRerun, rules.ToEnd),
	taking("a command that outlived its runner is given up", rules.ToAdopt, rules.ToEnd),
	taking("an unstarted claim is taken for an interrupted one", rules.ToRelease, rules.ToEnd),
	taking("an attempt that was to come is given up", rules.ToRest, rules.ToEnd),
	taking("a message that was interrupted is not told", rules.ToTell, rules.ToEnd),
	mutant("what waits for an end is never looked at again", func(c *core) {
		c.ended = func(*agenda, string) {}
	}),
	mutant("what outlived a runner takes no place", func(c *core) {
		c.placed = func(r *run) bool { return placed(r) && !r.adopted }
	}),
	mutant("what waits for an end hides what is due", func(c *core) {
		c.pick = func(a *agenda, n int) []state.Slot {
			for _, it := range a.items {
				if it.stage == holding {
					n--
				}
			}
			return a.pick(n)
		}
	}),
	mutant("a start that is put off has ended", func(c *core) {
		c.passing = func(rules.Result) bool { return false }
	}),
	storing("attempts are not noted", func(s state.Store) state.Store { return forgetsNotes{s} }),
	storing("claims are not given back", func(s state.Store) state.Store { return forgetsReleases{s} }),
	mutant("a clock that is back is never believed", func(c *core) {
		c.clockShift = func(b state.ClockShift, latest time.Time, now state.Clocks) (state.ClockShift, bool) {
			after, _ := b.Look(latest, now)
			return after, false
		}
	}),
	mutant("a clock that is back is believed at once", func(c *core) {
		c.clockShift = func(b state.ClockShift, latest time.Time, now state.Clocks) (state.ClockShift, bool) {
			after, _ := b.Look(latest, now)
			return after, !after.IsZero()
		}
	}),
	deciding("what has run and comes again gets no line", func(e *state.Entry) { e.Tally.Again = time.Time{} }, nil),
	storing("a clock put back silences a task", func(s state.Store) state.Store { return forgetsRewinds{s} }),
	storing("who takes a claim over is not noted", func(s state.Store) state.Store { return forgetsOwners{s} }),
	storing("a task that runs while the clock is put back is silent", func(s state.Store) state.Store { return rewindsOnce{s, map[string]bool{}} }),
	storing("only the first of a range gets its line", func(s state.Store) state.Store { return cutsRanges{s} }),
	storing("an outcome that could not be written is dropped", func(s state.Store) state.Store { return forgetsEnds{s} }),

	informing("each failure of a row is told", func(r *state.Record, was *state.Tally, _ *rules.TellDefaults, l *state.Line) {
		if rules.Failure(l.Outcome) {
			was.Failing = false
		}
	}),
	informing("a recovery is not told", func(_ *state.Record, was *state.Tally, _ *rules.TellDefaults, l *state.Line) {
		was.Failing = was.Failing && l.Outcome != state.OK
	}),
	informing("the first output is a change", func(_ *state.Record, was *state.Tally, _ *rules.TellDefaults, _ *state.Line) {
		if was.Output == "" {
			was.Output = "nothing"
		}
	}),
	informing("the same output is a change", func(_ *state.Record, was *state.Tally, _ *rules.TellDefaults, _ *state.Line) { was.Output += "." }),
	informing("silence is a result", func(_ *state.Record, _ *state.Tally, _ *rules.TellDefaults, l *state.Line) {
		if l.Outcome == state.OK {
			l.Stderr.Bytes = 1
		}
	}),
	informing("what goes to standard error is not a result", func(_ *state.Record, _ *state.Tally, _ *rules.TellDefaults, l *state.Line) { l.Stderr.Bytes = 0 }),
	informing("never is forgotten", func(r *state.Record, _ *state.Tally, _ *rules.TellDefaults, _ *state.Line) {
		if r.Task.Policy.NotifyOn == state.NotifyNever {
			r.Task.Policy.NotifyOn = state.NotifyAlways
		}
	}),
	informing("the usual channels are told, too", func(r *state.Record, _ *state.Tally, s *rules.TellDefaults, _ *state.Line) {
		if len(r.Task.Policy.Notify) > 0 {
			r.Task.Policy.Notify = append(slices.Clone(r.Task.Policy.Notify), s.Channels...)
		}
	}),
	informing("the usual word counts for messages", func(r *state.Record, _ *state.Tally, s *rules.TellDefaults, _ *state.Line) {
		if r.Task.Policy.NotifyOn == "" {
			r.Task.Policy.NotifyOn = s.On
		}
	}),
	informing("an interrupted run is not a failure", func(_ *state.Record, _ *state.Tally, _ *rules.TellDefaults, l *state.Line) {
		if l.Outcome == state.Interrupted {
			l.Outcome = state.Cancelled
		}
	}),
	deciding("what is out of its window is not in the inbox", nil, func(p *rules.Plan, _ state.Entry, _ *when.Schedule) {
		for _, s := range p.Steps {
			if s.Skip != nil {
				s.Skip.Inbox = ""
			}
		}
	}),
	deciding("what a later run stands for is in the inbox", nil, func(p *rules.Plan, _ state.Entry, _ *when.Schedule) {
		if reasonOf(p) == rules.ReasonCoalesced {
			p.Steps[0].Skip.Inbox = state.ItemMissed
		}
	}),
	Mutant{Name: "the alerts of tasks are those of their claims", Make: func(o Options, h Host) *Engine {
		g := newEngine(o, h)
		claimed := map[claim]state.Tally{}
		g.core.inform = func(r state.Record, was state.Tally, standing rules.TellDefaults, l *state.Line) {
			if m, ok := claimed[claimOf(r)]; ok {
				was = m
			}
			rules.Inform(r, was, standing, l)
		}
		g.Store = claims{g.Store, claimed}
		return &Engine{g}
	}},
	sending("what was told is not written", func(s state.Mail) state.Mail { return forgetsTold{s} }),
	sending("what could not be told is kept for ever", func(s state.Mail) state.Mail { return keepsPostponed{s} }),
	sending("what could not be told is told", func(s state.Mail) state.Mail { return lies{s} }),
}

// informing plants a bug into what inform is given.
func informing(name string, before func(r *state.Record, was *state.Tally, s *rules.TellDefaults, l *state.Line)) Mutant {
	return mutant(name, func(c *core) {
		c.inform = func(r state.Record, was state.Tally, standing rules.TellDefaults, l *state.Line) {
			seen := *l
			before(&r, &was, &standing, &seen)
			rules.Inform(r, was, standing, &seen)
			l.Inbox, l.Tell, l.News = seen.Inbox, seen.Tell, seen.News
		}
	})
}

// sending plants a bug between the notifier and its store.
func sending(name string, wrap func(state.Mail) state.Mail) Mutant {
	return Mutant{Name: name, Notifier: func(o notifier.Options) *notifier.Plan {
		o.Store = wrap(o.Store)
		return notifier.NewPlan(o)
	}}
}

type (
	forgetsTold    struct{ state.Mail }
	keepsPostponed struct{ state.Mail }
	lies           struct{ state.Mail }
)

// claims notes the alerts of tasks when they are claimed.
type claims struct {
	state.Store
	alerts map[claim]state.Tally
}

func (c claims) Apply(ctx context.Context, changes ...state.Change) []state.Applied {
	all := c.Store.Apply(ctx, changes...)
	for _, got := range all {
		for _, r := range got.Doc.Open {
			if _, known := c.alerts[claimOf(r)]; !known {
				c.alerts[claimOf(r)] = got.Doc.Tally
			}
		}
	}
	return all
}

func (forgetsTold) Told(context.Context, state.Notice, state.Line) error { return nil }

func (k keepsPostponed) Postpone(ctx context.Context, n state.Notice) error {
	n.Due = n.Due.AddDate(10, 0, 0)
	return k.Mail.Postpone(ctx, n)
}

func (f lies) Told(ctx context.Context, n state.Notice, l state.Line) error {
	l.Delivered, l.Inbox = true, ""
	return f.Mail.Told(ctx, n, l)
}

func taking(name string, from, to rules.Settlement) Mutant {
	return mutant(name, func(c *core) {
		c.takingOver = func(r state.Record, self state.Ident, lives bool) rules.Settlement {
			if s := rules.TakingOver(r, self, lives); s != from {
				return s
			}
			return to
		}
	})
}
