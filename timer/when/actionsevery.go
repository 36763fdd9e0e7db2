package when

import (
	"fmt"
	"math/bits"
	"strconv"
	"time"
)

// The ways in which weekdays are written, in meaning.n.
const (
	isPlural  = 1 << iota // mondays
	isRange               // monday to friday
	isSet                 // weekdays, weekend
	isList                // monday, friday
	isSpelled             // of a day of the month: "first day"
)

// period makes n units the period.
func (m *meaning) period(u unit, n int64) bool {
	m.has |= hasPeriod | hasEvery
	c := &m.cad
	if n <= 0 {
		m.err = &refusal{why: "a period of zero never ends", hint: "give at least 1"}
		return true
	}
	switch months, days, elapsed := u.measure(); {
	case elapsed > 0:
		if n > int64(1<<63-1)/int64(elapsed) {
			m.err = tooFar
			return true
		}
		c.unit, c.n, c.length = uSecond, 1, time.Duration(n)*elapsed
		if c.length == time.Hour {
			c.unit = uHour
		}
	case u == uWeek || u == uFortnight:
		c.unit, c.n = uWeek, n*days/7
	case days > 0:
		c.unit, c.n = uDay, n
	case months%12 == 0:
		c.unit, c.n = uYear, n*months/12
	default:
		c.unit, c.n = uMonth, n*months
	}
	return true
}

func everyUnit(x *found, m *meaning) bool {
	t := x.tok(1)
	return !t.is(cUnits) && m.period(t.unit, 1)
}

func everyOther(x *found, m *meaning) bool {
	t := x.tok(1)
	return !t.is(cUnits) && m.period(t.unit, 2)
}

// everyNth reads "every third day". "Every first day" is none.
func everyNth(x *found, m *meaning) bool {
	n, t := x.of(1).n, x.tok(2)
	return n > 1 && t.unit >= uSecond && !t.is(cUnits) && !x.p.word(x.end, "of", "in") && m.period(t.unit, int64(n))
}

func everyAndHalf(x *found, m *meaning) bool {
	var s meaning
	if x.tok(1).is(cUnits) || !x.length(&s, quantity{1, x.of(2).q.nano}, x.tok(1)) {
		return false
	}
	return m.everySpan(&s)
}

func everySpan(x *found, m *meaning) bool { return m.everySpan(x.of(1)) }

// everySpan makes a length the period.
func (m *meaning) everySpan(of *meaning) bool {
	s := of.span
	m.has, m.err = hasPeriod|hasEvery, of.err
	refuse := func(why, hint string) bool {
		if m.err == nil {
			m.err = &refusal{why: why, hint: hint}
		}
		return true
	}
	switch {
	case s.open:
		return refuse("M is minutes or months", `say it as in "every 5m"`)
	case s.calendar && s.elapsed != 0:
		return refuse("it mixes days and hours", `give hours alone, as in "every 36h"`)
	case s.months != 0 && s.days != 0:
		return refuse("it mixes months and days", "give one of the two")
	case s.months != 0 && (s.one == uYear || s.one == uDecade) && s.months%12 == 0:
		return m.period(uYear, s.months/12)
	case s.months != 0:
		return m.period(uMonth, s.months)
	case s.days != 0 && (s.one == uWeek || s.one == uFortnight) && s.days%7 == 0:
		return m.period(uWeek, s.days/7)
	case s.days != 0:
		return m.period(uDay, s.days)
	case s.elapsed <= 0:
		return refuse("a period of zero never ends", `say it as in "every 5m"`)
	}
	return m.period(uNanosecond, int64(s.elapsed))
}

// everyNumber refuses "every 5".
func everyNumber(x *found, m *meaning) bool {
	if !x.p.toks[x.begin+1].is(cNum) || !x.p.toks[x.end].is(cEnd) && !x.p.word(x.end, "at") {
		return false
	}
	m.has = hasPeriod | hasEvery
	if x.of(1).q == (quantity{}) {
		m.err = &refusal{why: "a period of zero never ends", hint: `say it as in "every 5m"`}
		return true
	}
	m.err = &refusal{why: "the unit is missing", hint: `say it as in "every 5m"`, say: "say %q", off: x.stop(), end: x.stop(), readings: []string{"m", " days"}}
	return true
}

