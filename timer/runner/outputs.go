package runner

import (
	"context"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/relay"
)

// boundEvery is how often the output of running commands is looked at. A program that writes as
// fast as it can is ahead by this much.
const boundEvery = time.Second

// outputs are what runs write while they run. One goroutine looks after all of them. It only exists
// while something runs.
type outputs struct {
	mu   sync.Mutex
	of   map[*bounded]bool
	stop context.CancelFunc
}

// bounded is what one run writes, and how far each stream was looked at.
type bounded struct {
	copied  *relay.Run // nil: it is not
	streams [2]state.Stream
	from    [2]int64
}

// bound keeps the output of a running command small on disk, if the system allows it, until enough
// is called. This also ends the copying of the output, if there is any.
func (o *outputs) bound(awake clock.Waiter, copied *relay.Run, stdout, stderr state.Stream) (enough func()) {
	run := &bounded{copied: copied, streams: [2]state.Stream{stdout, stderr}}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.of) == 0 {
		ctx, stop := context.WithCancel(context.Background())
		o.of, o.stop = map[*bounded]bool{}, stop
		go o.look(ctx, awake)
	}
	o.of[run] = true
	return func() {
		o.mu.Lock()
		if delete(o.of, run); len(o.of) == 0 {
			o.stop()
		}
		o.mu.Unlock()
		copied.End()
	}
}

// copyOutput starts to copy what a run writes, if anybody wants it. From an adopted run it copies
// what comes from now on.
func (m *machine) copyOutput(r state.Record, adopted bool, stdout, stderr state.Stream) *relay.Run {
	run, err := m.Relay.Follow(context.WithoutCancel(m.ctx), r.Task.ID, r.Number, stdout, stderr, adopted)
	if err != nil {
		m.warn("%s: what it writes cannot be copied: %v", occurrence(r), err)
	}
	return run
}

// look looks at the files until ctx ends. It holds the lock so that nothing is trimmed meanwhile.
// This takes a stat for each file, and little more for those that have grown.
func (o *outputs) look(ctx context.Context, awake clock.Waiter) {
	for awake.For(ctx, boundEvery) == nil {
		o.mu.Lock()
		if ctx.Err() != nil {
			o.mu.Unlock()
			return // newer runs have another goroutine
		}
		for run := range o.of {
			run.copied.Bound(keepHead, func() [2]int64 {
				for i, stream := range run.streams {
					// on an error it is whole until the command has ended
					run.from[i], _ = stream.Bound(keepHead, keepTail, run.from[i])
				}
				return run.from
			})
		}
		o.mu.Unlock()
	}
}
