package waiting

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/await"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// arrival is the thing that came first, with what is told about it.
type arrival struct {
	thing int
	line  state.Line  // the end of the run, when the thing is a task
	mail  tasks.Found // the item, when the thing is the inbox
}

// race is between several waits. One of them wins, and the others end without an effect.
type race struct {
	mu    sync.Mutex
	first *arrival
	over  func()
}

// win makes the arrival that try returns the winner, unless the race is over or try returns nil. It
// reports whether the race is over. Only try may change something, such as lease an item.
func (c *race) win(try func() *arrival) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first != nil {
		return true
	}
	if c.first = try(); c.first == nil {
		return false
	}
	c.over()
	return true
}

// gone is a thing that will not come any more, and why.
type gone struct {
	thing int
	why   error
}

// waited is the result of a wait --any.
type waited struct {
	first  *arrival // nil when none has come
	health health.Result
	gone   map[int]error // the things that will not come any more, and why
}

// leastCheck is how long targets are checked at least, however short the bound of the call is.
const leastCheck = 250 * time.Millisecond

// await waits until one thing has come, until none can come any more, or until its bound or ctx
// ends. It checks each thing at least once, however short the bound is.
func (o *anyOptions) await(ctx context.Context, s *cli.Call) waited {
	racing, stop := context.WithCancel(ctx)
	defer stop()
	c := &race{over: stop}
	w := waited{gone: map[int]error{}}
	if checkOnce(racing, s, o, c) {
		w.first = c.first
		return w
	}
	waiting, cancel := within(racing, s, o, 0)
	defer cancel()
	var all []func() []gone
	for i, t := range o.things {
		one := func(wait func(context.Context, *cli.Call, *race, int) error) {
			all = append(all, func() []gone {
				if err := wait(waiting, s, c, i); err != nil && waiting.Err() == nil {
					return []gone{{i, err}}
				}
				return nil
			})
		}
		switch t.kind {
		case thingTime:
			one(t.awaitTime)
		case thingTask:
			one(o.awaitTask)
		case thingInbox:
			one(o.awaitItem)
		}
	}
	if len(o.health.Targets) > 0 {
		all = append(all, func() []gone {
			looking, cancel := within(racing, s, o, leastCheck)
			defer cancel()
			w.health = o.health.Run(looking, s)
			return o.winTarget(c, w.health)
		})
	}
	ended := make(chan []gone)
	for _, wait := range all {
		go func() { ended <- wait() }()
	}
	for range all {
		for _, g := range <-ended {
			w.gone[g.thing] = g.why
		}
	}
	w.first = c.first
	return w
}

// within bounds ctx by --max, but leaves it at least the time least.
func within(ctx context.Context, s *cli.Call, o *anyOptions, least time.Duration) (context.Context,
	context.CancelFunc) {
	if o.most == 0 {
		return context.WithCancel(ctx)
	}
	left := max(o.most-o.begun.Since(s.Clock), least, 1) // 0 would be no bound
	return cli.WithBound(ctx, s.Clock, left)
}

// checkOnce checks the tasks and the inbox in the order given, and reports whether one has come. It
// ignores errors, because the wait that follows meets them again.
func checkOnce(ctx context.Context, s *cli.Call, o *anyOptions, c *race) bool {
	for i, t := range o.things {
		switch t.kind {
		case thingTask:
			if c.winRun(ctx, o.st, i, t.task) {
				return true
			}
		case thingInbox:
			if over, err := winItem(ctx, s, o, c, i); over && err == nil {
				return true
			}
		}
	}
	return false
}

// winRun wins with the end of a run that the ledger has. It reports whether the race is over.
func (c *race) winRun(ctx context.Context, st state.Store, i int, of await.Run) bool {
	line, found, err := of.Look(ctx, st)
	return err == nil && found && c.win(func() *arrival { return &arrival{thing: i, line: line} })
}

// awaitTime waits for an instant. An instant that comes just when the bound ends has come.
func (t thing) awaitTime(ctx context.Context, s *cli.Call, c *race, i int) error {
	_ = t.time.until(ctx, s.Clock, t.time.first)
	if t.time.late(s.Clock, t.time.first) >= 0 {
		c.win(func() *arrival { return &arrival{thing: i} })
	}
	return nil
}

// awaitTask waits for the end of a run.
func (o *anyOptions) awaitTask(ctx context.Context, s *cli.Call, c *race, i int) error {
	line, _, err := o.things[i].task.End(ctx, o.st, s.Clock)
	if err == nil {
		c.win(func() *arrival { return &arrival{thing: i, line: line} })
	}
	return err
}

// awaitItem waits for an item that nobody has. Another reader may take it first, and then it waits
// for the next.
func (o *anyOptions) awaitItem(ctx context.Context, s *cli.Call, c *race, i int) error {
	look := tasks.Mail{Query: o.mail.Query}
	for {
		if _, err := look.Await(ctx, o.st, s.Clock); err != nil {
			return err
		}
		if over, err := winItem(ctx, s, o, c, i); over || err != nil {
			return err
		}
	}
}