func everyPart(days int64) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.period(uDay, days)
		m.has, m.part = m.has|hasPart, x.tok(1).part
		m.clock.how = clockSaid
		return true
	}
}

// everyClock reads "every 9am", which is every day. "Every 9:30" may be a length as well.
func everyClock(x *found, m *meaning) bool {
	c := x.of(1).clock
	m.period(uDay, 1)
	m.has, m.clock = m.has|hasClock, c
	if c.how&(clockMinute|clockNow) != 0 || c.how&clockCompact != 0 {
		return false
	}
	if c.mer == 0 && c.name == 0 && c.how&(clockBare|clockSpoken) == 0 {
		m.err = &refusal{code: CodeAmbiguous, why: "it may be a length or a time of day", off: int(c.off), end: int(c.end),
			readings: []string{fmt.Sprintf("day at %d:%02d", c.hour, c.minute), fmt.Sprintf("%dh%dm", c.hour, c.minute)}}
	}
	return true
}

func adverb(x *found, m *meaning) bool {
	t := x.tok(0)
	m.period(t.unit, 1)
	switch x.p.low[t.off:t.end] {
	case "nightly":
		m.has, m.part = m.has|hasPart, night
		m.clock.how = clockSaid
	case "fortnightly":
		m.period(uFortnight, 1)
	}
	return true
}

// twiceWord reads biweekly and bimonthly: every two of them, unless it is twice in one.
func twiceWord(u unit) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.period(u, 2)
		m.cad.twice = [2]uint16{uint16(x.off()), uint16(x.stop())}
		return true
	}
}

func onceA(x *found, m *meaning) bool {
	t := x.tok(0)
	return t.unit >= uSecond && !t.is(cUnits) && m.period(t.unit, 1)
}

// timesA reads "twice a day": so many times must be named.
func timesA(x *found, m *meaning) bool {
	n, t := int64(2), x.p.toks[x.end-1]
	switch {
	case x.has(1):
		n = x.of(0).q.whole
	case x.says("thrice"):
		n = 3
	}
	if n < 1 || n > 99 || t.is(cUnits) || t.unit < uDay {
		return false
	}
	m.period(t.unit, 1)
	m.cad.aDay = int8(n)
	return true
}

// Weekdays.

// workingDays are those from Monday to Friday.
const workingDays = 0b0111110

func oneWeekday(x *found, m *meaning) bool {
	t := x.tok(0)
	if m.cad.weekdays = 1 << (t.day - 1); t.is(cDays) {
		m.n = isPlural
	}
	return true
}

func weekdayRange(x *found, m *meaning) bool {
	first, last := x.tok(0).day, x.tok(1).day
	m.cad.weekdays, m.n = 1<<(first-1), isRange
	for d := first; d != last; {
		if d++; d > 7 {
			d = 1
		}
		m.cad.weekdays |= 1 << (d - 1)
	}
	return first != last
}

func weekdaySet(days uint8, many bool) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.cad.weekdays, m.n = days, isSet
		if many {
			m.n |= isPlural
		}
		return true
	}
}

func moreWeekdays(x *found, m *meaning) bool {
	a, b := x.of(0), x.of(1)
	m.cad.weekdays, m.n, m.err = a.cad.weekdays|b.cad.weekdays, a.n|b.n|isList, b.err
	if a.cad.weekdays&b.cad.weekdays != 0 {
		m.err = &refusal{why: "it names the same day twice", hint: "name it once"}
	}
	return true
}

// everyWeekdays reads "every monday and friday", with n 2 every other one.
func everyWeekdays(n int64) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		l := x.of(1)
		m.err = l.err
		if n > 1 {
			m.period(uWeek, n)
			if l.cad.weekdays == workingDays {
				return vague("it may be days or weeks that alternate", `say it as in "every monday, wednesday and friday at 9:00" or "every 2 weeks on weekdays"`)(x, m)
			}
		}
		m.has |= hasWeekdays | hasEvery
		m.cad.weekdays, m.cad.each = l.cad.weekdays, true
		return true
	}
}

