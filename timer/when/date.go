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

// numeric reads what may begin with a number: a date, a time, a length, an hour.
func (p *parser) numeric(m *moment, link word, any bool) bool {
	if ok, done := p.numericDate(m); done {
		return ok
	}
	if ok, done := p.clockDigits(m, link); done {
		return ok
	}
	if ok, done := p.spokenClock(m); done {
		return ok
	}
	t, next := p.at(0), p.at(1)
	switch {
	case next.mark == ',' && !next.gap && p.at(2).kind == tNum && p.joined(2):
		return p.fail("a comma stands in a number", "write 1000 and 2.5")
	case next.role == wSuffix && !next.gap:
		return p.ordinalDay(m)
	case t.digits <= 2 && (next.month != 0 || next.role == wOf && p.at(2).month != 0 || next.mark == '.' && p.at(2).month != 0):
		return p.dayFirst(m)
	case t.digits == 4 && next.month != 0:
		return p.yearFirst(m)
	}
	if next.unit == uNone {
		switch t.digits {
		case 8, 12, 14:
			return p.compactDate(m, link)
		case 6:
			return m.clock.set && p.shortDate(m)
		}
	}
	if t.digits == 4 && t.n >= 0 {
		if ok, done := p.fourDigits(m, link, next); done {
			return ok
		}
	}
	from := p.i
	if p.spanned(m, link, any) {
		return true
	}
	if p.err != nil {
		return false
	}
	p.i = from
	return p.bareHour(m, link)
}

// fourDigits reads a year after a date that lacks one, else HHMM. It reports done when the number is no count of a unit.
func (p *parser) fourDigits(m *moment, link word, next *token) (ok, done bool) {
	t := p.at(0)
	n := int(t.n)
	valid := n/100 < 24 && n%100 < 60
	if next.unit != uNone {
		if next.unit != uHour || !next.gap || !valid || link == wIn {
			return false, false
		}
		if link != wAt && m.day == noDay && p.low[t.off] != '0' { // 1800 hours
			p.err = p.ambiguous("it may be a time of day or a count of hours", int(t.off), int(next.end),
				fmt.Sprintf("%02d:%02d", n/100, n%100), fmt.Sprintf("in %d hours", n))
			return false, true
		}
		p.i += 2
		return p.setClock(m, clock{hour: n / 100, minute: n % 100}, p.i-2), true
	}
	if next.mark == '.' && p.at(2).kind == tNum && !p.at(2).gap { // 1500.5 s
		return false, false
	}
	if m.day == onAnnual && (n >= 1900 || m.clock.set) {
		p.i++
		m.day, m.year = onDate, n
		return p.checkDate(m.year, m.month, m.date), true
	}
	if !valid {
		return p.fail(fmt.Sprintf("there is no %s on the clock", p.low[t.off:t.end]), "four digits are hours and minutes, 0000 to 2359"), true
	}
	if link == wIn || link == wOn || link == wThe {
		return false, true
	}
	p.i++
	return p.setClock(m, clock{hour: n / 100, minute: n % 100}, p.i-1), true
}

// numericDate reads dates with marks between their parts: 2027-03-04, 4.3.2027, 12/31/24, 10-August-2012, 2024-W52-3,
// 2024-360. It reports done when the text is one, right or wrong.
func (p *parser) numericDate(m *moment) (ok, done bool) {
	a, mark, b := p.at(0), p.at(1), p.at(2)
	if mark.mark != '-' && mark.mark != '/' && mark.mark != '.' || mark.gap || b.gap || a.n < 0 {
		if a.digits == 4 && mark.kind == tWord && !mark.gap && p.is(1, "w") && b.kind == tNum && !b.gap && b.digits == 3 {
			p.i += 3
			return p.isoWeek(m, int(a.n), int(b.n)/10, int(b.n)%10, 3), true
		}
		return false, false
	}
	third := p.isMark(3, mark.mark) && p.joined(3) && p.joined(4)
	c := p.at(4)
	switch {
	case a.digits == 4 && mark.mark == '-' && p.is(2, "w") && p.at(3).kind == tNum && p.joined(3):
		w := p.at(3)
		if w.digits != 2 || !p.isMark(4, '-') || p.at(5).digits != 1 || !p.joined(5) {
			return p.fail("a week is seven days", "add the day, as in 2027-W05-1 for the Monday"), true
		}
		week, day := int(w.n), int(p.at(5).n)
		p.i += 6
		return p.isoWeek(m, int(a.n), week, day, 6), true
	case b.kind == tWord && b.month != 0 && third && c.kind == tNum: // 10-August-2012, 2018-Mar-18
		if a.digits == 4 && c.digits <= 2 {
			p.i += 5
			return p.setDate(m, int(a.n), int(b.month), int(c.n), 5), true
		}
		if a.digits <= 2 && (c.digits == 4 || c.digits == 2) {
			p.i += 5
			return p.setDate(m, century(c), int(b.month), int(a.n), 5), true
		}
		return false, false
	case b.kind == tWord && b.month != 0 && a.digits <= 2: // 10-August 2012
		p.i += 3
		return p.dayMonthYear(m, int(a.n), int(b.month), 3), true
	case b.kind != tNum:
		return false, false
	case third && c.kind == tNum:
		return p.threeNumbers(m, a, b, c, mark.mark)
	case a.digits == 4 && mark.mark == '-' && b.digits == 3 && !p.isMark(3, '-'):
		p.i += 3
		year, day := int(a.n), int(b.n)
		at := time.Date(year, 1, day, 0, 0, 0, 0, time.UTC)
		if day < 1 || at.Year() != year {
			return p.fail(fmt.Sprintf("%d has no day %d", year, day), ""), true
		}
		m.iso = true
		return p.setDate(m, year, int(at.Month()), at.Day(), 3) && p.isoTail(m), true
	case mark.mark == '/' && a.digits <= 2 && b.digits <= 2 && p.at(3).unit == uNone:
		return p.twoNumbers(m, a, b)
	case mark.mark == '.' && a.digits <= 2 && b.digits <= 2 && p.isMark(3, '.') && p.joined(3): // 25.12.
		p.i += 4
		return p.checkDate(0, int(b.n), int(a.n)) && p.setAnnual(m, int(b.n), int(a.n), 4), true
	case mark.mark == '/' && a.digits <= 2 && b.digits == 4 || mark.mark == '-' && a.digits == 4 && b.digits == 2:
		p.i += 3
		return p.fail("a month is no day", `add the day, as in "2027-03-15"`), true
	}
	return false, false
}

