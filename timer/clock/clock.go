// Package clock is the one place that waits: for the wall clock to read an instant, or for a length
// of time to pass.
//
// No wait ends early, not by a microsecond: the clock is read again after every waking. On Linux
// nothing polls. A wait for an instant is a timerfd on CLOCK_REALTIME that the kernel also wakes
// when somebody sets the clock; a wait for a length of time is one on CLOCK_BOOTTIME, which counts
// the time a machine sleeps. Elsewhere, and where a timerfd cannot be had, the wait is a row of
// short naps, each followed by a look at the clock.
//
// The package decides nothing: which instant comes next is the caller's business.
package clock

import (
	"context"
	"math"
	"time"
)

// Clock is what code that waits is given. System is the real one; tests pass a clocktest.Manual or
// their own.
type Clock interface {
	// Now reads the wall clock. The answer has no monotonic part: it is made to be compared with
	// saved instants, and must not pretend that the clock was never set.
	Now() time.Time

	// Until returns nil only when the wall clock reads t or later, however often it is set
	// meanwhile; it returns ctx.Err() as soon as ctx ends. A ctx that has ended already wins over
	// an instant that has passed.
	Until(ctx context.Context, t time.Time) error

	// For returns nil when d of real time has passed since the call, time suspended included,
	// whatever happens to the wall clock; it returns ctx.Err() as soon as ctx ends.
	For(ctx context.Context, d time.Duration) error
}

// Steady is a Clock that also shows the clock For counts on, so that several waits can share one
// deadline: the third round of a five-minute interval ends at start + 15m, not wherever the
// lateness of two earlier rounds has pushed it.
type Steady interface {
	Clock

	// Boot reads a clock that never steps and counts suspended time. Its zero is of no meaning
	// beyond this boot of the machine, and on some systems beyond this process: never save it but
	// beside the name of the boot.
	Boot() time.Duration

	// UntilBoot returns nil only when Boot reads at or later, and ctx.Err() as soon as ctx ends.
	UntilBoot(ctx context.Context, at time.Duration) error
}

// System is the machine's own clock.
var System Steady = system{}

// Awake is System, but its For counts only time during which the machine runs. It is meant for
// time-outs, back-off and grace periods: a program should not be killed for a night during which it
// could not have done anything.
var Awake Clock = awake{}

type system struct{}

func (system) Now() time.Time { return time.Now().Round(0) }

func (system) Boot() time.Duration { return boot() }

// wall is Now as the time since 1970.
func wall() time.Duration { return time.Duration(System.Now().UnixNano()) }

func (s system) Until(ctx context.Context, t time.Time) error { return untilWall(ctx, t) }

func (s system) UntilBoot(ctx context.Context, at time.Duration) error { return untilBoot(ctx, at) }

func (s system) For(ctx context.Context, d time.Duration) error { return waitFor(ctx, d) }

type awake struct{ system }

func (awake) For(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return sleep(ctx, d)
}

// later is start + d, kept below the largest Duration: a wait of 290 years must not turn into one
// that is over.
func later(start, d time.Duration) time.Duration {
	if d > 0 && start > math.MaxInt64-d {
		return math.MaxInt64
	}
	return start + d
}
