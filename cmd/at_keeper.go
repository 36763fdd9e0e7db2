package cmd

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// settling is how long a runner that was started may take until it is seen, at first. It is twice as long after each start
// that nothing was seen of, as on a machine that is very busy.
const settling = 250 * time.Millisecond

// keeper sees to it that a runner lives while lines come in over any length of time. It looks after every batch, and starts
// at most one runner in a while: one that was just started needs a moment until it is seen. A batch that was left to such a
// one is looked after once more.
type keeper struct {
	in      *stdin
	begin   func(context.Context) hands // handOver
	h       hands
	started time.Time // when the last runner was started; zero: none was
	unseen  int       // runners started since one was last seen
	trusted bool      // a batch came while the runner that was started was not seen yet
	idle    chan struct{}
	timer   *time.Timer
}

func (k *keeper) start(in *stdin) {
	k.in, k.idle = in, make(chan struct{}, 1)
	if k.begin == nil {
		k.begin = func(ctx context.Context) hands { return handOver(ctx, in.session, in.st) }
	}
	k.timer = time.AfterFunc(time.Hour, func() { poke(k.idle) })
	k.timer.Stop()
}

func (k *keeper) stop() { k.timer.Stop() }

// see looks for the runner after tasks were written, and says who it is.
func (k *keeper) see(ctx context.Context) hands {
	now := k.in.Clock.Now()
	patience := settling << min(max(k.unseen-1, 0), 5)
	if since := now.Sub(k.started); !k.started.IsZero() && since >= 0 && since < patience {
		if _, led, err := runner.Led(ctx, k.in.st); err == nil && !led {
			k.trusted = true
			k.timer.Reset(patience - since)
			return k.h
		}
	}
	k.h = k.begin(ctx)
	k.trusted = false
	switch k.h.runner {
	case runnerStarted:
		k.started = now
		k.unseen++
	case runnerAlive, runnerStopped:
		k.unseen = 0
	}
	return k.h
}

// look makes sure of what was taken on trust.
func (k *keeper) look(ctx context.Context, last bool) {
	if !k.trusted {
		return
	}
	if last { // there is no later look: one runner too many ends by itself
		k.started = time.Time{}
	}
	k.see(ctx)
}
