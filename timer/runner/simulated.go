package runner

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// Engine is the runner without its waiting, for a host that simulates the world. It makes the same
// decisions and the same writes as the runner, at the instants that it is told. One goroutine uses
// it, and never from within a method of the host. It needs the options Store, Say, Ended, Self and
// MaxParallel, and of Clock only the readings (clock.Steady, clock.Synchronised).
type Engine struct{ g *engine }

// NewEngine returns an engine over a simulated host.
func NewEngine(o Options, host Host) *Engine { return &Engine{newEngine(o, host)} }

// Begin is what a runner does first: it takes over what the runner before it left open.
func (e *Engine) Begin(ctx context.Context, now time.Time) (err error) {
	if e.g.queue, err = e.g.Store.Follow(ctx); err != nil {
		return err
	}
	if err := e.g.recall(ctx); err != nil {
		return err
	}
	return e.Recover(ctx, now)
}

// Recover takes over what another process left open that has died since.
func (e *Engine) Recover(ctx context.Context, now time.Time) error {
	_, err := e.g.recover(ctx, now)
	return err
}

// Unsettled reports whether something that was left open could not be taken over yet. Call Recover
// again soon.
func (e *Engine) Unsettled() bool { return e.g.unsettled }

// Pass does what is due at now. It returns when the next pass is needed if nothing happens before;
// zero: only when something happens. pending says that there is something in the queue.
func (e *Engine) Pass(ctx context.Context, now time.Time) (wake time.Time, pending bool, err error) {
	o, err := e.g.pass(ctx, now)
	return o.wake, o.pending, err
}

// Take takes in what the host tells, and writes the outcomes. A pass follows, because there may be
// room now.
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

// Close makes the engine claim nothing more, because its runner ends.
func (e *Engine) Close() { e.g.closed = true }

// Going is how many commands and messages a runner waits for before it ends.
func (e *Engine) Going() int { return e.g.going() }
