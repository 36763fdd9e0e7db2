package sim

import (
	"context"
	"errors"
	"time"
)

// clocks are the clocks of a world as an engine reads them (clock.Steady, clock.Synchronised). An
// engine does not wait on them, because the world does.
type clocks struct{ w *World }

var errNoWait = errors.New("sim: an engine does not wait")

func (c clocks) Now() time.Time { return c.w.Now() }

func (c clocks) Boot() time.Duration { return time.Duration(c.w.awake + c.w.slept - c.w.booted) }

func (c clocks) Synced() bool { return c.w.Synced }

func (clocks) Until(context.Context, time.Time) error { return errNoWait }

func (clocks) For(context.Context, time.Duration) error { return errNoWait }

func (clocks) UntilBoot(context.Context, time.Duration) error { return errNoWait }
