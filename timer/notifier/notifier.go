// Package notifier delivers the notices of the outbox. It makes the attempts, beside the loop of
// the runner, and records their outcome.
package notifier

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

const (
	// Longest is the longest duration of an attempt, whatever the time-out of its channel, which is
	// an hour at most.
	Longest = time.Hour + time.Minute
	// Grace is how long a runner that must end waits for the attempts that are running. An attempt
	// that is cut would be made again.
	Grace = 3 * time.Second
	// sendCut is how long an attempt that was cut has to end.
	sendCut = 100 * time.Millisecond
	// outboxPause is the pause after the outbox could not be read.
	outboxPause = 5 * time.Second
)

// Notifier delivers notices in goroutines of its own, so that no channel delays a run. Each holder
// of the runner lock has one, from when it has the lock until it is about to give it up. It wakes
// when a notice is due, when one has arrived and when one was sent. A nil Notifier has nothing to
// deliver.
type Notifier struct {
	Options
	plan *Plan

	quit  chan time.Duration // receives once: the grace of the running attempts
	over  chan struct{}      // closed when nothing more is sent or written
	poked chan struct{}      // a line with a notice was written
	quiet chan struct{}      // receives when the answer of Settled has changed

	mu     sync.Mutex
	dirty  bool      // something has arrived since the last pass
	idle   bool      // nothing is due, being sent or waiting to be written
	empty  bool      // nothing is waiting for later either
	asked  bool      // Settled was called, and the answer was false
	last   time.Time // only what is due by then is sent; zero for all that is due
	closed bool
}

// sendEnd is the end of an attempt.
type sendEnd struct {
	n      state.Notice
	detail string
	err    error
}

// Start starts a notifier, unless Options have no Send.
func Start(o Options) *Notifier {
	if o.Send == nil {
		return nil
	}
	c := &Notifier{Options: o, plan: NewPlan(o), quit: make(chan time.Duration, 1), over: make(chan struct{}),
		poked: make(chan struct{}, 1), quiet: make(chan struct{}, 1), dirty: true}
	go c.run()
	return c
}

// Poke makes the notifier read the outbox.
func (c *Notifier) Poke() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.dirty = true
	c.mu.Unlock()
	signal(c.poked)
}

// Settled reports whether a runner that has nothing else to do may end. With linger, it may not
// while anything is in the outbox. Otherwise it may once an attempt was made for all that was due
// at the first call; the rest stays. Quiet receives when the answer changes.
func (c *Notifier) Settled(linger bool, now time.Time) bool {
	if c == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !linger && c.last.IsZero() {
		c.last, c.dirty = now, true
		signal(c.poked)
	}
	yes := !c.dirty && (c.empty || c.idle && !linger)
	c.asked = !yes
	return yes
}

// GoOn undoes Settled: there is something to do again.
func (c *Notifier) GoOn() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.last.IsZero() {
		c.last, c.dirty = time.Time{}, true
		signal(c.poked)
	}
}

// Quiet receives when the answer of Settled has changed.
func (c *Notifier) Quiet() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.quiet
}

// Shut ends the notifier: no further attempt begins, and those that are running have the grace to
// end. The channel that it returns is closed when the lock may be given up.
func (c *Notifier) Shut(grace time.Duration) <-chan struct{} {
	if c == nil {
		over := make(chan struct{})
		close(over)
		return over
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		c.quit <- grace
	}
	return c.over
}

