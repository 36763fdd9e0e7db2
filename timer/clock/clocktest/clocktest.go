// Package clocktest has clocks for tests of code that waits: Manual, which moves only when it is
// told to, and Bubble, which follows the clock of a testing/synctest bubble. Neither touches a
// timer of the kernel, so both may be used inside a bubble.
package clocktest

import (
	"context"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// Manual is a clock.Steady that stands still until Advance, Step or Next moves it. It may be used
// by many goroutines. A wait on it blocks on a channel, so synctest.Wait regards it as durably
// blocked.
type Manual struct {
	mu      sync.Mutex
	wall    time.Time
	boot    time.Duration
	waits   map[*wait]struct{}
	changed chan struct{} // closed and replaced whenever a wait begins or ends
}

var _ clock.Steady = (*Manual)(nil)

// wait is one caller inside Until, For or UntilBoot.
type wait struct {
	wall time.Time     // the instant it waits for
	boot time.Duration // or the reading of Boot
	real bool          // boot is meant
	over chan struct{}
}

// NewManual makes a clock that reads now.
func NewManual(now time.Time) *Manual {
	return &Manual{wall: now.Round(0), boot: time.Hour, waits: map[*wait]struct{}{}, changed: make(chan struct{})}
}

// Now reads the wall clock.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wall
}

// Boot reads the clock that Step leaves alone.
func (m *Manual) Boot() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boot
}

// Until waits for the wall clock to be moved to t or beyond.
func (m *Manual) Until(ctx context.Context, t time.Time) error {
	return m.wait(ctx, &wait{wall: t})
}

// UntilBoot waits for Boot to be moved to at or beyond.
func (m *Manual) UntilBoot(ctx context.Context, at time.Duration) error {
	return m.wait(ctx, &wait{boot: at, real: true})
}

// For waits for the clock to be advanced by d.
func (m *Manual) For(ctx context.Context, d time.Duration) error {
	return m.wait(ctx, &wait{boot: m.Boot() + d, real: true})
}

// Advance lets d of real time pass, awake or suspended: the wall clock and Boot move together.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall, m.boot = m.wall.Add(d), m.boot+d
	m.release()
}

// Step sets the wall clock ahead by d, or back when d is negative, as NTP or a person does; no real
// time passes.
func (m *Manual) Step(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall = m.wall.Add(d)
	m.release()
}

// Next advances to the earliest moment somebody waits for and reports whether anybody waits at all.
func (m *Manual) Next() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.waits) == 0 {
		return false
	}
	first := true
	var least time.Duration
	for w := range m.waits {
		if left := m.left(w); first || left < least {
			first, least = false, left
		}
	}
	m.wall, m.boot = m.wall.Add(least), m.boot+least
	m.release()
	return true
}

// Waiting is how many callers wait now.
func (m *Manual) Waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waits)
}

// BlockUntil returns when at least n callers wait, so that a test outside a bubble can move the
// clock without a race; it returns ctx.Err() when they never come.
func (m *Manual) BlockUntil(ctx context.Context, n int) error {
	for {
		m.mu.Lock()
		enough, changed := len(m.waits) >= n, m.changed
		m.mu.Unlock()
		if enough {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (m *Manual) wait(ctx context.Context, w *wait) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	if m.left(w) <= 0 {
		m.mu.Unlock()
		return nil
	}
	w.over = make(chan struct{})
	m.waits[w] = struct{}{}
	m.tell()
	m.mu.Unlock()

	select {
	case <-w.over:
		return nil
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, waiting := m.waits[w]; waiting {
		delete(m.waits, w)
		m.tell()
	}
	return ctx.Err()
}

// left is what w still waits for. The caller holds mu.
func (m *Manual) left(w *wait) time.Duration {
	if w.real {
		return w.boot - m.boot
	}
	return w.wall.Sub(m.wall)
}

// release ends the waits that are over. The caller holds mu.
func (m *Manual) release() {
	for w := range m.waits {
		if m.left(w) <= 0 {
			delete(m.waits, w)
			close(w.over)
		}
	}
	m.tell()
}

// tell wakes BlockUntil. The caller holds mu.
func (m *Manual) tell() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Bubble is a clock.Clock on package time alone: inside a testing/synctest bubble it follows the
// bubble's clock, which jumps ahead when everybody waits. It knows no suspend and no step.
type Bubble struct{}

var _ clock.Clock = Bubble{}

// Now reads the bubble's clock.
func (Bubble) Now() time.Time { return time.Now().Round(0) }

// Until waits for the bubble's clock to read t.
func (b Bubble) Until(ctx context.Context, t time.Time) error { return b.For(ctx, t.Sub(b.Now())) }

// For waits for d of the bubble's time.
func (Bubble) For(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
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
