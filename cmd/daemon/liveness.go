package daemon

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/service"
)

// liveness are a runner's signs of life, for who started it and who watches it: whether it leads,
// and whether its loop turns.
type liveness struct {
	probe    chan func()
	leading  atomic.Bool
	notifier service.Notifier
	watchdog time.Duration
	warn     func(format string, a ...any)
	said     sync.Once // that the notifier has failed
}

func newVital(s *cli.Call, warn func(format string, a ...any)) *liveness {
	return &liveness{probe: make(chan func()), notifier: service.Notifies(s.Getenv),
		watchdog: service.Watchdog(s.Getenv, os.Getpid()), warn: warn}
}

// into has the runner give its signs. ctx ends with the runner.
func (v *liveness) into(ctx context.Context, o *runner.Options, st state.Leases, holder func(state.Leader) string) {
	var once sync.Once
	ready := func(status string) {
		v.tell("READY=1", service.Saying(status))
		if v.watchdog > 0 {
			once.Do(func() { go v.watch(ctx) })
		}
	}
	o.Probe = v.probe
	o.OnLead = func() {
		v.leading.Store(true)
		ready("does what is due, when it is due")
	}
	o.StandsBy = func() {
		status := "standing by"
		if leader, led, err := st.Led(ctx); err == nil && led {
			status += ": " + holder(leader)
		}
		o.Say("%s", status)
		ready(status)
	}
}

// watch tells the watchdog, twice as often as it has to be told, but only while the loop turns. One
// that stands by has none.
func (v *liveness) watch(ctx context.Context) {
	for {
		waiting, stop := context.WithTimeout(ctx, v.watchdog/2)
		if !v.leading.Load() || v.responds(waiting) {
			v.tell("WATCHDOG=1")
		}
		<-waiting.Done()
		stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// responds reports whether the loop does, waiting for its answer until ctx ends.
func (v *liveness) responds(ctx context.Context) bool {
	answered := make(chan struct{})
	select {
	case v.probe <- func() { close(answered) }:
		<-answered
		return true
	case <-ctx.Done():
		return false
	}
}

// tellOfEnd tells when the runner was told to end, which its commands may take long for, or has
// ended.
func (v *liveness) tellOfEnd(living, told context.Context) {
	select {
	case <-told.Done():
	case <-living.Done():
	}
	v.tell("STOPPING=1", service.Saying("ending"))
}

func (v *liveness) tell(lines ...string) {
	if err := v.notifier.Tell(lines...); err != nil {
		v.said.Do(func() { v.warn("%s", fmt.Sprintf("systemd could not be told how it stands: %v", err)) })
	}
}

// answerMost is for how long a loop is waited for that is asked whether it turns. A pass over all
// that is due at once takes a second or two.
const answerMost = 10 * time.Second
