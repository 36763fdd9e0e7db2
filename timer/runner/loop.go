package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// Mode says when the loop is done.
type Mode int

// The modes.
const (
	Forever Mode = iota // until it is told to end
	Drain               // when nothing is pending and nothing runs
	Once                // when what is due now has been done
)

// Options is what the loop works with. All of it is required but Awake, NoLead and Kill.
type Options struct {
	Store    state.Store
	Clock    clock.Clock
	Commands interface {
		Start(r state.Record, env []string, stdout, stderr string) (Command, error)
	}
	// Deliver tells a message. An error is a channel's, not the task's.
	Deliver func(r state.Record) error
	// Say takes a line for the runner's own log.
	Say func(format string, a ...any)
	// Ended is told each outcome once it is in the ledger.
	Ended func(r state.Record, line state.Line)

	// Awake measures time-outs and pauses: time the machine does not sleep. Nil is Clock.
	Awake clock.Clock

	Self        state.Ident
	Leader      state.Leader
	Mode        Mode
	MaxParallel int // commands at once; tasks that find no room stay in the queue
	// NoLead leaves every occurrence unclaimed until its instant has come.
	NoLead bool
	// Kill, when closed, ends the commands that are running, with the usual grace.
	Kill <-chan struct{}
}

// Run takes the runner lock and does what is due, when it is due, until the mode or ctx ends it. When ctx ends, no more
// is started; commands that are running are waited for. state.ErrLed when another runner has the lock.
//
// No task is stranded between a runner that ends for want of work and somebody who saw it alive a moment before: the
// lock is given up first, then the queue is looked at once more, and the lock is taken back if there is anything in it.
func Run(ctx context.Context, o Options) error {
	lease, err := o.Store.Lead(ctx, o.Leader)
	if err != nil {
		return err
	}
	for {
		err := serve(ctx, o)
		if e := lease.Release(); err == nil {
			err = e
		}
		if err != nil || ctx.Err() != nil || o.Mode != Drain {
			return err
		}
		if _, more, err := o.Store.Next(ctx, time.Time{}); err != nil || !more {
			return err
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

// serve is Run under the lock.
func serve(ctx context.Context, o Options) error {
	if o.Awake == nil {
		o.Awake = o.Clock
	}
	said := o.Say
	var saying sync.Mutex // commands say that they start, each from its own goroutine
	o.Say = func(format string, a ...any) {
		saying.Lock()
		defer saying.Unlock()
		said(format, a...)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	changed, err := o.Store.Watch(watching)
	if err != nil {
		return err
	}
	events := make(chan Event, 64)
	g := newEngine(o, nil)
	g.host = &machine{Options: o, ctx: watching, events: events, halts: map[claim]chan string{}}
	if err := g.recall(ctx); err != nil {
		return err
	}
	if err := g.recover(ctx, o.Clock.Now()); err != nil {
		return err
	}
	go g.survey(watching)
	l := &loop{engine: g, events: events, changed: changed, kill: o.Kill}
	err = l.work(ctx)
	stop()
	l.end(ctx)
	return err
}

// loop is the thin shell around the engine: it waits.
type loop struct {
	*engine
	events  chan Event
	changed <-chan struct{}
	kill    <-chan struct{}
}

// work passes and waits until the mode or ctx ends it.
func (l *loop) work(ctx context.Context) error {
	now := l.Clock.Now()
	for first := true; ctx.Err() == nil; first = false {
		if l.Mode != Once || first {
			now = l.Clock.Now()
		}
		out, err := l.pass(ctx, now)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (first || l.Mode == Once):
			return err
		case err != nil:
			l.Say("the queue could not be read: %v", err)
			out.sooner(now.Add(5 * time.Second))
			out.pending = true
		case len(l.runs) > 0:
		case l.Mode == Once, l.Mode == Drain && !out.pending && out.wake.IsZero():
			return nil
		}
		if l.Mode == Once {
			out.wake = time.Time{} // what falls due meanwhile is left to a runner that stays
		}
		l.wait(ctx, out.wake)
	}
	return nil
}

// wait returns when the instant has come, when a task was added or changed, when something has become of what runs, or when
// ctx ends. The zero instant never comes.
func (l *loop) wait(ctx context.Context, wake time.Time) {
	var due chan error
	if !wake.IsZero() {
		waiting, stop := context.WithCancel(ctx)
		defer stop()
		due = make(chan error, 1)
		go func() { due <- l.Clock.Until(waiting, wake) }()
	}
	select {
	case <-due:
	case <-l.changed:
		l.halts(ctx)
	case ev := <-l.events:
		l.take(ctx, ev)
	case <-l.kill:
		l.kill = nil
		l.haltAll(reasonRunnerEnds)
	case <-ctx.Done():
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
	l.flush(ctx, now)
}

// end waits for the commands that run. Those that only outlived a runner, and those that wait for a further attempt, are left to
// the next runner.
func (l *loop) end(ctx context.Context) {
	if n := l.going(); n > 0 {
		l.Say("ending; %d running", n)
	}
	ctx = context.WithoutCancel(ctx)
	changed := l.changed
	for l.going() > 0 {
		select {
		case ev := <-l.events:
			l.take(ctx, ev)
		case <-l.kill:
			l.kill = nil
			l.haltAll(reasonRunnerEnds)
		case _, ok := <-changed:
			if !ok {
				changed = nil
			}
		}
	}
	l.flush(ctx, l.Clock.Now())
}
