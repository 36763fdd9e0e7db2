package when

import "time"

// dayKind says how a text names its day.
type dayKind uint8

const (
	noDay     dayKind = iota
	onDate            // year, month and day
	onAnnual          // month and day: the next such date
	onMonth           // a day of the month: the next such day
	onOffset          // days from today: today, tomorrow
	onWeekday         // the next such weekday
	onWeek            // a weekday of this or the next calendar week
	onSpan            // a count of days, weeks, months or years from today
	onNth             // the first monday, or the last day, of a month
)

// moment is what a text that names an instant has said so far. Each part may be named once.
type moment struct {
	tod    time.Duration // the time of day it was placed at
	placed bool          // it was put on the clock of a day: tod is set
	now    bool

	day              dayKind
	year, month, mon int // mon: 1 when the month is counted from now in monthShift
	date             int // day of the month; -1 is the last
	weekday          int // Sunday is 1; of onWeekday, onWeek and onNth
	check            int // a weekday named beside a date, which must agree
	days             int // of onOffset
	weeks            int // added to a weekday: "friday week"
	monthShift       int
	nth              int
	mode             word // wNext or wThis before a weekday
	dayOff, dayEnd   int  // where the day stands in the text
	iso              bool // written as ISO 8601 has it
	bare             bool // the span was a plain duration: no "in", no sign

	clock clock
	part  int // morning, afternoon, evening, night

	zone zoneText

	add  [4]span
	adds int

	length span // the whole text is a length of time from now
	isSpan bool

	linked bool // "at" stood before something: a bare hour is meant as a time
	notes  []string
	others []otherReading
}

// otherReading is the text of a reading that was not taken, and the note that names it as %q. Both are dropped when the
// text means nothing ahead.
type otherReading struct{ text, note string }

func (m *moment) other(text, note string) { m.others = append(m.others, otherReading{text, note}) }

// shape is which parts of a moment are named.
type shape struct{ clock, part, day, check bool }

func (m *moment) shape() shape {
	return shape{m.clock.set, m.part != 0, m.day != noDay || m.isSpan, m.check != 0}
}

// instant reads a text that names one instant. Where it reports false, p.err may say why.
func (p *parser) instant(m *moment) bool {
	var link word
	comma, any := false, false
	for {
		t := p.at(0)
		switch {
		case t.kind == tEnd:
			if !any || link != wNone || comma {
				return p.miss()
			}
			return true
		case t.mark == ',' && any && !comma && link == wNone:
			comma = true
			p.i++
			continue
		case t.mark == '.' && any && p.i == p.n-1 && !t.gap && link == wNone && !comma:
			p.i++
			continue
		case t.mark == '@' && (any || p.at(1).gap) && link == wNone, t.role == wAt && link == wNone:
			link = wAt
			p.i++
			continue
		case (t.role == wOn || t.role == wIn) && link == wNone:
			link = t.role
			p.i++
			continue
		case t.role == wThe && link != wThe:
			if link == wNone {
				link = wThe
			}
			p.i++
			if p.at(0).role == wThe {
				return p.miss()
			}
			continue
		}
		if comma && (t.mark == '+' || t.mark == '-') {
			return p.miss()
		}
		before := m.shape()
		if !p.component(m, link, any) {
			return p.miss()
		}
		// Between other words, "at" leads a time and "on" a day.
		if after := m.shape(); any && (link == wAt && before.clock == after.clock && before.part == after.part ||
			link == wOn && before.day == after.day && before.check == after.check) {
			p.i--
			return p.miss()
		}
		link, comma, any = wNone, false, true
	}
}

