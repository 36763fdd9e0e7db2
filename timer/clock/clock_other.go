//go:build !linux

package clock

import (
	"context"
	"time"
)

func untilWall(ctx context.Context, t time.Time) error {
	return napFor(ctx, func() time.Duration { return t.Sub(System.Now()) })
}

func untilBoot(ctx context.Context, at time.Duration) error {
	return napFor(ctx, func() time.Duration { return at - boot() })
}

// waitFor is over when either of two clocks says so: the monotonic one, which may leave suspended
// time out, or boot. As boot may move in coarse ticks, and show d after less than d, it has to show
// a tick more.
func waitFor(ctx context.Context, d time.Duration) error {
	start, began := boot(), time.Now()
	return napFor(ctx, func() time.Duration {
		return min(d-time.Since(began), later(d, bootTick)-(boot()-start))
	})
}
