package runner

import (
	"context"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/proc"
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
	streams [2]state.Stream
	from    [2]int64
}

// bound keeps the room that the output of a running command takes small, where the system lets it, until enough is called.
func (o *outputs) bound(awake proc.Waiter, stdout, stderr state.Stream) (enough func()) {
	run := &bounded{streams: [2]state.Stream{stdout, stderr}}
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
		defer o.mu.Unlock()
		if delete(o.of, run); len(o.of) == 0 {
			o.stop()
		}
	}
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
			for i, stream := range run.streams {
				run.from[i], _ = stream.Bound(keepHead, keepTail, run.from[i]) // else it is whole until the command has ended
			}
		}
		o.mu.Unlock()
	}
}
