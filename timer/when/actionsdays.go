package when

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// The actions of days.

func (x *match) setDay(m *meaning, d day) bool {
	d.off, d.end = uint16(x.off()), uint16(x.stop())
	m.has, m.day = hasDay, d
	return true
}

// dayIs returns the action of words that always name the same day, and weekdayIs the one of words
// with a weekday.
func dayIs(d day) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool { return x.setDay(m, d) }
}

func weekdayIs(d day) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		of := d
		of.weekday = int8(x.tok(0).day)
		return x.setDay(m, of)
	}
}

// weekdayOf reads "monday of next week".
func weekdayOf(x *match, m *meaning) bool {
	weekday, weeks := x.tok(x.labelled(isOfDay)).day, x.of(x.labelled(isPeriod)).n
	return x.setDay(m, day{kind: onWeek, weekday: int8(weekday), shift: int32(weeks)})
}

// weekdayThen reads "monday at 9am next week", and annualThen "5 january at noon next year".
func weekdayThen(x *match, m *meaning) bool { return weekdayOf(x, m) && x.at1(m) }

// weekdayPartThen reads "monday morning next week".
func weekdayPartThen(x *match, m *meaning) bool {
	weekdayOf(x, m)
	m.has, m.dayPart = m.has|hasDayPart, x.tok(1).dayPart
	return !x.p.recurs
}

// weeksFrom reads "two weeks today" and "a week tomorrow".
func weeksFrom(days int32) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		s := x.of(0).span
		return s.days > 0 && s.days%7 == 0 && s.days < maxDays && s.months == 0 && s.elapsed == 0 && x.setDay(m, day{kind: onOffset, shift: int32(s.days) + days})
	}
}

func annualThen(x *match, m *meaning) bool {
	d := x.of(0).day
	return x.setDate(m, x.of(2).n, int(d.month), int(d.date)) && x.at1(m)
}

// at1 adds the time of day of the second capture.
func (x *match) at1(m *meaning) bool {
	m.has, m.clock = m.has|hasClock, x.of(1).clock
	m.clock.how |= clockAfterAt
	if m.err == nil {
		m.err = x.of(1).err
	}
	return !x.p.recurs
}

// weekdayLast reads "last friday": the one before today.
func weekdayLast(x *match, m *meaning) bool {
	today := int(civil.Wall(x.p.opts.Now, x.p.opts.Zone).Weekday())
	weeks := int32(0)
	if (int(x.tok(0).day)-1+6)%7 >= (today+6)%7 {
		weeks = -1
	}
	return x.setDay(m, day{kind: onWeek, weekday: int8(x.tok(0).day), shift: weeks})
}

// weekdaysAgo reads "two fridays ago".
func weekdaysAgo(x *match, m *meaning) bool {
	n, weekday := x.of(0).q, x.tok(1)
	if n.whole < 1 || n.whole > 5000 || n.nano != 0 {
		return false
	}
	back := (int(civil.Wall(x.p.opts.Now, x.p.opts.Zone).Weekday())-int(weekday.day)+1+6)%7 + 1
	return x.setDay(m, day{kind: onOffset, shift: int32(-back - 7*int(n.whole-1))})
}

// afterNext refuses "friday after next" and "next next friday". It offers the Friday after the
// coming one, and the one after that.
func afterNext(x *match, m *meaning) bool {
	today := civil.Midnight(civil.Wall(x.p.opts.Now, x.p.opts.Zone))
	coming := onOrAfter(today.AddDate(0, 0, 1), int(x.tok(0).day)-1)
	m.err = either("it may be the one after the coming one, or a week later", x.off(), x.stop(),
		coming.AddDate(0, 0, 7).Format("2006-01-02"), coming.AddDate(0, 0, 14).Format("2006-01-02"))
	return x.setDay(m, day{kind: onDate, year: 2000, month: 1, date: 1})
}

// nextAnnual reads "next january 5".
func nextAnnual(x *match, m *meaning) bool {
	*m = *x.of(0)
	d := m.day
	d.next = true
	return x.setDay(m, d)
}

// lastAnnual reads "last christmas": the one before today.
func lastAnnual(x *match, m *meaning) bool {
	d, today := x.of(0).day, civil.Midnight(civil.Wall(x.p.opts.Now, x.p.opts.Zone))
	year := today.Year()
	if at := civil.Date(year, time.Month(d.month), int(d.date)); !at.Before(today) {
		year--
	}
	return x.setDate(m, year, int(d.month), int(d.date))
}

