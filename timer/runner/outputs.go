package runner

import (
	"context"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/relay"
)

// boundEvery is how often the output of what runs is looked at: a program that writes as fast as it can is ahead by so much.
const boundEvery = time.Second

// outputs are what runs write while they run. One goroutine looks after all of them, and there is none while nothing runs.
type outputs struct {
	mu   sync.Mutex
	of   map[*bounded]bool
	stop context.CancelFunc
}

// bounded is what one run writes, and how far each stream has been looked at.
type bounded struct {
	copied  *relay.Run // nil: it is not
	streams [2]state.Stream
	from    [2]int64
}

// bound keeps the room that the output of a running command takes small, where the system lets it, until enough is called. That is the end
// of its copy, too, if there is one.
func (o *outputs) bound(awake proc.Waiter, copied *relay.Run, stdout, stderr state.Stream) (enough func()) {
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

// copied begins to copy what a run writes, if anybody wants it: of one that was adopted, what it writes from now on.
func (m *machine) copied(r state.Record, adopted bool, stdout, stderr state.Stream) *relay.Run {
	run, err := m.Relay.Follow(context.WithoutCancel(m.ctx), r.Task.ID, r.Number, stdout, stderr, adopted)
	if err != nil {
		m.warn("%s: what it writes cannot be copied: %v", occurrence(r), err)
	}
	return run
}

// look looks at the files until ctx ends. It holds the lock, so that nothing is trimmed meanwhile: that is a stat for each file, and
// little more for those that have grown.
func (o *outputs) look(ctx context.Context, awake proc.Waiter) {
	for awake.For(ctx, boundEvery) == nil {
		o.mu.Lock()
		if ctx.Err() != nil {
			o.mu.Unlock()
			return // who runs now has another goroutine
		}
		for run := range o.of {
			run.copied.Bound(keepHead, func() [2]int64 {
				for i, stream := range run.streams {
					run.from[i], _ = stream.Bound(keepHead, keepTail, run.from[i]) // else it is whole until the command has ended
				}
				return run.from
			})
		}
		o.mu.Unlock()
	}
}
