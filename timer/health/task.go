package health

import (
	"cmp"
	"context"
)

// task checks a task of ours. It is healthy when it has ended well. The first time, it asks for
// reports of changes before it checks, so that none is missed.
func (l *attempter) task(ctx context.Context, first bool) observation {
	if l.Tasks == nil {
		return observation{err: &fault{Cause: Cause{Kind: NoTasks}, permanent: true, inconclusive: true, rank: wrong}}
	}
	var v observation
	if first {
		v.changed, _ = l.Tasks.Changed(l.wait) // without a channel, Outcome is called now and then
	}
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
