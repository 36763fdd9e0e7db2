// Package runner is the loop that does what is due. Package rules decides what to do; the runner
// claims, starts, waits and writes the ledger.
package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/agent"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// Run takes the runner lock and does what is due, when it is due, until the mode or ctx ends it.
// After ctx has ended, it starts nothing more and waits for the running commands. state.ErrLed:
// another runner has the lock, or a runner that is gone has left it to a process that does not let
// it go.
//
// A runner that ends because there is no work strands no task of somebody who saw it alive a moment
// before: it gives up the lock, looks at the queue once more, and takes the lock back if there is
// anything in it.
func Run(ctx context.Context, o Options) error {
	lease, err := takeLead(ctx, o)
	if err != nil {
		return err
	}
	k := known{delays: map[string]delay{}, unscheduled: map[string]bool{}}
	for {
		yielded, untold, err := serve(ctx, o, lease, k)
		if e := lease.Release(); err == nil {
			err = e
		}
		switch {
		case err != nil || ctx.Err() != nil || o.Mode != Drain:
			return err
		case yielded:
			// The runner that has taken over tells the news. If it has ended since, this one does.
			if !o.Linger || !untold || o.Clock.For(ctx, afterYield) != nil {
				return nil
			}
			o.Yield, o.Leader.Yields = nil, false
		default:
			more, err := o.more(ctx, k)
			if err != nil || !more && !o.mail(ctx) {
				return err
			}
		}
		lease, err = o.Store.Lead(ctx, o.Leader)
		if errors.Is(err, state.ErrLed) {
			return nil // somebody else has taken over
		}
		if err != nil {
			return err
		}
	}
}

// known is what a runner still knows when it takes back the lock that it gave up.
type known struct {
	delays      map[string]delay // the starts that are put off
	unscheduled map[string]bool  // the tasks without an instant that it has looked at
}

// more reports whether the queue has something for a runner that has given up the lock: a task with
// an instant, or one without that it has not looked at, as what that one waits for may have come.
func (o Options) more(ctx context.Context, k known) (bool, error) {
	l, err := o.Store.List(ctx, state.Pending, state.Running, state.Paused)
	if err != nil {
		return false, err
	}
	for i := range l.Len {
		at := l.Wake(i)
		if at.IsZero() {
			continue
		}
		if !state.IsUnscheduled(at) {
			return true, nil
		}
		var e state.Entry
		switch _, err := l.Read(i, &e); {
		case errors.Is(err, state.ErrNotFound):
		case err != nil:
			return false, err
		case !k.unscheduled[e.Task.ID]:
			return true, nil
		}
	}
	return false, nil
}

// afterYield is how long a runner that has stepped down leaves the lock to others before it tells
// the news that it has written since.
const afterYield = 2 * time.Second

// mail reports whether there is something in the outbox for which a runner stays.
func (o Options) mail(ctx context.Context) bool {
	if !o.Linger || o.Send == nil {
		return false
	}
	due, next, _, err := o.Store.Outbox(ctx, o.Clock.Now(), 1)
	return err == nil && (len(due) > 0 || !next.IsZero())
}

// serve is Run under the lock, until nothing is left to do, or the lock was given up. untold
// says that there were news after that, which it could not tell. It changes k.
func serve(ctx context.Context, o Options, lease state.Lease, k known) (yielded, untold bool, err error) {
	starting, stop := context.WithCancel(ctx)
	defer stop()
	seeing, blind := context.WithCancel(context.WithoutCancel(ctx))
	defer blind()
	l, err := newLoop(starting, seeing, o)
	if err != nil {
		return false, false, err
	}
	l.yield, l.lease, l.delays, l.chains.seen = o.Yield, lease, k.delays, k.unscheduled
	l.tellDelays() // with the lock, what others were told of them is gone
	if err := l.recall(ctx); err != nil {
		return false, false, err
	}
	if err := l.takeOver(ctx); err != nil {
		return false, false, err
	}
	l.notifier = notifier.Start(notifier.Options{
		Store: l.Store, Clock: l.Clock, Awake: l.Awake, Say: l.Say, Warn: l.Warn,
		Send: l.Send, Told: l.Told, GiveUp: l.GiveUp, Problems: l.problems,
	})
	go l.survey(starting)
	go l.forget(starting)
	err = l.work(ctx)
	if l.yielded {
		l.seeOut(ctx)
	}
	stop()
	l.end(ctx)
	return l.yielded, l.untold, err
}