// component reads the next part of an instant: a day, a time, a part of day, a zone, an increment.
func (p *parser) component(m *moment, link word, any bool) bool {
	t := p.at(0)
	switch t.kind {
	case tPlace:
		return p.place(m)
	case tMark:
		switch t.mark {
		case '+', '-':
			return link == wNone && p.signed(m, any)
		case '@':
			return !any && link == wNone && p.epoch(m)
		case '(', '[':
			return any && p.bracketed(m)
		case '.':
			return p.spanned(m, link, any)
		}
		return false
	case tNum:
		return p.numeric(m, link, any)
	}
	switch {
	case t.part != 0:
		return p.partOfDay(m, link)
	case t.day != 0:
		return p.weekdayName(m)
	case t.month != 0:
		return p.monthFirst(m)
	}
	switch t.role {
	case wToday, wTomorrow, wYesterday, wTonight:
		return p.dayWord(m)
	case wNext, wThis, wLast, wComing:
		return p.relativeDay(m)
	case wRight:
		if p.at(1).role != wNow {
			return false
		}
		p.i++
		fallthrough
	case wNow:
		if any {
			return false
		}
		p.i++
		m.now = true
		return true
	case wNoon, wMidnight, wTeatime:
		return p.namedTime(m)
	case wOrdinal:
		return p.ordinalDay(m)
	case wUTC, wZone, wZ:
		return p.zoneWord(m)
	case wFor:
		if any || link != wNone {
			return false
		}
		p.i++
		return p.spanned(m, wIn, any)
	case wAfter:
		if any || link != wNone {
			return false
		}
		p.i++
		return p.spanned(m, wIn, any)
	case wEnd:
		return p.vagueEnd(m)
	case wWeekend:
		return p.fail("a weekend is two days", `name one, as in "saturday at 10:00"`)
	}
	switch {
	case t.unit == uDay && p.at(1).role == wAfter && p.at(2).role == wTomorrow:
		p.i += 3
		return p.setOffset(m, 2, 3)
	case t.unit == uDay && p.at(1).role == wBefore && p.at(2).role == wYesterday:
		p.i += 3
		return p.setOffset(m, -2, 3)
	case any && m.clock.set && (p.is(0, "day") || p.is(0, "week") || p.is(0, "month")) && p.at(1).role == wFrom:
		return p.spanned(m, link, any) // 1530 week from tomorrow
	case t.role == wT && p.at(1).kind == tNum && p.joined(1): // T10:30, a time alone in ISO 8601
		p.i++
		return p.isoClock(m)
	}
	if ok, done := p.spokenClock(m); done {
		return ok
	}
	from := p.i
	if loc, ok, done := p.placeTime(m.clock.set); done {
		return ok && p.setZone(m, zoneText{loc: loc, sealed: true}, p.i-from)
	}
	if t.role == wNumber {
		save := p.i
		if _, ok := p.ordinal(); ok { // "twenty-fourth of may"
			p.i = save
			return p.ordinalDay(m)
		}
		p.i = save
		if p.spanned(m, link, any) {
			return true
		}
		if p.err != nil {
			return false
		}
		p.i = save
		if ok, done := p.spelledHour(m, link); done {
			return ok
		}
		p.i = save
	}
	return p.spanned(m, link, any)
}

// setDay claims the day of the moment; a second day is refused, but for a weekday beside a date.
func (p *parser) setDay(m *moment, kind dayKind, tokens int) bool {
	first := p.toks[max(p.i-tokens, 0)]
	last := p.toks[max(p.i-1, 0)]
	switch {
	case m.now || m.isSpan:
		return p.fail("it names two times", "leave one of the two out")
	case m.day == onWeekday && m.mode == wNone && m.weeks == 0 && kind != onWeekday:
		m.check = m.weekday
	case m.day != noDay:
		return p.twoDays()
	}
	m.day = kind
	m.dayOff, m.dayEnd = int(first.off), int(last.end)
	return true
}

func (p *parser) setOffset(m *moment, days, tokens int) bool {
	if !p.setDay(m, onOffset, tokens) {
		return false
	}
	m.days = days
	return true
}

