package when

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// The actions of exceptions and bounds.

// exceptNumbered reads "the first monday of the month".
func exceptNumbered(x *match, m *meaning) bool {
	l, of := x.of(0), x.of(1)
	m.err = tooMany(l, of)
	for _, n := range members(l.recur.nths, true) {
		m.days = append(m.days, day{kind: onNth, nth: int16(n), weekday: int8(bits.TrailingZeros8(of.recur.weekdays) + 1)})
	}
	return !of.recur.workdays && (x.of(2).has&hasPeriod == 0 || x.of(2).recur.unit == uMonth && x.of(2).recur.n == 1)
}

func exceptDay(x *match, m *meaning) bool {
	m.err = x.of(0).err
	m.days = []day{x.of(0).day}
	return true
}

func exceptDated(x *match, m *meaning) bool {
	ok := datedYear(x, m)
	m.days = []day{m.day}
	if x.says("in") { // the year may be that of the recurrence, see inYear
		m.rewrites = []rewrite{{x.off(), x.stop(), m.day.iso8601()}}
	}
	return ok
}

// exceptDate reads "the last day of the month".
func exceptDate(x *match, m *meaning) bool {
	return x.of(1).recur.months == 0 && asIs(x, m)
}

// exceptShort reads "except 24/12", whose order must be known.
func exceptShort(x *match, m *meaning) bool {
	d := x.of(1).day
	m.has, m.bound[boundExcept] = hasExcept, x.at[1]
	if date, month := int(d.date), int(d.month); len(x.of(1).rewrites) > 0 && date <= 12 && date != month {
		m.err = either("the order of day and month in "+x.p.text[d.off:d.end]+" is not known", int(d.off), int(d.end),
			fmt.Sprintf("%d %s", date, time.Month(month)), fmt.Sprintf("%d %s", month, time.Month(date)))
	}
	return d.needs == 0 && x.p.recurs && x.begin > 0
}

// exceptOffset reads "except tomorrow".
func exceptOffset(x *match, m *meaning) bool {
	d := x.of(1).day
	m.has, m.err, m.bound[boundExcept] = hasExcept, x.of(1).err, x.at[1]
	if d.kind == onOffset {
		on := x.p.dateOf(d)
		m.passing = []rewrite{{int(d.off), int(d.end), on.iso8601()}}
	}
	return d.kind == onOffset && x.p.recurs && x.begin > 0
}

// dateOf returns the date of a day that is counted from today. Other days stay as they are.
func (p *parser) dateOf(d day) day {
	if d.kind == onOffset {
		y, m, date := civil.Midnight(civil.Wall(p.opts.Now, p.opts.Zone)).AddDate(0, 0, int(d.shift)).Date()
		return day{kind: onDate, year: int16(y), month: int8(m), date: int8(date)}
	}
	return d
}

func (d *day) iso8601() string { return fmt.Sprintf("%04d-%02d-%02d", d.year, d.month, d.date) }

// exceptNumbers reads "except 24.12.2027". Unless points stand between the numbers, their order
// must be known.
func exceptNumbers(x *match, m *meaning) bool {
	exceptDay(x, m)
	if d := x.of(0).day; !d.points && d.month <= 12 && d.date <= 12 && d.month != d.date {
		m.err = either("the order of day and month in "+x.text()+" is not known", x.off(), x.stop(),
			fmt.Sprintf("%04d-%02d-%02d", d.year, d.month, d.date), fmt.Sprintf("%04d-%02d-%02d", d.year, d.date, d.month))
	}
	return true
}

// boundWeek reads "until the end of the week": its Sunday.
func boundWeek(x *match, m *meaning) bool {
	return x.setDay(m, day{kind: onWeek, weekday: 1})
}

func except(x *match, m *meaning) bool {
	m.has, m.err, m.rewrites = hasExcept, x.of(1).err, x.of(1).rewrites
	m.bound[boundExcept] = x.at[1]
	return x.p.recurs && (x.begin > 0 || x.p.toks[x.end].mark() == ',')
}

// exceptTimes reads "except at noon", and exceptWindow "except between 12:00 and 14:00".
func exceptTimes(x *match, m *meaning) bool {
	m.has, m.err = hasSkip, x.of(1).err
	if t := x.p.toks[max(x.end-4, 0):x.end]; len(t) == 4 && t[0].mark() == 0 && t[1].is(cN1) && t[2].mark() == '/' && t[3].is(cN1) {
		return false // except 24/12
	}
	if x.p.toks[x.end-1].is(cYear) && x.p.toks[x.end-2].mark() == '/' {
		return false // except 3/4/2027
	}
	m.recur.skip = append([]clock{x.of(1).clock}, x.of(1).more...)
	return x.p.recurs && x.begin > 0
}