// weekdayBeside reads "the monday after christmas".
func weekdayBeside(x *match, m *meaning) bool {
	d := x.of(1).day
	if !d.dated() || d.points {
		return false
	}
	dated := d.kind == onDate
	d.kind, d.nth, d.weekday = onBeside, 1, int8(x.tok(0).day)
	if x.says("before") {
		d.nth = -1
	}
	if dated {
		at := d.besideIn(int(d.year))
		x.setDate(m, at.Year(), int(at.Month()), at.Day())
	} else {
		x.setDay(m, d)
	}
	m.err, m.rewrites = x.of(1).err, x.of(1).rewrites
	return true
}

// besideIn returns the weekday after the month and day of a year, or before it.
func (d *day) besideIn(year int) time.Time {
	at := civil.Date(year, time.Month(d.month), int(d.date))
	if d.nth < 0 {
		return onOrBefore(at.AddDate(0, 0, -1), int(d.weekday)-1)
	}
	return onOrAfter(at.AddDate(0, 0, 1), int(d.weekday)-1)
}

// checkDate refuses a day that its month does not have. A year of 0 stands for any year.
func checkDate(year, month, date int) *refusal {
	if month < 1 || month > 12 {
		return &refusal{why: fmt.Sprintf("there is no month %d", month), hint: "months are 1 to 12"}
	}
	leapYear := year
	if year == 0 {
		leapYear = 2000
	}
	if most := civil.MonthDays(leapYear, month); date < 1 || date > most {
		name := time.Month(month).String()
		if year != 0 && month == 2 {
			name += " " + strconv.Itoa(year)
		}
		return &refusal{why: fmt.Sprintf("%s has no day %d", name, date), hint: fmt.Sprintf("its last day is %d", most), strong: true}
	}
	return nil
}

func (x *match) setDate(m *meaning, year, month, date int) bool {
	m.err = checkDate(year, month, date)
	return x.setDay(m, day{kind: onDate, year: int16(year), month: int8(month), date: int8(date)})
}

func (x *match) setAnnual(m *meaning, month, date int) bool {
	m.err = checkDate(0, month, date)
	return x.setDay(m, day{kind: onAnnual, month: int8(month), date: int8(date)})
}

func dayMonth(x *match, m *meaning) bool {
	date := x.dateIn(0)
	return x.setAnnual(m, int(x.tok(1).month), date)
}

func monthDay(x *match, m *meaning) bool {
	last := &x.p.toks[x.end-1]
	next := &x.p.toks[x.end]
	if last.is(cNum) && (x.clockFollows() || next.mark() == '.' && !next.gap && x.p.toks[x.end+1].is(cNum) && !x.p.toks[x.end+1].is(cYear) && !x.p.toks[x.end+1].gap) {
		return false
	}
	return x.setAnnual(m, int(x.tok(0).month), x.dateIn(1))
}

// dateIn returns the day of the month that a capture names with a number or an ordinal.
func (x *match) dateIn(i int) int {
	if x.isToken(i) {
		return int(x.tok(i).n)
	}
	return max(x.of(i).n, int(x.of(i).q.whole))
}

// century returns the year that two or four digits name. Two digits are 1969 to 2068, as in POSIX.
func century(t *token) int {
	if t.digits != 2 {
		return int(t.n)
	}
	if t.n >= 69 {
		return 1900 + int(t.n)
	}
	return 2000 + int(t.n)
}

func yearNumber(x *match, m *meaning) bool {
	m.n = century(x.tok(0))
	next := &x.p.toks[x.end]
	return !(x.clockFollows() || next.is(cUnit) && next.unit != uQuarter && x.tok(0).digits == 4)
}

// yearShort reads two digits as a year when they cannot be an hour.
func yearShort(x *match, m *meaning) bool {
	t, next := x.tok(0), &x.p.toks[x.end]
	m.n = century(t)
	if x.clockFollows() || next.is(cSuffix) || next.is(cUnit) && next.unit != uQuarter || next.mark() == '.' && !next.gap && x.p.toks[x.end+1].is(cNum) {
		return false
	}
	if t.n <= 24 || x.begin != x.end-1 {
		m.rewrites = []rewrite{{int(t.off), int(t.end), strconv.Itoa(m.n)}}
	}
	// The row of severalDays reads Dec 25, 26 and Dec 25-26.
	if x.begin != x.end-1 && t.n <= 31 {
		m.q.whole = 1
	}
	return true
}

