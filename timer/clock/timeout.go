package clock

import (
	"context"
	"time"
)

// Waiter is the part of a Clock that lets time pass.
type Waiter interface {
	For(ctx context.Context, d time.Duration) error
}

// WithTimeout is context.WithTimeout by the time of c. The error of a context whose time is up is
// context.Canceled.
func WithTimeout(ctx context.Context, c Waiter, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		if c.For(ctx, d) == nil {
			cancel()
		}
	}()
	return ctx, cancel
}
