package health

import (
	"context"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// process is healthy while it runs. Its number means the process that had it when it was first
// seen: should that end and the number be given to another, it has ended all the same.
func (l *looker) process() error {
	if l.id.PID == 0 {
		id, err := proc.Identify(l.target.pid)
		if err != nil {
			return &fault{Cause: Cause{Kind: NoProcess}, permanent: true, rank: wrong}
		}
		l.id, l.wake = id, knell(l.life, id)
	}
	l.told = true
	if l.id.Alive() {
		return nil
	}
	return &fault{Cause: Cause{Kind: HasEnded}, permanent: true, rank: wrong}
}

// knell rings once, when a process is gone.
func knell(ctx context.Context, id proc.Identity) <-chan struct{} {
	gone := make(chan struct{}, 1)
	go func() {
		err := proc.WaitGone(ctx, id)
		switch {
		case err == nil:
			gone <- struct{}{}
		case ctx.Err() == nil:
			close(gone) // nobody can tell
		}
	}()
	return gone
}
