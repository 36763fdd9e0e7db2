package when

import (
	"fmt"
	"time"
)

// afterEvery reads what follows "every".
func (p *parser) afterEvery(c *cadence) bool {
	t := p.at(0)
	n := int64(1)
	switch {
	case t.role == wOther:
		p.i++
		n = 2
	case t.role == wOrdinal && p.at(1).kind == tWord && p.at(1).unit >= uSecond && p.at(1).role != wOf,
		t.kind == tNum && p.at(1).role == wSuffix && p.joined(1) && p.at(2).unit >= uMinute && p.at(2).kind == tWord:
		// every third day, but not: every 3rd day of the month
		save := p.i
		o, ok := p.ordinal()
		if !ok {
			return false
		}
		if p.at(1).role == wOf {
			p.i = save
			return p.onDays(c)
		}
		n = int64(o)
	}
	t = p.at(0)
	switch {
	case t.kind == tWord && t.day != 0:
		if n > 1 {
			if !p.period(c, uWeek, n) {
				return false
			}
		}
		return p.weekdayList(c)
	case (t.role == wDays || t.role == wWeekend) && n == 1:
		return p.weekdayList(c)
	case t.part != 0 && n == 1 && c.part == 0:
		p.i++
		c.part = int(t.part)
		return p.period(c, uDay, 1)
	case (t.role == wNoon || t.role == wMidnight || t.role == wTeatime) && n == 1:
		return p.period(c, uDay, 1) && p.clocks(c, wAt)
	case t.role == wOrdinal && p.at(1).day != 0 && p.at(2).role != wOf && p.at(2).role != wIn:
		if t.num < 2 || t.num > 4 {
			return p.onDays(c)
		}
		end := p.at(1)
		day := p.text[end.off:end.end]
		return p.unclear("it may count weeks, or weeks of the month", int(p.toks[max(p.i-1, 0)].off), int(end.end),
			fmt.Sprintf("every %d weeks on %s", t.num, day),
			fmt.Sprintf("every %s %s of the month", p.text[t.off:t.end], day))
	case t.role == wThe, t.role == wLast, t.role == wOrdinal && t.unit == uNone, t.role == wOrdinal && p.at(1).day != 0:
		if n > 1 {
			return false
		}
		return p.onDays(c)
	case t.kind == tNum && p.at(1).role == wSuffix && p.joined(1), t.month != 0, t.kind == tNum && p.at(1).month != 0:
		if n > 1 {
			return false
		}
		return p.onDays(c)
	case t.kind == tNum && n == 1 && p.clockAhead():
		return p.everyClock(c)
	case t.kind == tWord && t.unit != uNone && t.role != wHalf && !(t.role == wQuarter && p.at(1).role != wNone):
		p.i++
		q := quantity{whole: n}
		if n == 1 {
			q.nano = p.andA()
		}
		var s span
		if !p.add(&s, q, t.unit) {
			return false
		}
		s.one, s.count = t.unit, n
		return p.everySpan(c, s)
	case n > 1:
		return false
	case t.mark == '-' || t.mark == '+':
		return p.fail("an interval has no sign", `say it as in "every 5m"`)
	}
	if p.isMark(0, '0') {
		return false
	}
	s, ok := p.span()
	if !ok {
		if q, number := p.decimal(); number && p.err == nil && (p.at(0).kind == tEnd || p.at(0).role == wAt) {
			if q == (quantity{}) {
				return p.fail("a period of zero never ends", `say it as in "every 5m"`)
			}
			end := p.toks[p.i-1].end
			return p.failFor("the unit is missing", "say %q", `say it as in "every 5m"`, p.text[:end]+"m"+p.text[end:], p.text[:end]+" days"+p.text[end:])
		}
		return false
	}
	return p.everySpan(c, s)
}

// timesA reads "once a day", "once every 2 weeks"; how far apart "twice a day" is, only times can say.
func (p *parser) timesA(c *cadence) bool {
	if p.at(0).num != 1 {
		return p.fail("how far apart is not said", `name the times, as in "every day at 9:00 and 17:00"`)
	}
	p.i++
	t := p.at(1)
	switch {
	case p.at(0).role == wEvery, p.at(0).role == wAdverb:
		return true
	case p.at(0).role != wA && !p.is(0, "per") || t.kind != tWord || t.role != wNone:
		return false
	case t.unit == uHour:
		c.length.elapsed = time.Hour
		fallthrough
	case t.unit == uDay, t.unit == uWeek, t.unit == uMonth, t.unit == uYear:
		p.i += 2
		return p.period(c, t.unit, 1)
	case t.unit == uFortnight:
		p.i += 2
		return p.period(c, uWeek, 2)
	}
	return false
}

// clockAhead reports whether a time of day, marked as one, comes next.
func (p *parser) clockAhead() bool {
	t, next := p.at(0), p.at(1)
	if t.digits > 2 {
		return false
	}
	return next.role == wAM || next.role == wPM || next.role == wClock || next.mark == ':' && !next.gap
}

// everyClock reads "every 9am", which is every day. "every 9:30" may be a length as well.
func (p *parser) everyClock(c *cadence) bool {
	from := p.i
	one, ok := p.oneClock(wAt)
	if !ok {
		return false
	}
	if one.mer == wNone && !one.bare && one.name == wNone {
		return p.unclear("it may be a length or a time of day", int(p.toks[from].off), one.end,
			fmt.Sprintf("day at %d:%02d", one.hour, one.minute), fmt.Sprintf("%dh%dm", one.hour, one.minute))
	}
	p.i = from
	return p.period(c, uDay, 1) && p.clocks(c, wAt)
}

// everySpan makes a length the period.
func (p *parser) everySpan(c *cadence, s span) bool {
	switch {
	case s.calendar && s.elapsed != 0:
		return p.fail("it mixes days and hours", `give hours alone, as in "every 36h"`)
	case s.months != 0 && s.days != 0:
		return p.fail("it mixes months and days", "give one of the two")
	case s.months != 0:
		if (s.one == uYear || s.one == uDecade) && s.months%12 == 0 {
			return p.period(c, uYear, s.months/12)
		}
		return p.period(c, uMonth, s.months)
	case s.days != 0:
		if (s.one == uWeek || s.one == uFortnight) && s.days%7 == 0 {
			return p.period(c, uWeek, s.days/7)
		}
		return p.period(c, uDay, s.days)
	case s.elapsed <= 0:
		return p.fail("a period of zero never ends", `say it as in "every 5m"`)
	}
	c.length = s
	u := uSecond
	if s.elapsed == time.Hour {
		u = uHour
	}
	return p.period(c, u, 1)
}
