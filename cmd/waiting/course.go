package waiting

import (
	"context"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// course is how a wait stands while it goes on: when it is due, or what is left of it while it is
// held. A person at the terminal changes it, or another call that waits for the same.
type course struct {
	mu      sync.Mutex
	due     time.Time
	held    bool
	left    time.Duration // while it is held
	changed chan struct{} // closed with the next change
}

func newCourse(due time.Time) *course { return &course{due: due, changed: make(chan struct{})} }

// stand is how it stands, and what is closed when that changes.
func (c *course) stand() (due time.Time, left time.Duration, held bool, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.due, c.left, c.held, c.changed
}

func (c *course) hold(left time.Duration) { c.change(func() { c.held, c.left = true, left }) }

func (c *course) goOn(due time.Time) { c.change(func() { c.held, c.due = false, due }) }

func (c *course) change(how func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	how()
	close(c.changed)
	c.changed = make(chan struct{})
}

// unless is ctx until changed is closed.
func unless(ctx context.Context, changed <-chan struct{}) (context.Context, context.CancelFunc) {
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

// follow waits for an instant that may move, until it has come.
func (p pace) follow(ctx context.Context, clock clock.Clock, c *course) error {
	for {
		due, _, held, changed := c.stand()
		lap, over := unless(ctx, changed)
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

// steer has a wait be held, and go on, as who presses space wants it, and as others do who wait for
// the same. It ends the waiting when the wait was ended elsewhere: by rm, by somebody who told it,
// or by somebody else who waited and gave up. Until it returns the kept wait is its.
func (w *sitting) steer(ctx context.Context, c *course, presses <-chan struct{}, end context.CancelCauseFunc) {
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
				c.hold(left)
			} else if moved {
				c.goOn(w.kept.Entry.Due)
			}
		}
	}
}

// toggle holds what goes on, and has what is held go on. What is kept is held there, too; where
// that cannot be noted nothing is changed.
func (w *sitting) toggle(ctx context.Context, c *course) {
	due, left, held, _ := c.stand()
	late := w.late(w.Clock, due)
	ctx, stop := cli.Within(ctx, w.Clock, keepMoment)
	defer stop()
	var noted bool
	var err error
	switch {
	case held:
		due = due.Add(late + left)
		if noted, err = w.kept.GoOn(ctx, due); noted {
			c.goOn(due)
		}
	case late < 0:
		if noted, err = w.kept.Hold(ctx, due, -late); noted {
			c.hold(-late)
		}
	}
	if err != nil {
		w.Remark("%s", view.EraseBelow)
		w.Warn("warning: the wait %s cannot be paused or go on: %s", w.kept.ID(), cli.Visible(err.Error()))
	}
}