// yearInWords refuses "december 24th twenty twenty seven", which may be the year or 20:27.
func yearInWords(x *match, m *meaning) bool {
	d, n := x.of(0).day, x.of(1).q.whole
	if n < 10 || n > 59 || x.p.toks[x.end].is(cOnes) {
		return false
	}
	m.err = either("it may be a year or a time of day", int(d.end), x.stop(), fmt.Sprintf(" 20%d", n), fmt.Sprintf(" at 20:%d", n))
	return x.setDay(m, d)
}

func yearFrom(years int) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		m.n = civil.Wall(x.p.opts.Now, x.p.opts.Zone).Year() + years
		return true
	}
}

// annualOfYear reads "next year on march 1".
func annualOfYear(x *match, m *meaning) bool {
	d := x.of(1).day
	return x.setDate(m, x.of(0).n, int(d.month), int(d.date))
}

// workdaysAhead reads "in 2 working days". Unless the text names a time of day, it keeps the
// present one.
func workdaysAhead(x *match, m *meaning) bool {
	n := x.of(0).q
	if n.whole < 1 || n.whole > 100 || n.nano != 0 {
		return refused("it does not count working days", "give a whole number, at most 100")(x, m)
	}
	return x.setDay(m, day{kind: onWorkday, nth: int16(n.whole), needs: 'n'})
}

// datedYear reads a day and month with a year after them.
func datedYear(x *match, m *meaning) bool {
	d, y := x.of(0).day, x.of(1)
	if y.q.whole == 1 {
		return false
	}
	m.rewrites = y.rewrites
	ok := x.setDate(m, y.n, int(d.month), int(d.date))
	t := &x.p.toks[x.p.resEnd(x.at[0])]
	m.day.timeLike = t.is(cHHMM) && x.p.farAhead(t.n)
	return ok
}

// severalDays refuses Dec 25-26 and Dec 25, 26, which may be two days, or a day and its year.
func severalDays(x *match, m *meaning) bool {
	d, t := x.of(0).day, x.tok(1)
	next := &x.p.toks[x.end]
	if x.p.recurs || t.n > 31 || x.clockFollows() || next.is(cUnit|cSuffix|cMonth) || next.mark() == '.' && !next.gap || x.p.word(x.end, "past", "to", "noon", "midnight", "o'clock", "in", "o") {
		return false
	}
	name, on, off := x.p.text[d.off:d.end], "", x.off()
	if x.p.word(x.begin-1, "on") {
		on, off = "on ", int(x.p.toks[x.begin-1].off)
	}
	readings := []string{on + name + " " + strconv.Itoa(century(t)), on + name}
	if first := &x.p.toks[x.end-3]; x.p.toks[x.end-2].mark() == '-' && first.is(cNum) && t.n > first.n {
		readings[1] = fmt.Sprintf("every day from %s to %s%d", name, x.p.text[d.off:first.off], t.n)
	}
	if t.digits < 2 {
		readings = readings[1:]
	}
	m.err = either("it may be several days or a day and a year", off, int(t.end), readings...)
	return x.setDay(m, d)
}

// yearAnnual reads 2018 March 18, 2018 18 March and 2018 christmas. Four digits before them may be
// a time of day as well.
func yearAnnual(x *match, m *meaning) bool {
	d := x.of(1).day
	ok := x.setDate(m, int(x.tok(0).n), int(d.month), int(d.date))
	m.day.yearFirst = x.tok(0).is(cHHMM)
	return ok && !x.hourFollows()
}

// yearMonthDay reads 2018-Mar-18.
func yearMonthDay(x *match, m *meaning) bool {
	return x.setDate(m, int(x.tok(0).n), int(x.tok(1).month), int(x.tok(2).n)) && !x.hourFollows()
}

// hourFollows reports whether the number just read is the hour of a time of day.
func (x *match) hourFollows() bool { return x.p.toks[x.end-1].is(cNum) && x.clockFollows() }

// clockFollows reports whether the next token makes a number before it a time of day.
func (x *match) clockFollows() bool {
	next := &x.p.toks[x.end]
	return next.mark() == ':' && !next.gap || next.is(cMer)
}

func dayMonthYear(x *match, m *meaning) bool {
	return x.setDate(m, century(x.tok(2)), int(x.tok(1).month), int(x.tok(0).n))
}

