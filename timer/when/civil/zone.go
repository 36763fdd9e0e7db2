// Package civil has civil time: the days of the calendar, the zones by their names, and the
// instants at which the clocks of a zone show a wall time.
//
// A wall time is what the clocks of a zone show, kept as a time in UTC. A clock change may skip a
// wall time or repeat it.
package civil

import (
	"math"
	"time"
	_ "time/tzdata" // a bare container has no zone database
)

// Range is a range of instants, [start, end) in Unix seconds, in which a zone keeps one
// offset (seconds east).
type Range struct {
	Start, End int64
	Offset     int64
}

const (
	FarPast   = math.MinInt64
	FarFuture = math.MaxInt64
)

// RangeAt returns the range around an instant. Go divides a range at New Year after the last
// change in the table of a zone, so it may come in two pieces, and these may overlap.
func RangeAt(unix int64, zone *time.Location) Range {
	if zone == time.UTC {
		return Range{FarPast, FarFuture, 0}
	}
	t := time.Unix(unix, 0).In(zone)
	_, offset := t.Zone()
	s := Range{FarPast, FarFuture, int64(offset)}
	from, to := t.ZoneBounds()
	if !from.IsZero() {
		s.Start = from.Unix()
	}
	if !to.IsZero() {
		s.End = to.Unix()
	}
	if s.Start <= unix && unix < s.End {
		return s
	}
	// https://go.dev/issue/81583: on 31 December of leap years after the last change in the table,
	// the end that Go returns is the start of the day, which is not after t. The offset itself is
	// right, and no zone changes by rule within those days. So this asks for the offset hour by
	// hour until the bounds are right again.
	for probe := unix + 3600; probe < unix+72*3600; probe += 3600 {
		p := time.Unix(probe, 0).In(zone)
		_, o := p.Zone()
		if int64(o) != s.Offset {
			return Range{min(s.Start, unix), probe, s.Offset}
		}
		if from, to := p.ZoneBounds(); to.IsZero() || to.Unix() > probe {
			end := int64(FarFuture)
			if !to.IsZero() {
				end = to.Unix()
			}
			return Range{min(s.Start, unix, from.Unix()), end, s.Offset}
		}
	}
	return Range{min(s.Start, unix), unix + 3600, s.Offset}
}

// MaxOffset is how far a wall time, taken as UTC, can lie from its instant. The largest offset in
// the history of any zone is just below 16 hours.
const MaxOffset = 16 * 3600

// InstantsOfUnix finds the instants at which the clocks of a zone show wall, both in Unix seconds.
// When n is 0, wall lies in a gap that ends at the instant first, and shift is the length of that
// gap.
func InstantsOfUnix(wall int64, zone *time.Location) (first, second int64, n int, shift int64) {
	at := wall - MaxOffset
	s := RangeAt(at, zone)
	if s.Start == FarPast && s.End == FarFuture || s.End > wall+MaxOffset {
		return wall - s.Offset, 0, 1, 0
	}
	for {
		if u := wall - s.Offset; s.Start <= u && u < s.End {
			switch n++; n {
			case 1:
				first = u
			case 2:
				second = u
			}
		}
		if s.End > wall+MaxOffset {
			break
		}
		next := RangeAt(s.End, zone)
		next.Start = s.End // ranges may overlap where Go divides them
		if n == 0 && s.End+s.Offset <= wall && wall < s.End+next.Offset {
			first, shift = s.End, next.Offset-s.Offset
		}
		s = next
	}
	return first, second, min(n, 2), shift
}

// InstantsOf finds the instants at which the clocks of a zone show wall. n is 0 when the clocks
// skip it, 1, or 2 when they repeat it; first is then the earlier one.
func InstantsOf(wall time.Time, zone *time.Location) (first, second time.Time, n int) {
	a, b, n, _ := InstantsOfUnix(wall.Unix(), zone)
	ns := int64(wall.Nanosecond())
	if n > 0 {
		first = time.Unix(a, ns).In(zone)
	}
	if n > 1 {
		second = time.Unix(b, ns).In(zone)
	}
	return first, second, n
}

// InstantOf returns the instant at which the clocks of a zone show wall, a wall time labelled UTC.
// By RFC 5545 section 3.3.5, a wall time that a clock change skips moves forward by the length of
// the gap, and of one that comes twice the first instant counts.
func InstantOf(wall time.Time, zone *time.Location) time.Time {
	return time.Unix(InstantOfUnix(wall.Unix(), zone), int64(wall.Nanosecond())).In(zone)
}

// InstantOfUnix is InstantOf in Unix seconds.
func InstantOfUnix(wall int64, zone *time.Location) int64 {
	first, _, n, shift := InstantsOfUnix(wall, zone)
	if n > 0 {
		return first
	}
	// The offset before the gap is the one after it less the length of the gap.
	_, after := time.Unix(first, 0).In(zone).Zone()
	return wall - (int64(after) - shift)
}

// Wall returns what the clocks of a zone show at t, labelled UTC.
func Wall(t time.Time, zone *time.Location) time.Time {
	_, offset := t.In(zone).Zone()
	return time.Unix(t.Unix()+int64(offset), int64(t.Nanosecond())).UTC()
}

// ClockChange is an instant, in Unix seconds, at which a zone changes its offset (seconds east).
type ClockChange struct{ At, Before, After int64 }

// ClockChanges gives the changes of a zone after from and not after until, in Unix seconds, until
// look returns false.
func ClockChanges(from, until int64, zone *time.Location, look func(ClockChange) bool) {
	for s := RangeAt(max(from, FarPast+1), zone); s.End != FarFuture && s.End <= until; {
		n := RangeAt(s.End, zone)
		if n.Offset != s.Offset && !look(ClockChange{s.End, s.Offset, n.Offset}) {
			return
		}
		s = n
	}
}
