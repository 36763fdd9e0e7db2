package health

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

const (
	// unasked is how often a target is looked at although nothing tells of a change.
	unasked = 30 * time.Second
	// leastCalm is the time between attempts that a bell asks for, and mostCalm what it grows to
	// for a bell that rings all the time, as that of a growing log does.
	leastCalm = 20 * time.Millisecond
	mostCalm  = 500 * time.Millisecond
)

// looker makes the attempts on one target, one at a time, and knows what makes the next one worth
// it. It is for one goroutine.
type looker struct {
	prober
	target Target
	life   context.Context // of the whole wait

	wake <-chan struct{} // rings when the answer may have changed; nil: nothing tells
	told bool            // the last answer will not change without the bell

	id    proc.Identity // pid: the process that the number meant when it was first seen
	asked bool          // task: somebody was asked to tell of changes
	stuck <-chan view   // a look that has outlasted its attempt
}

// view is what a look found, and what it learnt about the next one.
type view struct {
	err  error
	told bool
	wake <-chan struct{} // nil: the same as before
}

func newLooker(ctx context.Context, o Options, t Target) *looker {
	return &looker{prober: prober{o}, target: t, life: ctx}
}

// look makes one attempt.
func (l *looker) look(ctx context.Context) error {
	l.told = false
	switch {
	case l.Options.probe != nil:
		return l.Options.probe(ctx, l.target)
	case l.target.scheme == "file":
		return l.detached(ctx, l.file)
	case l.target.scheme == "unix":
		return l.detached(ctx, func() view { return l.socket(ctx) })
	case l.target.scheme == "task":
		first := !l.asked
		l.asked = true
		return l.detached(ctx, func() view { return l.task(ctx, first) })
	case l.target.scheme == "pid":
		return l.process()
	}
	return l.probe(ctx, l.target)
}

// detached makes a look that cannot be interrupted, such as one at a disk that hangs. While one
// hangs no other is made: it may hold a thread.
func (l *looker) detached(ctx context.Context, look func() view) error {
	late := func() error { return &fault{Cause: Cause{Kind: NoAnswer}, late: true, unseen: true, rank: silent} }
	if l.stuck != nil {
		select {
		case v := <-l.stuck:
			l.stuck = nil
			l.learn(v)
		case <-ctx.Done():
			return late()
		}
	}
	done := make(chan view, 1)
	go func() { done <- look() }()
	select {
	case v := <-done:
		l.learn(v)
		l.told = v.told
		return v.err
	case <-ctx.Done():
		l.stuck = done
		return late()
	}
}

func (l *looker) learn(v view) {
	if v.wake != nil {
		l.wake = v.wake
	}
}
