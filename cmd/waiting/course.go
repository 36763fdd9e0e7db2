package waiting

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// course is how a wait stands while it goes on: when it is due, or what is left of it while it is held. A person at the terminal changes it,
// or another call that waits for the same.
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
func (o *waitOptions) follow(ctx context.Context, s *cli.Call, c *course) error {
	for {
		due, _, held, changed := c.stand()
		lap, over := unless(ctx, changed)
		var err error
		if held {
			<-lap.Done()
			err = lap.Err()
		} else {
			err = o.until(lap, s.Clock, due)
		}
		over()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// steer has a wait be held, and go on, as who presses space wants it, and as others do who wait for the same. It ends the waiting when the
// wait was ended elsewhere: by rm, by somebody who told it, or by somebody else who waited and gave up. Until it returns the kept wait is its.
func (o *waitOptions) steer(ctx context.Context, s *cli.Call, k *keptWait, c *course, presses <-chan struct{}, end context.CancelCauseFunc) {
	for {
		var changed <-chan struct{}
		if k != nil {
			changed = k.changed
		}
		select {
		case <-ctx.Done():
			return
		case <-presses:
			o.toggle(ctx, s, k, c)
		case <-changed:
			if why := k.look(ctx, c); why != nil {
				end(why)
				return
			}
		}
	}
}

// toggle holds what goes on, and has what is held go on. What is kept is held there, too; where that cannot be noted nothing is changed.
func (o *waitOptions) toggle(ctx context.Context, s *cli.Call, k *keptWait, c *course) {
	due, left, held, _ := c.stand()
	late, now := o.late(s.Clock, due), s.Clock.Now()
	if held {
		due = due.Add(late + left)
		if k.note(ctx, s, state.GoOnWaiting(due, now)) {
			c.goOn(due)
		}
		return
	}
	if late < 0 && k.note(ctx, s, state.HoldWait(due, -late, now)) {
		c.hold(-late)
	}
}

// note changes a wait that is kept, and reports whether that was done; of one that is not there is nothing to change.
func (k *keptWait) note(ctx context.Context, s *cli.Call, rule state.Rule) bool {
	if k == nil {
		return true
	}
	ctx, stop := cli.Within(ctx, s.Clock, keepMoment)
	defer stop()
	answer := k.st.Change(ctx, state.Change{ID: k.entry.Task.ID, Rule: rule, Now: s.Clock.Now()})[0]
	switch {
	case errors.Is(answer.Err, state.ErrTaken), errors.Is(answer.Err, state.ErrEnded), errors.Is(answer.Err, state.ErrNotFound): // somebody else was faster
		return false
	case answer.Err != nil:
		s.Aside("%s", view.EraseBelow)
		s.Warn("warning: the wait %s cannot be paused or go on: %s", k.entry.Task.ID, cli.Visible(answer.Err.Error()))
		return false
	}
	k.attend(ctx, answer.Doc.Entry())
	return true
}

// attend waits for the task as it stands now.
func (k *keptWait) attend(ctx context.Context, e state.Entry) {
	if e.Phase == k.entry.Phase && e.Due.Equal(k.entry.Due) {
		return
	}
	k.leave()
	k.entry, k.release = e, nil
	var err error
	if k.changed, k.release, err = k.st.Attend(context.WithoutCancel(ctx), e.Task.ID, e.Due); err != nil {
		k.changed = nil // a runner may tell it too: better than nobody
	}
}

// look finds out what others have made of the wait: why it has ended, or how it stands. What cannot be read has not ended.
func (k *keptWait) look(ctx context.Context, c *course) (why error) {
	e, err := tasks.Reread(ctx, k.st, k.entry)
	if err != nil {
		return nil
	}
	if why := ended(e); why != nil {
		return why
	}
	same := e.Phase == k.entry.Phase && e.Due.Equal(k.entry.Due)
	k.attend(ctx, e)
	if same {
		return nil
	}
	if left, held := e.Task.Wait.Rest(); held {
		c.hold(left)
	} else {
		c.goOn(e.Due)
	}
	return k.look(ctx, c) // it may have changed before it was attended to
}
