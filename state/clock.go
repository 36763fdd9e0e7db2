package state

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// This file decides what happens to instants that a clock shows a second time
// (docs/decisions/0018). ClockShift.Look says whether to believe a clock that was put back, and
// Tally.Taken says which instants may then come again. Both depend on nothing but their arguments.

// ClockBack is how far a clock has to be behind the latest time that it has shown to count as put
// back. A smaller step is a correction, and the runner waits until it has passed.
const ClockBack = 3 * time.Hour

const (
	// backLong is how long a clock must stay back before it is believed, measured by a clock that
	// nobody sets. It is longer than a machine that starts with a wrong clock takes to reach a time
	// server, and to ask again if that does not answer.
	backLong = time.Hour
	// backSynced replaces backLong if something keeps the clock right. While the clock is being
	// set, it may still jump.
	backSynced = time.Minute
	// BackLook is how often the runner looks at a clock that is back.
	BackLook = time.Minute
	// BackStep is how often the runner stores what it knows of such a clock. A longer pause between
	// two looks only counts as this much: while a machine sleeps or has no runner, nobody could
	// have corrected its clock.
	BackStep = 10 * time.Minute
)

// ClockShift is what is known about a clock that is back. It is zero if the clock is not back.
type ClockShift struct {
	Peak   time.Time     `toml:"peak"`   // the latest that it has shown
	Stayed time.Duration `toml:"stayed"` // how long it has stayed back, over all boots
	Boot   string        `toml:"boot"`   // the boot of the last look
	// time since that boot at the last look; nobody sets this clock
	At time.Duration `toml:"at"`
}

// Clocks is what the clocks of a machine show at one moment.
type Clocks struct {
	Now    time.Time     // the clock on the wall
	Boot   string        // which boot of the machine it is
	At     time.Duration // time since that boot, including suspended time
	Synced bool          // something keeps the wall clock right
}

// IsZero reports whether the clock is not back.
func (b ClockShift) IsZero() bool { return b == ClockShift{} }

// Look returns what is known about the clock after one more look. latest is the latest time that
// the clock has shown since b began. believed says that it has stayed back for so long that the
// earlier time was the wrong one.
func (b ClockShift) Look(latest time.Time, c Clocks) (after ClockShift, believed bool) {
	if b.Peak.After(latest) {
		latest = b.Peak
	}
	if !c.Now.Before(latest.Add(-ClockBack)) {
		return ClockShift{}, false
	}
	after = ClockShift{Peak: UTC(latest), Stayed: b.Stayed, Boot: c.Boot, At: c.At}
	if b.Boot == c.Boot && c.At > b.At && !b.IsZero() {
		after.Stayed += min(c.At-b.At, BackStep)
	}
	long := backLong
	if c.Synced {
		long = backSynced
	}
	return after, after.Stayed >= long
}

// Since returns the instant from which schedules go on once the clock, which shows now, is
// believed. It is the instant at which the clock was first seen to be back, but at most backLong
// ago.
func (b ClockShift) Since(now time.Time) time.Time { return now.Add(-min(b.Stayed, backLong)) }

// Stretch is a stretch of instants, including both ends.
type Stretch struct{ From, To time.Time }

// MarshalText writes it as ISO 8601 writes an interval: FROM/TO.
func (s Stretch) MarshalText() ([]byte, error) {
	text := append(UTC(s.From).AppendFormat(nil, time.RFC3339Nano), '/')
	return UTC(s.To).AppendFormat(text, time.RFC3339Nano), nil
}

// UnmarshalText reads that.
func (s *Stretch) UnmarshalText(text []byte) error {
	from, to, _ := strings.Cut(string(text), "/")
	var err [2]error
	s.From, err[0] = time.Parse(time.RFC3339Nano, from)
	s.To, err[1] = time.Parse(time.RFC3339Nano, to)
	s.From, s.To = UTC(s.From), UTC(s.To)
	return errors.Join(err[:]...)
}

// maxUnrun is how many stretches a tally keeps. Beyond that the shortest is dropped, and its
// instants count as taken.
const maxUnrun = 8

// Taken reports whether the occurrence of due has ended and cannot be claimed. While the clock
// shows instants again, those that nobody claimed before can be claimed. An occurrence that has
// run, or may have run, never comes twice.
func (t Tally) Taken(due time.Time) bool {
	if due.After(t.LastDue) {
		return false
	}
	if !due.After(t.Floor()) {
		return true
	}
	_, free := t.Unclaimed(due)
	return !free
}

// Floor is the latest instant that cannot come any more: the last one that ended or, while the
// clock shows instants again, the last one before those.
func (t Tally) Floor() time.Time {
	if !t.Again.IsZero() {
		return t.Again
	}
	return t.LastDue
}

// Unclaimed returns the stretch around at of instants that ended without a claim.
func (t Tally) Unclaimed(at time.Time) (Stretch, bool) {
	for _, s := range t.Unrun {
		if !at.Before(s.From) && !at.After(s.To) {
			return s, true
		}
	}
	return Stretch{}, false
}

// again counts a line of event clock: the instants from its due instant on come again. It does not
// change which instants have ended.
func (t *Tally) again(l Line) {
	if t.Busy.After(l.At) {
		t.Busy = time.Time{} // nobody knows what went on since
	}
	if l.Due == nil {
		return
	}
	to := UTC(*l.Due)
	if t.Again = (time.Time{}); !to.After(t.LastDue) {
		t.Again = to.Add(-1)
	}
	if to.Before(t.First) { // the clock is before the task's first occurrence
		t.leave(to, t.First.Add(-1))
		t.First = to
	}
}

// pass counts the instants of an occurrence's line as ended.
func (t *Tally) pass(l Line) {
	if l.Due == nil {
		return
	}
	first := UTC(*l.Due)
	last := first
	if l.DueLast != nil && l.DueLast.After(first) {
		last = UTC(*l.DueLast)
	}
	if l.Number == 1 {
		t.First = first
	}
	// nothing was claimed; a single skipped instant may have been: its condition was asked
	if l.Outcome == Missed || l.Outcome == Skipped && last.After(first) {
		if first.After(t.LastDue) {
			t.leave(first, last)
		}
	} else {
		t.use(first)
	}
	switch {
	case last.After(t.LastDue):
		t.LastDue, t.Again = last, time.Time{}
	case !t.Again.IsZero() && last.After(t.Again):
		t.Again = last
	}
}

// leave adds a stretch of instants that nobody claimed. Copies of the tally may share the old list,
// so it makes a new one.
func (t *Tally) leave(from, to time.Time) {
	list := append(slices.Clip(t.Unrun), Stretch{from, to})
	if len(list) > maxUnrun {
		least := 0
		// never the newest: a correction of the clock most likely concerns it
		for i, s := range list[:maxUnrun] {
			if s.To.Sub(s.From) < list[least].To.Sub(list[least].From) {
				least = i
			}
		}
		list = slices.Delete(list, least, least+1)
	}
	t.Unrun = list
}

// use records that an instant was claimed. Instants come in order, so those before it in its
// stretch are over.
func (t *Tally) use(due time.Time) {
	i := slices.IndexFunc(t.Unrun, func(s Stretch) bool { return !due.Before(s.From) && !due.After(s.To) })
	if i < 0 {
		return
	}
	list := slices.Clone(t.Unrun)
	if list[i].From = due.Add(1); list[i].From.After(list[i].To) {
		list = slices.Delete(list, i, i+1)
	}
	if t.Unrun = list; len(list) == 0 {
		t.Unrun = nil
	}
}
