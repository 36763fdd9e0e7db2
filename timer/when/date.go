package when

import (
	"fmt"
	"strconv"
	"time"
)

// checkDate refuses days that no calendar has; a year of 0 stands for any.
func (p *parser) checkDate(year, month, day int) bool {
	if month < 1 || month > 12 {
		return p.fail(fmt.Sprintf("there is no month %d", month), "months are 1 to 12")
	}
	leapYear := year
	if year == 0 {
		leapYear = 2000
	}
	if most := monthDays(leapYear, month); day < 1 || day > most {
		name := time.Month(month).String()
		if year != 0 && month == 2 {
			name += " " + strconv.Itoa(year)
		}
		return p.fail(fmt.Sprintf("%s has no day %d", name, day), fmt.Sprintf("its last day is %d", most))
	}
	return true
}

// dayFirst reads "25 Dec 2026", "3 of March", "15Sept", "10. August".
func (p *parser) dayFirst(m *moment) bool {
	from := p.i
	day := int(p.at(0).n)
	p.i++
	if p.at(0).role == wOf || p.isMark(0, '.') {
		p.i++
	}
	month := int(p.at(0).month)
	p.i++
	return p.dayMonthYear(m, day, month, p.i-from)
}

// dayMonthYear sets a day and month just read, with a year when one follows.
func (p *parser) dayMonthYear(m *moment, day, month, tokens int) bool {
	from := p.i - tokens
	if p.isMark(0, '.') && p.joined(0) { // Dec.
		p.i++
	}
	year, ok := p.year(m)
	if !ok {
		return false
	}
	if year == 0 {
		return p.setAnnual(m, month, day, p.i-from)
	}
	return p.setDate(m, year, month, day, p.i-from)
}

// year reads the year after a day and month, or 0. Two digits are a year when they cannot be an hour.
func (p *parser) year(m *moment) (int, bool) {
	from := p.i
	sep, mark := false, p.at(0).mark
	if p.isMark(0, ',') || (p.isMark(0, '-') || p.isMark(0, '/')) && p.joined(0) && p.joined(1) {
		sep = !p.isMark(0, ',')
		p.i++
	}
	if t := p.at(0); p.i > from && t.kind == tNum && t.digits <= 2 && t.n <= 31 && p.daysList(p.at(1), mark, from) {
		// Dec 25-26, Dec 25, 26
		end := p.toks[from-1].end
		readings := []string{" " + strconv.Itoa(century(t)), ""}
		if t.digits < 2 {
			readings = readings[1:]
		}
		return 0, p.unclear("it may be several days or a day and a year", int(end), int(t.end), readings...)
	}
	if p.isMark(0, '\'') && p.at(1).digits == 2 && p.joined(1) { // '26
		y := century(p.at(1))
		p.i += 2
		return y, true
	}
	t, next := p.at(0), p.at(1)
	if t.kind != tNum || next.mark == ':' && !next.gap || next.role == wAM || next.role == wPM || next.unit != uNone ||
		next.role == wClock {
		p.i = from
		return 0, true
	}
	n := int(t.n)
	switch t.digits {
	case 4:
		if n >= 1900 || sep || m.clock.set || n%100 > 59 || n/100 > 23 {
			p.i++
			return n, true
		}
	case 2:
		clockFollows := next.kind == tNum && (p.isMark(2, ':') || p.at(2).role == wAM || p.at(2).role == wPM) ||
			next.role == wAt && p.at(2).part == 0 || (next.role == wNoon || next.role == wMidnight) && n != 12
		if n > 24 || sep || m.clock.set || clockFollows {
			hour := p.is(1, "a") || p.is(1, "p") || p.is(1, "o") || next.mark == '.' && p.at(2).kind == tNum
			if !hour {
				p.i++
				return century(t), true
			}
		}
	}
	p.i = from
	return 0, true
}

// daysList reports whether the number before next, behind a mark that follows a day and month, may be another day as well
// as a year. It is the year where the same mark parts day and month, and a time where something says so.
func (p *parser) daysList(next *token, mark byte, from int) bool {
	if next.mark == ':' && !next.gap || next.role == wAM || next.role == wPM || next.unit != uNone || next.role == wClock ||
		next.role == wSuffix || next.role == wTo || next.role == wPast || next.mark == '.' && !next.gap ||
		next.role == wNoon || next.role == wMidnight || next.role == wIn || next.role == wTonight || next.role == wThis ||
		next.part != 0 || next.role == wAt && p.at(2).part != 0 ||
		p.is(1, "a") || p.is(1, "p") || p.is(1, "o") {
		return false
	}
	return mark == ',' || p.toks[max(from-2, 0)].mark != mark
}

// yearFirst reads "2018 March 18".
func (p *parser) yearFirst(m *moment) bool {
	year, month := int(p.at(0).n), int(p.at(1).month)
	from := p.i
	p.i += 2
	if p.isMark(0, '.') {
		p.i++
	}
	day, ok := p.dayNumber()
	if !ok {
		return p.monthOnly(from, month, year)
	}
	return p.setDate(m, year, month, day, p.i-from)
}

// dayNumber reads the day after a month's name: 25, 25th, twenty-fifth, "the 25th". A number that begins a time is none.
func (p *parser) dayNumber() (int, bool) {
	from := p.i
	if p.at(0).role == wThe {
		p.i++
	}
	if n, ok := p.ordinal(); ok {
		return n, true
	}
	t, next := p.at(0), p.at(1)
	if t.kind != tNum || t.digits > 2 || next.mark == ':' || next.role == wAM || next.role == wPM || next.role == wClock ||
		next.mark == '.' && p.at(2).kind == tNum && p.joined(2) || (p.is(1, "a") || p.is(1, "p")) && p.isMark(2, '.') {
		p.i = from
		return 0, false
	}
	p.i++
	return int(t.n), true
}