func (c *Notifier) run() {
	defer close(c.over)
	watching, blind := context.WithCancel(context.Background())
	defer blind()
	sending, cut := context.WithCancel(context.Background())
	defer cut()
	mail, err := c.Store.WatchMail(watching)
	if err != nil {
		c.Say("notices of others are not seen at once: %v", err)
	}
	// As many as there can be, so that no attempt waits to report its end.
	ended := make(chan sendEnd, AtOnce)
	for changed := true; ; {
		c.mu.Lock()
		by, now := c.last, c.Clock.Now()
		changed = changed || c.dirty
		c.dirty, c.idle, c.empty = false, false, false // nobody knows before the pass is over
		c.mu.Unlock()
		if by.IsZero() || by.After(now) {
			by = now
		}
		out := c.look(watching, by, now, changed)
		changed = false
		for _, n := range out.Send {
			go func() { ended <- c.send(sending, n) }()
		}
		c.mu.Lock()
		c.idle, c.empty = out.Idle, out.Empty
		if out.Idle && c.asked {
			c.asked = false
			signal(c.quiet)
		}
		c.mu.Unlock()
		waiting, stop := context.WithCancel(watching)
		var due chan error
		if !out.Wake.IsZero() {
			due = make(chan error, 1)
			go func() { due <- c.Clock.Until(waiting, out.Wake) }()
		}
		select {
		case <-due:
		case <-c.poked:
		case <-mail:
			changed = true
		case e := <-ended:
			c.record(e, ended)
		case grace := <-c.quit:
			stop()
			c.finish(grace, ended, cut)
			return
		}
		stop()
	}
}

// look makes a pass and logs its errors.
func (c *Notifier) look(ctx context.Context, by, now time.Time, changed bool) Todo {
	out, problems, err := c.plan.Pass(ctx, by, now, changed)
	if c.Problems != nil {
		c.Problems(problems)
	}
	switch {
	case err == nil:
		c.plan.said = ""
		return out
	case c.plan.said != err.Error():
		c.plan.said = err.Error()
		c.Warn("the outbox could not be read: %v", err)
	}
	// A runner that must end does not wait for that; one that stays tries again.
	return Todo{Send: out.Send, Wake: now.Add(outboxPause), Idle: len(c.plan.sending) == 0}
}

// record records an end, and those that have arrived with it.
func (c *Notifier) record(e sendEnd, ended <-chan sendEnd) {
	for {
		c.plan.Sent(e.n, e.detail, e.err, c.Clock.Now())
		select {
		case e = <-ended:
		default:
			return
		}
	}
}

// finish waits for the running attempts, cuts those that take longer, and records their outcomes.
// What was cut stays due.
func (c *Notifier) finish(grace time.Duration, ended <-chan sendEnd, cut func()) {
	for _, d := range []time.Duration{grace, sendCut} {
		up, stop := clock.WithTimeout(context.Background(), c.Awake, d)
		for over := false; !over && len(c.plan.sending) > len(c.plan.results); {
			select {
			case e := <-ended:
				if errors.Is(e.err, errCut) {
					c.plan.drop(e.n)
					continue
				}
				c.plan.Sent(e.n, e.detail, e.err, c.Clock.Now())
			case <-up.Done():
				over = true
			}
		}
		stop()
		cut()
	}
	c.plan.Write(context.Background(), c.Clock.Now())
}

// errCut is the error of an attempt that was cut because the runner ends.
var errCut = errors.New("cut")

// send makes an attempt. When Send panics, or does not return, the attempt has failed.
func (c *Notifier) send(ctx context.Context, n state.Notice) sendEnd {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	answer := make(chan sendEnd, 1)
	go func() {
		a := sendEnd{n: n}
		defer func() { answer <- a }()
		defer func() {
			if r := recover(); r != nil {
				a.err = fmt.Errorf("it panicked: %v", r)
			}
		}()
		a.detail, a.err = c.Send(within, n)
	}()
	late, stop := clock.WithTimeout(context.Background(), c.Awake, Longest)
	defer stop()
	select {
	case e := <-answer:
		if e.err != nil && ctx.Err() != nil {
			e.err = errCut
		}
		return e
	case <-late.Done():
		return sendEnd{n: n, err: fmt.Errorf("no answer within %v", Longest)}
	}
}

// signal makes a channel with one place receive, if it does not already.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
