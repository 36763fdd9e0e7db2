package health

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// recheckEvery is how often a target is probed even though nothing has reported a change.
const recheckEvery = 30 * time.Second

// attempter makes the attempts on one target, one at a time. It keeps what the next attempt needs.
// It is for one goroutine.
type attempter struct {
	prober
	target Target
	wait   context.Context // ends with the whole wait

	// signals when the answer may have changed; nil when nothing does
	changed        <-chan struct{}
	waitsForChange bool // the answer stays the same until changed signals

	id      proc.Identity      // pid: the process that had the number when it was first seen
	follow  func()             // task: makes changed signal
	pending <-chan observation // an observation that has outlasted its attempt
}

// observation is what an attempt found.
type observation struct {
	err            error
	waitsForChange bool
}

// attempt makes one attempt.
func (l *attempter) attempt(ctx context.Context) error {
	l.waitsForChange = false
	switch {
	case l.Options.probe != nil:
		return l.Options.probe(ctx, l.target)
	case l.target.scheme == "file":
		return l.detached(ctx, l.file)
	case l.target.scheme == "unix":
		return l.detached(ctx, func() observation { return l.socket(ctx) })
	case l.target.scheme == "task":
		return l.detached(ctx, func() observation { return l.task(ctx) })
	case l.target.scheme == "pid":
		return l.process()
	}
	return l.probe(ctx, l.target)
}

// detached makes an observation that cannot be interrupted, such as one of a disk that hangs. While
// it hangs no other is made, because it may hold a thread.
func (l *attempter) detached(ctx context.Context, look func() observation) error {
	late := func() error {
		return &fault{Cause: Cause{Kind: NoAnswer}, late: true, inconclusive: true, rank: silent}
	}
	if l.pending != nil {
		select {
		case <-l.pending:
			l.pending = nil
		case <-ctx.Done():
			return late()
		}
	}
	done := make(chan observation, 1)
	go func() { done <- look() }()
	select {
	case v := <-done:
		l.waitsForChange = v.waitsForChange
		return v.err
	case <-ctx.Done():
		l.pending = done
		return late()
	}
}