func exceptWindow(x *match, m *meaning) bool {
	m.has, m.recur.skip, m.recur.skipSpan = hasSkip, []clock{x.of(1).clock, x.of(2).clock}, true
	if m.err = x.of(1).err; m.err == nil {
		m.err = x.of(2).err
	}
	return x.p.recurs && x.begin > 0
}

// passes notes that the match is a bound, which the plain form says in another way.
func (x *match) passes(m *meaning) { m.passing = []rewrite{{x.off(), x.stop(), ""}} }

// bounded reads "until friday". The instant of "friday" is worked out later, by boundAt.
func bounded(which, has int) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		m.has, m.err = has, x.of(0).err
		x.passes(m)
		m.bound[which] = x.at[0]
		m.recur.through = x.says("through") || x.says("thru")
		if m.boundOff = uint16(x.off()); which != boundUntil {
			m.boundOff = 0
		}
		return x.p.recurs
	}
}

// fromTo reads "from 1 december to 24 december" and "from tomorrow to friday". Both must name a
// day: "from 9:00 to 17:00" is a part of each day, and "from monday to friday" of each week.
func fromTo(x *match, m *meaning) bool {
	m.has, m.err, m.recur.span = hasFrom|hasUntil, x.firstErr(), true
	x.passes(m)
	m.bound[boundFrom], m.bound[boundUntil] = x.at[0], x.at[1]
	weekdays, clocks := 0, 0
	for i := range 2 {
		// When n is 1 the bound is a month or a year, which is not one day.
		of := x.of(i)
		if of.has&hasDay == 0 || of.n == 1 {
			return false
		}
		if of.day.kind == onWeekday {
			weekdays++
		}
		clocks += of.has & hasClock / hasClock
	}
	return x.p.recurs && (weekdays < 2 || clocks == 2)
}

func forSpan(x *match, m *meaning) bool {
	m.has, m.err = hasFor, x.of(0).err
	x.passes(m)
	m.bound[boundUntil] = x.at[0]
	return x.p.recurs
}

func forWord(x *match, m *meaning) bool {
	n := int64(2)
	if x.says("thrice") {
		n = 3
	}
	return x.times(m, n) && (x.begin > 0 || m.has == hasRate)
}

// nextFew reads "the next 3 fridays".
func nextFew(x *match, m *meaning) bool {
	m.has, m.recur.weekdays, m.recur.count = hasWeekdays|hasEvery|hasCount, 1<<(x.tok(1).day-1), x.of(0).q.whole
	x.passes(m)
	return x.of(0).q.nano == 0 && m.recur.count > 0
}

func forTimes(x *match, m *meaning) bool {
	return x.of(0).q.nano == 0 && x.times(m, x.of(0).q.whole)
}

// times reads "3 times" as a bound, and as a rate when a period without a number follows: 3 times
// every day. Directly behind a period it may be either: daily 2 times.
func (x *match) times(m *meaning, n int64) bool {
	next, after, before := &x.p.toks[x.end], &x.p.toks[min(x.end+1, x.p.n)], &x.p.toks[max(x.begin-1, 0)]
	m.has, m.recur.count = hasCount, n
	switch {
	case next.is(cAdverb), x.p.word(x.end, "every", "each") && !after.is(cNum|cLow|cTens) && !x.says("for"):
		m.has, m.recur.aDay = hasRate, int8(min(n, 127))
		return x.p.recurs && n > 0
	case !x.says("for") && (before.is(cAdverb|cDay|cDays) || before.is(cLong) && !before.is(cUnits)):
		m.recur.countAt = [2]uint16{before.end, uint16(x.stop())}
	}
	x.passes(m)
	return x.p.recurs && n > 0
}

// boundMonth reads "until march": the first day of that month.
func boundMonth(x *match, m *meaning) bool {
	month := int(x.tok(0).month)
	m.n, m.recur.unit = 1, uMonth // the bound is the beginning of that day
	if x.has(1) {
		return x.setDate(m, int(x.tok(1).n), month, 1)
	}
	return x.setAnnual(m, month, 1)
}

// boundYear reads "until 2028": the first day of that year.
func boundYear(x *match, m *meaning) bool {
	m.n, m.recur.unit = 1, uYear
	return x.setDate(m, int(x.tok(0).n), 1, 1)
}

