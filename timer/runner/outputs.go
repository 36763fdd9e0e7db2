package runner

import (
	"context"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// boundEvery is how often the output of what runs is looked at: a program that writes as fast as it can is ahead by so much.
const boundEvery = time.Second

// outputs are the output files of what runs. One goroutine looks after all of them, and there is none while nothing runs.
type outputs struct {
	mu   sync.Mutex
	of   map[*output]bool
	stop context.CancelFunc
}

// output is the files of one run, and how far each has been looked at.
type output struct {
	paths [2]string
	from  [2]int64
}

// bound keeps the room that the output of a running command takes small, where the system lets it, until enough is called.
func (o *outputs) bound(awake proc.Waiter, stdout, stderr string) (enough func()) {
	run := &output{paths: [2]string{stdout, stderr}}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.of) == 0 {
		ctx, stop := context.WithCancel(context.Background())
		o.of, o.stop = map[*output]bool{}, stop
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
			for i, path := range run.paths {
				if path != "" {
					run.from[i], _ = proc.Bound(path, keepHead, keepTail, run.from[i]) // else it is whole until the command has ended
				}
			}
		}
		o.mu.Unlock()
	}
}
