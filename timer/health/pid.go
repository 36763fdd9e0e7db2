package health

import (
	"context"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// process is healthy while the process runs. Its number means the process that had it when it was
// first seen. When that ends it has ended, even if another process gets the number.
func (l *attempter) process() error {
	if l.id.PID == 0 {
		id, err := proc.Identify(l.target.pid)
		if err != nil {
			return &fault{Cause: Cause{Kind: NoProcess}, permanent: true, rank: wrong}
		}
		l.id, l.changed = id, exitOf(l.wait, id)
	}
	l.waitsForChange = true
	if l.id.Alive() {
		return nil
	}
	return &fault{Cause: Cause{Kind: HasEnded}, permanent: true, rank: wrong}
}

// exitOf returns a channel that signals once, when a process is gone.
func exitOf(ctx context.Context, id proc.Identity) <-chan struct{} {
	gone := make(chan struct{}, 1)
	go func() {
		err := proc.WaitGone(ctx, id)
		switch {
		case err == nil:
			gone <- struct{}{}
		case ctx.Err() == nil:
			close(gone) // nothing can report the end
		}
	}()
	return gone
}
