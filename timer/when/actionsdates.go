package when

import (
	"fmt"
	"math/bits"
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// The orders that the three numbers of a date may have.
const (
	dayFirst = iota
	monthFirst
	shortYearFirst
	noOrder // the numbers are not a date in any order
)

// soon is how many years ahead the year may lie when two digits before a date are read as one.
const soon = 10

func isDate(y, m, d int) bool { return m >= 1 && m <= 12 && d >= 1 && d <= civil.MonthDays(y, m) }

// numbers returns the action that reads a date of three numbers in one order. With points the day
// is first, as in at(1). Otherwise a number above twelve must tell the day from the month.
func numbers(order int) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		a, b, c := x.tok(0), x.tok(1), x.tok(2)
		mark := x.p.toks[x.begin+1].mark()
		if x.p.toks[x.begin+3].mark() != mark || x.hourFollows() {
			return false
		}
		first, second, year := int(a.n), int(b.n), century(c)
		y, mo, d := year, second, first
		days, months := isDate(year, second, first), isDate(year, first, second)
		if mark == '.' && (days || c.digits == 2) {
			months = false
		}
		// 1.10.30 may be a version
		short := mark == '.' && c.digits == 2 && (a.digits == 1 || b.digits == 1)
		switch order {
		case dayFirst:
			if !days || short {
				return false
			}
		case monthFirst:
			if !months || first == second {
				return false
			}
			mo, d = first, second
		case shortYearFirst:
			if y = century(a); !isDate(y, second, int(c.n)) || y < x.p.opts.Now.Year() || y > x.p.opts.Now.Year()+soon {
				return false
			}
			mo, d = second, int(c.n)
		case noOrder:
			switch {
			case short:
				m.err = &refusal{why: "a date with points and a short year has two digits in each part", hint: "write the year in four digits"}
			case days || months || mark == '-' && c.digits == 2 && a.digits == 2 && isDate(century(a), second, int(c.n)):
				return false
			default:
				m.err = &refusal{why: "there is no such date", hint: "dates are best written as 2027-03-04"}
				if mark == '.' && c.digits == 2 {
					m.err.off, m.err.end, m.err.readings = x.off(), x.stop(), []string{fmt.Sprintf("%d:%02d:%02d", first, second, c.n)}
				}
			}
			return x.setDay(m, day{kind: onDate, year: 2000, month: 1, date: 1})
		}
		x.setDate(m, y, mo, d)
		m.day.points = mark == '.' && first <= 12 && second <= 12 && first != second
		m.rewrites = []rewrite{{x.off(), x.stop(), fmt.Sprintf("%04d-%02d-%02d", y, mo, d)}}
		return true
	}
}

// spacedNumbers reads 24. 12. 2026, with the day first.
func spacedNumbers(x *match, m *meaning) bool {
	return x.p.toks[x.begin+2].gap && x.p.toks[x.begin+4].gap && numbers(dayFirst)(x, m)
}

// twoNumbers returns the action that reads 25/12 or 12/25: the next such date. With a hyphen, a
// weekday must stand beside it.
func twoNumbers(order int) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		a, b := int(x.tok(0).n), int(x.tok(1).n)
		days, months := isDate(2000, b, a), isDate(2000, a, b)
		mark := x.p.toks[x.begin+1].mark()
		next := &x.p.toks[x.end]
		if !next.gap && (next.mark() == mark || next.mark() == '.' && x.p.toks[x.end+1].is(cNum) || next.is(cUnit|cMer)) || next.is(cUnit) && next.unit != uQuarter || mark == '.' && next.is(cNum) && !next.gap {
			return false
		}
		month, date := b, a
		switch order {
		case dayFirst:
			if !days {
				return mark == '.' && x.setAnnual(m, b, a)
			}
		case monthFirst:
			if !months || a == b {
				return false
			}
			month, date = a, b
		default:
			if days || months || mark == '-' {
				return false
			}
			m.err = &refusal{why: "there is no such date", hint: "dates are best written as 2027-03-04"}
			return x.setDay(m, day{kind: onDate, year: 2000, month: 1, date: 1})
		}
		if mark == '-' && a <= 12 && b <= 12 {
			return false
		}
		x.setAnnual(m, month, date)
		if a == 24 && b == 7 && x.p.n == 3 && mark == '/' {
			m.err = either("it may be a date, or mean at all times", x.off(), x.stop(), "24 July")
		}
		if mark == '-' {
			m.day.needs = 'w'
		}
		if mark != '.' {
			m.rewrites = []rewrite{{x.off(), x.stop(), fmt.Sprintf("%d %s", date, time.Month(month))}}
		}
		return true
	}
}