// countedWeekday refuses "every second friday", which may count weeks, or weeks of the month.
func countedWeekday(x *found, m *meaning) bool {
	n, t := x.of(1).n, x.tok(2)
	if n < 2 || n > 5 {
		return false
	}
	name, word := x.p.text[t.off:t.end], x.p.text[x.p.toks[x.end-2].off:x.p.toks[x.end-2].end]
	if x.p.toks[x.end-2].is(cSuffix) {
		word = strconv.Itoa(n) + word
	}
	m.has, m.cad.weekdays = hasWeekdays|hasEvery, 1<<(t.day-1)
	m.err = &refusal{code: CodeAmbiguous, why: "it may count weeks, or weeks of the month", off: x.off(), end: x.stop(),
		readings: []string{fmt.Sprintf("every %d weeks on %s", n, name), fmt.Sprintf("every %s %s of the month", word, name)}}
	return true
}

// weekdaysAlone reads weekdays that no "every" stands before: mondays and weekdays recur by themselves, monday to friday with
// a time of day; others may be meant once.
func weekdaysAlone(x *found, m *meaning) bool {
	l := x.of(0)
	if l.n&(isPlural|isRange|isList) == 0 {
		return false
	}
	m.has, m.err = hasWeekdays, l.err
	m.cad.weekdays = l.cad.weekdays
	switch {
	case l.n&isPlural != 0:
		m.has |= hasEvery
	case l.n&isRange != 0 && l.n&isList == 0:
		m.cad.ranged = true
	default:
		m.cad.listed = true
	}
	return true
}

// weekdayParts reads "friday afternoons", which recur by themselves.
func weekdayParts(x *found, m *meaning) bool {
	l := x.of(0)
	m.has, m.err, m.part = hasWeekdays|hasEvery|hasPart, l.err, x.tok(1).part
	m.cad.weekdays, m.clock.how = l.cad.weekdays, clockSaid
	return true
}

// dayParts reads "mornings": those of every day.
func dayParts(x *found, m *meaning) bool {
	m.period(uDay, 1)
	m.has, m.part, m.clock.how = m.has|hasPart, x.tok(0).part, clockSaid
	return true
}

// rangeFrom reads "from monday to friday".
func rangeFrom(x *found, m *meaning) bool {
	return x.of(0).n == isRange && weekdaysAlone(x, m)
}

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

func moreDates(x *found, m *meaning) bool {
	a, b := x.of(0), x.of(1)
	m.cad.dates, m.cad.nths, m.n = a.cad.dates|b.cad.dates, a.cad.nths|b.cad.nths, a.n|b.n|isList
	if m.err = b.err; a.cad.dates&b.cad.dates != 0 || a.cad.nths&b.cad.nths != 0 {
		m.err = &refusal{why: "it names the same day twice", hint: "name it once"}
	}
	return true
}

func everyMonth(x *found, m *meaning) bool { return m.period(uMonth, 1) }

func everyMonths(x *found, m *meaning) bool {
	n := int64(2)
	if x.has(0) {
		n = x.of(0).q.whole
	}
	return m.period(uMonth, n)
}

// datesOf reads "the 1st and 15th of every month".
func datesOf(x *found, m *meaning) bool {
	*m = *x.of(1)
	m.has |= hasDates
	m.cad.dates = x.of(0).cad.dates
	if x.of(0).err != nil {
		m.err = x.of(0).err
	}
	return true
}

// datesOfEvery reads "the 1st of every january".
func datesOfEvery(x *found, m *meaning) bool {
	m.period(uYear, 1)
	m.has |= hasDates | hasMonths
	m.cad.dates, m.cad.months, m.err = x.of(0).cad.dates, x.of(1).cad.months, x.of(0).err
	return true
}

