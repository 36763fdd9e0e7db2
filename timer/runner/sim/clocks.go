package sim

import (
	"context"
	"errors"
	"time"
)

// clocks are those of a world, for an engine to look at (clock.Steady, clock.Synchronised). Nobody
// waits on them: that is the world's.
type clocks struct{ w *World }

var errNoWait = errors.New("sim: an engine does not wait")

func (c clocks) Now() time.Time { return c.w.Now() }

func (c clocks) Boot() time.Duration { return time.Duration(c.w.awake + c.w.slept - c.w.booted) }

func (c clocks) Synced() bool { return c.w.Synced }

func (clocks) Until(context.Context, time.Time) error { return errNoWait }

func (clocks) For(context.Context, time.Duration) error { return errNoWait }

func (clocks) UntilBoot(context.Context, time.Duration) error { return errNoWait }