// atDate reads MMDDYYYY and MMDDYY, as at(1) does. The short form needs a time of day beside it.
// Both are ambiguous when the day could come first as well.
func atDate(x *match, m *meaning) bool {
	t := x.tok(0)
	n, year := int(t.n)/100, 2000+int(t.n)%100
	if t.digits == 8 {
		if n, year = int(t.n)/10000, int(t.n)%10000; year < 1900 || int(t.n)/10000 >= 1900 && int(t.n)/100%100 >= 1 && int(t.n)/100%100 <= 12 {
			return false
		}
	}
	month, date := n/100, n%100
	if month != date && date >= 1 && date <= 12 && month >= 1 && month <= 12 {
		m.err = either("the order of day and month in "+x.text()+" is not known", x.off(), x.stop(),
			fmt.Sprintf("%04d-%02d-%02d", year, month, date), fmt.Sprintf("%04d-%02d-%02d", year, date, month))
		ok := x.setDay(m, day{kind: onDate, year: int16(year), month: int8(month), date: int8(date)})
		if t.digits == 6 {
			m.day.needs = 'c'
		}
		return ok
	}
	ok := x.setDate(m, year, month, date)
	if t.digits == 6 {
		m.day.needs = 'c'
	}
	return ok
}

// monthlyDay reads "the 5th". "Second" alone is refused, because it is a unit as well.
func monthlyDay(x *match, m *meaning) bool {
	o := x.of(0)
	x.setDay(m, day{kind: onMonth, date: int8(min(o.n, 100))})
	switch the := x.says("the"); {
	case o.n < 1 || o.n > 31:
		m.err = &refusal{why: fmt.Sprintf("no month has a day %d", o.n)}
	case o.q.whole == 1 && !the:
		m.err = &refusal{why: fault.Quoted(x.text()) + " alone is not a day", hint: "give the date", say: "say %q for the day of the month",
			off: x.off(), end: x.off(), readings: []string{"the "}}
	}
	return true
}

// pointDate reads the 24.12 of "24.12 18:00". Without a time of day it may be one itself.
func pointDate(x *match, m *meaning) bool {
	next := &x.p.toks[x.end]
	ok := isDate(2000, int(x.tok(1).n), int(x.tok(0).n)) && (next.gap || next.mark() == ',') && twoNumbers(dayFirst)(x, m)
	m.day.needs = 'c'
	return ok && !x.p.recurs && x.p.n > 3
}

// numberOf reads the 20 of "20 of next month".
func numberOf(x *match, m *meaning) bool {
	m.n = int(x.tok(0).n)
	return x.p.word(x.end, "of")
}

// dayOfMonth reads "on the 15".
func dayOfMonth(x *match, m *meaning) bool {
	next := &x.p.toks[x.end]
	return !x.hourFollows() && !next.is(cUnit|cMonth|cNum) && (next.gap || next.mark() == 0 || next.mark() == ',') && x.setDay(m, day{kind: onMonth, date: int8(x.tok(0).n)})
}

// A month, a quarter or a year is read as the day of kind onNth that is counted in it.

func monthOf(x *match, m *meaning) bool {
	m.day = day{kind: onNth, month: int8(x.tok(0).month), months: 1}
	if x.has(1) {
		m.day.year = int16(x.of(1).n)
	}
	return x.has(1) || !x.p.toks[x.end].is(cYear) || x.p.toks[x.end+1].mark() == ':'
}

func monthFrom(months int32) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		m.day = day{kind: onNth, named: true, shift: months, months: 1}
		return true
	}
}

// quarterFrom returns the action that reads "next quarter". Quarters begin in January, April, July
// and October.
func quarterFrom(quarters int) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		now := civil.Wall(x.p.opts.Now, x.p.opts.Zone)
		at := civil.Date(now.Year(), (now.Month()-1)/3*3+1+time.Month(3*quarters), 1)
		m.day = day{kind: onNth, month: int8(at.Month()), year: int16(at.Year()), months: 3}
		return true
	}
}

func yearOf(x *match, m *meaning) bool {
	m.day = day{kind: onNth, month: 1, year: int16(x.of(0).n), months: 12}
	return true
}

func nthOfThree(x *match, m *meaning) bool {
	m.n = int(x.tok(0).n)
	return true
}

// nthOf reads "the first monday of may", "the last day of the quarter" and "the 5th of next month".
func nthOf(x *match, m *meaning) bool {
	n, of, d := x.of(x.labelled(isCount)).n, recurrence{}, x.of(x.labelled(isPeriod)).day
	if i := x.labelled(isOfDay); i >= 0 {
		of = x.of(i).recur
	} else if n < 0 && !x.says("day") {
		return false
	}
	if d.workdays = of.workdays; of.weekdays != 0 && !of.workdays {
		d.weekday = int8(bits.TrailingZeros8(of.weekdays) + 1)
	}
	return x.nth(m, n, d)
}

// nth sets the n-th of the days that d names, in the month, quarter or year that it names. "The
// first working day of the month" is ambiguous: it may come once or every month.
func (x *match) nth(m *meaning, n int, d day) bool {
	d.nth = int16(min(n, 400))
	if d.year != 0 {
		at, why := d.nthFrom(civil.Date(int(d.year), time.Month(d.month), 1))
		x.setDate(m, at.Year(), int(at.Month()), at.Day())
		if why != nil {
			m.err = why
		}
		return true
	}
	x.setDay(m, d)
	switch {
	case d.weekday == 0 && !d.workdays && (n == 0 || n > 31):
		m.err = &refusal{why: fmt.Sprintf("no month has a day %d", n)}
	case d.weekday != 0 && (n > 5 || n < -5):
		m.err = &refusal{why: "no month has that many weeks", hint: "a month has the first to the fifth, and the last"}
	case d.workdays && d.named && d.shift == 0 && !x.says("this") && !x.p.recurs:
		of := x.end - 1
		for of > x.begin && !x.p.word(of, "of", "in") {
			of--
		}
		m.err = either("it may come once or every month", int(x.p.toks[of].end), x.stop(), " this month", " next month", " every month")
	}
	return true
}

