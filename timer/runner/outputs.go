package runner

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/relay"
)

// boundEvery is how often the output of running commands is looked at. A program that writes as
// fast as it can is ahead by this much.
const boundEvery = time.Second

// bound keeps the output of a running command small on disk, if the system allows it, until enough
// is called. This also ends the copying of the output, if there is any. A look takes a stat for
// each file, and little more for those that have grown.
func bound(awake clock.Waiter, copied *relay.Run, stdout, stderr state.Stream) (enough func()) {
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		var from [2]int64 // how far each stream was looked at
		for awake.For(ctx, boundEvery) == nil {
			copied.Bound(keepHead, func() [2]int64 {
				for i, stream := range []state.Stream{stdout, stderr} {
					// on an error it is whole until the command has ended
					from[i], _ = stream.Bound(keepHead, keepTail, from[i])
				}
				return from
			})
		}
	}()
	return func() {
		stop()
		<-over // nothing is trimmed from here on
		copied.End()
	}
}

// copied starts to copy what a run writes, if anybody wants it. From an adopted run it copies what
// comes from now on.
func (m *machine) copied(r state.Record, adopted bool, stdout, stderr state.Stream) *relay.Run {
	run, err := m.Relay.Follow(context.WithoutCancel(m.ctx), r.Task.ID, r.Number, stdout, stderr, adopted)
	if err != nil {
		m.warn("%s: what it writes cannot be copied: %v", occurrence(r), err)
	}
	return run
}
