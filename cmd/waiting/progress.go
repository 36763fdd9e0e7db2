package waiting

import (
	"context"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// progress is the state of a wait: when it is due, or how much is left while it is paused. A person
// at the terminal changes it, or another call that waits for the same task.
type progress struct {
	mu      sync.Mutex
	due     time.Time
	held    bool
	left    time.Duration // how much is left, while it is paused
	changed chan struct{} // closed with the next change
}

// newProgress returns the progress of a wait that is not paused.
func newProgress(due time.Time) *progress { return &progress{due: due, changed: make(chan struct{})} }

// state returns the state, and a channel that is closed when it changes.
func (c *progress) state() (due time.Time, left time.Duration, held bool, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.due, c.left, c.held, c.changed
}

func (c *progress) pause(left time.Duration) { c.change(func() { c.held, c.left = true, left }) }

func (c *progress) resume(due time.Time) { c.change(func() { c.held, c.due = false, due }) }

func (c *progress) change(how func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	how()
	close(c.changed)
	c.changed = make(chan struct{})
}

// untilChanged returns a context that ends with ctx, or when changed is closed.
func untilChanged(ctx context.Context, changed <-chan struct{}) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-changed:
			cancel()
		case <-limited.Done():
		}
	}()
	return limited, cancel
}

// awaitProgress waits for the instant of c, which may change meanwhile.
func (p pace) awaitProgress(ctx context.Context, clock clock.Clock, c *progress) error {
	for {
		due, _, held, changed := c.state()
		lap, over := untilChanged(ctx, changed)
		var err error
		if held {
			<-lap.Done()
			err = lap.Err()
		} else {
			err = p.until(lap, clock, due)
		}
		over()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// control pauses and resumes the wait, when space is pressed here or in another call that waits for
// the same task. It calls end when the wait was ended elsewhere: by rm, by a runner that told it,
// or by another call that gave up. Nothing else uses the kept wait until control returns.
func (w *activeWait) control(ctx context.Context, c *progress, presses <-chan struct{}, end context.CancelCauseFunc) {
	for {
		var changed <-chan struct{}
		if w.kept != nil {
			changed = w.kept.Changed
		}
		select {
		case <-ctx.Done():
			return
		case <-presses:
			w.toggle(ctx, c)
		case <-changed:
			moved, why := w.kept.Look(ctx)
			if why != nil {
				end(why)
				return
			}
			if left, held := w.kept.Entry.Task.Wait.Rest(); moved && held {
				c.pause(left)
			} else if moved {
				c.resume(w.kept.Entry.Due)
			}
		}
	}
}

// toggle pauses or resumes the wait, also in the store if the wait is kept there. When the store
// cannot be changed, nothing changes.
func (w *activeWait) toggle(ctx context.Context, c *progress) {
	due, left, held, _ := c.state()
	late := w.late(w.Clock, due)
	ctx, stop := cli.WithBound(ctx, w.Clock, minKeepTimeout)
	defer stop()
	var noted bool
	var err error
	switch {
	case held:
		due = due.Add(late + left)
		if noted, err = w.kept.GoOn(ctx, due); noted {
			c.resume(due)
		}
	case late < 0:
		if noted, err = w.kept.Hold(ctx, due, -late); noted {
			c.pause(-late)
		}
	}
	if err != nil {
		w.WriteError("%s", view.EraseBelow)
		w.Warn("warning: the wait %s cannot be paused or resumed: %s", w.kept.ID(), cli.Visible(err.Error()))
	}
}
