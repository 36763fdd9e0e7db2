package runner

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// Engine is the runner without its waiting, for who pretends the world around it: the same
// decisions and the same writes as the runner's, at the instants that it is told. One goroutine
// uses it, and never from within a method of the host. Of the options it needs Store, Say, Ended,
// Self and MaxParallel, and of Clock only what that shows (clock.Steady, clock.Synchronised).
type Engine struct{ g *engine }

// NewEngine is an engine over a host that pretends.
func NewEngine(o Options, host Host) *Engine { return &Engine{newEngine(o, host)} }

// Begin is what a runner does first: it takes over what one before it left open.
func (e *Engine) Begin(ctx context.Context, now time.Time) (err error) {
	if e.g.queue, err = e.g.Store.Follow(ctx); err != nil {
		return err
	}
	if err := e.g.recall(ctx); err != nil {
		return err
	}
	return e.g.recover(ctx, now)
}

// Recover takes over what another process left open that has died since.
func (e *Engine) Recover(ctx context.Context, now time.Time) error { return e.g.recover(ctx, now) }

// Unsettled reports whether something that was left open could not be taken over yet: Recover is to be called again, soon.
func (e *Engine) Unsettled() bool { return e.g.unsettled }

// Pass does what is due at now. It returns when to pass again unless something happens before; the zero instant says that only
// then, and pending that there is something in the queue.
func (e *Engine) Pass(ctx context.Context, now time.Time) (wake time.Time, pending bool, err error) {
	o, err := e.g.pass(ctx, now)
	return o.wake, o.pending, err
}

// Take takes in what the host tells, and writes the outcomes. A pass follows, because there may be room now.
func (e *Engine) Take(ctx context.Context, now time.Time, events ...Event) {
	for _, ev := range events {
		e.g.handle(ctx, ev, now)
	}
	e.g.settle(ctx, now)
}

// Halts ends what somebody asked to be ended, as the queue tells.
func (e *Engine) Halts(ctx context.Context, now time.Time) { e.g.halts(ctx, now) }

// HaltAll ends all that runs.
func (e *Engine) HaltAll(now time.Time) { e.g.haltAll(rules.ReasonRunnerEnds, now) }

// Close has the engine claim nothing more: its runner ends, and another one may write outcomes from now on.
func (e *Engine) Close() {
	e.g.closed = true
	e.g.disperse()
}

// Going is how many commands and messages a runner that is told to end waits for.
func (e *Engine) Going() int { return e.g.going() }
