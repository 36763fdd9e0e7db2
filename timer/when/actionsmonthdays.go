package when

import (
	"fmt"
	"math/bits"
	"strconv"

	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// The actions of days of the month.

// dateItem reads one day of the month into recur.dates.
func dateItem(x *match, m *meaning) bool {
	n := 0
	switch {
	case !x.has(0):
	case x.isToken(0):
		n = int(x.tok(0).n)
		if x.says("day") && (n < 1 || n > 31) {
			return false
		}
	default:
		if n = x.of(0).n; n == 0 {
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
	m.recur.dates = nthBit(n)
	return true
}

// nthBit returns the set of one number. Bits 1 to 31 are numbers, bit 0 is the last, and bits from
// 34 on are numbers from the end, the second last and so on.
func nthBit(n int) uint64 {
	if n < -1 {
		return 1 << (32 - n)
	}
	return 1 << max(n, 0)
}

// dateRange reads "the 1st to the 5th".
func dateRange(x *match, m *meaning) bool {
	var ends [2]int
	for i := range ends {
		if x.isToken(i) {
			ends[i] = int(x.tok(i).n)
		} else {
			ends[i] = x.of(i).n
		}
	}
	m.recur.dates = 1<<(ends[1]+1) - 1<<ends[0]
	return 0 < ends[0] && ends[0] < ends[1] && ends[1] <= 31
}

// firstDays and firstFew read "the first five days" and "the last two mondays".
func firstDays(x *match, m *meaning) bool {
	m.recur.dates, m.n = x.few(), isSpelled|isFew
	return m.recur.dates != 0
}

func firstFew(x *match, m *meaning) bool {
	m.recur.nths, m.n = x.few(), isList|isFew
	return m.recur.nths != 0
}

// few returns the set of as many numbers as the count says, from the first or the last on.
func (x *match) few() (set uint64) {
	n, sign := x.of(0).q, 1
	if x.says("last") {
		sign = -1
	}
	if n.whole < 2 || n.whole > 23 || n.nano != 0 {
		return 0
	}
	for i := range int(n.whole) {
		set |= nthBit(sign * (i + 1))
	}
	return set
}

// everyYear reads "of every year" after days that are counted in it.
func everyYear(_ *match, m *meaning) bool {
	m.period(uYear, 1)
	m.recur.within = uYear
	return true
}

// everyMonths reads "of every 2 months" and "of every second month".
func everyMonths(x *match, m *meaning) bool {
	of := x.of(1)
	return of.n != 1 && m.period(uMonth, max(of.q.whole, int64(of.n)))
}

// dateIs returns the action of words for one day of the month; 0 is the last.
func dateIs(n int) func(x *match, m *meaning) bool {
	return func(_ *match, m *meaning) bool {
		m.recur.dates, m.n = 1<<n, isSpelled
		return true
	}
}

// eachMonth reads "every january", whose day is named beside it, and "of every january".
func eachMonth(x *match, m *meaning) bool {
	x.months(m, 1)
	return m.period(uYear, 1)
}

// dates reads a list of days of the month and the period that they are counted in: the 1st and 15th
// of every month.
func dates(x *match, m *meaning) bool {
	l := x.of(x.labelled(isListed))
	*m = *x.of(x.labelled(isPeriod))
	m.has |= hasDates
	if m.recur.dates = l.recur.dates; l.err != nil {
		m.err = l.err
	}
	return true
}

func everyDates(x *match, m *meaning) bool {
	l := x.of(1)
	m.has, m.err, m.recur.dates = hasDates|hasEvery, l.err, l.recur.dates
	if x.p.word(x.p.resEnd(x.at[0]), "day") && x.p.toks[x.end-1].is(cNum) { // every day 15
		return false
	}
	if x.p.word(x.end-1, "second", "last") { // every second, every twenty second
		return false
	}
	if l.n == 0 && x.p.toks[x.end-1].is(cOrd) && m.err == nil { // every third
		m.err = either("it does not say of what", x.stop(), x.stop(), " of the month")
	}
	return l.n&isSpelled == 0 || x.says("month") || l.recur.dates == 1<<1
}

// datesAlone reads days of the month without "every": two or more of them, or the last. A word such
// as "monthly" must stand beside them.
func datesAlone(x *match, m *meaning) bool {
	l := x.of(0)
	m.has, m.err, m.recur.dates = hasDates, l.err, l.recur.dates
	last := l.recur.dates == 1 && (x.says("the") || x.says("day")) || l.recur.dates>>32 != 0
	return x.p.recurs && (bits.OnesCount64(l.recur.dates) > 1 || last || x.p.toks[x.end-1].is(cNum) || l.n&isSpelled != 0)
}

func numberItem(x *match, m *meaning) bool {
	n := -1
	if x.has(0) {
		n = x.of(0).n
	}
	m.recur.nths = nthBit(n)
	return n != 0 && n <= 31
}

func workdays(x *match, m *meaning) bool {
	m.recur.weekdays, m.recur.workdays = workingDays, true
	if x.p.low[x.stop()-1] == 's' {
		m.n = isPlural
	}
	return true
}

// numbered returns the action that reads numbered weekdays, such as the first monday, and their
// period or their month. When fits is set, it decides whether the two go together.
func numbered(has int, fits func(l, of *meaning) bool) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		l, of := x.of(x.labelled(isListed)), x.of(x.labelled(isOfDay))
		if fits != nil && !fits(l, of) || l.n&isFew != 0 && of.n&isPlural == 0 {
			return false
		}
		if i := x.labelled(isPeriod); i >= 0 {
			*m = *x.of(i)
		}
		m.has |= has | hasDates | hasNumbered
		m.recur.nths, m.recur.weekdays, m.recur.workdays = l.recur.nths, of.recur.weekdays, of.recur.workdays
		if why := tooMany(l, of); why != nil {
			m.err = why
		}
		return true
	}
}

// tooMany returns why no month has as many of a weekday as a list of numbers says, or why the list
// is refused.
func tooMany(l, of *meaning) *refusal {
	switch last := max(bits.Len32(uint32(l.recur.nths))-1, bits.Len32(uint32(l.recur.nths>>32))-1); {
	case of.recur.workdays && last > 23:
		return &refusal{why: "no month has that many working days", hint: "a month has at most 23"}
	case !of.recur.workdays && last > 5:
		return &refusal{why: "no month has that many weeks", hint: "a month has the first to the fifth, and the last"}
	}
	return l.err
}

// several accepts "2nd and 4th tuesday of the month" as monthly. A single one may be meant once.
func several(l, of *meaning) bool { return l.n&isList != 0 || of.n&isPlural != 0 }

// countsMonths accepts "every last friday" and "every first monday" as monthly. Higher numbers may
// count weeks.
func countsMonths(l, of *meaning) bool {
	return uint32(l.recur.nths)&^0b11 == 0 || l.n&isList != 0
}

// numberedAlone reads "on the second tuesday". A word such as "monthly" must stand beside it. "1st
// and 3rd tuesdays" recur by themselves.
func numberedAlone(x *match, m *meaning) bool {
	ok := numbered(0, nil)(x, m)
	if m.recur.open = x.of(0).n&isList == 0 || x.of(1).n&isPlural == 0; !m.recur.open {
		m.has |= hasEvery
	}
	ahead := x.begin > 0 || m.recur.open || m.recur.nths>>32 == 0 // not the last two mondays
	return ok && x.p.recurs && ahead
}

// numberedMonths refuses "first monday of march and june", which does not say that it recurs.
func numberedMonths(x *match, m *meaning) bool {
	ok := numbered(hasMonths, nil)(x, m)
	return ok && x.begin == 0 && !x.p.recurs && !x.says("the") && bits.OnesCount16(m.recur.months) > 1
}

// severalDates reads "on the 1st and 16th of the month". One day of the month comes once, and the
// first five days may.
func severalDates(x *match, m *meaning) bool {
	l := x.of(0)
	m.has, m.err, m.recur.dates = hasDates|hasEvery, l.err, l.recur.dates
	few := l.n&(isList|isFew) == isFew
	if few && m.err == nil {
		m.err = either("it may come once or every month", x.stop()-len(" the month"), x.stop(), " every month")
	}
	return few || !x.p.recurs && l.n&isList != 0
}

// everyShort reads "every 24/12".
func everyShort(x *match, m *meaning) bool { return x.of(1).day.needs == 0 && everyAnnual(x, m) }

func everyAnnual(x *match, m *meaning) bool {
	*m = *x.of(1)
	m.period(uYear, 1)
	// every second december
	if t := &x.p.toks[x.p.resEnd(x.at[0])]; t.is(cOrd) && t.num > 1 && t.num < 10 && x.p.toks[x.end-2] == *t {
		m.err = either("it may count years, or be a day of the month", int(t.end), int(t.end), " of")
	}
	return true
}

// annualOne and annualMore read the list "24 december and 1 may".
func annualOne(x *match, m *meaning) bool {
	m.has, m.err, m.days = hasDates|hasMonths, x.of(0).err, []day{x.of(0).day}
	return m.days[0].kind == onAnnual
}

func annualMore(x *match, m *meaning) bool {
	*m = *x.of(1)
	if x.of(0).err != nil {
		m.err = x.of(0).err
	}
	m.days = append([]day{x.of(0).day}, m.days...)
	return x.of(0).day.kind == onAnnual && len(m.days) <= 12
}

// dayNum and monthDates read "24 and 25 december".
func dayNum(x *match, m *meaning) bool {
	n := 0
	if x.isToken(0) {
		n = int(x.tok(0).n)
	} else {
		n = x.of(0).n
	}
	m.recur.dates = 1 << min(n, 31)
	return n >= 1 && n <= 31
}

func monthDates(x *match, m *meaning) bool {
	dates, month := 0, 1
	if x.isToken(0) {
		dates, month = 1, 0
	}
	m.has = hasDates | hasMonths
	for date := 1; date <= 31; date++ {
		if x.of(dates).recur.dates>>date&1 == 0 {
			continue
		}
		var one meaning
		if x.setAnnual(&one, int(x.tok(month).month), date); one.err != nil {
			m.err = one.err
		}
		m.days = append(m.days, one.day)
	}
	return true
}

// dayInMonths reads "1st of january and july".
func dayInMonths(x *match, m *meaning) bool {
	m.has, m.recur.dates, m.recur.months = hasDates|hasMonths, x.of(0).recur.dates, x.of(1).recur.months
	date := bits.TrailingZeros64(m.recur.dates)
	for _, month := range members(m.recur.months, false) {
		if why := checkDate(0, month, date); why != nil {
			m.err = why
		}
	}
	return bits.OnesCount16(m.recur.months) > 1
}

func oneMonth(x *match, m *meaning) bool {
	m.recur.months = 1 << x.tok(0).month
	return true
}

func monthRange(x *match, m *meaning) bool {
	for i := x.tok(0).month; ; i = i%12 + 1 {
		m.recur.months |= 1 << i
		if i == x.tok(1).month {
			return true
		}
	}
}

// fromMonths refuses "from june to august": it may mean every year or once.
func fromMonths(x *match, m *meaning) bool {
	first, last := x.tok(0), x.tok(1)
	names := [2]string{x.p.text[first.off:first.end], x.p.text[last.off:last.end]}
	m.has = hasMonths
	m.err = either("it may be those months of every year, or once", x.off(), x.stop(),
		fmt.Sprintf("in %s to %s", names[0], names[1]), fmt.Sprintf("from 1 %s to the end of %s", names[0], names[1]))
	return x.p.recurs
}

func inMonths(x *match, m *meaning) bool {
	x.months(m, 0)
	return x.p.recurs
}

// months takes the months of a capture.
func (x *match) months(m *meaning, i int) {
	of := x.of(i)
	m.has, m.err, m.recur.months, m.passing = hasMonths, of.err, of.recur.months, of.passing
	if m.recur.year = of.recur.year; m.recur.year != 0 {
		m.has |= hasInYear
	}
}

// monthsOfYear reads "june and july 2027". The year of "december and january 2027" is that of one
// of the two.
func monthsOfYear(x *match, m *meaning) bool {
	*m = *x.of(0)
	x.year(m, 1)
	months := members(m.recur.months, false)
	first, last := x.p.toks[x.begin], x.p.toks[x.p.resEnd(x.at[0])-1]
	if int(first.month) != months[0] || int(last.month) != months[len(months)-1] {
		m.err = &refusal{code: fault.CodeAmbiguous, why: "it does not say of which year each month is", hint: `name the first and the last day`}
	}
	return true
}

// inYear reads "in 2027". Behind a comma it is not the year of the day before it.
func inYear(x *match, m *meaning) bool {
	m.has = hasInYear
	x.year(m, 0)
	m.rewrites = []rewrite{{max(x.off()-1, 0), x.off(), ", "}}
	return x.p.recurs
}

// year makes the year of a capture the only one of the recurrence.
func (x *match) year(m *meaning, i int) {
	begin := int(x.p.toks[x.end-1].off)
	if !x.p.toks[x.end-1].is(cNum) { // next year
		begin = int(x.p.toks[x.end-2].off)
	}
	m.recur.year = int16(x.of(i).n)
	m.passing = []rewrite{{begin, x.stop(), strconv.Itoa(x.of(i).n)}}
}