// unitBegin returns the first day of this week, month or year, or of one ahead of it.
func (p *parser) unitBegin(u unit, ahead int) time.Time {
	wall := civil.Midnight(civil.Wall(p.opts.Now, p.opts.Zone))
	switch y, mo, _ := wall.Date(); u {
	case uMonth:
		return civil.Date(y, mo+time.Month(ahead), 1)
	case uYear:
		return civil.Date(y+ahead, 1, 1)
	}
	return weekBegin(wall).AddDate(0, 0, 7*ahead)
}

// boundNext reads "starting next week": the first day of that week, month or year.
func boundNext(x *match, m *meaning) bool {
	m.recur.unit, m.n = x.p.toks[x.end-1].unit, 1
	at := x.p.unitBegin(m.recur.unit, 1)
	return x.setDate(m, at.Year(), int(at.Month()), at.Day())
}

// inUnit reads "weekdays at 9am next week": the days that the recurrence is bounded to.
func inUnit(x *match, m *meaning) bool {
	u, first := x.p.toks[x.end-1].unit, civil.Wall(x.p.opts.Now, x.p.opts.Zone)
	next := 1
	if x.says("next") {
		first, next = x.p.unitBegin(u, 1), 2
	}
	m.has, m.days = hasDays, []day{{kind: onSpan, off: uint16(x.off()), end: uint16(x.stop())}}
	for _, at := range []time.Time{first, x.p.unitBegin(u, next).AddDate(0, 0, -1)} {
		var one meaning
		x.setDate(&one, at.Year(), int(at.Month()), at.Day())
		one.day.end = 0
		m.days = append(m.days, one.day)
	}
	return x.p.recurs && (x.begin == 0 || x.p.toks[x.begin-1].unit < u) // every week next week
}

// boundEnd reads "until the end of the year": its last day.
func boundEnd(x *match, m *meaning) bool {
	return x.nth(m, -1, x.of(0).day)
}

// boundUnitEnd reads "until month end": its last day.
func boundUnitEnd(x *match, m *meaning) bool {
	d := day{kind: onNth, named: true, months: 1}
	if x.says("year") {
		d = day{kind: onNth, month: 1, year: int16(civil.Wall(x.p.opts.Now, x.p.opts.Zone).Year()), months: 12}
	}
	return x.nth(m, -1, d)
}

// boundWeekday reads "until friday 27 november".
func boundWeekday(x *match, m *meaning) bool {
	*m = *x.of(1)
	m.also = day{kind: onWeekday, weekday: int8(x.tok(0).day)}
	return m.day.dated()
}

// boundTime reads 2027-03-04T10:00. A zone or an offset directly behind it belongs to it.
func boundTime(x *match, m *meaning) bool {
	next := &x.p.toks[x.end]
	return (next.gap || next.mark() == ',') && dateTime(x, m)
}

func dateTimeZone(x *match, m *meaning) bool {
	dateTime(x, m)
	m.zone, m.has = x.of(2).zone, m.has|hasZone
	return x.of(2).err == nil
}

// dated reports whether a day is a date, of one year or of every year.
func (d *day) dated() bool { return (d.kind == onDate || d.kind == onAnnual) && d.needs == 0 }

// dayOfSet reads a date of a set of days.
func dayOfSet(x *match, m *meaning) bool { return exceptDay(x, m) && m.days[0].dated() }

// monthSpan reads "24-26 dec 2026" and "dec 24 to 26".
func monthSpan(x *match, m *meaning) bool {
	first, last, month := x.at[0], x.at[1], 2
	if x.isToken(0) {
		first, last, month = x.at[1], x.at[2], 0
	}
	m.days = []day{{kind: onSpan}}
	for _, number := range []int{int(first), int(last)} {
		date := bits.TrailingZeros64(x.p.res[number].m.recur.dates)
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
		one.day.end = 0 // it is not one part of the text
		m.days = append(m.days, one.day)
	}
	if m.days[2].date < m.days[1].date {
		m.err = &refusal{why: "its last day lies before the first", hint: "change them round"}
	}
	return !x.says("and") || x.says("between")
}

// dayRange reads "24 dec to 2 jan". It gives three days: one of kind onSpan, the first and the
// last.
func dayRange(x *match, m *meaning) bool {
	a, b := x.of(0), x.of(1)
	m.err = x.firstErr()
	m.days = []day{{kind: onSpan}, a.day, b.day}
	return a.day.dated() && b.day.dated()
}

