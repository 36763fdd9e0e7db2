// Package runner is the loop that does what is due. What that is, package rules decides; the runner claims, starts, waits and writes the
// ledger.
package runner

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/agent"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/relay"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// Mode says when the loop is done.
type Mode int

// The modes.
const (
	Forever Mode = iota // until it is told to end
	Drain               // when nothing is pending and nothing runs
	Once                // when what is due now has been done
)

// Options is what the loop works with. All of it is required but Awake and what follows MaxParallel.
type Options struct {
	Store state.Store
	Clock clock.Clock
	// Commands starts the command of a claim. begin is called when there is nothing left to do that
	// may take long; when it fails nothing is started, and its error is the answer. When ctx ends
	// before that nothing is started, either.
	Commands interface {
		Start(ctx context.Context, r state.Record, env []string, stdout, stderr state.Stream, begin func() error) (Command, error)
	}
	// Deliver tells a message. An error is a channel's, not the task's.
	Deliver func(r state.Record) error
	// Allow are the patterns of what may run ([run] allow) at this moment; nil: everything. It is asked before each attempt, from any
	// goroutine. A nil Allow allows everything, too.
	Allow func() []string
	// Asked answers what an agent process asks that was last told of r; an *agent.Error is told as it is. Nil: nothing is answered. It may
	// be called from any goroutine.
	Asked func(ctx context.Context, r state.Record, method string, params json.RawMessage) (any, error)
	// AgentStderr gets what agent processes write to their standard error, beside the files it is kept in; nil: nobody.
	AgentStderr io.Writer
	// Relay passes on what commands write, and of agent processes what is kept, while they write it; nil: it is only kept.
	Relay *relay.Relay
	// Say takes a line for the runner's own log.
	Say func(format string, a ...any)
	// Warn takes a line about trouble of the runner's own, for its log and for whoever asks later; nil: Say takes it.
	Warn func(format string, a ...any)
	// Begun, if set, is told of each run that is no manual one once its first attempt has been started. It is called from any goroutine, and must
	// not block.
	Begun func(r state.Record)
	// Ended is told each outcome once it is in the ledger.
	Ended func(r state.Record, line state.Line)

	// Awake measures time-outs and pauses: time the machine does not sleep. Nil is Clock.
	Awake clock.Clock

	Self   state.Ident
	Leader state.Leader
	Mode   Mode
	// MaxParallel says how many commands run at once, each time that something may be started; tasks that find no room stay in the queue.
	MaxParallel func() int
	// Again receives when it may say something else; nil: never.
	Again <-chan struct{}
	// Keep says how much of the past is kept, each time that some of it is forgotten. Nil: all of it.
	Keep func() state.Keep
	// NoLead leaves every occurrence unclaimed until its instant has come.
	NoLead bool
	// Kill, when closed, ends the commands that are running, with the usual grace.
	Kill <-chan struct{}
	// Yield, when closed, has the runner step down: it gives up the lock at once, claims nothing more, sees what it has begun to its
	// end, and then ends.
	Yield <-chan struct{}
	// DayFile is what a file has whose days tasks leave out; it is asked for when a runner starts, when Again receives, and before
	// anything is begun of a task that names one. Nil: the days stay those that were read when the task was made.
	DayFile func(ctx context.Context, path string) (string, error)
	// Standing says who is told of tasks that do not say, each time that somebody is to be told; nil: nobody. It may be called from any goroutine.
	Standing func() rules.Standing
	// Send makes an attempt to deliver a notice, within ctx; detail is a word for people. Nil: nobody is told, and what is to be told
	// waits in the outbox. An error may be a *notifier.SendError; any other is one that may be gone at the next try. It is called from many goroutines.
	Send func(ctx context.Context, n state.Notice) (detail string, err error)
	// Told, unless it is nil, is told of each notice that has ended, once that is in the ledger.
	Told func(n state.Notice, line state.Line)
	// GiveUp says how long a notice is tried for, as it is by then; nil or 0: notifier.TellFor.
	GiveUp func() time.Duration
	// Linger has a Drain runner stay for as long as there is anything in the outbox. Without it, one attempt is made at what is due when
	// there is nothing else to do, and the rest is left to a runner that stays.
	Linger bool
	// Mute leaves inbox and outbox alone: no line says anything of who is told.
	Mute bool
	// Standby has Run wait for as long as another runner has the lock. StandsBy, if set, is called when it begins to.
	Standby  bool
	StandsBy func()
	// Leads, if set, is called when the lock was taken and all that is due then was looked through.
	Leads func()
	// Probe, if set, is received from as long as the loop turns: it calls what it gets, which must not block.
	Probe <-chan func()
	// Lull, if set, is called when nothing has happened for a second, and while and after all tasks are looked through, from any goroutine.
	Lull func()
	// Doze, if set, is called when nothing has happened for a minute and nothing is to happen soon; what it returns is called when
	// something does.
	Doze func() (wake func())
}