// century is the year that a number of two or four digits names. Two digits are 1969 to 2068, as POSIX has them.
func century(t *token) int {
	if t.digits != 2 {
		return int(t.n)
	}
	if t.n >= 69 {
		return 1900 + int(t.n)
	}
	return 2000 + int(t.n)
}

// soon is how many years ahead a two-digit year in front of a date may lie.
const soon = 10

// threeNumbers reads a date of three numbers. Year first is ISO 8601; with points the day is first, as at(1) has it; else a
// number above twelve must tell day from month.
func (p *parser) threeNumbers(m *moment, a, b, c *token, mark byte) (ok, done bool) {
	from := p.i
	if a.digits == 4 && b.digits <= 2 && c.digits <= 2 {
		p.i += 5
		if !p.setDate(m, int(a.n), int(b.n), int(c.n), 5) {
			return false, true
		}
		m.iso = mark == '-'
		return p.isoTail(m), true
	}
	if a.digits > 2 || b.digits > 2 || c.digits != 2 && c.digits != 4 {
		return false, false
	}
	type date struct{ y, m, d int }
	var readings []date
	add := func(y, m, d int) {
		if m >= 1 && m <= 12 && d >= 1 && d <= monthDays(y, m) {
			for _, r := range readings {
				if r == (date{y, m, d}) {
					return
				}
			}
			readings = append(readings, date{y, m, d})
		}
	}
	year := century(c)
	add(year, int(b.n), int(a.n))
	if mark != '.' || len(readings) == 0 {
		add(year, int(a.n), int(b.n))
	}
	if now := p.opts.Now.Year(); mark == '-' && c.digits == 2 && a.digits == 2 && 2000+int(a.n) >= now && 2000+int(a.n) <= now+soon {
		add(2000+int(a.n), int(b.n), int(c.n))
	}
	p.i += 5
	switch len(readings) {
	case 0:
		return p.fail("there is no such date", `dates are best written as 2027-03-04`), true
	case 1:
		r := readings[0]
		if mark == '.' && int(a.n) <= 12 && int(b.n) <= 12 && a.n != b.n {
			m.notes = append(m.notes, fmt.Sprintf("%s is read with the day first: %d %s %d",
				p.text[a.off:c.end], r.d, time.Month(r.m), r.y))
		}
		return p.setDate(m, r.y, r.m, r.d, 5), true
	}
	var texts []string
	for _, r := range readings {
		texts = append(texts, fmt.Sprintf("%04d-%02d-%02d", r.y, r.m, r.d))
	}
	if p.err == nil {
		p.err = p.ambiguous("the order of day and month in "+p.text[a.off:c.end]+" is not known", int(p.toks[from].off), int(c.end), texts...)
	}
	return false, true
}

// twoNumbers reads 25/12 and 12/25, the next such date.
func (p *parser) twoNumbers(m *moment, a, b *token) (ok, done bool) {
	fits := func(month, day int64) bool {
		return month >= 1 && month <= 12 && day >= 1 && day <= int64(monthDays(2000, int(month)))
	}
	dayFirst, monthFirst := fits(b.n, a.n), fits(a.n, b.n)
	p.i += 3
	switch {
	case dayFirst && monthFirst && a.n != b.n:
		if p.err == nil {
			p.err = p.ambiguous("the order of day and month in "+p.text[a.off:b.end]+" is not known", int(a.off), int(b.end),
				fmt.Sprintf("%d %s", a.n, time.Month(b.n)), fmt.Sprintf("%d %s", b.n, time.Month(a.n)))
		}
		return false, true
	case dayFirst:
		return p.setAnnual(m, int(b.n), int(a.n), 3), true
	case monthFirst:
		return p.setAnnual(m, int(a.n), int(b.n), 3), true
	}
	return p.fail("there is no such date", "dates are best written as 2027-03-04"), true
}

