package health

import (
	"cmp"
	"context"
)

// task asks how a task of ours stands; it is healthy when it has ended well. The first time it asks
// to be told of changes before it looks, so that none is missed.
func (l *looker) task(ctx context.Context, first bool) view {
	if l.Tasks == nil {
		return view{err: &fault{Cause: Cause{Kind: NoTasks}, permanent: true, unseen: true, rank: wrong}}
	}
	var v view
	if first {
		v.wake, _ = l.Tasks.Changed(l.life) // without one Outcome is asked now and then
	}
	s, err := l.Tasks.Outcome(ctx, l.target.arg)
	v.told = err == nil
	switch {
	case err != nil && ctx.Err() != nil:
		v.err = &fault{Cause: Cause{Kind: NoAnswer}, late: true, unseen: true, rank: silent}
	case err != nil:
		v.err = &fault{Cause: of(cmp.Or(s.Why, System), err.Error()), unseen: true, rank: broken}
	case !s.Known:
		v.err = &fault{Cause: Cause{Kind: NoTask}, permanent: true, unseen: true, rank: wrong}
	case !s.Ended:
		// how it ends is not known: the opposite waits, too
		v.err = &fault{Cause: Cause{Kind: NotEnded}, unseen: true, rank: broken}
	case !s.OK:
		v.err = &fault{Cause: of(cmp.Or(s.Why, Failed), s.How), permanent: true, rank: wrong}
	}
	return v
}
