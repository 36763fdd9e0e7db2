package recur

import (
	"math/bits"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// subdaySequence works out HOURLY, MINUTELY and SECONDLY rules with BY parts. A period is one hour,
// minute or second of the wall clock. Every period that matches has the same instants.
type subdaySequence struct {
	days     DayFilter
	start    int64   // the wall time of DTSTART
	unit     int64   // seconds in a period
	daily    int64   // periods in a day
	origin   int64   // the period of DTSTART
	interval int64   // in periods
	inner    []int64 // the instants of a period, in seconds after its beginning
	hours    uint64  // the hours that BYHOUR allows, as bits
	minutes  uint64
	seconds  uint64
	// hits says on which days a period that INTERVAL keeps is also allowed by BYHOUR, BYMINUTE and
	// BYSECOND. Its index is the number of the day modulo its length. It is nil for an interval of
	// one, which hits every day, and for intervals above maxHits, which are walked.
	hits []bool
	// never says that no period that INTERVAL keeps is allowed by BYHOUR, BYMINUTE and BYSECOND.
	never bool
}

const (
	// maxHits is the largest interval, in periods, for which hits is worked out. Longer ones are
	// three days or more.
	maxHits = 1 << 18
	// subdayMonths is how many months are searched before the rule counts as one that never comes:
	// 200 years.
	subdayMonths = 2400
)

func newSubdaySequence(p *Parts, start time.Time) *subdaySequence {
	c := &subdaySequence{days: p.filter(), start: start.Unix(), interval: p.Interval}
	mask := func(list List, n int) uint64 {
		if len(p.Lists[list]) == 0 {
			return 1<<n - 1
		}
		var set uint64
		for _, v := range p.Lists[list] {
			set |= 1 << v
		}
		return set
	}
	c.hours, c.minutes, c.seconds = mask(ByHour, 24), mask(ByMinute, 60), mask(BySecond, 60)
	minutes, seconds := []int{0}, []int{0}
	switch p.Freq {
	case Hourly:
		c.unit, minutes, seconds = 3600, p.Lists[ByMinute], p.Lists[BySecond]
		c.minutes, c.seconds = 1, 1
	case Minutely:
		c.unit, seconds = 60, p.Lists[BySecond]
		c.seconds = 1
	case Secondly:
		c.unit = 1
	}
	c.daily, c.origin = 86400/c.unit, civil.FloorDiv(c.start, c.unit)
	for _, minute := range minutes {
		for _, second := range seconds {
			c.inner = append(c.inner, int64(minute*60+second))
		}
	}
	if positions := p.Lists[BySetPos]; len(positions) > 0 {
		var chosen []int64
		for i, at := range c.inner {
			if containsNth(positions, i+1, len(c.inner)) {
				chosen = append(chosen, at)
			}
		}
		c.inner = chosen
	}
	if c.interval > 1 && c.interval <= maxHits {
		c.findHits()
		if !slices.Contains(c.hits, true) {
			c.never = true
		}
	}
	return c
}

// findHits solves day × daily + x ≡ origin (mod interval) for the day, for every period x of a day
// that is allowed.
func (c *subdaySequence) findHits() {
	common := gcd(c.daily, c.interval)
	length := c.interval / common
	inverse := int64(0)
	for step := c.daily / common; inverse*step%length != 1%length; inverse++ {
	}
	c.hits = make([]bool, length)
	for x := civil.FloorMod(c.origin, common); x < c.daily; x += common {
		if c.matches(x) {
			c.hits[civil.FloorMod((c.origin-x)/common, length)*inverse%length] = true
		}
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// matches reports whether BYHOUR, BYMINUTE and BYSECOND allow a period of the day.
func (c *subdaySequence) matches(x int64) bool {
	s := x * c.unit
	return c.hours>>(s/3600)&1 == 1 && c.minutes>>(s/60%60)&1 == 1 && c.seconds>>(s%60)&1 == 1
}

func (c *subdaySequence) nextWall(w int64) (int64, bool) {
	if c.never {
		return 0, false
	}
	w = max(w, c.start-1)
	period := civil.FloorDiv(w, c.unit)
	for range 2 {
		next, ok := c.nextPeriod(period)
		if !ok {
			return 0, false
		}
		if at, ok := after(c.inner, w-next*c.unit); ok {
			return next*c.unit + at, true
		}
		period = next + 1
	}
	return 0, false
}

// nextPeriod returns the first period of the rule at or after the given one.
func (c *subdaySequence) nextPeriod(from int64) (int64, bool) {
	at := c.align(max(from, c.origin))
	for range subdayMonths {
		day := civil.FloorDiv(at, c.daily)
		year, month, dom := civil.DateOf(day)
		if year > civil.LastYear {
			return 0, false
		}
		first := day - int64(dom) + 1
		days := c.days.month(year, month) >> dom << dom
		end := civil.DayNumber(year, month+1, 1) * c.daily
		if c.interval > maxHits {
			for ; at < end; at += c.interval {
				if d := civil.FloorDiv(at, c.daily) - first + 1; days>>d&1 == 1 && c.matches(civil.FloorMod(at, c.daily)) {
					return at, true
				}
			}
			continue
		}
		residue := 0
		if c.hits != nil {
			residue = int(civil.FloorMod(first-1, int64(len(c.hits))))
		}
		for ; days != 0; days &= days - 1 {
			d := bits.TrailingZeros32(days)
			if c.hits != nil {
				r := residue + d
				if r >= len(c.hits) {
					r %= len(c.hits)
				}
				if !c.hits[r] {
					continue
				}
			}
			day = first + int64(d) - 1
			if found, ok := c.inDay(max(at, c.align(day*c.daily)), (day+1)*c.daily); ok {
				return found, true
			}
		}
		at = c.align(end)
	}
	return 0, false
}

// align returns the first period at or after the given one that INTERVAL keeps.
func (c *subdaySequence) align(period int64) int64 {
	return period + civil.FloorMod(c.origin-period, c.interval)
}

// inDay returns the first period from at on, before end, that is allowed. It skips hours and
// minutes that are not allowed as a whole.
func (c *subdaySequence) inDay(at, end int64) (int64, bool) {
	for at < end {
		s := civil.FloorMod(at, c.daily) * c.unit
		switch {
		case c.hours>>(s/3600)&1 == 0:
			at = c.align(at + (3600-s%3600+c.unit-1)/c.unit)
		case c.minutes>>(s/60%60)&1 == 0 && c.unit < 3600:
			at = c.align(at + (60-s%60+c.unit-1)/c.unit)
		case c.seconds>>(s%60)&1 == 0 && c.unit < 60:
			at += c.interval
		default:
			return at, true
		}
	}
	return 0, false
}