// monthFirst reads "August 15th", "Dec. 12, 2014", "August-10, 2012".
func (p *parser) monthFirst(m *moment) bool {
	from := p.i
	month := int(p.at(0).month)
	p.i++
	if p.isMark(0, '.') && p.joined(0) {
		p.i++
	}
	mark := p.at(0)
	if mark.mark == ',' || (mark.mark == '-' || mark.mark == '/') && p.joined(0) && p.joined(1) {
		p.i++
	}
	day, ok := p.dayNumber()
	if !ok {
		year := 0
		if t := p.at(0); t.digits == 4 && t.n >= 1900 {
			year = int(t.n)
			p.i++
		}
		return p.monthOnly(from, month, year)
	}
	return p.dayMonthYear(m, day, month, p.i-from)
}

// monthOnly refuses a month without a day, offering its first.
func (p *parser) monthOnly(from, month, year int) bool {
	first := "1 " + time.Month(month).String()
	if year != 0 {
		first += " " + strconv.Itoa(year)
	}
	return p.unclear("a month is no day", int(p.toks[from].off), int(p.toks[p.i-1].end), first)
}

// ordinal reads 3rd, third, twenty-first.
func (p *parser) ordinal() (int, bool) {
	t := p.at(0)
	switch {
	case t.kind == tNum && t.digits <= 2 && p.at(1).role == wSuffix && p.joined(1):
		p.i += 2
		return int(t.n), true
	case t.role == wOrdinal:
		p.i++
		return int(t.num), true
	case t.role == wNumber && t.num >= 20 && t.num <= 30:
		k := 1
		if p.isMark(1, '-') && p.joined(1) && p.joined(2) {
			k = 2
		}
		one := p.at(k)
		if k == 1 && one.unit == uSecond && p.at(2).role != wOf && p.at(2).month == 0 { // twenty second: no day
			return 0, false
		}
		if one.role == wOrdinal && one.num < 10 {
			p.i += k + 1
			return int(t.num) + int(one.num), true
		}
	}
	return 0, false
}

// ordinalDay reads what begins with an ordinal: "3rd of March", "the 5th of next month", "the first monday of May".
func (p *parser) ordinalDay(m *moment) bool {
	from := p.i
	n, ok := p.ordinal()
	if !ok {
		return false
	}
	spelled := p.toks[p.i-1].role == wOrdinal
	t := p.at(0)
	switch {
	case t.day != 0: // the first monday of
		p.i++
		return p.nthOf(m, from, n, int(t.day))
	case t.unit == uDay && (p.at(1).role == wOf || p.at(1).role == wIn):
		p.i++
	}
	if p.isMark(0, ',') && p.at(1).month != 0 || p.isMark(0, '-') && p.joined(0) && p.at(1).month != 0 {
		p.i++
	}
	if p.at(0).month != 0 || p.at(0).role == wOf && p.at(1).month != 0 {
		if p.at(0).role == wOf {
			p.i++
		}
		month := int(p.at(0).month)
		p.i++
		return p.dayMonthYear(m, n, month, p.i-from)
	}
	if n < 1 || n > 31 {
		return p.fail(fmt.Sprintf("no month has a day %d", n), "")
	}
	shift, named := p.monthRef()
	if spelled && !named && (from == 0 || p.toks[from-1].role != wThe) { // a lone "second"
		word := p.text[p.toks[from].off:p.toks[p.i-1].end]
		if t.kind != tEnd && t.role != wAt && t.kind != tNum {
			return false
		}
		off := p.toks[from].off
		return p.failFor(quoted(word)+" alone is no day", "say %q for the day of the month", `say it as in "the second"`, p.text[:off]+"the "+p.text[off:])
	}
	if !p.setDay(m, onMonth, p.i-from) {
		return false
	}
	m.date, m.monthShift = n, shift
	if named {
		m.mon = 1
	}
	return true
}

// monthRef reads "of next month", "of this month", "next month". "Of the month" and "of the current month" is this one.
func (p *parser) monthRef() (shift int, named bool) {
	from := p.i
	if r := p.at(0).role; r == wOf || r == wIn {
		p.i++
	}
	if p.at(0).role == wThe {
		p.i++
	}
	t := p.at(0)
	next := p.at(1)
	switch {
	case t.role == wNext && next.unit == uMonth, t.role == wComing && next.unit == uMonth:
		p.i += 2
		return 1, true
	case t.role == wThis && next.unit == uMonth:
		p.i += 2
		return 0, true
	case t.unit == uMonth && p.i > from && t.kind == tWord:
		p.i++
		return 0, true
	}
	p.i = from
	return 0, false
}

// nthOf sets the n-th such weekday, or the n-th day for a weekday of 0, of the month that must follow; n = -1 is the last.
func (p *parser) nthOf(m *moment, from, n, weekday int) bool {
	if weekday != 0 && n > 5 {
		return p.fail("no month has that many weeks", "a month has the first to the fifth, and the last")
	}
	year, month := 0, 0
	shift, named := p.monthRef()
	if !named {
		if r := p.at(0).role; r != wOf && r != wIn {
			end := int(p.toks[p.i-1].end)
			return p.unclear("of which month is not said", end, end, " of this month", " of next month", " of every month")
		}
		p.i++
		if month = int(p.at(0).month); month == 0 {
			return false
		}
		p.i++
		if t := p.at(0); t.digits == 4 && t.n >= 1900 && p.at(1).mark != ':' {
			year = int(t.n)
			p.i++
		}
	}
	if !p.setDay(m, onNth, p.i-from) {
		return false
	}
	m.nth, m.weekday, m.year, m.month, m.monthShift = n, weekday, year, month, shift
	return true
}
