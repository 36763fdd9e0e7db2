package when

import (
	"fmt"
	"math/bits"
)

// Days of the month.

// dateItem reads one day of the month: bit 1 to 31 of dates, bit 0 is the last.
func dateItem(x *found, m *meaning) bool {
	n := 0
	switch {
	case x.says("last"):
	case x.isToken(0):
		n = int(x.tok(0).n)
		if x.says("day") && (n < 1 || n > 31) {
			return false
		}
	default:
		if n = x.of(0).n; n < 1 {
			return false
		}
		if x.p.word(x.end-1, "day") {
			m.n = isSpelled
		}
	}
	if n > 31 {
		m.err = &refusal{why: fmt.Sprintf("no month has a day %d", n)}
		return true
	}
	m.cad.dates = 1 << n
	return true
}

func everyMonth(x *found, m *meaning) bool { return m.period(uMonth, 1) }

// everyQuarter and everyYear read "of every quarter" behind days that are counted in it.
func everyQuarter(x *found, m *meaning) bool { return m.period(uQuarter, 1) }

func everyYear(x *found, m *meaning) bool {
	m.period(uYear, 1)
	m.cad.within = uYear
	return true
}

func everyMonths(x *found, m *meaning) bool {
	n := int64(2)
	if x.has(0) {
		n = x.of(0).q.whole
	}
	return m.period(uMonth, n)
}

// eachMonth reads "of every january".
func eachMonth(x *found, m *meaning) bool {
	m.has, m.cad.months = hasMonths, x.of(0).cad.months
	return m.period(uYear, 1)
}

// dates reads listed days of the month, with the period that they are counted in: the 1st and 15th of every month.
func dates(x *found, m *meaning) bool {
	l := x.of(x.labelled(isListed))
	*m = *x.of(x.labelled(isPeriod))
	m.has |= hasDates
	if m.cad.dates = l.cad.dates; l.err != nil {
		m.err = l.err
	}
	return true
}

func everyDates(x *found, m *meaning) bool {
	l := x.of(1)
	m.has, m.err, m.cad.dates = hasDates|hasEvery, l.err, l.cad.dates
	if x.p.word(x.p.resEnd(x.at[0]), "day") && x.p.toks[x.end-1].is(cNum) { // every day 15
		return false
	}
	if x.p.word(x.end-1, "second") { // every second, every twenty second
		return false
	}
	if l.n == 0 && x.p.toks[x.end-1].is(cOrd) && m.err == nil { // every third
		m.err = &refusal{code: CodeAmbiguous, why: "of what is not said", off: x.stop(), end: x.stop(), readings: []string{" of the month"}}
	}
	return l.n&isSpelled == 0 || x.says("month") || l.cad.dates == 1<<1
}

// datesAlone reads days of the month that "monthly" must stand beside: two of them, or the last.
func datesAlone(x *found, m *meaning) bool {
	l := x.of(0)
	m.has, m.err, m.cad.dates = hasDates, l.err, l.cad.dates
	return x.p.recurs && (bits.OnesCount32(l.cad.dates) > 1 || l.cad.dates == 1 || x.p.toks[x.end-1].is(cNum) || l.n&isSpelled != 0)
}

func numberItem(x *found, m *meaning) bool {
	if x.says("last") {
		m.cad.nths = 1
		return true
	}
	n := x.of(0).n
	if n > 5 {
		m.err = &refusal{why: "no month has that many weeks", hint: "a month has the first to the fifth, and the last"}
		n = 5
	}
	m.cad.nths = 1 << n
	return n > 0
}

func workdays(x *found, m *meaning) bool {
	m.cad.weekdays, m.cad.workdays = 0b0111110, true
	return true
}