func isoDate(x *match, m *meaning) bool {
	ok := x.setDate(m, int(x.tok(0).n), int(x.tok(1).n), int(x.tok(2).n))
	m.day.iso = x.p.toks[x.begin+1].mark() == '-'
	return ok
}

func isoCompact(x *match, m *meaning) bool {
	n := int(x.tok(0).n)
	if y, mo := n/10000, n/100%100; y < 1900 || mo < 1 || mo > 12 {
		return false
	}
	ok := x.setDate(m, n/10000, n/100%100, n%100)
	m.day.iso = true
	return ok
}

func yearDay(x *match, m *meaning) bool {
	year, n := int(x.tok(0).n), int(x.tok(1).n)
	at := civil.Date(year, 1, n)
	ok := x.setDate(m, year, int(at.Month()), at.Day())
	if m.day.iso = true; n < 1 || at.Year() != year {
		m.err = &refusal{why: fmt.Sprintf("%d has no day %d", year, n)}
	}
	return ok
}

// isoWeek reads 2027-W05-1 and 2027W051. Monday is day 1.
func isoWeek(x *match, m *meaning) bool {
	year := int(x.tok(0).n)
	week, date := int(x.tok(1).n)/10, int(x.tok(1).n)%10
	if x.has(2) {
		week, date = int(x.tok(1).n), int(x.tok(2).n)
	}
	fourth := civil.Date(year, 1, 4) // always in week 1
	first := weekBegin(fourth).AddDate(0, 0, 7*(week-1))
	at := first.AddDate(0, 0, date-1)
	ok := x.setDate(m, at.Year(), int(at.Month()), at.Day())
	m.day.iso = true
	if y, w := first.ISOWeek(); date < 1 || date > 7 || week < 1 || y != year || w != week {
		m.err = &refusal{why: fmt.Sprintf("%d has no week %d with a day %d", year, week, date)}
	}
	return ok
}

// dateTime reads a day and the time of day after it.
func dateTime(x *match, m *meaning) bool {
	*m = *x.of(0)
	m.clock, m.has = x.of(1).clock, hasDay|hasClock
	// In "dec 1 2026" the four digits are the year.
	if m.clock.how&clockCompact != 0 && m.day.kind == onAnnual && x.p.toks[x.end-1].is(cYear) && !x.says("at") {
		return false
	}
	m.clock.how &^= clockCompact
	return true
}

// isoDateTime reads 2027-03-04T10:00.
func isoDateTime(x *match, m *meaning) bool {
	ok := dateTime(x, m)
	m.clock.settle()
	x.minutesOrOffset(m)
	return ok
}

// minutesOrOffset refuses T10-05, whose 05 may be minutes or an offset.
func (x *match) minutesOrOffset(m *meaning) {
	hour, sign, after := &x.p.toks[x.end-1], &x.p.toks[x.end], &x.p.toks[min(x.end+1, x.p.n)]
	if !hour.is(cN2) || !x.p.word(x.end-2, "t") || sign.mark() != '-' || sign.gap || !after.is(cN2) || after.gap || x.p.toks[min(x.end+2, x.p.n)].mark() == ':' {
		return
	}
	text, end := x.text(), x.p.text[after.off:after.end]
	m.err = either(end+" may be minutes or an offset", x.off(), int(after.end), text+":"+end, text+":00-"+end+":00")
}

func timeDate(x *match, m *meaning) bool {
	*m = *x.of(1)
	m.clock, m.has = x.of(0).clock, hasDay|hasClock
	return true
}

// compactTime reads 202703040506 and 20270304050607.
func compactTime(x *match, m *meaning) bool {
	n, c := x.tok(0).n, clock{}
	if x.tok(0).digits == 14 {
		c.second = int8(n % 100)
		n /= 100
	}
	c.hour, c.minute = int8(n/100%100), int8(n%100)
	n /= 10000
	if y, mo := n/10000, n/100%100; y < 1900 || mo < 1 || mo > 12 || c.second > 59 {
		return refused("there is no such date", "write it as 2027-03-04 15:00")(x, m)
	}
	x.setDate(m, int(n/10000), int(n/100%100), int(n%100))
	d := m.day
	d.iso = true
	if !x.setClock(m, c) {
		return refused("there is no such time", "hours are 0 to 23, minutes and seconds 0 to 59")(x, m)
	}
	m.day, m.has = d, hasDay|hasClock
	return true
}
