package daemon

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/service"
)

// liveness gives a runner's signs of life to whoever started or watches it: whether it leads, and
// whether its loop responds.
type liveness struct {
	probe    chan func()
	leading  atomic.Bool
	notifier service.Notifier
	watchdog time.Duration
	warn     func(format string, a ...any)
	warned   sync.Once // warns once that systemd could not be told
}

// setOptions makes a runner give its signs of life. ctx ends with the runner.
func (v *liveness) setOptions(ctx context.Context, o *runner.Options, st state.Leases, text func(state.Leader) string) {
	var once sync.Once
	ready := func(status string) {
		v.notify("READY=1", service.Saying(status))
		if v.watchdog > 0 {
			once.Do(func() { go v.notifyWatchdog(ctx) })
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
			status += ": " + text(leader)
		}
		o.Say("%s", status)
		ready(status)
	}
}

// notifyWatchdog notifies the watchdog twice as often as it has to, but only while the loop
// responds. A runner that stands by has no loop and is always well.
func (v *liveness) notifyWatchdog(ctx context.Context) {
	for {
		waiting, stop := context.WithTimeout(ctx, v.watchdog/2)
		if !v.leading.Load() || v.responds(waiting) {
			v.notify("WATCHDOG=1")
		}
		<-waiting.Done()
		stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// responds reports whether the loop answers before ctx ends.
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

// notifyEnd notifies systemd when the runner was told to end, because its commands may take long,
// or when it has ended.
func (v *liveness) notifyEnd(living, told context.Context) {
	select {
	case <-told.Done():
	case <-living.Done():
	}
	v.notify("STOPPING=1", service.Saying("ending"))
}

func (v *liveness) notify(lines ...string) {
	if err := v.notifier.Tell(lines...); err != nil {
		v.warned.Do(func() { v.warn("%s", fmt.Sprintf("systemd could not be told how it stands: %v", err)) })
	}
}

// answerMost is how long the loop may take to answer. A pass over many tasks that are due at once
// takes a second or two.
const answerMost = 10 * time.Second
