package clock

import (
	"context"
	"time"
)

// longestNap bounds how late a clock that was set is noticed where the kernel does not tell.
const longestNap = time.Second

// napFor waits by short naps until left answers 0 or less. A single long timer would not do: it
// runs on the monotonic clock, which knows nothing of a clock that was set, and on most systems
// stands still while the machine sleeps.
func napFor(ctx context.Context, left func() time.Duration) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		d := left()
		if d <= 0 {
			return nil
		}
		if err := sleep(ctx, min(d, longestNap)); err != nil {
			return err
		}
	}
}

// sleep lets at least d pass on the monotonic clock.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