// newLoop makes a loop with the real host. After starting has ended, nothing more is started; after
// seeing has ended, no changes are seen.
func newLoop(starting, seeing context.Context, o Options) (*loop, error) {
	if o.Awake == nil {
		o.Awake = o.Clock
	}
	var saying sync.Mutex // commands report their start, each from its own goroutine
	alone := func(say func(format string, a ...any)) func(format string, a ...any) {
		return func(format string, a ...any) {
			saying.Lock()
			defer saying.Unlock()
			say(format, a...)
		}
	}
	if o.Warn == nil {
		o.Warn = o.Say
	}
	o.Say, o.Warn = alone(o.Say), alone(o.Warn)
	queue, err := o.Store.Follow(seeing)
	if err != nil {
		return nil, err
	}
	events := make(chan Event, 64)
	g := newEngine(o, nil)
	g.queue = queue
	agents := newPool(o)
	most := startsMost
	if _, shared := state.SharedBy(o.Store); shared {
		most = startsMostFleet
	}
	g.host = &machine{Options: o, ctx: starting, life: seeing, agents: agents, events: events, begun: map[claim]*supervisor{}, starts: make(chan struct{}, most)}
	l := &loop{engine: g, agents: agents, ctx: starting, many: make(chan struct{}, 1), set: make(chan struct{}, 1), events: events, kill: o.Kill, gone: make(chan state.Ident), others: map[state.Ident]bool{}}
	if c, ok := o.Clock.(clock.Settable); ok {
		go c.Sets(seeing, func() {
			select {
			case l.set <- struct{}{}:
			default:
			}
		})
	}
	ended := g.Ended
	g.Ended = func(r state.Record, line state.Line) {
		l.count(line)
		if len(line.Tell) > 0 {
			l.notifier.Poke()
			l.untold = l.untold || l.yielded
		}
		ended(r, line)
	}
	return l, nil
}

// loop is the thin shell around the engine: it waits.
type loop struct {
	*engine
	agents *agent.Pool
	ctx    context.Context // ends when nothing more is started
	events chan Event
	kill   <-chan struct{}

	ran  int           // runs that have ended
	many chan struct{} // receives after each forgetAfter of them

	set      chan struct{} // receives when somebody has set the clock
	notifier *notifier.Notifier
	shut     <-chan struct{} // closed when the notifier of a runner that ends has ended
	lease    state.Lease
	yield    <-chan struct{}
	yielded  bool // the lock was given up for a newer runner
	untold   bool // there were news after that

	delayed []state.Delay // what others were told of starts that are put off

	tidied bool // the store has done what it put off, and nothing has happened since

	tookOver    time.Time            // when the claims of others were last looked at
	openChanged bool                 // something has changed since
	relook      time.Time            // when to look again even if nothing has; zero: never
	others      map[state.Ident]bool // processes with their own claims whose end is waited for
	gone        chan state.Ident     // receives those of them that have ended
}

// ErrLost: the runner lock is not this runner's any more, and another runner may have the tasks.
var ErrLost = fmt.Errorf("%w: the state folder, or the runner lock in it, was removed or replaced while this runner had it; it starts nothing more", state.ErrUnusable)

