package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// recalled is how many of the ledger's newest lines say what the clock has shown. Commands may have
// written some of them after it was put back.
const recalled = 100

// recall finds out what the clock has shown before, and what is stored about one that is back.
func (g *engine) recall(ctx context.Context) (err error) {
	// What one machine's clock shows is no reason to move the tasks of all: a runner whose clock is
	// wrong claims nothing (mayClaim).
	if g.shared {
		return nil
	}
	n := 0
	if _, _, err = g.Store.Log(ctx, "", func(l state.Line) bool {
		if l.At.After(g.latest) {
			g.latest = l.At
		}
		n++
		return n < recalled && l.Event != state.EventClock // what was shown before that was wrong
	}); err != nil {
		return err
	}
	g.shift, err = g.Store.ClockShift(ctx)
	g.shiftNoted = g.shift
	return err
}

// clocks is what the clocks of the machine show; the wall clock shows now.
func (g *engine) clocks(now time.Time) state.Clocks {
	c := state.Clocks{Now: now, Boot: g.Self.Boot}
	if c.Boot == "" { // another process's count then cannot continue
		c.Boot = fmt.Sprint("process ", g.Self.PID, " ", g.Self.Start)
	}
	if s, ok := g.Clock.(clock.Steady); ok {
		c.At = s.Boot()
	}
	if s, ok := g.Clock.(clock.Synchronised); ok {
		c.Synced = s.Synced()
	}
	return c
}

// lookAtClock does what state.ClockShift.Look says. While the clock is back, it only counts for how
// long. After the clock is believed, tasks that would wait until it shows the same instants again
// go on from there. It returns the time until the next look; 0: when something happens.
func (g *engine) lookAtClock(ctx context.Context, now time.Time) (again time.Duration) {
	if g.shared {
		return 0
	}
	if g.shift.IsZero() && !now.Before(g.latest.Add(-state.ClockBack)) {
		if now.After(g.latest) {
			g.latest = now
		}
		return 0
	}
	c := g.clocks(now)
	was := g.shift
	if was.IsZero() { // nothing of an earlier shift counts
		g.rewoundAt, g.rewindAgain = 0, false
	}
	after, believed := g.core.clockShift(was, g.latest, c)
	g.shift = after
	switch {
	case after.IsZero():
		g.Say("the clock shows what it should again, %s; nothing was changed", say.Stamp(now))
		g.noteClock(ctx)
		g.latest = later(g.latest, now)
		return 0
	case believed && (g.rewindAgain || after.Stayed-g.rewoundAt >= state.BackStep || g.rewoundAt == 0):
		if g.rewoundAt == 0 {
			g.warn("the clock was put back from %s to %s and has stayed so; schedules go on from now", say.Stamp(after.Peak), say.Stamp(now))
		}
		g.rewoundAt = after.Stayed
		if g.rewind(ctx, now, after.Since(now)) {
			g.shift, g.latest = state.ClockShift{}, now
			g.noteClock(ctx)
			return 0
		}
	case was.IsZero():
		g.warn("the clock was put back from %s to %s; schedules go on from there should it stay so for an hour, or be kept right by a time server for a minute",
			say.Stamp(after.Peak), say.Stamp(now))
	}
	g.rewindAgain = false
	if after.Boot != g.shiftNoted.Boot || after.Stayed-g.shiftNoted.Stayed >= state.BackStep {
		g.noteClock(ctx)
	}
	return state.BackLook
}

// noteClock stores what this runner knows of the clock for later ones. Without that they begin to
// count again.
func (g *engine) noteClock(ctx context.Context) {
	if g.shiftNoted.IsZero() && g.shift.IsZero() {
		return
	}
	if err := g.Store.SetClockShift(context.WithoutCancel(ctx), g.shift); err != nil {
		g.warn("what is known of the clock could not be noted: %v", err)
		return
	}
	g.shiftNoted = g.shift
}

// rewind makes recurring tasks go on from the instant since, if the present clock makes them due
// earlier than they are. A task that runs does so after its run has ended. done says that there are
// no such tasks.
func (g *engine) rewind(ctx context.Context, now, since time.Time) (done bool) {
	type move struct {
		task state.Task
		due  time.Time // the task's
		to   time.Time
	}
	var moves []move
	if _, err := state.Each(ctx, g.Store, func(e state.Entry) bool {
		if t, to, ok := rules.GoesOn(e, now, since); ok {
			moves = append(moves, move{t, e.Due, to})
		}
		return true
	}, state.Pending, state.Running, state.Paused); err != nil {
		g.warn("the queue could not be read: %v", err)
		return false
	}
	clear(g.unmoved)
	done = true
	for _, m := range moves {
		id := m.task.ID
		switch _, err := g.Store.Rewind(ctx, m.task, m.to, now); {
		case err == nil:
			g.agenda.moved(id, m.to)
		case errors.Is(err, state.ErrTaken):
			g.unmoved[id], done = true, false
		case errors.Is(err, state.ErrEnded), errors.Is(err, state.ErrNotFound):
		case err != nil:
			g.warn("task %s keeps its due instant %s: %v", id, say.Stamp(m.due), err)
			done = false
		}
	}
	return done
}

// tooEarly reports whether it is too early for what was put off until an instant, for no longer
// than most. After the clock was put back, the instant is farther away than that, and nothing waits
// for it.
func tooEarly(now, until time.Time, most time.Duration) bool {
	left := until.Sub(now)
	return left > 0 && left <= most
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
