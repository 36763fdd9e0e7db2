package when

import (
	"fmt"
	"time"
)

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
	case t.digits <= 2 && (next.month != 0 || (next.role == wOf || next.mark == '.') && p.at(2).month != 0):
		return p.dayFirst(m)
	case t.digits == 4 && next.month != 0:
		return p.yearOrClock(m, link)
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
	valid := onClock(t)
	// 1530 day after tomorrow: a count would have a plural
	single := valid && next.gap && link != wIn && (p.is(1, "day") || p.is(1, "week") || p.is(1, "month") || p.is(1, "year"))
	if next.unit != uNone && !single {
		glued := !next.gap && p.low[t.off] != '0' && link != wAt && m.day == noDay
		if next.unit != uHour || glued || !valid || link == wIn || !next.gap && p.opts.Form == DelayForm {
			return false, false
		}
		if link != wAt && m.day == noDay && p.low[t.off] != '0' { // 1800 hours
			return p.unclear("it may be a time of day or a count of hours", int(t.off), int(next.end),
				fmt.Sprintf("%02d:%02d", n/100, n%100), fmt.Sprintf("in %d hours", n)), true
		}
		p.i += 2
		return p.setClock(m, clock{hour: n / 100, minute: n % 100, compact: true}, p.i-2), true
	}
	if next.mark == '.' && p.at(2).kind == tNum && !p.at(2).gap { // 1500.5 s
		return false, false
	}
	if m.day == onAnnual && link != wAt && (n >= 1900 || m.clock.set) {
		p.i++
		m.day, m.year = onDate, n
		return p.checkDate(m.year, m.month, m.date), true
	}
	if !valid {
		return p.fail(fmt.Sprintf("there is no %s on the clock", p.low[t.off:t.end]),
			"four digits are hours and minutes, 0000 to 2359; a length of time has a unit: "+p.low[t.off:t.end]+"s"), true
	}
	if link == wIn || link == wOn || link == wThe {
		return false, true
	}
	p.i++
	return p.setClock(m, clock{hour: n / 100, minute: n % 100, compact: true}, p.i-1), true
}

// onClock reports whether four digits are a time of day.
func onClock(t *token) bool { return t.n >= 0 && t.n/100 < 24 && t.n%100 < 60 }

// The years that four digits before a month may be, counted from this one. Further away they are a time of day.
const (
	yearsBack  = 10
	yearsAhead = 50
)

