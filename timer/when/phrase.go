package when

import (
	"fmt"
	"strconv"
	"time"
)

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
		hint := fmt.Sprintf("say %q", p.text+"s") + secondsOrMinutes(q)
		if q == (quantity{}) {
			hint = `give a length of time, as in "5m"`
		}
		return nil, &Error{Code: CodeUsage, Message: "the interval " + quoted(p.typed) + " has no unit", Hint: hint}
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
		hint := `say it as in "every monday to friday at 9:00"`
		if text, ok := p.pasted("every " + p.text); ok {
			hint = fmt.Sprintf("say %q", text)
		}
		return nil, p.refuse("it may be one time or all of them", hint)
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
		if c.zone != nil {
			return p.fail("it names two time zones", "leave one of the two out")
		}
		c.zone = time.UTC
		p.i++
		if r := p.at(0).mark; r == '+' || r == '-' {
			return p.fail("a recurrence follows the clocks of a place", `name it, as in "Europe/Warsaw", or use --tz`)
		}
		return true
	case wZone:
		return p.fail("a recurrence follows the clocks of a place", `name it, as in "Europe/Warsaw", or use --tz`)
	}
	switch {
	case t.kind == tPlace:
		loc, ok := p.load()
		if !ok {
			return false
		}
		if c.zone != nil {
			return p.fail("it names two time zones", "leave one of the two out")
		}
		c.zone = loc
		return true
	case t.part != 0 && c.part == 0 && c.weekdays != 0:
		c.part = int(t.part)
		p.i++
		return true
	case t.day != 0 || t.role == wDays || t.role == wWeekend:
		return (t.many || c.unit == uWeek || c.weekdays != 0 || p.weekdaysTo(p.i+1)) && p.weekdayList(c)
	case p.is(0, "day") && p.at(1).kind == tNum && p.evidence():
		return p.onDays(c)
	case p.low[t.off:t.end] == "until" || p.is(0, "starting") || p.is(0, "beginning") || t.role == wFor:
		return p.fail("the bounds of a recurrence are flags", "give --start, --end or --count")
	case t.role == wLast, t.role == wOrdinal, t.kind == tNum && p.at(1).role == wSuffix && p.joined(1):
		return p.onDays(c)
	}
	return p.clocks(c, wNone)
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
			return p.fail("the unit is missing", fmt.Sprintf("say %q", "every "+strconv.FormatInt(q.whole, 10)+"m"))
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

// weekdayList reads weekdays, "weekdays" and "weekends" with commas or "and" between them.
func (p *parser) weekdayList(c *cadence) bool {
	if c.weekdays != 0 && len(c.times) > 0 {
		return p.timesTwice(c, wNone)
	}
	for {
		t := p.at(0)
		set := uint8(0)
		switch {
		case t.kind == tWord && t.day != 0:
			set = 1 << (t.day - 1)
		case t.role == wDays:
			set = 0b0111110
		case t.role == wWeekend:
			set = 0b1000001
		default:
			return false
		}
		if c.weekdays&set != 0 {
			return p.fail("it names the same day twice", "name it once")
		}
		c.weekdays |= set
		p.i++
		if p.isMark(0, '.') && p.joined(0) {
			p.i++
		}
		if p.isMark(0, '-') || p.at(0).role == wTo || p.at(0).role == wThrough { // monday to friday
			last := p.at(1)
			if t.day == 0 || last.day == 0 {
				return false
			}
			for d := t.day; d != last.day; {
				if d++; d > 7 {
					d = 1
				}
				c.weekdays |= 1 << (d - 1)
			}
			p.i += 2
		}
		k := 0
		if p.isMark(0, ',') {
			k++
		}
		if p.at(k).role == wAnd || p.isMark(k, '&') {
			k++
		}
		if p.at(k).role == wOn || p.at(k).role == wEvery && k > 0 {
			k++
		}
		if next := p.at(k); k == 0 || next.day == 0 && next.role != wDays && next.role != wWeekend {
			return true
		}
		p.i += k
	}
}

