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

// Options is what the loop works with. All of it is required but Kill.
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

	Self        state.Ident
	Leader      state.Leader
	Mode        Mode
	MaxParallel int // commands at once; tasks that find no room stay in the queue
	// Kill, when closed, ends the commands that are running, with the usual grace.
	Kill <-chan struct{}
}

// loop is the thin shell around decide: it knows what runs, and nothing of what is due.
type loop struct {
	Options
	mu      sync.Mutex
	running map[claim]Command // nil for deliveries and adopted commands
	idle    chan struct{}     // receives when something has ended
	said    map[string]bool   // problems that were told
	stuck   map[string]bool   // tasks that are due and cannot be taken, for want of a schedule or of room
}

// claim names an open claim.
type claim struct {
	id     string
	number int
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
	l := &loop{Options: o, running: map[claim]Command{}, idle: make(chan struct{}, 1), said: map[string]bool{}, stuck: map[string]bool{}}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	changed, err := l.Store.Watch(watching)
	if err != nil {
		return err
	}
	quit := make(chan struct{})
	defer close(quit)
	go l.killer(quit)
	if err := l.recover(ctx); err != nil {
		return err
	}
	go l.survey(watching)
	now := l.Clock.Now()
	for first := true; ctx.Err() == nil; first = false {
		if l.Mode != Once || first {
			now = l.Clock.Now()
		}
		again, more, err := l.pass(ctx, now)
		if err != nil && first {
			return err
		}
		if l.Mode == Once && !more && l.busy() == 0 {
			return err
		}
		next, pending, nextErr := l.Store.Next(ctx, now)
		if err == nil {
			err = nextErr
		}
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			l.Say("the queue could not be read: %v", err)
			again = now.Add(5 * time.Second)
		}
		if l.Mode == Drain && !pending && !more && again.IsZero() && l.busy() == 0 {
			return nil
		}
		if more {
			again = now
		}
		if l.Mode == Once {
			pending = false // what falls due meanwhile is left to a runner that stays
		}
		if !again.IsZero() && (!pending || again.Before(next)) {
			next, pending = again, true
		}
		l.wait(ctx, next, pending, changed)
	}
	l.Say("ending; %d running", l.busy())
	for l.busy() > 0 {
		<-l.idle
	}
	return nil
}

// wait returns when the instant has come, when a task was added or changed, when a run has ended, or when ctx ends.
func (l *loop) wait(ctx context.Context, next time.Time, pending bool, changed <-chan struct{}) {
	var due chan error
	if pending {
		waiting, stop := context.WithCancel(ctx)
		defer stop()
		due = make(chan error, 1)
		go func() { due <- l.Clock.Until(waiting, next) }()
	}
	select {
	case <-due:
	case <-changed:
	case <-l.idle:
	case <-ctx.Done():
	}
}

// pass does what is due at now. more says that room ran out and something due may be left; again, unless it is zero, is
// when to look once more although nothing tells us to.
func (l *loop) pass(ctx context.Context, now time.Time) (again time.Time, more bool, err error) {
	free := l.MaxParallel - l.busy()
	if free <= 0 {
		return time.Time{}, false, nil // the next end of a run wakes the loop
	}
	// Tasks that cannot be helped stay at the front of the queue; they must not take the places of the others.
	entries, problems, err := l.Store.DueBy(ctx, now, free+len(l.stuck))
	if err != nil {
		return time.Time{}, false, err
	}
	if len(problems) > 0 {
		again = now.Add(2 * time.Second)
		if moved, err := l.Store.SetAside(ctx, settle); err == nil {
			l.problems(moved)
		}
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return again, false, nil
		}
		if err := l.take(ctx, e, now); err != nil {
			if !l.stuck[e.Task.ID] {
				l.Say("task %s cannot be run now: %v", e.Task.ID, err)
			}
			l.stuck[e.Task.ID] = true
			again = now.Add(5 * time.Second)
		} else if l.stuck[e.Task.ID] {
			delete(l.stuck, e.Task.ID)
		}
	}
	return again, len(entries) == free+len(l.stuck) && len(entries) > len(l.stuck), nil
}

// take does what is to be done about one entry.
func (l *loop) take(ctx context.Context, e state.Entry, now time.Time) error {
	sched, err := Schedule(e.Task)
	if err != nil {
		return err
	}
	for _, s := range decide(e, sched, now) {
		if s.skip != nil {
			s.skip.At = now
			err = l.Store.Skip(ctx, e.Task.ID, s.due, s.next, *s.skip)
			if err == nil {
				l.Ended(state.Record{Task: e.Task, Due: s.due}, *s.skip)
			}
		} else {
			err = l.start(ctx, e, s, now)
		}
		if errors.Is(err, state.ErrTaken) {
			return nil // another runner, or the user, came first
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// start claims the occurrence and lets it go. The claim is durable before anything runs.
func (l *loop) start(ctx context.Context, e state.Entry, s step, now time.Time) error {
	r, err := l.Store.Claim(ctx, e.Task.ID, s.due, s.next, l.Self, now)
	if err != nil {
		return err
	}
	if r.Task.Type() == state.TypeMessage {
		l.spawn(r, func() { l.deliver(ctx, r) })
		return nil
	}
	l.spawn(r, func() { l.perform(ctx, r, e.Tally.Last) })
	return nil
}

// spawn runs f for the claim beside the loop.
func (l *loop) spawn(r state.Record, f func()) {
	key := claim{r.Task.ID, r.Number}
	l.mu.Lock()
	l.running[key] = nil
	l.mu.Unlock()
	go func() {
		f()
		l.mu.Lock()
		delete(l.running, key)
		l.mu.Unlock()
		select {
		case l.idle <- struct{}{}:
		default: // it will look anyway
		}
	}()
}

// track notes the command of a claim, so that it can be ended.
func (l *loop) track(r state.Record, c Command) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running[claim{r.Task.ID, r.Number}] = c
	select {
	case <-l.Kill:
		go c.Stop(stopGrace)
	default:
	}
}

func (l *loop) busy() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.running)
}

// killer ends what runs when Kill is closed.
func (l *loop) killer(quit <-chan struct{}) {
	select {
	case <-l.Kill:
	case <-quit:
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.running {
		if c != nil {
			go c.Stop(stopGrace)
		}
	}
}

// problems tells each piece of state that cannot be read, once.
func (l *loop) problems(list []state.Problem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range list {
		if text := p.Error(); !l.said[text] {
			l.said[text] = true
			l.Say("%s", text)
		}
	}
}