func numberedOfEvery(x *found, m *meaning) bool {
	m.period(uYear, 1)
	m.has |= hasMonths
	m.cad.months = 1 << x.tok(2).month
	return m.numbered(x.of(0), x.of(1))
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

// numbered sets numbered weekdays of the month.
func (m *meaning) numbered(list, of *meaning) bool {
	m.has |= hasDates | hasNumbered
	m.cad.nths, m.cad.weekdays, m.cad.workdays = list.cad.nths, of.cad.weekdays, of.cad.workdays
	if list.err != nil {
		m.err = list.err
	}
	return !m.cad.workdays || bits.OnesCount8(m.cad.nths) == 1
}

func numberedOf(x *found, m *meaning) bool {
	*m = *x.of(2)
	return m.numbered(x.of(0), x.of(1))
}

func everyNumberedOf(x *found, m *meaning) bool {
	*m = *x.of(3)
	return m.numbered(x.of(1), x.of(2))
}

func everyNumbered(x *found, m *meaning) bool {
	m.has = hasEvery
	return m.numbered(x.of(1), x.of(2))
}

// everyNumberedAlone reads "every last friday" and "every first monday"; others may count weeks.
func everyNumberedAlone(x *found, m *meaning) bool {
	m.has = hasEvery
	l := x.of(1)
	return (l.cad.nths&^0b11 == 0 || l.n&isList != 0 || x.of(2).cad.workdays) && m.numbered(l, x.of(2))
}

func everyNumberedIn(x *found, m *meaning) bool {
	m.has = hasEvery | hasMonths
	m.cad.months = 1 << x.tok(3).month
	return m.numbered(x.of(1), x.of(2))
}

// numberedAlone reads "on the second tuesday", which "monthly" must stand beside.
func numberedAlone(x *found, m *meaning) bool {
	m.cad.open = true
	return x.p.recurs && m.numbered(x.of(0), x.of(1))
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

// dayNum, moreDayNums and monthDates read "24 and 25 december".
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

func moreDayNums(x *found, m *meaning) bool {
	m.cad.dates = x.of(0).cad.dates | x.of(1).cad.dates
	return true
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

func moreMonths(x *found, m *meaning) bool {
	m.cad.months = 1<<x.tok(0).month | x.of(1).cad.months
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

func inMonths(x *found, m *meaning) bool {
	m.has, m.cad.months = hasMonths, x.of(0).cad.months
	return x.p.recurs
}

// Several times, minutes of each hour, and times between two others.

func moreTimes(x *found, m *meaning) bool {
	a, b := x.of(0), x.of(1)
	*m = *a
	m.more = append(append([]clock{}, b.clock), b.more...)
	if m.subs = nil; b.err != nil {
		m.err = b.err
	}
	return true
}

func timesSaid(x *found, m *meaning) bool {
	*m = *x.of(0)
	m.has, m.subs = hasClock, nil
	m.clock.how = m.clock.how&^clockLone | clockSaid
	for i := range m.more {
		m.more[i].how = m.more[i].how&^clockLone | clockSaid
	}
	return x.p.recurs
}

// timesAlone reads times of day that no "at" stands before: the first is one by itself.
func timesAlone(x *found, m *meaning) bool {
	return x.of(0).clock.how&(clockLone|clockDotted|clockLength|clockThreeDigits) == 0 && !x.p.toks[x.begin].is(cYear) && timesSaid(x, m)
}

// everyTimes reads "every 9am and 5pm".
func everyTimes(x *found, m *meaning) bool {
	*m = *x.of(1)
	if m.clock.mer == 0 && m.clock.name == 0 {
		return false
	}
	return m.period(uDay, 1)
}

// mark reads :15, a minute of every hour.
func mark(x *found, m *meaning) bool {
	colon, next := &x.p.toks[x.begin], &x.p.toks[x.end]
	m.cad.marks = 1 << x.tok(0).n
	return (x.begin == 0 || colon.gap) && !next.is(cMer) && (next.gap || next.mark() != ':')
}

func markAt(minute int) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.cad.marks = 1 << minute
		return true
	}
}

func (x *found) minuteOf(m *meaning, n int64) bool {
	if x.of(0).q.nano != 0 || n < 0 || n > 59 {
		return false
	}
	m.cad.marks = 1 << n
	return true
}

func markPast(x *found, m *meaning) bool { return x.minuteOf(m, x.of(0).q.whole) }
func markTo(x *found, m *meaning) bool   { return x.minuteOf(m, 60-x.of(0).q.whole) }

func moreMarks(x *found, m *meaning) bool {
	m.cad.marks = x.of(0).cad.marks | x.of(1).cad.marks
	return true
}

func hourMarks(x *found, m *meaning) bool {
	m.has, m.cad.marks = hasMarks, x.of(0).cad.marks
	return true
}

func marksEvery(x *found, m *meaning) bool {
	m.period(uHour, 1)
	m.has, m.cad.marks = m.has|hasMarks, x.of(0).cad.marks
	return true
}

func marksToEvery(x *found, m *meaning) bool {
	m.period(uHour, 1)
	m.has |= hasMarks
	return x.minuteOf(m, 60-x.of(0).q.whole)
}

func window1(x *found, m *meaning) bool {
	m.has, m.cad.from, m.cad.to = hasWindow, x.of(0).clock, x.of(1).clock
	if x.of(0).err != nil {
		m.err = x.of(0).err
	}
	return x.p.recurs
}

// windowDashed reads "every 15 minutes 9:00-17:00"; what recurs by days has no such span.
func windowDashed(x *found, m *meaning) bool {
	window1(x, m)
	m.cad.ranged = true
	return x.p.recurs
}

// Exceptions and bounds.

func exceptDate(x *found, m *meaning) bool {
	if x.says("last") {
		m.cad.dates = 1
		return true
	}
	n := x.of(0).n
	m.cad.dates = 1 << min(n, 31)
	return n >= 1 && n <= 31
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

func moreExcepts(x *found, m *meaning) bool {
	a, b := x.of(0), x.of(1)
	m.cad.weekdays, m.cad.dates, m.cad.months = a.cad.weekdays|b.cad.weekdays, a.cad.dates|b.cad.dates, a.cad.months|b.cad.months
	m.days = append(append([]day{}, a.days...), b.days...)
	if m.err = a.err; b.err != nil {
		m.err = b.err
	}
	return true
}

func except(x *found, m *meaning) bool {
	m.has, m.err = hasExcept, x.of(0).err
	m.bound[boundExcept] = x.at[0]
	return x.p.recurs && x.begin > 0
}

// bounded reads "until friday": what follows is a text of its own.
func bounded(which, has int) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.has, m.err = has, x.of(0).err
		m.bound[which] = x.at[0]
		if x.begin > 0 && x.p.toks[x.begin-1].is(cDay) && x.p.toks[x.begin+1].is(cDay) { // tuesday through friday
			return false
		}
		return x.p.recurs
	}
}

// fromTo reads "from 1 december to 24 december". Without a day in both, it is a span of each day.
func fromTo(x *found, m *meaning) bool {
	m.has, m.err = hasFrom|hasUntil, x.of(0).err
	if m.err == nil {
		m.err = x.of(1).err
	}
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
		return x.setDate(m, int(x.tok(1).n), month, 1)
	}
	m.n = 1 // the bound is the begin of that day
	return x.setAnnual(m, month, 1)
}

// boundNext reads "starting next week": its first day.
func boundNext(x *found, m *meaning) bool {
	wall := reading(x.p.opts.Now, x.p.opts.Zone)
	y, mo, d := wall.Date()
	at := time.Date(y, mo, d-(int(wall.Weekday())+6)%7+7, 0, 0, 0, 0, time.UTC)
	switch x.p.toks[x.end-1].unit {
	case uMonth:
		at = time.Date(y, mo+1, 1, 0, 0, 0, 0, time.UTC)
	case uYear:
		at = time.Date(y+1, 1, 1, 0, 0, 0, 0, time.UTC)
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

// dayRange reads "24 dec to 2 jan": a mark, and the two days behind it.
func dayRange(x *found, m *meaning) bool {
	a, b := x.of(0), x.of(1)
	if m.err = a.err; b.err != nil {
		m.err = b.err
	}
	m.days = []day{{kind: onSpan}, a.day, b.day}
	dated := func(d *day) bool { return d.kind == onDate || d.kind == onAnnual }
	return dated(&a.day) && dated(&b.day)
}
