package health

import "context"

// task asks how a task of ours stands; it is healthy when it has ended well. The first time it asks to be told of changes
// before it looks, so that none is missed.
func (l *looker) task(ctx context.Context, first bool) view {
	if l.Tasks == nil {
		return view{err: &fault{text: "tasks cannot be looked at here", permanent: true, unseen: true, rank: wrong}}
	}
	var v view
	if first {
		v.bell, _ = l.Tasks.Changed(l.life) // without one Outcome is asked now and then
	}
	s, err := l.Tasks.Outcome(ctx, l.target.arg)
	v.told = err == nil
	switch {
	case err != nil && ctx.Err() != nil:
		v.err = &fault{text: answering.missing(), late: true, unseen: true, rank: silent}
	case err != nil:
		v.err = &fault{text: printable(err.Error()), cause: s.Cause, unseen: true, rank: broken}
	case !s.Known:
		v.err = &fault{text: "no such task", cause: NoTask, permanent: true, unseen: true, rank: wrong}
	case !s.Ended:
		v.err = &fault{text: "has not ended", cause: StillThere, unseen: true, rank: broken} // how it ends is not known: the opposite waits, too
	case !s.OK && s.How == "":
		v.err = &fault{text: "has failed", cause: s.Cause, permanent: true, rank: wrong}
	case !s.OK:
		v.err = &fault{text: printable(s.How), cause: s.Cause, permanent: true, rank: wrong}
	}
	return v
}