// pointSpan reads "24.-26.12.".
func pointSpan(x *match, m *meaning) bool {
	m.days = []day{{kind: onSpan}}
	for i := range 2 {
		var one meaning
		x.setAnnual(&one, int(x.tok(2).n), int(x.tok(i).n))
		one.day.end = 0
		m.err, m.days = one.err, append(m.days, one.day)
	}
	return m.err == nil && x.tok(0).n < x.tok(1).n
}

// daySpan reads "every day at 9am, 24-26 dec": the days that the recurrence is bounded to. Where
// nothing recurs it refuses them.
func daySpan(x *match, m *meaning) bool {
	of := x.of(0)
	first, last := of.days[1], of.days[2]
	if x.p.recurs {
		m.has, m.err = hasDays, of.err
		m.days = []day{{kind: onSpan, off: uint16(x.off()), end: uint16(x.stop())}, first, last}
		return first.end == 0 || !x.p.word(x.begin, "from") // see fromTo
	}
	x.setDay(m, first)
	m.err = x.spanOnce(first, last)
	if of.err != nil {
		m.err = of.err
	}
	return true
}

// everyDaySpan reads "every dec 24-26".
func everyDaySpan(x *match, m *meaning) bool {
	m.period(uYear, 1)
	m.has, m.err, m.days = m.has|hasDays, x.of(1).err, x.of(1).days
	return m.days[1].kind == onAnnual && m.days[2].kind == onAnnual
}

// daysOnce refuses "tomorrow to friday" where nothing recurs. "Monday to friday" may be meant of
// every week, see weekdaysAlone.
func daysOnce(x *match, m *meaning) bool {
	first, last := x.of(0).day, x.of(1).day
	plain := func(d *day) bool { return d.kind == onWeekday && !d.next && d.shift == 0 }
	if x.p.recurs || plain(&first) && plain(&last) && !x.says("until") {
		return false
	}
	// the 13th to the 15th of july, aug 10 to nov 12 2028
	year := last.kind == onDate && first.kind == onAnnual
	if month := first.kind == onMonth && (last.kind == onDate || last.kind == onAnnual); year || month {
		if month {
			first.kind, first.month = onAnnual, last.month
		}
		first = first.before(&last)
		first.end, last.end = 0, 0
	}
	x.setDay(m, first)
	m.err = x.spanOnce(first, last)
	if err := x.firstErr(); err != nil {
		m.err = err
	}
	return true
}

// eachDay refuses "tomorrow and friday". Weekdays alone may be meant of every week.
func eachDay(x *match, m *meaning) bool {
	first, last := x.of(0).day, x.of(1).day
	if x.p.recurs || first.kind == last.kind && (first.kind == onWeekday || first.kind == onAnnual) {
		return false
	}
	x.setDay(m, first)
	return refused("it names several days, and one is asked for", "name one of them")(x, m)
}

// sideOf refuses "after friday".
func sideOf(x *match, m *meaning) bool {
	vague("it does not name one time", "name one")(x, m)
	if x.says("since") {
		m.err.code = ""
	}
	return x.begin == 0
}

// spanOnce refuses the days from one to another where one instant is asked for.
func (x *match) spanOnce(first, last day) *refusal {
	if x.p.onceAsked() {
		return &refusal{code: fault.CodeAmbiguous, why: "it names several days, and one is asked for", hint: "name one of them"}
	}
	to := " to "
	if last.kind == onWeekday {
		to = " until "
	}
	return &refusal{code: fault.CodeAmbiguous, why: "it names several days, and not how often", hint: "say how often, and at which time of day", off: x.off(), end: x.stop(),
		readings: []string{"every day from " + x.dayText(first) + to + x.dayText(last)}}
}

// dayText returns a date as it is typed, or its day and month when it is not one part of the text.
func (x *match) dayText(d day) string {
	if d.end > 0 {
		return x.p.text[d.off:d.end]
	}
	text := fmt.Sprintf("%d %s", d.date, time.Month(d.month))
	for i := x.begin; i < x.end; i++ {
		if t := &x.p.toks[i]; t.is(cMonth) && int8(t.month) == d.month {
			name := x.p.text[t.off:t.end]
			if text = fmt.Sprintf("%d %s", d.date, name); i+1 < x.end && x.p.toks[i+1].is(cN1|cOrd|cTens) {
				text = fmt.Sprintf("%s %d", name, d.date)
			}
		}
	}
	if d.kind == onDate {
		text += fmt.Sprintf(" %d", d.year)
	}
	return text
}