// onDays reads what follows "on" or "the": weekdays, days of the month, a date, "the last friday of every month", "the half
// hour".
func (p *parser) onDays(c *cadence) bool {
	if p.at(0).role == wEvery {
		p.i++
	}
	the := p.at(0).role == wThe
	if the {
		p.i++
	}
	t := p.at(0)
	if p.is(0, "day") && p.at(1).kind == tNum && p.at(1).n >= 1 && p.at(1).n <= 31 && p.at(2).mark != ':' { // day 15 of every month
		if c.dates != nil || c.nths != nil {
			return p.fail("it names days of the month twice", `join them, as in "on the 1st and 15th"`)
		}
		c.dates = []int{int(p.at(1).n)}
		p.i += 2
		return p.ofMonth(c)
	}
	switch {
	case !the && (t.kind == tWord && t.day != 0 || t.role == wDays || t.role == wWeekend):
		return p.weekdayList(c)
	case c.unit == uHour && p.is(0, "hour"):
		p.i++
		c.marks = append(c.marks, 0)
		return true
	case c.unit == uHour && (t.role == wHalf || t.role == wQuarter) && p.is(1, "hour"):
		p.i += 2
		c.marks = append(c.marks, map[word]int{wHalf: 30, wQuarter: 15}[t.role])
		return true
	case t.month != 0, t.kind == tNum && (p.at(1).month != 0 || p.at(1).role == wOf && p.at(2).month != 0):
		return p.yearly(c)
	}
	if c.dates != nil || c.nths != nil {
		return p.fail("it names days of the month twice", `join them, as in "on the 1st and 15th"`)
	}
	var list []int
	for {
		if p.at(0).role == wThe {
			p.i++
		}
		n := -1
		if p.at(0).role == wLast {
			p.i++
		} else {
			from := p.i
			var ok bool
			if n, ok = p.ordinal(); !ok || n < 1 || n > 31 {
				return false
			}
			if p.at(0).month != 0 || p.at(0).role == wOf && p.at(1).month != 0 {
				p.i = from
				return len(list) == 0 && p.yearly(c)
			}
		}
		list = append(list, n)
		if p.at(0).unit == uDay && p.at(0).kind == tWord {
			p.i++
		}
		k := 0
		if p.isMark(0, ',') {
			k++
		}
		if p.at(k).role == wAnd || p.isMark(k, '&') {
			k++
		}
		next := p.at(k)
		if k == 0 || next.role != wThe && next.role != wLast && next.role != wOrdinal &&
			!(next.kind == tNum && p.at(k+1).role == wSuffix) {
			break
		}
		p.i += k
	}
	t = p.at(0)
	switch {
	case t.kind == tWord && (t.day != 0 || t.role == wDays):
		for _, n := range list {
			if n > 5 {
				return p.fail("no month has that many weeks", "a month has the first to the fifth, and the last")
			}
		}
		if t.role == wDays && len(list) > 1 {
			return false
		}
		c.nths = list
		c.workdays = t.role == wDays
		c.weekdays = 0b0111110
		if t.day != 0 {
			c.weekdays = 1 << (t.day - 1)
		}
		p.i++
	case p.toks[p.i-1].role == wLast:
		return false
	default:
		c.dates = list
	}
	return p.ofMonth(c)
}

// ofMonth reads "of every month", "of the month", "each month", "of every 3 months" after days of the month.
func (p *parser) ofMonth(c *cadence) bool {
	from := p.i
	if r := p.at(0).role; r == wOf || r == wIn {
		p.i++
	}
	switch t := p.at(0); {
	case t.role == wEvery:
		p.i++
		if p.is(0, "month") {
			p.i++
			return p.period(c, uMonth, 1)
		}
		if p.at(0).role == wOther && p.is(1, "month") {
			p.i += 2
			return p.period(c, uMonth, 2)
		}
		if s, ok := p.span(); ok && s.months > 0 {
			return p.everySpan(c, s)
		}
		return false
	case (t.role == wThe || t.role == wA) && p.is(1, "month") && p.i > from:
		p.i += 2
		return true
	case p.i > from:
		return false
	}
	if c.nths != nil && c.unit == uNone && p.opts.Form == Any && !p.evidence() {
		return false
	}
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

// yearly reads a date of every year.
func (p *parser) yearly(c *cadence) bool {
	var m moment
	var ok bool
	switch t := p.at(0); {
	case t.month != 0:
		ok = p.monthFirst(&m)
	case p.at(1).role == wSuffix || t.role == wOrdinal || t.role == wNumber:
		ok = p.ordinalDay(&m)
	default:
		ok = p.dayFirst(&m)
	}
	if !ok {
		if p.err != nil && p.err.Code == CodeAmbiguous {
			p.err = p.refuse("a month is no day", `add the day, as in "every 1 march"`)
		}
		return false
	}
	if m.day != onAnnual {
		return p.fail("a date with its year comes once", "leave the year out")
	}
	if c.dates != nil || c.weekdays != 0 {
		return p.fail("it names days twice", "leave one of the two out")
	}
	c.month, c.dates = m.month, []int{m.date}
	if !c.counted {
		return p.period(c, uYear, 1)
	}
	return true
}
