package schedule

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// settling is how long a runner that was just started may take until it holds the lease. After each
// start of which nothing was seen the time doubles, because the machine may be very busy.
const settling = 250 * time.Millisecond

// RunnerWatch makes sure that a runner lives while lines come in, however long that takes. It looks
// after every batch. A runner that was just started needs a moment until it holds the lease, so no
// second one is started meanwhile; the watch trusts that it comes, and checks that later.
type RunnerWatch struct {
	in      *Stdin
	Begin   func(context.Context) handover.RunnerState // starts a runner when none lives
	h       handover.RunnerState
	started time.Time     // when the last runner was started; zero when none was
	unseen  int           // how many runners were started since one was last seen
	Trusted bool          // a batch was left to a runner that was not yet seen
	idle    chan struct{} // has a value when it is time to check what was trusted
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

// See makes sure of a runner after tasks were written, and says which one it is.
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

// Look checks that a runner lives that was only trusted to come.
func (k *RunnerWatch) Look(ctx context.Context, last bool) {
	if !k.Trusted {
		return
	}
	if last { // there is no later check, and a runner too many ends by itself
		k.started = time.Time{}
	}
	k.See(ctx)
}