// yearOrClock reads four digits before a month and a day: at(1) has a time of day there (1745 Nov 24), a date with the
// year first the year (2018 March 18). They are the year where they can be nothing else, and where as minutes they
// would be odd ones, no multiple of five, and another time or no year follows. Else the reading that lies ahead holds;
// when both do, neither.
func (p *parser) yearOrClock(m *moment, link word) bool {
	from := p.i
	t := p.at(0)
	n, now := int(t.n), p.opts.Now.Year()
	asClock := func() bool {
		p.i++
		return p.setClock(m, clock{hour: n / 100, minute: n % 100, compact: true}, from)
	}
	month := int(p.at(1).month)
	p.i += 2
	if p.isMark(0, '.') && p.joined(0) {
		p.i++
	}
	day, ok := p.dayNumber()
	end := int(p.toks[max(p.i-1, from)].end)
	k := 0
	if p.isMark(0, ',') {
		k++
	}
	follows := p.at(k).kind == tNum && p.at(k).digits == 4
	p.i = from
	switch {
	case link == wAt && onClock(t):
		return asClock()
	case !ok || !onClock(t) || m.clock.set:
		return p.yearFirst(m)
	case n < now-yearsBack || n > now+yearsAhead:
		return asClock()
	case n%5 != 0 && !follows, day > monthDays(n, month): // a day that is not there is a slip, and no time of day
		return p.yearFirst(m)
	}
	date := fmt.Sprintf("%d %s %d", day, time.Month(month), n)
	spoken := fmt.Sprintf("%02d:%02d%s", n/100, n%100, p.text[t.end:end])
	switch p.settle(int(t.off), end, date, spoken) {
	case 0:
		return p.yearFirst(m)
	case 1:
		m.notes = append(m.notes, fmt.Sprintf("%s is read as the time of day, %02d:%02d, not as a year", p.low[t.off:t.end], n/100, n%100))
		return asClock()
	}
	return p.unclear(p.low[t.off:t.end]+" is a year or a time of day", int(t.off), end, date, spoken)
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
	if mark == '.' && c.digits == 2 && (a.digits == 1 || b.digits == 1) { // 1.10.30 may be a version
		return p.fail("a date with points and a short year has two digits in each part", "write it as 2027-03-04"), true
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
	if mark != '.' || len(readings) == 0 && c.digits == 4 {
		add(year, int(a.n), int(b.n))
	}
	if mark == '-' && c.digits == 2 && a.digits == 2 {
		if first, now := century(a), p.opts.Now.Year(); first >= now && first <= now+soon {
			add(first, int(b.n), int(c.n))
		}
	}
	p.i += 5
	switch len(readings) {
	case 0:
		var texts []string
		if mark == '.' && c.digits == 2 {
			texts = append(texts, p.text[:a.off]+fmt.Sprintf("%d:%02d:%02d", a.n, b.n, c.n)+p.text[c.end:])
		}
		return p.failFor("there is no such date", "say %q for the time of day", "dates are best written as 2027-03-04", texts...), true
	case 1:
		r := readings[0]
		if mark == '.' && int(a.n) <= 12 && int(b.n) <= 12 && a.n != b.n {
			m.notes = append(m.notes, fmt.Sprintf("%s is read with the day first: %d %s %d",
				p.text[a.off:c.end], r.d, time.Month(r.m), r.y))
			other := fmt.Sprintf("%04d-%02d-%02d", r.y, r.d, r.m)
			m.other(p.text[:a.off]+other+p.text[c.end:], "with the month first, say %q")
		}
		return p.setDate(m, r.y, r.m, r.d, 5), true
	}
	var texts []string
	for _, r := range readings {
		texts = append(texts, fmt.Sprintf("%04d-%02d-%02d", r.y, r.m, r.d))
	}
	if p.weekdayBeside(m) {
		if i := p.settle(int(a.off), int(c.end), texts...); i >= 0 {
			return p.setDate(m, readings[i].y, readings[i].m, readings[i].d, 5), true
		}
	}
	why := "the order of day and month in " + p.text[a.off:c.end] + " is not known"
	return p.unclear(why, int(p.toks[from].off), int(c.end), texts...), true
}

// weekdayBeside reports whether a weekday stands before or behind the date just read.
func (p *parser) weekdayBeside(m *moment) bool {
	k := 0
	if p.isMark(0, ',') {
		k++
	}
	return m.day == onWeekday && m.mode == wNone || p.at(k).day != 0
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
		texts := []string{fmt.Sprintf("%d %s", a.n, time.Month(b.n)), fmt.Sprintf("%d %s", b.n, time.Month(a.n))}
		if p.weekdayBeside(m) {
			switch p.settle(int(a.off), int(b.end), texts...) {
			case 0:
				return p.setAnnual(m, int(b.n), int(a.n), 3), true
			case 1:
				return p.setAnnual(m, int(a.n), int(b.n), 3), true
			}
		}
		why := "the order of day and month in " + p.text[a.off:b.end] + " is not known"
		return p.unclear(why, int(a.off), int(b.end), texts...), true
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
		return p.unclear("the order of day and month in "+p.text[t.off:t.end]+" is not known", int(t.off), int(t.end),
			fmt.Sprintf("%04d-%02d-%02d", year, month, day), fmt.Sprintf("%04d-%02d-%02d", year, day, month))
	}
	return p.setDate(m, year, month, day, 1)
}
