package when

import "time"

// cadence is what a recurrence in words has said so far.
type cadence struct {
	unit    unit  // of the period: seconds to years; uNone when only days are named
	n       int64 // how many units the period has
	length  span  // a period of elapsed time
	counted bool  // the period was named

	weekdays uint8 // bit 0 is Sunday
	workdays bool  // they came from "weekday"
	dates    []int // days of the month; -1 is the last
	nths     []int // with weekdays: which of the month; -1 is the last
	month    int   // of a date in the year, with dates

	times []clock
	marks []int // minutes past every hour
	part  int
	from  *clock // between from and to
	to    *clock

	zone *time.Location

	twice              bool // biweekly, bimonthly: every two of them, unless it is twice in one
	twiceOff, twiceEnd int  // where it stands in the text
}

// every reads what follows "every", as --every has it: a length with a unit, or the rest of a phrase. The word itself may
// be there.
func (p *parser) every(o Options) (*Schedule, *Error) {
	if o.OnceOnly {
		return nil, p.refuse("a recurrence and one instant are asked for at once", "leave one of the two out")
	}
	if q, ok := p.decimal(); ok && p.at(0).kind == tEnd {
		e := &Error{Code: CodeUsage, Message: "the interval " + quoted(p.typed) + " has no unit", Hint: `give a length of time, as in "5m"`}
		if e.instead = p.understood(p.withUnit(q)...); e.instead != nil {
			e.Hint = say(e.instead)
		}
		return nil, e
	}
	p.i = 0
	if p.isMark(0, '-') || p.isMark(0, '+') {
		return nil, p.refuse("an interval has no sign", `say it as in "5m"`)
	}
	if p.at(0).role == wT || p.at(0).kind == tMark && p.at(0).mark != '.' {
		return nil, p.stranger()
	}
	return p.phrase(o)
}

// phrase reads a recurrence in words: "every 5m", "weekdays at 9:00", "on the last day of every month at 17:00".
func (p *parser) phrase(o Options) (*Schedule, *Error) {
	var c cadence
	first := p.at(0)
	implied := o.Form == EveryForm && first.role != wEvery && first.role != wAdverb && first.role != wOn &&
		first.role != wAt && first.role != wThe && !first.many
	if implied && !p.afterEvery(&c) {
		p.miss()
		return nil, p.stranger()
	}
	for p.at(0).kind != tEnd {
		if !p.cadencePart(&c) {
			p.miss()
			return nil, p.stranger()
		}
	}
	if o.Form == Any && len(c.times) == 0 && c.from == nil && !p.evidence() { // monday to friday
		p.failFor("it may be one time or all of them", "say %q", `say it as in "every monday to friday at 9:00"`, "every "+p.text)
		return nil, p.err
	}
	return p.build(&c, o)
}

// cadencePart reads the next part of a phrase with the word that leads it.
func (p *parser) cadencePart(c *cadence) bool {
	t := p.at(0)
	if t.mark == ',' && p.i > 0 {
		p.i++
		t = p.at(0)
	}
	if loc, ok, done := p.placeTime(len(c.times) > 0 || c.from != nil); done {
		return ok && p.setPlace(c, loc)
	}
	switch t.role {
	case wEvery:
		p.i++
		return p.afterEvery(c)
	case wAdverb:
		p.i++
		if p.low[t.off:t.end] == "nightly" {
			c.part = night
		}
		switch n := int64(1); {
		case p.low[t.off:t.end] == "fortnightly":
			return p.period(c, uWeek, 2)
		case t.unit == uHour:
			c.length.elapsed = time.Hour
			return p.period(c, uHour, n)
		case t.unit == uQuarter:
			return p.period(c, uMonth, 3)
		case p.low[t.off:t.end] == "biweekly", p.low[t.off:t.end] == "bimonthly":
			c.twice, c.twiceOff, c.twiceEnd = true, int(t.off), int(t.end)
			return p.period(c, t.unit, 2)
		default:
			return p.period(c, t.unit, n)
		}
	case wTimes:
		return p.timesA(c)
	case wAt:
		p.i++
		if p.isMark(0, ':') {
			return p.minuteMarks(c)
		}
		return p.clocks(c, wAt)
	case wOn:
		p.i++
		return p.onDays(c)
	case wThe:
		return p.onDays(c)
	case wIn:
		if p.at(1).role == wThe && p.at(2).part != 0 && c.part == 0 {
			c.part = int(p.at(2).part)
			p.i += 3
			return true
		}
		return false
	case wBetween, wFrom:
		if p.at(1).day != 0 && p.weekdaysTo(p.i+2) { // from monday to friday
			p.i++
			return p.weekdayList(c)
		}
		return p.between(c)
	case wUTC:
		p.i++
		if !p.setPlace(c, time.UTC) {
			return false
		}
		p.ofZone()
		if r := p.at(0).mark; r == '+' || r == '-' {
			return p.failGiving("a recurrence follows the clocks of a place", `name it, as in "Europe/Warsaw", or use`, "tz")
		}
		return true
	case wZone:
		return p.failGiving("a recurrence follows the clocks of a place", `name it, as in "Europe/Warsaw", or use`, "tz")
	}
	switch {
	case t.kind == tPlace:
		loc, ok := p.load()
		return ok && p.setPlace(c, loc) && p.ofZone()
	case t.part != 0 && c.part == 0 && c.weekdays != 0:
		c.part = int(t.part)
		p.i++
		return true
	case t.day != 0 || t.role == wDays || t.role == wWeekend:
		return (t.many || c.unit == uWeek || c.weekdays != 0 || p.weekdaysTo(p.i+1)) && p.weekdayList(c)
	case p.is(0, "day") && p.at(1).kind == tNum && p.evidence():
		return p.onDays(c)
	case p.low[t.off:t.end] == "until" || p.is(0, "starting") || p.is(0, "beginning") || t.role == wFor:
		return p.failGiving("the bounds of a recurrence are flags", "give", "start", "end", "count")
	case t.role == wLast, t.role == wOrdinal, t.kind == tNum && p.at(1).role == wSuffix && p.joined(1):
		return p.onDays(c)
	}
	return p.clocks(c, wNone)
}

// setPlace claims the zone.
func (p *parser) setPlace(c *cadence, loc *time.Location) bool {
	if c.zone != nil {
		return p.fail("it names two time zones", "leave one of the two out")
	}
	c.zone = loc
	return true
}

// period claims the period.
func (p *parser) period(c *cadence, u unit, n int64) bool {
	if c.counted {
		return p.fail("it names two periods", "leave one of the two out")
	}
	if n <= 0 {
		return p.fail("a period of zero never ends", "give at least 1")
	}
	c.unit, c.n, c.counted = u, n, true
	return true
}

// evidence reports whether some word already read says that the text recurs.
func (p *parser) evidence() bool {
	for _, t := range p.toks[:p.n] {
		if t.role == wEvery || t.role == wAdverb || t.many {
			return true
		}
	}
	return false
}