// work passes and waits until the mode or ctx ends it.
func (l *loop) work(ctx context.Context) error {
	now := l.Clock.Now()
	for first := true; ctx.Err() == nil && !l.yielded; first = false {
		if l.lease != nil && l.lease.Lost() {
			return ErrLost
		}
		if l.Mode != Once || first {
			now = l.Clock.Now()
		}
		if l.openChanged || !l.relook.IsZero() && !tooEarly(now, l.relook, nodeStep) {
			l.takeOverAgain(ctx)
		}
		out, err := l.pass(ctx, now)
		if l.Mode == Drain && err == nil && len(l.runs) == 0 && !out.pending && l.openChanged {
			// Nothing else is left to wait for, so this is the moment for a last look at the claims
			// of others.
			l.tookOver = time.Time{}
			l.takeOverAgain(ctx)
			out, err = l.pass(ctx, now)
		}
		if !l.relook.IsZero() {
			out.sooner(l.relook)
		}
		l.tellDelays()
		l.tellFree()
		if first && err == nil && l.OnLead != nil {
			l.OnLead()
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (first || l.Mode == Once):
			return err
		case err != nil:
			l.warn("the queue could not be read: %v", err)
			out.sooner(now.Add(5 * time.Second))
			out.pending = true
		case l.Mode == Once && !l.short() && l.waitedFor() == 0 || len(l.runs) == 0 && (l.Mode == Once || l.Mode == Drain && !out.pending && out.wake.IsZero()):
			stays := l.Linger && l.Mode == Drain
			if l.notifier.Settled(stays, l.Clock.Now()) && (!stays || l.agents.Live() == 0) {
				return nil
			}
		default:
			l.notifier.GoOn()
		}
		if l.Mode == Once {
			out.wake = time.Time{} // what falls due meanwhile is left to a runner that stays
		}
		l.wait(ctx, now, out.wake)
	}
	return nil
}

// tellDelays tells others which starts are put off.
func (l *loop) tellDelays() {
	if len(l.delays) == 0 && len(l.delayed) == 0 || l.lease == nil || l.yielded {
		return
	}
	if list := l.postponed(l.Clock.Now()); !slices.Equal(list, l.delayed) && l.lease.Delay(list) == nil {
		l.delayed = list
	}
}

// tellFree tells the other machines of a fleet how many places are free here.
func (l *loop) tellFree() {
	if to, ok := l.lease.(interface{ Free(int) }); ok && !l.yielded {
		to.Free(max(l.MaxParallel()-l.busy(), 0))
	}
}

