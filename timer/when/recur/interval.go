package recur

import (
	"math"
	"math/bits"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// Interval has the instants anchor + k × every, with k ≥ 1, in elapsed time. No clock change and no
// late run moves them.
type Interval struct {
	anchor time.Time
	every  time.Duration
}

// NewInterval makes a fixed interval. A period that is not positive never comes; the parsers refuse
// one.
func NewInterval(every time.Duration, anchor time.Time) Rule {
	return Interval{anchor.Round(0), every}
}

func (r Interval) Next(t time.Time) (time.Time, bool) {
	if r.every <= 0 {
		return time.Time{}, false
	}
	next := r.anchor.Add(r.every)
	if !t.Before(next) {
		// The distance may be longer than the 292 years of a Duration, so it is divided in 128
		// bits.
		hi, lo := r.since(t)
		next = t.Add(r.every - time.Duration(bits.Rem64(hi, lo, uint64(r.every))))
	}
	return next, next.Year() <= civil.LastYear
}

// since returns the nanoseconds from the anchor to t, which must not be before it.
func (r Interval) since(t time.Time) (hi, lo uint64) {
	seconds, nanos := t.Unix()-r.anchor.Unix(), int64(t.Nanosecond()-r.anchor.Nanosecond())
	if nanos < 0 {
		seconds, nanos = seconds-1, nanos+1e9
	}
	hi, lo = bits.Mul64(uint64(seconds), 1e9)
	lo, carry := bits.Add64(lo, uint64(nanos), 0)
	return hi + carry, lo
}

// UpTo returns how many instants lie at or before t, at most math.MaxInt.
func (r Interval) UpTo(t time.Time) int {
	if r.every <= 0 || t.Before(r.anchor) {
		return 0
	}
	hi, lo := r.since(t)
	if hi >= uint64(r.every) {
		return math.MaxInt
	}
	n, _ := bits.Div64(hi, lo, uint64(r.every))
	return int(min(n, math.MaxInt))
}

// After returns the instant n periods after t, or false when that is after the last year.
func (r Interval) After(t time.Time, n int) (time.Time, bool) {
	hi, lo := bits.Mul64(uint64(r.every), uint64(n))
	if hi >= 1e9 {
		return time.Time{}, false
	}
	seconds, nanos := bits.Div64(hi, lo, 1e9)
	if seconds > (civil.LastYear+1)*366*86400 {
		return time.Time{}, false
	}
	at := time.Unix(t.Unix()+int64(seconds), int64(t.Nanosecond())+int64(nanos))
	return at, at.Year() <= civil.LastYear
}

// Ending is a rule that ends by itself, by the UNTIL or COUNT of an RRULE.
type Ending struct {
	Rule
	last time.Time // inclusive
}

func (r Ending) Next(t time.Time) (time.Time, bool) {
	next, ok := r.Rule.Next(t)
	return next, ok && !next.After(r.last)
}
