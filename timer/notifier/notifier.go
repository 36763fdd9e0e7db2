// Package notifier delivers what waits in the outbox: it makes the attempts, beside the runner, and
// writes what became of them.
package notifier

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

const (
	// Longest is the longest that an attempt to deliver may take, whatever its channel's time-out,
	// which is an hour at the most.
	Longest = time.Hour + time.Minute
	// Grace is how long a runner that is to end waits for what is being sent: cut, it would be told
	// twice.
	Grace = 3 * time.Second
	// sendCut is how long what was cut has to end.
	sendCut = 100 * time.Millisecond
	// outboxPause is before another look at an outbox that could not be read.
	outboxPause = 5 * time.Second
)

// Notifier delivers notices, beside the runner's loop: it has goroutines of its own, so that no
// channel delays a run. There is one for each holder of the runner lock, from when it has the lock
// until it is about to give it up. It wakes when a notice is due, when one has come and when one
// was sent, and for nothing else. A nil Notifier has nothing to deliver.
type Notifier struct {
	Options
	plan *Plan

	quit  chan time.Duration // receives once: how long what is being sent has to end
	over  chan struct{}      // closed when nothing more is sent or written
	poked chan struct{}      // a line with news was written
	quiet chan struct{}      // receives when the answer of Settled has changed

	mu     sync.Mutex
	dirty  bool      // something has come since the last look
	idle   bool      // nothing is due, being sent or to be written
	empty  bool      // nor is there anything for later
	asked  bool      // whether it is settled; it was not
	last   time.Time // only what is due by then is sent; zero: whatever is due
	closed bool
}

// sendEnd is the end of an attempt.
type sendEnd struct {
	n      state.Notice
	detail string
	err    error
}

// Start starts a notifier, unless there is nothing to send with.
func Start(o Options) *Notifier {
	if o.Send == nil {
		return nil
	}
	c := &Notifier{Options: o, plan: NewPlan(o), quit: make(chan time.Duration, 1), over: make(chan struct{}),
		poked: make(chan struct{}, 1), quiet: make(chan struct{}, 1), dirty: true}
	go c.run()
	return c
}

// Poke has the notifier look at the outbox.
func (c *Notifier) Poke() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.dirty = true
	c.mu.Unlock()
	nudge(c.poked)
}

// Settled reports whether a runner that has nothing else to do may end. With linger it stays for as
// long as there is anything in the outbox; else an attempt is made at all that is due by now, when
// it first asks, and the rest is left. When the answer becomes another, quiet receives.
func (c *Notifier) Settled(linger bool, now time.Time) bool {
	if c == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !linger && c.last.IsZero() {
		c.last, c.dirty = now, true
		nudge(c.poked)
	}
	yes := !c.dirty && (c.empty || c.idle && !linger)
	c.asked = !yes
	return yes
}

// GoOn takes Settled back: there is something to do after all.
func (c *Notifier) GoOn() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.last.IsZero() {
		c.last, c.dirty = time.Time{}, true
		nudge(c.poked)
	}
}

// Quiet receives when the answer of Settled has changed.
func (c *Notifier) Quiet() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.quiet
}

// Shut ends the notifier: nothing more is sent, and what is being sent has the grace to end. The
// channel that is returned is closed when the lock may be given up.
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
	ended := make(chan sendEnd, AtOnce) // as many as there can be: nobody waits to tell of an end
	for changed := true; ; {
		c.mu.Lock()
		by, now := c.last, c.Clock.Now()
		changed = changed || c.dirty
		c.dirty = false
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
			nudge(c.quiet)
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
		case _, ok := <-mail:
			if changed = true; !ok {
				mail = nil
			}
		case e := <-ended:
			c.take(e, ended)
		case grace := <-c.quit:
			stop()
			c.finish(grace, ended, cut)
			return
		}
		stop()
	}
}

// look is a pass that says what is wrong.
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
		c.warn("the outbox could not be read: %v", err)
	}
	// Nobody who is to end waits for that; who stays tries again.
	return Todo{Send: out.Send, Wake: now.Add(outboxPause), Idle: len(c.plan.sending) == 0}
}

// take takes in an end, and those that have come with it.
func (c *Notifier) take(e sendEnd, ended <-chan sendEnd) {
	for {
		c.plan.Sent(e.n, e.detail, e.err, c.Clock.Now())
		select {
		case e = <-ended:
		default:
			return
		}
	}
}

// finish waits for what is being sent, cuts what takes longer, and writes what became of it. What
// was cut stays due.
func (c *Notifier) finish(grace time.Duration, ended <-chan sendEnd, cut func()) {
	for _, d := range []time.Duration{grace, sendCut} {
		waiting, stop := context.WithCancel(context.Background())
		up := make(chan error, 1)
		go func() { up <- c.Awake.For(waiting, d) }()
		for over := false; !over && len(c.plan.sending) > len(c.plan.results); {
			select {
			case e := <-ended:
				if errors.Is(e.err, errCut) {
					c.plan.drop(e.n)
					continue
				}
				c.plan.Sent(e.n, e.detail, e.err, c.Clock.Now())
			case <-up:
				over = true
			}
		}
		stop()
		cut()
	}
	c.plan.Write(context.Background(), c.Clock.Now())
}

// errCut is the end of an attempt because the runner ends.
var errCut = errors.New("cut")

// send makes an attempt. Should Send panic, or not come back, it is one that has failed, and no
// more than that.
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
	timing, stop := context.WithCancel(context.Background())
	defer stop()
	late := make(chan struct{})
	go func() {
		if c.Awake.For(timing, Longest) == nil {
			close(late)
		}
	}()
	select {
	case e := <-answer:
		if e.err != nil && ctx.Err() != nil {
			e.err = errCut
		}
		return e
	case <-late:
		return sendEnd{n: n, err: fmt.Errorf("no answer within %v", Longest)}
	}
}

// nudge makes a channel of one place receive, if it does not already.
func nudge(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
