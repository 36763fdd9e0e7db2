package health

import (
	"cmp"
	"context"
)

// task checks a task of ours. It is healthy when it has ended well.
func (l *attempter) task(ctx context.Context) observation {
	if l.Tasks == nil {
		return observation{err: &fault{Cause: Cause{Kind: NoTasks}, permanent: true, inconclusive: true, rank: wrong}}
	}
	l.follow() // before it checks, so that no change is missed
	var v observation
	s, err := l.Tasks.Outcome(ctx, l.target.arg)
	v.waitsForChange = err == nil
	switch {
	case err != nil && ctx.Err() != nil:
		v.err = &fault{Cause: Cause{Kind: NoAnswer}, late: true, inconclusive: true, rank: silent}
	case err != nil:
		v.err = &fault{Cause: newCause(cmp.Or(s.Why, System), err.Error()), inconclusive: true, rank: broken}
	case !s.Known:
		v.err = &fault{Cause: Cause{Kind: NoTask}, permanent: true, inconclusive: true, rank: wrong}
	case !s.Ended:
		// nobody knows how it ends, so Invert waits as well
		v.err = &fault{Cause: Cause{Kind: NotEnded}, inconclusive: true, rank: broken}
	case !s.OK:
		v.err = &fault{Cause: newCause(cmp.Or(s.Why, Failed), s.How), permanent: true, rank: wrong}
	}
	return v
}

// follow makes the changes that Tasks reports signals for all targets that are tasks, until ctx
// ends. It closes their channels when nothing reports changes: Outcome is called now and then.
func (w *waiter) follow(ctx context.Context) {
	changed, err := w.Tasks.Changed(ctx)
	go func() {
		for open := err == nil; open; {
			select {
			case _, open = <-changed:
			case <-ctx.Done():
				return
			}
			for _, c := range w.changed {
				select {
				case c <- struct{}{}:
				default: // many changes in a row are one
				}
			}
		}
		for _, c := range w.changed {
			close(c)
		}
	}()
}