// spanned reads a length of time and what it counts from: "in 2 hours", "3 days from now", "an hour after noon", "2
// weeks ago".
func (p *parser) spanned(m *moment, link word, any bool) bool {
	if link != wNone && link != wIn && link != wThe {
		return false
	}
	var s span
	if t := p.at(0); any && t.kind == tWord && t.role == wNone && t.unit >= uDay && p.at(1).role == wFrom { // an article is left out
		p.i++
		if !p.add(&s, quantity{whole: 1}, t.unit) {
			return false
		}
	} else {
		var ok bool
		if s, ok = p.span(); !ok {
			return false
		}
	}
	negative := false
	t := p.at(0)
	switch {
	case t.role == wFrom && p.at(1).role == wNow, t.role == wAfter && p.at(1).role == wNow:
		p.i += 2
		m.linked = true
	case t.role == wBefore && p.at(1).role == wNow:
		p.i += 2
		negative = true
	case t.role == wLater, p.is(0, "out"):
		p.i++
		m.linked = true
	case t.role == wAgo, t.role == wBack:
		p.i++
		negative = true
	case t.role == wTime && link == wIn:
		p.i++
	case t.role == wFrom || t.role == wAfter || t.role == wBefore || t.role == wOn && link == wNone && weeksOnly(s):
		// Behind a time of day, whole days count from the day that follows: 15:30 a week from tomorrow.
		timed := m.clock.set && m.day == noDay && !m.isSpan && m.part == 0 && m.zone.loc == nil && s.elapsed == 0 && t.role == wFrom
		if any && !timed || link == wIn || m.adds > 0 {
			return false
		}
		if t.role == wOn && p.at(1).day == 0 {
			return false
		}
		p.i++
		if p.at(0).kind == tEnd || p.at(0).mark != 0 {
			return false
		}
		if t.role == wBefore {
			s = s.negated()
		}
		m.add[0], m.adds = s, 1
		// The rest of the text is what it counts from.
		return p.instant(m)
	}
	if negative {
		s = s.negated()
	}
	return p.setSpan(m, s, link == wIn || m.linked || negative)
}

func weeksOnly(s span) bool {
	return s.months == 0 && s.elapsed == 0 && s.days > 0 && s.days%7 == 0
}

// setSpan makes the moment a length of time from now, or its day when a time of day stands beside it.
func (p *parser) setSpan(m *moment, s span, said bool) bool {
	if m.now || m.isSpan || m.day != noDay {
		return p.fail("it names two times", "leave one of the two out")
	}
	m.isSpan, m.length, m.bare = true, s, !said
	return true
}

// signed reads "+ 3 days" and "- 1 hour", which count from what stands before them, or from now; else "+0200", the offset
// of the time before it.
func (p *parser) signed(m *moment, any bool) bool {
	if any && p.offset(m) {
		return true
	}
	if p.err != nil {
		return false
	}
	negative := p.isMark(0, '-')
	if p.isMark(1, '+') || p.isMark(1, '-') {
		p.i++
		return false
	}
	p.i++
	s, ok := p.span()
	if !ok {
		return false
	}
	if negative {
		s = s.negated()
	}
	if !any {
		if p.at(0).role == wFrom && p.at(1).role == wNow {
			p.i += 2
		}
		return p.setSpan(m, s, true)
	}
	if negative && m.isSpan && m.bare {
		return p.fail("it may be a range or a difference", `say it as in "1h30m", or count from now, as in "now + 2h - 30m"`)
	}
	return p.increment(m, s)
}

// increment notes a length to be added once the rest is an instant.
func (p *parser) increment(m *moment, s span) bool {
	if m.adds == len(m.add) {
		return p.fail("it has too many increments", "add them up")
	}
	m.add[m.adds] = s
	m.adds++
	return true
}

// epoch reads @1735117200 and @1735117200.5, seconds since 1970 in UTC.
func (p *parser) epoch(m *moment) bool {
	p.i++
	negative := p.isMark(0, '-') && p.joined(0)
	if negative {
		p.i++
	}
	if p.at(0).kind != tNum || p.at(0).gap || p.at(0).n < 0 {
		return false
	}
	a, _ := p.decimal()
	if a.whole > 253402300799 {
		return p.tooLong()
	}
	if negative {
		a.whole, a.nano = -a.whole, -a.nano
	}
	at := time.Unix(a.whole, a.nano).UTC()
	m.day, m.iso = onDate, true
	m.year, m.month, m.date = at.Year(), int(at.Month()), at.Day()
	m.clock = clock{set: true, hour: at.Hour(), minute: at.Minute(), second: at.Second(), nano: at.Nanosecond()}
	m.zone = zoneText{loc: time.UTC, fixed: true, sealed: true}
	return true
}

// vagueEnd refuses "end of month" and its kin with what may be meant.
func (p *parser) vagueEnd(*moment) bool {
	return p.fail("an end is no exact time", `name it, as in "last day of the month at 23:59"`)
}
