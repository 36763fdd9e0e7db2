package proc

import (
	"context"
	"syscall"
	"time"
)

// EndGroup ends a process that is not our child, and the group it leads: TERM, and KILL when grace is over. It returns once
// the process is gone, or with ctx.Err(). Between a look at the process and the signal its number could in theory go to
// another one; no system offers better for a whole group.
func EndGroup(ctx context.Context, id Identity, c Waiter, grace time.Duration) error {
	if !id.Alive() {
		return nil
	}
	if err := signalGroupOf(id.PID, syscall.SIGTERM); err != nil {
		return err
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		if c.For(waiting, grace) == nil {
			stop()
		}
	}()
	if WaitGone(waiting, id) == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if id.Alive() {
		if err := signalGroupOf(id.PID, syscall.SIGKILL); err != nil {
			return err
		}
	}
	return WaitGone(ctx, id)
}
