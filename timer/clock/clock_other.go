//go:build !linux

package clock

import (
	"context"
	"time"
)

func untilWall(ctx context.Context, t time.Time) error { return napUntil(ctx, t) }

func untilBoot(ctx context.Context, at time.Duration) error {
	return napFor(ctx, func() time.Duration { return at - boot() })
}

// waitFor counts on boot, but a boot clock that moves in coarse ticks may show d after less than d:
// such a reading only counts with a tick on top. The monotonic clock, which leaves suspended time
// out, is never ahead of real time.
func waitFor(ctx context.Context, d time.Duration) error {
	start, began := boot(), time.Now()
	return napFor(ctx, func() time.Duration {
		return min(d-time.Since(began), later(d, bootTick)-(boot()-start))
	})
}
