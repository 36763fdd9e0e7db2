package state

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// What becomes of instants that a clock shows a second time (docs/decisions/0018). Two rules say
// it: Setback.Look, whether a clock that was put back is to be believed, and Tally.Taken, which
// instants may then come again. Both are functions of what they are given alone.

// ClockBack is how far a clock must be behind what it has shown before that is more than a
// correction, which is waited out.
const ClockBack = 3 * time.Hour

const (
	// backLong is how long a clock must stay back, by the clock that nobody sets, before it is
	// believed: longer than it takes a machine that starts with a wrong clock to reach a time
	// server, and to ask it again after it gave no answer.
	backLong = time.Hour
	// backSynced is how long when something keeps the clock right: while it is still being set it
	// may go to and fro.
	backSynced = time.Minute
	// BackLook is how often a clock that is back is looked at.
	BackLook = time.Minute
	// BackStep is how often what is known of it is noted. No pause between two looks counts for
	// more: what a machine sleeps for, or is without a runner, is no time in which its clock could
	// have been corrected.
	BackStep = 10 * time.Minute
)

// Setback is what is remembered of a clock that is back. The zero value: it is not.
type Setback struct {
	Peak   time.Time     `toml:"peak"`   // the latest that it has shown
	Stayed time.Duration `toml:"stayed"` // for how long it has been seen to stay back, over all boots
	Boot   string        `toml:"boot"`   // the boot in which it was last looked at
	At     time.Duration `toml:"at"`     // and what the clock of that boot showed, which nobody sets
}

// Clocks is what the clocks of a machine show at a moment.
type Clocks struct {
	Now    time.Time     // the clock on the wall
	Boot   string        // which boot of the machine it is
	At     time.Duration // how long that has lasted, time suspended included
	Synced bool          // something keeps the clock on the wall right
}

// IsZero reports whether the clock is not back.
func (b Setback) IsZero() bool { return b == Setback{} }

// Look is what is known of the clock after one more look at it; latest is the latest that it has
// shown since b began. believed says that it has stayed back for so long that it was wrong before.
func (b Setback) Look(latest time.Time, c Clocks) (after Setback, believed bool) {
	if b.Peak.After(latest) {
		latest = b.Peak
	}
	if !c.Now.Before(latest.Add(-ClockBack)) {
		return Setback{}, false
	}
	after = Setback{Peak: UTC(latest), Stayed: b.Stayed, Boot: c.Boot, At: c.At}
	if b.Boot == c.Boot && c.At > b.At && !b.IsZero() {
		after.Stayed += min(c.At-b.At, BackStep)
	}
	long := backLong
	if c.Synced {
		long = backSynced
	}
	return after, after.Stayed >= long
}

// Since is from which instant on schedules go on once a clock that shows now is believed: when it
// was first seen to be back, but never longer ago than it has to stay so.
func (b Setback) Since(now time.Time) time.Time { return now.Add(-min(b.Stayed, backLong)) }

// Stretch is a stretch of instants, both ends among them.
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

// unrunMost is how many stretches a tally remembers; of more the shortest is forgotten, and its
// instants count as taken.
const unrunMost = 8

// Taken reports whether the occurrence of due can not be claimed: it has ended. While the clock
// shows instants again those can be for which nothing was ever claimed; one that has run, or may
// have, never comes twice.
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

// Floor is the instant at or before which nothing comes any more: the last that has ended or, while
// the clock shows instants again, the last of those.
func (t Tally) Floor() time.Time {
	if !t.Again.IsZero() {
		return t.Again
	}
	return t.LastDue
}

// Unclaimed is the stretch of instants around at that have ended without a claim.
func (t Tally) Unclaimed(at time.Time) (Stretch, bool) {
	for _, s := range t.Unrun {
		if !at.Before(s.From) && !at.After(s.To) {
			return s, true
		}
	}
	return Stretch{}, false
}

// again counts a line of event clock: the instants from its due one on come again. None of them is
// given up as ended by that.
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
	if to.Before(t.First) { // the clock is where it was before the task's first occurrence
		t.leave(to, t.First.Add(-1))
		t.First = to
	}
}

// pass counts that the instants of an occurrence's line have ended.
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
	if l.Outcome == Missed || l.Outcome == Skipped && last.After(first) { // nothing was claimed: a gate is asked about one instant
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

// leave notes a stretch of instants for which nothing was claimed. Copies of the tally share what
// it had before.
func (t *Tally) leave(from, to time.Time) {
	list := append(slices.Clip(t.Unrun), Stretch{from, to})
	if len(list) > unrunMost {
		least := 0
		for i, s := range list[:unrunMost] { // never the newest: it is the one that a correction is about
			if s.To.Sub(s.From) < list[least].To.Sub(list[least].From) {
				least = i
			}
		}
		list = slices.Delete(list, least, least+1)
	}
	t.Unrun = list
}

// use notes that an instant was claimed. Instants come in order: those of its stretch before it are
// over.
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