// isoTail reads the T and the time behind an ISO 8601 date.
func (p *parser) isoTail(m *moment) bool {
	if p.at(0).role != wT || p.at(0).gap || !p.joined(1) {
		return true
	}
	p.i++
	return p.isoClock(m)
}

// isoWeek sets the date of an ISO 8601 week, 1 to 53, and day, Monday is 1.
func (p *parser) isoWeek(m *moment, year, week, day, tokens int) bool {
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // always in week 1
	monday := fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7+7*(week-1))
	if y, w := monday.ISOWeek(); day < 1 || day > 7 || week < 1 || y != year || w != week {
		return p.fail(fmt.Sprintf("%d has no week %d with a day %d", year, week, day), "")
	}
	at := monday.AddDate(0, 0, day-1)
	m.iso = true
	return p.setDate(m, at.Year(), int(at.Month()), at.Day(), tokens) && p.isoTail(m)
}

// setDate claims a whole date as the day.
func (p *parser) setDate(m *moment, year, month, day, tokens int) bool {
	if !p.checkDate(year, month, day) || !p.setDay(m, onDate, tokens) {
		return false
	}
	m.year, m.month, m.date = year, month, day
	return true
}

// setAnnual claims a date without a year as the day.
func (p *parser) setAnnual(m *moment, month, day, tokens int) bool {
	if !p.checkDate(0, month, day) || !p.setDay(m, onAnnual, tokens) {
		return false
	}
	m.month, m.date = month, day
	return true
}

// compactDate reads 20241225, 20241225T0900, 202412250900 and at(1)'s 12312024.
func (p *parser) compactDate(m *moment, link word) bool {
	t := p.at(0)
	n := t.n
	if link == wAt && t.digits == 8 || link == wIn || n < 0 {
		return false
	}
	var c clock
	timed := t.digits != 8
	switch t.digits {
	case 14:
		c.second = int(n % 100)
		n /= 100
		fallthrough
	case 12:
		c.hour, c.minute = int(n/100%100), int(n%100)
		n /= 10000
	}
	p.i++
	y, mo, d := int(n/10000), int(n/100%100), int(n%100)
	if y < 1900 || mo < 1 || mo > 12 {
		if timed {
			return p.fail("there is no such date", "write it as 2027-03-04 15:00")
		}
		return p.monthDayYear(m, t, int(n/1000000), int(n/10000%100), int(n%10000))
	}
	m.iso = true
	if !p.setDate(m, y, mo, d, 1) {
		return false
	}
	if timed {
		return p.setClock(m, c, p.i-1)
	}
	return p.isoTail(m)
}

// shortDate reads at(1)'s MMDDYY, which may stand only after a time of day.
func (p *parser) shortDate(m *moment) bool {
	t := p.at(0)
	p.i++
	return p.monthDayYear(m, t, int(t.n/10000), int(t.n/100%100), 2000+int(t.n%100))
}

// monthDayYear sets at(1)'s MMDDYYYY, unless the day may as well come first.
func (p *parser) monthDayYear(m *moment, t *token, month, day, year int) bool {
	if month != day && day >= 1 && day <= 12 && month >= 1 && month <= 12 {
		p.err = p.ambiguous("the order of day and month in "+p.text[t.off:t.end]+" is not known", int(t.off), int(t.end),
			fmt.Sprintf("%04d-%02d-%02d", year, month, day), fmt.Sprintf("%04d-%02d-%02d", year, day, month))
		return false
	}
	return p.setDate(m, year, month, day, 1)
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
	sep := false
	if p.isMark(0, ',') || (p.isMark(0, '-') || p.isMark(0, '/')) && p.joined(0) && p.joined(1) {
		sep = !p.isMark(0, ',')
		p.i++
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
			next.role == wAt || next.role == wNoon || next.role == wMidnight
		if n > 24 || sep || m.clock.set || clockFollows {
			if meridiem := p.is(1, "a") || p.is(1, "p"); !meridiem && !(next.mark == '.' && p.at(2).kind == tNum) && !p.is(1, "o") {
				p.i++
				return century(t), true
			}
		}
	}
	p.i = from
	return 0, true
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
	if p.err == nil {
		p.err = p.ambiguous("a month is no day", int(p.toks[from].off), int(p.toks[p.i-1].end), first)
	}
	return false
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
		return p.fail("no month has that many weeks", "")
	}
	year, month := 0, 0
	shift, named := p.monthRef()
	if !named {
		if r := p.at(0).role; r != wOf && r != wIn {
			return p.fail("of which month is not said", `say "of this month", "of next month" or name it`)
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
		return p.fail("it names two days", "")
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
			m.notes = append(m.notes, fmt.Sprintf("%q counts from now: the same time, one %[1]s on", p.low[t.off:t.end]))
			m.notes[len(m.notes)-1] = fmt.Sprintf("\"next %s\" is one %[1]s from now", p.low[t.off:t.end])
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
