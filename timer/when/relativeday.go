package when

import (
	"fmt"
	"time"
)

// weekdayName reads a weekday and what ties it to a week: "friday", "friday week", "friday of next week". Beside a date it
// only has to agree.
func (p *parser) weekdayName(m *moment) bool {
	from := p.i
	day := int(p.at(0).day)
	p.i++
	if p.isMark(0, '.') && p.joined(0) {
		p.i++
	}
	if p.at(0).kind == tWord && p.at(0).unit == uWeek && p.is(0, "week") {
		p.i++
		return p.setWeekday(m, from, day, wNone, 1)
	}
	k := 0
	if r := p.at(0).role; r == wOf || r == wIn {
		k = 1
	}
	if r := p.at(k).role; (r == wNext || r == wThis || r == wLast) && p.is(k+1, "week") {
		p.i += k + 2
		weeks := map[word]int{wNext: 1, wThis: 0, wLast: -1}[r]
		return p.setWeek(m, from, day, weeks)
	}
	if k == 1 && p.at(0).role == wOf {
		return false
	}
	return p.setWeekday(m, from, day, wNone, 0)
}

// setWeek claims a weekday of a calendar week, Monday first, as the day.
func (p *parser) setWeek(m *moment, from, day, weeks int) bool {
	if !p.setDay(m, onWeek, p.i-from) {
		return false
	}
	m.weekday, m.weeks = day, weeks
	return true
}

// setWeekday claims the next such weekday as the day, or notes it beside a date.
func (p *parser) setWeekday(m *moment, from, day int, mode word, weeks int) bool {
	if m.day != noDay && m.day != onWeekday && m.check == 0 && mode == wNone && weeks == 0 && m.day != onWeek {
		m.check = day
		return true
	}
	if !p.setDay(m, onWeekday, p.i-from) {
		return false
	}
	if m.check != 0 {
		return p.twoDays()
	}
	m.weekday, m.mode, m.weeks = day, mode, weeks
	return true
}

// dayWord reads today, tomorrow, yesterday, tonight, and "tomorrow week".
func (p *parser) dayWord(m *moment) bool {
	from := p.i
	days := 0
	switch p.at(0).role {
	case wTomorrow:
		days = 1
	case wYesterday:
		days = -1
	case wTonight:
		if m.part != 0 {
			return false
		}
		m.part = night
	}
	p.i++
	if p.is(0, "week") && days >= 0 {
		p.i++
		days += 7
	}
	return p.setOffset(m, days, p.i-from)
}

// relativeDay reads what next, this, last and coming stand before.
func (p *parser) relativeDay(m *moment) bool {
	from := p.i
	mode := p.at(0).role
	p.i++
	if mode == wThis && p.at(0).role == wComing {
		mode = wNext
		p.i++
	}
	if mode == wComing {
		mode = wNext
	}
	t := p.at(0)
	switch {
	case t.role == wWeekend:
		return p.fail("a weekend is two days", `name one, as in "saturday at 10:00"`)
	case t.month != 0:
		p.i++
		month := int(t.month)
		return p.monthOnly(from, month, 0)
	case mode == wLast:
		return p.lastDay(m, from)
	case t.day != 0:
		p.i++
		if p.isMark(0, '.') && p.joined(0) {
			p.i++
		}
		return p.setWeekday(m, from, int(t.day), mode, 0)
	case t.part != 0 && mode == wThis:
		if m.part != 0 {
			return false
		}
		p.i++
		m.part = int(t.part)
		return p.setOffset(m, 0, 2)
	case mode == wThis:
		return p.fail("it is no exact time", `name the day, as in "friday at noon"`)
	case t.unit == uWeek && p.is(0, "week"):
		k := 1
		if p.at(k).role == wOn || p.isMark(k, ',') {
			k++
		}
		if day := p.at(k).day; day != 0 {
			p.i += k + 1
			return p.setWeek(m, from, int(day), 1)
		}
	case t.unit == uMonth:
		k := 1
		if p.at(k).role == wOn {
			k++
		}
		if p.at(k).role == wThe {
			k++
		}
		if p.at(k).role == wOrdinal || p.at(k).kind == tNum && p.at(k+1).role == wSuffix {
			p.i += k
			n, ok := p.ordinal()
			if !ok || n < 1 || n > 31 || !p.setDay(m, onMonth, p.i-from) {
				return false
			}
			m.date, m.monthShift, m.mon = n, 1, 1
			return true
		}
	}
	return p.nextUnit(m)
}

// nextUnit reads "next week" and "next 2 days", lengths from now as at(1) has them.
func (p *parser) nextUnit(m *moment) bool {
	t := p.at(0)
	var s span
	if t.kind == tWord && t.unit >= uMinute && t.end-t.off > 1 {
		p.i++
		if !p.add(&s, quantity{whole: 1}, t.unit) {
			return false
		}
		if s.calendar && !m.clock.set && !m.now {
			m.notes = append(m.notes, fmt.Sprintf("\"next %s\" is one %[1]s from now", p.low[t.off:t.end]))
		}
	} else {
		var ok bool
		if s, ok = p.span(); !ok {
			return false
		}
	}
	if m.now {
		return p.increment(m, s)
	}
	return p.setSpan(m, s, true)
}

// lastDay reads "last friday", which is past, and "last day of the month", which need not be.
func (p *parser) lastDay(m *moment, from int) bool {
	t := p.at(0)
	p.i++
	if next := p.at(0).role; next == wOf || next == wIn {
		switch {
		case t.day != 0:
			return p.nthOf(m, from, -1, int(t.day))
		case t.unit == uDay:
			return p.nthOf(m, from, -1, 0)
		}
		return false
	}
	switch {
	case t.day != 0:
		if !p.setDay(m, onWeek, p.i-from) {
			return false
		}
		// The last one before today, counted from this week's.
		today := int(p.today(m).Weekday())
		weeks := 0
		if (int(t.day)-1+6)%7 >= (today+6)%7 {
			weeks = -1
		}
		m.weekday, m.weeks = int(t.day), weeks
		return true
	case t.part == night:
		m.part = night
		return p.setOffset(m, -1, 2)
	case t.unit != uNone:
		var s span
		if !p.add(&s, quantity{whole: 1}, t.unit) {
			return false
		}
		return p.setSpan(m, s.negated(), true)
	}
	return false
}

// today is the reading of now in the zone of the text.
func (p *parser) today(m *moment) time.Time {
	zone := p.opts.Zone
	if m.zone.loc != nil {
		zone = m.zone.loc
	}
	return reading(p.opts.Now, zone)
}