// wait returns when the instant has come, when a task was added or changed, when something has
// become of what runs, or when ctx ends. The zero instant never comes. now is what the clock showed
// when the instant was computed.
func (l *loop) wait(ctx context.Context, now, wake time.Time) {
	if l.Idle != nil && len(l.runs) == 0 && (wake.IsZero() || wake.Sub(now) > 2*idleAfter) {
		defer l.idle(ctx)()
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	var idle <-chan struct{}
	if !l.tidied {
		quiet, stop := clock.WithTimeout(waiting, l.Clock, tidyAfter)
		defer stop()
		idle = quiet.Done()
	}
	l.tidied = false // whatever wakes us may have changed something
	var due chan error
	if !wake.IsZero() {
		due = make(chan error, 1)
		go func() { due <- l.Clock.Until(waiting, wake) }()
	}
turning:
	select {
	case answer := <-l.Probe:
		answer()
		goto turning // it has changed nothing
	case <-idle:
		l.tidied = true
		// a process that waited has told its end, and put other notices into the outbox
		l.notifier.Poke()
		go l.tidy(l.ctx)
	case <-due:
	case <-l.Again:
		go l.rereadAll(l.ctx)
	case <-l.set: // perhaps back by hours: what is awaited would be far away
		l.notifier.Poke()
	case <-l.queue.Changed():
		l.halts(ctx, l.Clock.Now())
		l.openChanged = true
	case i := <-l.gone:
		delete(l.others, i)
		l.openChanged, l.tookOver = true, time.Time{}
	case <-l.yield:
		l.yield, l.closed = nil, true
		<-l.notifier.Shut(0)
		l.release()
		l.yielded = true
		l.Say("a newer runner takes over; %d running", len(l.runs))
	case ev := <-l.events:
		l.take(ctx, ev)
	case <-l.shut:
		l.shut = nil
		// What falls due from now on is for another runner, which need not wait for these commands.
		l.release()
	case <-l.notifier.Quiet():
	case <-l.agents.Fewer():
	case <-l.kill:
		l.kill = nil
		l.haltAll(rules.ReasonRunnerEnds, l.Clock.Now())
	case <-ctx.Done():
	}
}

// takeOverStep is the least time between two looks at the claims of others. While many tasks fall
// due, each claim is a change.
const takeOverStep = time.Second

// nodeStep is the time between two looks at the leases of other machines that have claims.
const nodeStep = 10 * time.Second

// takeOver takes over the claims of dead processes, and waits for the end of those that live. If it
// has just done so, it puts that off. relook says when to look again even if nothing changes.
func (l *loop) takeOver(ctx context.Context) error {
	now := l.Clock.Now()
	if soon := l.tookOver.Add(takeOverStep); tooEarly(now, soon, takeOverStep) {
		l.relook = soon
		return nil
	}
	l.tookOver, l.openChanged, l.relook = now, false, time.Time{}
	others, err := l.recover(ctx, now)
	if err != nil || l.unsettled {
		l.relook = now.Add(takeOverStep)
	}
	for _, i := range others {
		switch {
		case l.others[i]:
		case onOtherNode(l.Self, i): // nobody tells of its end
			if l.relook.IsZero() {
				l.relook = now.Add(nodeStep)
			}
		default:
			l.others[i] = true
			go func() {
				if proc.WaitGone(l.ctx, identity(i)) == nil {
					select {
					case l.gone <- i:
					case <-l.ctx.Done():
					}
				}
			}()
		}
	}
	return err
}

// takeOverAgain is takeOver after the first time. An error is tried again soon.
func (l *loop) takeOverAgain(ctx context.Context) {
	if err := l.takeOver(ctx); err != nil {
		l.warnOnce("what was left open could not be read: %v", err)
	}
}

// seeOut sees what was begun to its end, further attempts included, without the lock. It claims
// nothing.
func (l *loop) seeOut(ctx context.Context) {
	l.closed = true
	for ctx.Err() == nil && l.seeOn(ctx) {
	}
}

// seeOn writes the outcomes of what has ended, makes further attempts, and waits for news of what
// runs. It is false when nothing does any more. ctx ends the wait, and nothing else.
func (l *loop) seeOn(ctx context.Context) bool {
	now, working := l.Clock.Now(), context.WithoutCancel(ctx)
	l.flush(ctx, now)
	heard := l.listen(working, now)
	tried := l.retry(working)
	if len(l.runs) == 0 {
		return false
	}
	var out outlook
	if len(l.ends) > 0 {
		out.sooner(later(now, l.flushAt))
	}
	if !heard || !tried {
		out.sooner(now.Add(againPause))
	}
	l.wait(ctx, now, out.wake)
	return true
}

// take takes in an event, and those that have come with it, so that their outcomes are written
// together.
func (l *loop) take(ctx context.Context, ev Event) {
	now := l.Clock.Now()
	for {
		l.host.(*machine).done(ev.Record)
		l.handle(ctx, ev, now)
		select {
		case ev = <-l.events:
			continue
		default:
		}
		break
	}
	if l.settle(ctx, now); l.unsettled && l.relook.IsZero() {
		l.relook = now.Add(takeOverStep)
	}
}

// end waits for the commands that run. It leaves those that outlived an earlier runner, and those
// that wait for a further attempt, to the next runner.
func (l *loop) end(ctx context.Context) {
	l.closed, l.yield = true, nil
	if n := l.going(); n > 0 {
		l.Say("ending; %d running", n)
	}
	told := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	l.shut = l.notifier.Shut(notifier.Grace)
	for l.going() > 0 {
		var out outlook
		now := l.Clock.Now()
		if !l.listen(ctx, now) {
			out.sooner(now.Add(againPause))
		}
		l.wait(ctx, now, out.wake)
	}
	if l.shut != nil {
		<-l.shut
	}
	if l.agents.Live() > 0 && told {
		l.release() // the next runner need not wait for the agents to end, either
	}
	l.agents.Close(l.Kill)
	l.flushAt = time.Time{} // this is the last try
	l.flush(ctx, l.Clock.Now())
	l.tidy(ctx)
}

// release gives up the lock before the loop ends.
func (l *loop) release() {
	if l.lease == nil || l.yielded {
		return
	}
	if err := l.lease.Release(); err != nil {
		l.warn("%v", err)
	}
}