// winItem wins with the oldest item that nobody has, and leases it with --take. The end of a run
// comes together with its item, so a task that is named before wins if its run has ended. It
// reports whether the race is over.
func winItem(ctx context.Context, s *cli.Call, o *anyOptions, c *race, i int) (over bool, err error) {
	look := tasks.Mail{Query: o.mail.Query}
	if seen, err := look.Look(ctx, o.st, s.Clock); err != nil || len(seen.Items) == 0 {
		return false, err
	}
	for j, t := range o.things[:i] {
		if t.task.After = o.place; t.kind == thingTask && c.winRun(ctx, o.st, j, t.task) {
			return true, nil
		}
	}
	over = c.win(func() *arrival {
		var seen tasks.Found
		if seen, err = o.mail.Look(ctx, o.st, s.Clock); err != nil || len(seen.Items) == 0 {
			return nil
		}
		return &arrival{thing: i, mail: seen}
	})
	return over, err
}

// winTarget wins with a healthy target, and returns the targets that will never be healthy.
func (o *anyOptions) winTarget(c *race, r health.Result) (list []gone) {
	for i, t := range o.things {
		if t.kind != thingTarget {
			continue
		}
		switch verdict := r.Targets[t.target]; {
		case verdict.Healthy:
			c.win(func() *arrival { return &arrival{thing: i} })
		case verdict.Permanent:
			list = append(list, gone{i, problem.New(problem.Failed,
				problem.T("%s", cli.Visible(verdict.Target+": "+verdict.Last.String())),
				problem.T("%s says more, and has options for such targets", problem.To("health-wait", t.typed)))})
		}
	}
	return list
}

// runAny waits, and answers which thing came first.
func runAny(ctx context.Context, s *cli.Call, o anyOptions) error {
	if o.st != nil {
		limited, cancel := within(ctx, s, &o, 0)
		handover.WarnNoRunner(limited, s, o.st)
		cancel()
	}
	reading := ctx
	if o.has(thingInbox) {
		var stop context.CancelFunc
		reading, stop = cli.WithReader(ctx, s.World.Out)
		defer stop()
	}
	hide := o.show(s)
	w := o.await(reading, s)
	hide()
	switch {
	case w.first != nil:
		return o.tell(ctx, s, w)
	case ctx.Err() != nil:
		if further := o.continueCall(s, nil); !s.Quiet {
			s.WriteError("continue: %s\n", cli.Visible(cli.ShellLine(further.Words(cli.OwnName(s)))))
		}
		return ctx.Err()
	case errors.Is(context.Cause(reading), cli.ErrReaderGone):
		return cli.ExitCode(cli.ExitFailed)
	case len(w.gone) == len(o.things):
		return o.noneError(w)
	}
	s.Answer(o.unfinished(ctx, s, w))
	return cli.ExitCode(cli.ExitMax)
}

// noneError returns the error of a wait for things of which none can come any more.
func (o *anyOptions) noneError(w waited) error {
	if len(o.things) == 1 {
		return w.gone[0]
	}
	var why []problem.Text
	hint := problem.Text{}
	for i := range o.things {
		p := cli.Explain(w.gone[i])
		why = append(why, p.Message)
		if hint.Empty() {
			hint = p.Hint
		}
	}
	return problem.New(problem.Failed, problem.T("none of these will come: %s", problem.Texts("; ", why...)), hint)
}

// show tells a person what is waited for, with a countdown to the first instant. hide ends the
// countdown.
func (o *anyOptions) show(s *cli.Call) (hide func()) {
	var words []string
	var first *waitOptions
	now := o.begun.Wall.In(o.zone)
	for _, t := range o.things {
		text := cli.Visible(t.text)
		if t.kind == thingTime {
			if first == nil || t.time.first.Before(first.first) {
				first = t.time
			}
			if !t.time.elapsed {
				text += " (" + view.Echo(t.time.first.In(o.zone), now.Truncate(time.Second)) + ")"
			}
		}
		words = append(words, text)
	}
	s.Note("waiting for the first of: %s", strings.Join(words, ", "))
	if first == nil || !view.ShowsCountdown(s, s.Quiet) {
		return func() {}
	}
	return first.countDown(s, newProgress(first.first), first.first.Sub(o.begun.Wall), false)
}

// waitAny is wait --any.
func waitAny(ctx context.Context, s *cli.Call) error {
	o, err := readAny(ctx, s)
	if err != nil {
		return err
	}
	if s.DryRun {
		// A dry run tries no target: some run a command, and others are servers that would notice.
		a := o.unfinished(ctx, s, waited{})
		a.Status, a.Continue, a.DryRun = "would_wait", nil, true
		s.Answer(a)
		return nil
	}
	return runAny(ctx, s, o)
}
