package when

import (
	"math"
	"math/bits"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// quantity is a decimal number of at most nine places: whole + nano / 1e9.
type quantity struct {
	whole, nano int64
}

// scaled returns a × by, rounded towards zero. It reports false when the product exceeds an int64.
func (a quantity) scaled(by int64) (int64, bool) {
	hi, whole := bits.Mul64(uint64(a.whole), uint64(by))
	if hi != 0 || whole > math.MaxInt64 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(a.nano), uint64(by))
	part, _ := bits.Div64(hi, lo, 1e9)
	sum := whole + part
	return int64(sum), sum <= math.MaxInt64
}

// span is a length of time in three measures that do not convert into one another: months, days
// that keep the time of day, and elapsed time.
type span struct {
	months, days int64
	elapsed      time.Duration
	calendar     bool // a unit of days or more was named, even with a zero
	next         bool // next week
	bare         bool // only a duration: without "in", and without a sign
	lasting      bool // for 3 days
	// It has a capital M alone, which is minutes or months and comes first of its units.
	open      bool
	openCount int64
	openAt    uint16 // where that M stands
	units     uint16 // the units that it names
	one       unit   // the unit, when the span is a whole count of one unit
	count     int64
}

func (s span) negated() span {
	s.months, s.days, s.elapsed = -s.months, -s.days, -s.elapsed
	return s
}

// The most that a measure may have, so that the sum of a few cannot overflow.
const (
	maxMonths = 12 * 10000
	maxDays   = 366 * 10000
)

// addSpan moves an instant by a span: first by months (at most to the last day of the month), then
// by days, both on the clocks of the zone, then by elapsed time. It reports false when the year
// cannot be written.
func addSpan(t time.Time, s span, zone *time.Location) (time.Time, bool) {
	if s.months != 0 || s.days != 0 {
		t = civil.InstantOf(civil.AddMonthsDays(civil.Wall(t, zone), s.months, s.days), zone)
	}
	if y := t.Year(); y < 1 || y > civil.LastYear {
		return t, false
	}
	t = t.Add(s.elapsed)
	return t, t.Year() >= 1 && t.Year() <= civil.LastYear
}

// add adds a count of a unit to the span. It returns why that is refused, or nil.
func (s *span) add(a quantity, u unit) *refusal {
	months, days, elapsed := u.measure()
	switch {
	case months > 0:
		if a.whole > maxMonths {
			return tooFar
		}
		if a.nano*months%1e9 != 0 {
			return &refusal{code: fault.CodeAmbiguous, why: "months have no fixed length to take a part of", hint: "say days, weeks or whole months"}
		}
		s.months += a.whole*months + a.nano*months/1e9
		s.calendar = true
	case days > 0:
		if a.whole > maxDays {
			return tooFar
		}
		s.days += a.whole*days + a.nano*days/1e9
		rest, _ := quantity{0, a.nano * days % 1e9}.scaled(int64(24 * time.Hour))
		s.elapsed += time.Duration(rest)
		s.calendar = true
	default:
		n, ok := a.scaled(int64(elapsed))
		if !ok {
			return tooFar
		}
		s.elapsed += time.Duration(n)
	}
	if s.months > maxMonths || s.days > maxDays || s.elapsed < 0 {
		return tooFar
	}
	return nil
}

var tooFar = &refusal{why: "it is too far away", hint: "the last year that can be named is 9999, and 292 years the longest count of hours"}
