package clock

import (
	"context"
	"time"
)

// Settable is a Clock that tells when somebody has set it.
type Settable interface {
	Clock

	// Sets calls f each time the wall clock was set, soon after, until ctx ends: at once where the
	// kernel tells, within a minute elsewhere. Small corrections by which a clock is kept right
	// need not count.
	Sets(ctx context.Context, f func())
}

var _ Settable = system{}

// Sets tells when the machine's clock was set.
func (system) Sets(ctx context.Context, f func()) { sets(ctx, f) }

const (
	setLook  = time.Minute // between two looks
	setLeast = time.Second // what counts as set
)

// napSets looks now and then whether the wall clock has gone another way than the clock that is
// never set.
func napSets(ctx context.Context, ahead func() time.Duration, pause func(context.Context, time.Duration) error, f func()) {
	was := ahead()
	for pause(ctx, setLook) == nil {
		is := ahead()
		if d := is - was; d >= setLeast || d <= -setLeast {
			f()
		}
		was = is
	}
}

// ahead is how far the wall clock is ahead of the clock that is never set.
func ahead() time.Duration { return wall() - boot() }