// whichMonth refuses "third monday", which does not name its month.
func whichMonth(x *match, m *meaning) bool {
	if n := x.of(0).n; n > 5 || n < -5 || x.p.recurs {
		return false
	}
	m.err = either("it does not say of which month", x.stop(), x.stop(), " of this month", " of next month", " of every month")
	return x.setDay(m, day{kind: onNth, nth: int16(x.of(0).n), weekday: int8(x.tok(1).day), named: true, months: 1})
}

// epoch reads @1735117200 and @1735117200.5, seconds since 1970 in UTC. It leaves "tonight @8" to
// afterSpacedAt.
func epoch(x *match, m *meaning) bool {
	if x.begin > 0 && x.tok(0).is(cH24) {
		return false
	}
	n, nano := x.tok(0).n, int64(0)
	if x.has(1) {
		nano = fraction(x.p.low[x.tok(1).off:x.tok(1).end])
	}
	return x.setEpoch(m, n, nano)
}

// yearBehind reads the year of "Dec 24 17:00:00 2026".
func yearBehind(x *match, m *meaning) bool {
	m.has, m.n = hasYear, int(x.tok(0).n)
	next := &x.p.toks[x.end]
	return next.is(cEnd|cAbbr|cUTC|cZoneName) || next.mark() != 0
}

func epochBefore(x *match, m *meaning) bool { return x.setEpoch(m, -x.tok(0).n, 0) }

func (x *match) setEpoch(m *meaning, n, nano int64) bool {
	if n > 253402300799 || n < -62135596800 || x.tok(0).n < 0 {
		m.err = tooFar
		return true
	}
	at := time.Unix(n, nano).UTC()
	x.setDate(m, at.Year(), int(at.Month()), at.Day())
	m.day.iso = true
	m.clock = clock{hour: int8(at.Hour()), minute: int8(at.Minute()), second: int8(at.Second()), nano: int32(at.Nanosecond()), how: clockExact, off: m.day.off, end: m.day.end}
	m.clock.settle()
	m.zone = &zoneText{loc: time.UTC, fixed: true}
	m.has = hasDay | hasClock | hasZone
	return true
}

// monthAlone refuses a month without a day, offering its first.
func monthAlone(x *match, m *meaning) bool {
	// 2016 november, november 1654
	last, next := &x.p.toks[x.end-1], &x.p.toks[x.end]
	if x.p.recurs || last.is(cMonth) && next.mark() == '.' && !next.gap || x.p.word(x.end-1, "of", ",") || x.yearBefore() || x.p.toks[x.end].is(cN4) {
		return false
	}
	first := ""
	for i := x.begin; i < x.end; i++ {
		if t := &x.p.toks[i]; t.is(cMonth) {
			first = "1 " + time.Month(t.month).String()
		}
	}
	for i := x.begin; i < x.end; i++ {
		if t := &x.p.toks[i]; t.is(cYear) {
			first += " " + strconv.FormatInt(t.n, 10)
		}
	}
	if x.p.word(x.end-1, "year") {
		first += " " + x.p.text[x.p.toks[x.end-2].off:x.stop()]
	}
	if x.says("last") {
		now := civil.Wall(x.p.opts.Now, x.p.opts.Zone)
		at, _ := time.Parse("2 January 2006", fmt.Sprintf("%s %d", first, now.Year()))
		if !at.Before(civil.Midnight(now).AddDate(0, -1, 0)) {
			at = at.AddDate(-1, 0, 0)
		}
		return x.setDate(m, at.Year(), int(at.Month()), 1)
	}
	m.err = either("a month is not a day", x.off(), x.stop(), first)
	return x.setDay(m, day{kind: onDate, year: 2000, month: 1, date: 1})
}

// yearBefore reports whether four digits that may be a year stand before the match.
func (x *match) yearBefore() bool {
	before := x.begin - 1
	if before > 0 && x.p.toks[before].mark() == ',' {
		before--
	}
	return before >= 0 && x.p.toks[before].is(cYear)
}

func noDayInMonth(x *match, m *meaning) bool {
	m.err = &refusal{why: "a month is not a day", hint: "add the day"}
	return x.setDay(m, day{kind: onDate, year: 2000, month: 1, date: 1})
}

// fromEnd reads the "second last" of "the second last day of the month".
func fromEnd(x *match, m *meaning) bool {
	m.n = -x.of(0).n
	return m.n < -1 && m.n >= -31
}

func holiday(month, date int) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool { return x.setAnnual(m, month, date) }
}
