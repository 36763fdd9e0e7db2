package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

const (
	// sendMost is the longest that an attempt to deliver may take, whatever its channel's time-out, which is an hour at the most.
	sendMost = time.Hour + time.Minute
	// sendGrace is how long a runner that is to end waits for what is being sent: cut, it would be told twice.
	sendGrace = 3 * time.Second
	// sendCut is how long what was cut has to end.
	sendCut = 100 * time.Millisecond
	// outboxPause is before another look at an outbox that could not be read.
	outboxPause = 5 * time.Second
)

// courier delivers notices, beside the loop: it has goroutines of its own, so that no channel delays a run. There is one for each
// holder of the runner lock, from when it has the lock until it is about to give it up. It wakes when a notice is due, when one has come
// and when one was sent, and for nothing else.
type courier struct {
	*post
	problems func([]state.Problem)

	quit  chan time.Duration // receives once: how long what is being sent has to end
	over  chan struct{}      // closed when nothing more is sent or written
	poked chan struct{}      // a line with news was written
	quiet chan struct{}      // receives when it has become idle

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

// newCourier starts a courier, unless there is nothing to send with.
func newCourier(o Options, problems func([]state.Problem)) *courier {
	if o.Send == nil {
		return nil
	}
	c := &courier{post: newPost(o), problems: problems, quit: make(chan time.Duration, 1), over: make(chan struct{}),
		poked: make(chan struct{}, 1), quiet: make(chan struct{}, 1), dirty: true}
	go c.run()
	return c
}

// poke has the courier look at the outbox.
func (c *courier) poke() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.dirty = true
	c.mu.Unlock()
	nudge(c.poked)
}

// settled reports whether a runner that has nothing else to do may end. With linger it stays for as long as there is anything in the
// outbox; else an attempt is made at all that is due by now, when it first asks, and the rest is left. When the answer becomes
// another, quiet receives.
func (c *courier) settled(linger bool, now time.Time) bool {
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

// goOn takes settled back: there is something to do after all.
func (c *courier) goOn() {
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

// quietly receives when the answer of settled has changed.
func (c *courier) quietly() <-chan struct{} {
	if c == nil {
		return nil
	}
	return c.quiet
}

// shut ends the courier: nothing more is sent, and what is being sent has the grace to end. The channel that is returned is closed when
// the lock may be given up.
func (c *courier) shut(grace time.Duration) <-chan struct{} {
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

func (c *courier) run() {
	defer close(c.over)
	watching, blind := context.WithCancel(context.Background())
	defer blind()
	sending, cut := context.WithCancel(context.Background())
	defer cut()
	mail, err := c.Store.WatchMail(watching)
	if err != nil {
		c.Say("notices of others are not seen at once: %v", err)
	}
	ended := make(chan sendEnd, sendsMost) // as many as there can be: nobody waits to tell of an end
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
		for _, n := range out.start {
			go func() { ended <- c.send(sending, n) }()
		}
		c.mu.Lock()
		c.idle, c.empty = out.idle, out.empty
		if out.idle && c.asked {
			c.asked = false
			nudge(c.quiet)
		}
		c.mu.Unlock()
		waiting, stop := context.WithCancel(watching)
		var due chan error
		if !out.wake.IsZero() {
			due = make(chan error, 1)
			go func() { due <- c.Clock.Until(waiting, out.wake) }()
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
func (c *courier) look(ctx context.Context, by, now time.Time, changed bool) sendings {
	out, problems, err := c.pass(ctx, by, now, changed)
	c.problems(problems)
	switch {
	case err == nil:
		c.said = ""
		return out
	case c.said != err.Error():
		c.said = err.Error()
		c.Say("the outbox could not be read: %v", err)
	}
	// Nobody who is to end waits for that; who stays tries again.
	return sendings{start: out.start, wake: now.Add(outboxPause), idle: len(c.sending) == 0}
}

// take takes in an end, and those that have come with it.
func (c *courier) take(e sendEnd, ended <-chan sendEnd) {
	for {
		c.sent(e.n, e.detail, e.err, c.Clock.Now())
		select {
		case e = <-ended:
		default:
			return
		}
	}
}

// finish waits for what is being sent, cuts what takes longer, and writes what became of it. What was cut stays due.
func (c *courier) finish(grace time.Duration, ended <-chan sendEnd, cut func()) {
	for _, d := range []time.Duration{grace, sendCut} {
		waiting, stop := context.WithCancel(context.Background())
		up := make(chan error, 1)
		go func() { up <- c.Awake.For(waiting, d) }()
		for over := false; !over && len(c.sending) > len(c.results); {
			select {
			case e := <-ended:
				if errors.Is(e.err, errCut) {
					c.drop(e.n)
					continue
				}
				c.sent(e.n, e.detail, e.err, c.Clock.Now())
			case <-up:
				over = true
			}
		}
		stop()
		cut()
	}
	c.write(context.Background(), c.Clock.Now())
}

// errCut is the end of an attempt because the runner ends.
var errCut = errors.New("cut")

// send makes an attempt. Should Send panic, or not come back, it is one that has failed, and no more than that.
func (c *courier) send(ctx context.Context, n state.Notice) sendEnd {
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
		if c.Awake.For(timing, sendMost) == nil {
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
		return sendEnd{n: n, err: fmt.Errorf("no answer within %v", sendMost)}
	}
}

// nudge makes a channel of one place receive, if it does not already.
func nudge(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