// AtMost is a MaxParallel that does not change.
func AtMost(n int) func() int { return func() int { return n } }

// Run takes the runner lock and does what is due, when it is due, until the mode or ctx ends it.
// When ctx ends, no more is started; commands that are running are waited for. state.ErrLed when
// another runner has the lock, and when one that is gone has left it to a process that does not let
// it go.
//
// No task is stranded between a runner that ends for want of work and somebody who saw it alive a
// moment before: the lock is given up first, then the queue is looked at once more, and the lock is
// taken back if there is anything in it.
func Run(ctx context.Context, o Options) error {
	lease, err := takeLead(ctx, o)
	if err != nil {
		return err
	}
	for {
		yielded, left, err := serve(ctx, o, lease)
		if e := lease.Release(); err == nil {
			err = e
		}
		switch {
		case err != nil || ctx.Err() != nil || o.Mode != Drain:
			return err
		case yielded:
			// What was told meanwhile is for whoever has taken over, should they not have ended since.
			if !o.Linger || !left || o.Clock.For(ctx, afterYield) != nil {
				return nil
			}
			o.Yield, o.Leader.Yields = nil, false
		default:
			_, more, err := state.Next(ctx, o.Store, time.Time{})
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

// afterYield is how long a runner that has stepped down leaves the lock to others before it sees to news that it has written since.
const afterYield = 2 * time.Second

// mail reports whether there is something in the outbox that a runner stays for.
func (o Options) mail(ctx context.Context) bool {
	if !o.Linger || o.Send == nil {
		return false
	}
	due, next, _, err := o.Store.Outbox(ctx, o.Clock.Now(), 1)
	return err == nil && (len(due) > 0 || !next.IsZero())
}

// serve is Run under the lock, until there is nothing left to do, or the lock was given up. left says that after it was there were news,
// which it could not tell.
func serve(ctx context.Context, o Options, lease state.Lease) (yielded, left bool, err error) {
	starting, stop := context.WithCancel(ctx)
	defer stop()
	seeing, blind := context.WithCancel(context.WithoutCancel(ctx))
	defer blind()
	l, err := newLoop(starting, seeing, o)
	if err != nil {
		return false, false, err
	}
	l.yield, l.lease = o.Yield, lease
	if err := l.recall(ctx); err != nil {
		return false, false, err
	}
	if err := l.recover(ctx, o.Clock.Now()); err != nil {
		return false, false, err
	}
	l.notifier = startNotifier(l.Options, l.problems)
	go l.survey(starting)
	go l.forget(starting)
	if c, ok := o.Clock.(clock.Settable); ok {
		go c.Sets(starting, func() {
			select {
			case l.set <- struct{}{}:
			default:
			}
		})
	}
	l.attend(ctx)
	err = l.work(ctx)
	if l.yielded {
		l.seeOut(ctx)
	}
	stop()
	l.end(ctx)
	return l.yielded, l.left, err
}

// startNotifier starts what delivers notices; nil when there is nothing to send with.
func startNotifier(o Options, problems func([]state.Problem)) *notifier.Notifier {
	return notifier.Start(notifier.Options{Store: o.Store, Clock: o.Clock, Awake: o.Awake, Say: o.Say, Warn: o.Warn, Send: o.Send, Told: o.Told, GiveUp: o.GiveUp, Problems: problems})
}

// warn says what is trouble of the runner's own.
func (o Options) warn(format string, a ...any) {
	if o.Warn == nil {
		o.Warn = o.Say
	}
	o.Warn(format, a...)
}

// newLoop makes a loop with the real host. When starting ends, nothing more is started; when seeing does, no changes are seen any more.
func newLoop(starting, seeing context.Context, o Options) (*loop, error) {
	if o.Awake == nil {
		o.Awake = o.Clock
	}
	var saying sync.Mutex // commands say that they start, each from its own goroutine
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
	g.host = &machine{Options: o, ctx: starting, life: seeing, agents: agents, events: events, begun: map[claim]*supervisor{}, starts: make(chan struct{}, startsMost)}
	l := &loop{engine: g, agents: agents, ctx: starting, many: make(chan struct{}, 1), set: make(chan struct{}, 1), events: events, changed: queue.Changed(), kill: o.Kill, gone: make(chan state.Ident), others: map[state.Ident]bool{}}
	ended := g.Ended
	g.Ended = func(r state.Record, line state.Line) {
		l.count(line)
		if len(line.Tell) > 0 {
			l.notifier.Poke()
			l.left = l.left || l.yielded
		}
		ended(r, line)
	}
	return l, nil
}

// loop is the thin shell around the engine: it waits.
type loop struct {
	*engine
	agents  *agent.Pool
	ctx     context.Context // ends when nothing more is to be started
	events  chan Event
	changed <-chan struct{}
	kill    <-chan struct{}

	ran  int           // runs that have ended
	many chan struct{} // receives when many have

	set      chan struct{} // the clock was
	yield    <-chan struct{}
	lease    state.Lease
	yielded  bool // the lock was given up
	notifier *notifier.Notifier
	left     bool // after that there were news

	delayed []state.Delay // what others were told of what is put off

	attended   time.Time            // when the claims of others were last looked at
	unattended bool                 // something has changed since
	tidied     bool                 // nothing has happened since the store has done what it had put off
	relook     time.Time            // when the claims of others are looked at again though nothing has changed; zero: then
	others     map[state.Ident]bool // processes with claims of their own whose end is waited for
	gone       chan state.Ident     // those of them that have ended
}

// work passes and waits until the mode or ctx ends it.
func (l *loop) work(ctx context.Context) error {
	now := l.Clock.Now()
	for first := true; ctx.Err() == nil && !l.yielded; first = false {
		if l.Mode != Once || first {
			now = l.Clock.Now()
		}
		var look time.Time
		if l.unattended || !l.relook.IsZero() && !now.Before(l.relook) {
			look = l.attend(ctx)
		}
		out, err := l.pass(ctx, now)
		if l.Mode == Drain && err == nil && len(l.runs) == 0 && !out.pending && !look.IsZero() {
			// Nothing else is left to wait for, so the last look at the claims of others is made now.
			l.attended = time.Time{}
			look = l.attend(ctx)
			out, err = l.pass(ctx, now)
		}
		for _, again := range []time.Time{look, l.relook} { // also of what was left open and could not be taken over yet
			if !again.IsZero() {
				out.sooner(again)
			}
		}
		l.tellDelays()
		if first && err == nil && l.Leads != nil {
			l.Leads()
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

// tellDelays lets others know what is put off.
func (l *loop) tellDelays() {
	if len(l.delays) == 0 && len(l.delayed) == 0 || l.lease == nil || l.yielded {
		return
	}
	if list := l.putOffs(l.Clock.Now()); !slices.Equal(list, l.delayed) && l.lease.Delay(list) == nil {
		l.delayed = list
	}
}

// wait returns when the instant has come, when a task was added or changed, when something has become of what runs, or when ctx
// ends. The zero instant never comes. now is what the clock showed when the instant was found.
func (l *loop) wait(ctx context.Context, now, wake time.Time) {
	if l.Doze != nil && len(l.runs) == 0 && (wake.IsZero() || wake.Sub(now) > 2*dozeAfter) {
		defer l.doze(ctx)()
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	var idle chan error
	if !l.tidied {
		idle = make(chan error, 1)
		go func() { idle <- l.Clock.For(waiting, tidyAfter) }()
	}
	l.tidied = false // whatever wakes us may have changed something
	var due chan error
	if !wake.IsZero() {
		due = make(chan error, 2)
		go func() { due <- l.Clock.Until(waiting, wake) }()
		go func() { due <- l.setBack(waiting, now, wake) }()
	}
turning:
	select {
	case answer := <-l.Probe:
		answer()
		goto turning // it has changed nothing
	case <-idle:
		l.tidied = true
		l.notifier.Poke() // somebody who waited has told it by themselves, and put into the outbox who else is to know
		go l.tidy(l.ctx)
	case <-due:
	case <-l.Again:
		go l.rereadAll(l.ctx)
	case <-l.set: // back by hours, perhaps: what it waits for would not come for long
	case _, ok := <-l.changed:
		if !ok { // nobody tells of changes any more
			l.changed = nil
		}
		l.halts(ctx, l.Clock.Now())
		l.unattended = true
	case i := <-l.gone:
		delete(l.others, i)
		l.unattended, l.attended = true, time.Time{}
	case <-l.yield:
		l.yield, l.yielded = nil, true
		l.closed = true
		l.disperse()
		<-l.notifier.Shut(0)
		if err := l.lease.Release(); err != nil {
			l.warn("%v", err)
		}
		l.Say("a newer runner takes over; %d running", len(l.runs))
	case ev := <-l.events:
		l.take(ctx, ev)
	case <-l.notifier.Quiet():
	case <-l.agents.Fewer():
	case <-l.kill:
		l.kill = nil
		l.haltAll(rules.ReasonRunnerEnds, l.Clock.Now())
	case <-ctx.Done():
	}
}

// tidyAfter is how long nothing happens before the store does what it has put off. It does so when the runner ends, too.
const tidyAfter = time.Second

// tidy has the store do what it has put off.
func (l *loop) tidy(ctx context.Context) {
	if err := l.Store.Sync(ctx); err != nil && ctx.Err() == nil {
		l.warn("the disk did not take what was put off: %v", err)
	}
	l.lull()
}

func (o Options) lull() {
	if o.Lull != nil {
		o.Lull()
	}
}

// dozeAfter is how long nothing happens before the program dozes.
const dozeAfter = time.Minute

// doze has the program doze after a while, unless what it returns is called before.
func (l *loop) doze(ctx context.Context) (wake func()) {
	ctx, stop := context.WithCancel(ctx)
	dozing := make(chan func(), 1)
	go func() {
		wake := func() {}
		if l.Clock.For(ctx, dozeAfter) == nil {
			wake = l.Doze()
		}
		dozing <- wake
	}()
	return func() {
		stop()
		(<-dozing)()
	}
}

const (
	// backLeast is how far the clock must have been put back for that to be noticed here.
	backLeast = time.Second
	// backStep is how often it is looked for while nothing is to be done.
	backStep = 15 * time.Minute
)

// setBack returns when the clock was put back since it showed before, while we wait for an instant, which would wait as much longer.
// It is noticed soon after the time that was still to pass has really passed, or within backStep. This only reads the clock.
func (l *loop) setBack(ctx context.Context, before, wake time.Time) error {
	for {
		if err := l.Clock.For(ctx, min(max(wake.Sub(before), 0)+backLeast, backStep)); err != nil {
			return err
		}
		now := l.Clock.Now()
		if now.Before(before.Add(-backLeast)) {
			return nil
		}
		before = now
	}
}

// attendStep is the least time between two looks at the claims of others: while many tasks fall due, each claim is a change.
const attendStep = time.Second

// nodeStep is the time between two looks at the leases of other machines that have claims.
const nodeStep = 10 * time.Second

// attend takes over what was left open by processes that have died: somebody who fired a task by hand, a runner that had stepped
// down. Of those that live it waits for the end. The answer is when to look again; zero for when something changes.
func (l *loop) attend(ctx context.Context) (again time.Time) {
	now := l.Clock.Now()
	if since := now.Sub(l.attended); since >= 0 && since < attendStep {
		return l.attended.Add(attendStep)
	}
	l.attended, l.unattended, l.relook = now, false, time.Time{}
	records, _, err := l.Store.Open(ctx)
	if err != nil {
		l.relook = now.Add(attendStep)
		return time.Time{} // the next pass says it
	}
	dead := false
	for _, r := range records {
		switch {
		case l.runs[claimOf(r)] != nil || l.others[r.Runner]:
		case r.Runner == l.Self && r.Manual: // fired in this process, and seen to there
		case r.Runner == l.Self: // the store said that it could not be granted, and it was granted after all
			dead = true
		case !l.host.Alive(r.Runner):
			dead = true
		case elsewhere(l.Self, r.Runner):
			l.relook = now.Add(nodeStep) // nobody tells of its end
		default:
			l.others[r.Runner] = true
			go func() {
				if proc.WaitGone(l.ctx, identity(r.Runner)) == nil {
					select {
					case l.gone <- r.Runner:
					case <-l.ctx.Done():
					}
				}
			}()
		}
	}
	if dead {
		if err := l.recover(ctx, now); err != nil {
			l.unsettled = true
			l.warn("what was left open could not be read: %v", err)
		}
		if l.unsettled {
			l.relook = now.Add(attendStep)
		}
	}
	return time.Time{}
}

// seeOut sees what was begun to its end, further attempts included, without the lock: nothing is claimed.
func (l *loop) seeOut(ctx context.Context) {
	l.closed = true
	for ctx.Err() == nil && len(l.runs) > 0 {
		now := l.Clock.Now()
		l.flush(ctx, now)
		var wake time.Time
		if len(l.ends) > 0 {
			wake = now.Add(l.pause)
		}
		l.retry(ctx)
		if len(l.runs) > 0 {
			l.wait(ctx, now, wake)
		}
	}
}

// take takes in an event, and those that have come with it: their outcomes are written together.
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
		l.relook = now.Add(attendStep)
	}
}

// end waits for the commands that run. Those that only outlived a runner, and those that wait for a further attempt, are left to
// the next runner.
func (l *loop) end(ctx context.Context) {
	l.closed = true
	if n := l.going(); n > 0 {
		l.Say("ending; %d running", n)
		l.disperse()
	}
	told := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	changed, over := l.changed, l.notifier.Shut(notifier.Grace)
	for l.going() > 0 {
		select {
		case <-over:
			over = nil
			if l.lease != nil && !l.yielded {
				// What falls due from now on is another runner's, which need not wait for the end of these commands.
				if err := l.lease.Release(); err != nil {
					l.warn("%v", err)
				}
			}
		case ev := <-l.events:
			l.take(ctx, ev)
		case answer := <-l.Probe:
			answer()
		case <-l.kill:
			l.kill = nil
			l.haltAll(rules.ReasonRunnerEnds, l.Clock.Now())
		case _, ok := <-changed:
			if !ok {
				changed = nil
			} else {
				l.halts(ctx, l.Clock.Now())
			}
		}
	}
	if over != nil {
		<-over
	}
	if l.agents.Live() > 0 && told && l.lease != nil && !l.yielded {
		if err := l.lease.Release(); err != nil { // what falls due from now on need not wait for the end of the agents, either
			l.warn("%v", err)
		}
	}
	l.agents.Close(l.Kill)
	l.flush(ctx, l.Clock.Now())
	l.tidy(ctx)
}
