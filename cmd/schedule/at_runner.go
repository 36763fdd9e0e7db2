package schedule

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// startGrace is how long a runner that was just started may take until it holds the lease. The time
// doubles after each start whose runner did not appear, because the machine may be very busy.
const startGrace = 250 * time.Millisecond

// runnerWatch makes sure that a runner lives while lines come in, however long that takes. It
// checks after every batch. A runner that was just started needs a moment until it holds the lease.
// In that time no second one is started: the watch assumes that the first will appear, and checks
// later.
type runnerWatch struct {
	in          *stdin
	startRunner func(context.Context) handover.RunnerState // starts a runner when none lives
	h           handover.RunnerState
	started     time.Time   // when the last runner was started; zero when none was
	unseen      int         // how many runners were started since one was last seen alive
	assumed     bool        // the last batch was left to a runner that was not yet seen alive
	idle        *time.Timer // fires when it is time to check the assumption
}

// start begins the watch of one call.
func (k *runnerWatch) start(in *stdin) {
	k.in, k.idle = in, time.NewTimer(time.Hour)
	k.idle.Stop()
	if k.startRunner == nil {
		k.startRunner = func(ctx context.Context) handover.RunnerState { return handover.HandOver(ctx, in.Call, in.st) }
	}
}

// stop ends the watch.
func (k *runnerWatch) stop() { k.idle.Stop() }

// ensure makes sure that a runner lives after tasks were written, and returns its state.
func (k *runnerWatch) ensure(ctx context.Context) handover.RunnerState {
	now := k.in.Clock.Now()
	grace := startGrace << min(max(k.unseen-1, 0), 5)
	if since := now.Sub(k.started); !k.started.IsZero() && since >= 0 && since < grace {
		if _, led, err := runner.Led(ctx, k.in.st); err == nil && !led {
			k.assumed = true
			k.idle.Reset(grace - since)
			return k.h
		}
	}
	k.h = k.startRunner(ctx)
	k.assumed = false
	switch {
	case k.h.Started():
		k.started = now
		k.unseen++
	case k.h.Runner == handover.RunnerAlive, k.h.Runner == handover.RunnerStopped:
		k.unseen = 0
	}
	return k.h
}

// recheck checks that an assumed runner lives. The last check starts another one if it does not.
func (k *runnerWatch) recheck(ctx context.Context, last bool) {
	if !k.assumed {
		return
	}
	if last { // there is no later check, and a superfluous runner ends by itself
		k.started = time.Time{}
	}
	k.ensure(ctx)
}
