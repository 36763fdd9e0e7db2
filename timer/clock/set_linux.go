package clock

import (
	"context"

	"golang.org/x/sys/unix"
)

// sets waits on a timer that is never due: the kernel cancels it when the clock is set. Without a
// timer it naps.
func sets(ctx context.Context, f func()) {
	t, err := newTimer(ctx, unix.CLOCK_REALTIME)
	if err == nil {
		defer t.close()
	}
	for err == nil && ctx.Err() == nil {
		if err = t.wait(wall() + longestArm); err == errSet {
			f()
			err = nil
		}
	}
	napSets(ctx, ahead, sleep, f)
}
