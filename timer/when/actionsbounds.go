package when

import (
	"math/bits"
)

// Exceptions and bounds.

// exceptNumbered reads "the first monday of the month".
func exceptNumbered(x *found, m *meaning) bool {
	l, of := x.of(0), x.of(1)
	m.err = l.err
	for _, n := range members(l.cad.nths, true) {
		m.days = append(m.days, day{kind: onNth, nth: int8(n), weekday: int8(bits.TrailingZeros8(of.cad.weekdays) + 1)})
	}
	return !of.cad.workdays && (x.of(2).has&hasPeriod == 0 || x.of(2).cad.unit == uMonth && x.of(2).cad.n == 1)
}

func exceptDay(x *found, m *meaning) bool {
	m.err = x.of(0).err
	m.days = []day{x.of(0).day}
	return true
}

func exceptDated(x *found, m *meaning) bool {
	ok := datedYear(x, m)
	m.days = []day{m.day}
	return ok
}

func except(x *found, m *meaning) bool {
	m.has, m.err = hasExcept, x.of(0).err
	m.bound[boundExcept] = x.at[0]
	return x.p.recurs && (x.begin > 0 || x.p.toks[x.end].mark() == ',')
}

// exceptTimes reads "except at noon", and exceptWindow "except between 12:00 and 14:00".
func exceptTimes(x *found, m *meaning) bool {
	m.has, m.err = hasSkip, x.of(0).err
	m.cad.skip = append([]clock{x.of(0).clock}, x.of(0).more...)
	return x.p.recurs && x.begin > 0
}

func exceptWindow(x *found, m *meaning) bool {
	m.has, m.cad.skip, m.cad.skipSpan = hasSkip, []clock{x.of(0).clock, x.of(1).clock}, true
	m.err = x.firstErr()
	return x.p.recurs && x.begin > 0
}

// bounded reads "until friday": what follows is a text of its own.
func bounded(which, has int) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.has, m.err = has, x.of(0).err
		m.bound[which] = x.at[0]
		m.cad.through = x.p.word(x.begin, "through", "thru")
		if m.boundOff = uint16(x.off()); which != boundUntil {
			m.boundOff = 0
		}
		if which == boundUntil && x.begin > 0 && x.p.toks[x.begin-1].is(cDay) && x.p.toks[x.begin+1].is(cDay) { // tuesday through friday
			return false
		}
		return x.p.recurs
	}
}

// fromTo reads "from 1 december to 24 december". Without a day in both, it is a span of each day.
func fromTo(x *found, m *meaning) bool {
	m.has, m.err = hasFrom|hasUntil, x.firstErr()
	m.bound[boundFrom], m.bound[boundUntil] = x.at[0], x.at[1]
	for i := range 2 {
		if of := x.of(i); of.has&hasDay == 0 || of.day.kind == onWeekday || of.n == 1 { // n 1 is a month, which has no one day
			return false
		}
	}
	return x.p.recurs
}

func forSpan(x *found, m *meaning) bool {
	m.has, m.err = hasFor, x.of(0).err
	m.bound[boundUntil] = x.at[0]
	return x.p.recurs
}

func forWord(x *found, m *meaning) bool {
	if m.has, m.cad.count = hasCount, 2; x.says("thrice") {
		m.cad.count = 3
	}
	return x.p.recurs && x.begin > 0
}

func forTimes(x *found, m *meaning) bool {
	m.has, m.cad.count = hasCount, x.of(0).q.whole
	return x.p.recurs && m.cad.count > 0 && x.of(0).q.nano == 0
}

// boundMonth reads "until march", its first day.
func boundMonth(x *found, m *meaning) bool {
	month := int(x.tok(0).month)
	if x.has(1) {
		m.n, m.cad.unit = 1, uMonth
		return x.setDate(m, int(x.tok(1).n), month, 1)
	}
	m.n, m.cad.unit = 1, uMonth // the bound is the begin of that day
	return x.setAnnual(m, month, 1)
}

// boundYear reads "until 2028", its first day.
func boundYear(x *found, m *meaning) bool {
	m.n, m.cad.unit = 1, uYear
	return x.setDate(m, int(x.tok(0).n), 1, 1)
}

// boundNext reads "starting next week": its first day.
func boundNext(x *found, m *meaning) bool {
	wall := reading(x.p.opts.Now, x.p.opts.Zone)
	y, mo, _ := wall.Date()
	at := weekBegin(midnight(wall)).AddDate(0, 0, 7)
	m.cad.unit = x.p.toks[x.end-1].unit
	switch m.cad.unit {
	case uMonth:
		at = civilDate(y, mo+1, 1)
	case uYear:
		at = civilDate(y+1, 1, 1)
	}
	m.n = 1
	return x.setDate(m, at.Year(), int(at.Month()), at.Day())
}

// boundEnd reads "until the end of the year": its last day.
func boundEnd(x *found, m *meaning) bool {
	ref := x.of(0)
	if ref.n > 12 {
		return x.setDate(m, ref.n, 12, 31)
	}
	return x.setDay(m, day{kind: onNth, nth: -1, month: int8(ref.n), year: int16(ref.q.whole), shift: int32(ref.q.nano), named: ref.n == 0})
}

func dateTimeZone(x *found, m *meaning) bool {
	dateTime(x, m)
	m.zone, m.has = x.of(2).zone, m.has|hasZone
	return x.of(2).err == nil
}

// dated reports whether a day is a date, of one year or of each.
func (d *day) dated() bool { return (d.kind == onDate || d.kind == onAnnual) && d.needs == 0 }

func dayOfSet(x *found, m *meaning) bool {
	m.err, m.days = x.of(0).err, []day{x.of(0).day}
	return m.days[0].dated()
}

// monthSpan reads "24-26 dec 2026" and "dec 24 to 26".
func monthSpan(x *found, m *meaning) bool {
	first, last, month := x.at[0], x.at[1], 2
	if x.isToken(0) {
		first, last, month = x.at[1], x.at[2], 0
	}
	m.days = []day{{kind: onSpan}}
	for _, number := range []int{int(first), int(last)} {
		date := bits.TrailingZeros32(x.p.res[number].m.cad.dates)
		var one meaning
		ok := x.setAnnual(&one, int(x.tok(month).month), date)
		if x.has(3) {
			year := x.of(3)
			ok = year.q.whole != 1 && x.setDate(&one, year.n, int(x.tok(month).month), date)
		}
		if !ok {
			return false
		}
		if one.err != nil {
			m.err = one.err
		}
		m.days = append(m.days, one.day)
	}
	if m.days[2].date < m.days[1].date {
		m.err = &refusal{why: "its last day lies before the first", hint: "change them round"}
	}
	return true
}

// dayRange reads "24 dec to 2 jan": a mark, and the two days behind it.
func dayRange(x *found, m *meaning) bool {
	a, b := x.of(0), x.of(1)
	m.err = x.firstErr()
	m.days = []day{{kind: onSpan}, a.day, b.day}
	return a.day.dated() && b.day.dated()
}
