package schedule

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// settling is how long a runner that was started may take until it is seen, at first. It is twice
// as long after each start that nothing was seen of, as on a machine that is very busy.
const settling = 250 * time.Millisecond

// RunnerWatch sees to it that a runner lives while lines come in over any length of time. It looks
// after every batch, and starts at most one runner in a while: one that was just started needs a
// moment until it is seen. A batch that was left to such a one is looked after once more.
type RunnerWatch struct {
	in      *Stdin
	Begin   func(context.Context) handover.RunnerState // handOver
	h       handover.RunnerState
	started time.Time // when the last runner was started; zero: none was
	unseen  int       // runners started since one was last seen
	Trusted bool      // a batch came while the runner that was started was not seen yet
	idle    chan struct{}
	timer   *time.Timer
}

func (k *RunnerWatch) Start(in *Stdin) {
	k.in, k.idle = in, make(chan struct{}, 1)
	if k.Begin == nil {
		k.Begin = func(ctx context.Context) handover.RunnerState { return handover.HandOver(ctx, in.Call, in.St) }
	}
	k.timer = time.AfterFunc(time.Hour, func() { poke(k.idle) })
	k.timer.Stop()
}

func (k *RunnerWatch) Stop() { k.timer.Stop() }

// See looks for the runner after tasks were written, and says who it is.
func (k *RunnerWatch) See(ctx context.Context) handover.RunnerState {
	now := k.in.Clock.Now()
	patience := settling << min(max(k.unseen-1, 0), 5)
	if since := now.Sub(k.started); !k.started.IsZero() && since >= 0 && since < patience {
		if _, led, err := runner.Led(ctx, k.in.St); err == nil && !led {
			k.Trusted = true
			k.timer.Reset(patience - since)
			return k.h
		}
	}
	k.h = k.Begin(ctx)
	k.Trusted = false
	switch k.h.Runner {
	case handover.RunnerStarted:
		k.started = now
		k.unseen++
	case handover.RunnerAlive, handover.RunnerStopped:
		k.unseen = 0
	}
	return k.h
}

// Look makes sure of what was taken on trust.
func (k *RunnerWatch) Look(ctx context.Context, last bool) {
	if !k.Trusted {
		return
	}
	if last { // there is no later look: one runner too many ends by itself
		k.started = time.Time{}
	}
	k.See(ctx)
}