// numbered reads numbered weekdays of a month, with the period that they are counted in or the month that they are in.
func numbered(has int, fits func(l, of *meaning) bool) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		l, of := x.of(x.labelled(isListed)), x.of(x.labelled(isOfDay))
		if fits != nil && !fits(l, of) {
			return false
		}
		if i := x.labelled(isPeriod); i >= 0 {
			*m = *x.of(i)
		} else if i := x.labelled(isOfMonth); i >= 0 {
			m.has, m.cad.months = hasMonths, 1<<x.tok(i).month
		}
		m.has |= has | hasDates | hasNumbered
		m.cad.nths, m.cad.weekdays, m.cad.workdays = l.cad.nths, of.cad.weekdays, of.cad.workdays
		if l.err != nil {
			m.err = l.err
		}
		return !m.cad.workdays || bits.OnesCount8(m.cad.nths) == 1
	}
}

// several says of "2nd and 4th tuesday of the month" that it comes every month: one of them may be meant once.
func several(l, _ *meaning) bool { return l.n&isList != 0 }

// countsMonths says of "every last friday" and "every first monday" that they are of each month; others may count weeks.
func countsMonths(l, of *meaning) bool {
	return l.cad.nths&^0b11 == 0 || l.n&isList != 0 || of.cad.workdays
}

// numberedAlone reads "on the second tuesday", which "monthly" must stand beside.
func numberedAlone(x *found, m *meaning) bool {
	m.cad.open = true
	return x.p.recurs && numbered(0, nil)(x, m)
}

func everyAnnual(x *found, m *meaning) bool {
	*m = *x.of(1)
	return m.period(uYear, 1)
}

// annualOne and annualMore read "24 december and 1 may".
func annualOne(x *found, m *meaning) bool {
	m.has, m.err, m.days = hasDates|hasMonths, x.of(0).err, []day{x.of(0).day}
	return m.days[0].kind == onAnnual
}

func annualMore(x *found, m *meaning) bool {
	*m = *x.of(1)
	if x.of(0).err != nil {
		m.err = x.of(0).err
	}
	m.days = append([]day{x.of(0).day}, m.days...)
	return x.of(0).day.kind == onAnnual && len(m.days) <= 12
}

// dayNum and monthDates read "24 and 25 december".
func dayNum(x *found, m *meaning) bool {
	n := 0
	if x.isToken(0) {
		n = int(x.tok(0).n)
	} else {
		n = x.of(0).n
	}
	m.cad.dates = 1 << min(n, 31)
	return n >= 1 && n <= 31
}

func monthDates(x *found, m *meaning) bool {
	dates, month := 0, 1
	if x.isToken(0) {
		dates, month = 1, 0
	}
	m.has = hasDates | hasMonths
	for date := 1; date <= 31; date++ {
		if x.of(dates).cad.dates>>date&1 == 0 {
			continue
		}
		var one meaning
		if !x.setAnnual(&one, int(x.tok(month).month), date) {
			return false
		}
		if one.err != nil {
			m.err = one.err
		}
		m.days = append(m.days, one.day)
	}
	return true
}

func everyDated(x *found, m *meaning) bool {
	return refused("a date with its year comes once", "leave the year out")(x, m)
}

func oneMonth(x *found, m *meaning) bool {
	m.cad.months = 1 << x.tok(0).month
	return true
}

func monthRange(x *found, m *meaning) bool {
	for i := x.tok(0).month; ; i = i%12 + 1 {
		m.cad.months |= 1 << i
		if i == x.tok(1).month {
			return true
		}
	}
}

// fromMonths refuses "from june to august", which is not said to be every year or once.
func fromMonths(x *found, m *meaning) bool {
	first, last := x.tok(0), x.tok(1)
	names := [2]string{x.p.text[first.off:first.end], x.p.text[last.off:last.end]}
	m.has = hasMonths
	m.err = &refusal{code: CodeAmbiguous, why: "it may be those months of every year, or once", off: x.off(), end: x.stop(),
		readings: []string{fmt.Sprintf("in %s to %s", names[0], names[1]), fmt.Sprintf("from 1 %s to the end of %s", names[0], names[1])}}
	return x.p.recurs
}

func inMonths(x *found, m *meaning) bool {
	m.has, m.cad.months = hasMonths, x.of(0).cad.months
	return x.p.recurs
}
