package when

import (
	"slices"
	"time"
)

// What a meaning has, as bits of its field has.
const (
	hasDeadlineWord = 1 << iota // until, by
	hasNow
	hasSpan  // a length of time from now
	hasShift // "2 hours before", which something must follow
	hasDay
	hasClock
	hasDayPart // a part of the day
	hasZone
	hasPeriod   // every 2 weeks, daily
	hasEvery    // a word says that it recurs
	hasWeekdays // weekdays of a recurrence
	hasDates    // days of the month of a recurrence, or numbered weekdays
	hasNumbered // numbered weekdays
	hasMonths
	hasMinutes // minutes of each hour
	hasWindow  // between two times of day
	hasExcept
	hasSkip // times of day that are left out
	hasFrom
	hasUntil
	hasFor
	hasCount
	hasRate   // 3 times a day
	hasYear   // a year after the time of day
	hasInYear // only in a certain year
	hasDays   // the days from one date to another

	// anyRecurring are the things that make a text a recurrence.
	anyRecurring = hasPeriod | hasEvery | hasWeekdays | hasDates | hasNumbered | hasMonths | hasMinutes | hasWindow | hasExcept | hasSkip | hasFrom | hasUntil | hasFor | hasCount | hasRate | hasInYear | hasDays
)

// meaning is what a symbol of the grammar means: a number, a length, a day; in the end a whole
// text.
type meaning struct {
	has        int
	q          quantity
	n          int // an ordinal, a month, or whatever number the symbol has
	span       span
	increments []span // added once the rest is an instant
	clock      clock
	more       []clock // further times of day
	day        day
	also       day // a second name of the same day: a weekday beside a date
	dayPart    uint8
	zone       *zoneText
	recur      recurrence
	bound      [3]int32 // the results of the bounds: from, until, except
	boundOff   uint16   // where "until" stands
	err        *refusal // why a text that is understood is refused
	days       []day    // the days of an exception
	// What to type instead of parts of the text when it has other meanings as well.
	rewrites []rewrite
	// The parts that depend on when they are read, and what stays of them in the plain form.
	passing []rewrite
}

// The bounds of a meaning.
const (
	boundFrom = iota
	boundUntil
	boundExcept
)

// rewrite is what to type instead of a part of the text, so that only one of its meanings is left.
type rewrite struct {
	off, end int
	text     string
}

// The ways in which a time of day may be written, as bits of clock.how. Most of them may mean
// something else as well.
const (
	clockBare = 1 << iota // an hour alone, which may be in the morning or in the evening
	// Only the words around it say that it is an hour.
	clockLone
	clockDotted      // 9.15, which may be a decimal number
	clockLength      // 1h30, which may be a length
	clockCompact     // 0930
	clockSpoken      // half past nine
	clockExact       // it has its seconds
	clockNow         // this time
	clockMinute      // the next such minute of an hour
	clockAfterAt     // "at" stands before it
	clockColon       // hh:mm in digits
	clockThreeDigits // 730
	clockInPart      // 8 in the morning
	clockEvery       // every 9am
)

// clock is a time of day as a text names it.
type clock struct {
	hour, minute, second int8
	nano                 int32
	mer                  byte // 'a' or 'p' for am and pm
	name                 byte // 'n' noon, 'm' midnight
	how                  uint16
	off, end             uint16
}

// bare reports whether the hour may be in the morning or in the evening.
func (c *clock) bare() bool {
	return c.how&clockBare != 0 && c.mer == 0 && c.hour > 0 && c.hour <= 12
}

// hour24 returns the hour of the 24-hour clock, if am or pm says which it is.
func (c *clock) hour24() int {
	switch hour := int(c.hour); c.mer {
	case 'a':
		return hour % 12
	case 'p':
		return hour%12 + 12
	default:
		return hour
	}
}

// dayKind is the way in which a text names a day.
type dayKind uint8

const (
	noDay     dayKind = iota
	onDate            // year, month and day
	onAnnual          // month and day: the next such date
	onMonth           // a day of the month: the next such day
	onOffset          // days from today
	onWeekday         // the next such weekday
	onWeek            // a weekday of a calendar week, counted from this one
	onNth             // the first monday, or the last day, of a month
	onWorkday         // the n-th Monday to Friday after today
	onBeside          // the weekday after a month and day, or before it when nth is negative
	// The next two days in the list are the first and the last.
	onSpan
)

// day is a day as a text names it.
type day struct {
	kind  dayKind
	next  bool // "next" stood before a weekday
	named bool // the month is shift months after this one
	// What must stand beside it: 'w' a weekday, 'c' a time of day. With 'n', its time of day is
	// that of now unless one is named.
	needs    byte
	workdays bool // the Mondays to Fridays of the month are counted
	// It is written with points and read with the day first; the month could be first as well.
	points    bool
	yearFirst bool // four digits before the month are its year
	timeLike  bool // four digits after it are its year, and more likely a time of day: dec 24 2130
	iso       bool
	month     int8
	date      int8  // -1 is the last
	weekday   int8  // Sunday is 1
	nth       int16 // -1 is the last
	months    int8  // how long the span is in which the n-th day is counted
	year      int16
	shift     int32 // days, weeks or months, depending on kind
	off, end  uint16
}

// recurrence is what a text says about how its instants recur.
type recurrence struct {
	unit     unit // of the period
	n        int64
	length   time.Duration // of a period of elapsed time
	weekdays uint8         // bit 0 is Sunday
	listed   bool          // weekdays in a list, and no word says that they recur
	ranged   bool          // monday to friday
	each     bool          // weekdays after "every"
	workdays bool          // the numbered day is one of Monday to Friday, taken together
	nths     uint64        // numbers of weekdays or working days, see nthBit
	dates    uint64        // days of the month, as well
	// Days are counted in each calendar quarter or year: the last day of every quarter.
	within   unit
	onDate   bool // both the weekday and the date must match: friday the 13th
	open     bool // numbered weekdays, and their month is not said
	months   uint16
	year     int16 // the only year in which it recurs
	minutes  uint64
	from, to clock
	// Times of day that are left out; when skipSpan is set, those from the first to the second.
	skip     []clock
	skipSpan bool
	twice    [2]uint16 // where a word like biweekly stands
	count    int64     // for 3 times
	countAt  [2]uint16 // where "3 times" stands when it may be a rate as well
	// The end is that of the month or year: through march.
	through bool
	span    bool // its begin and its end are said together: from aug 10 to nov 12 2028
	aDay    int8 // twice a day: this many times must be named
	daily   bool // "every day" stands beside a period of hours or less
}

// conflicts are things that do not go together: one part of the text has some of the first, and
// another part has some of the second, in either order.
var conflicts = []struct {
	one, other int
	why        string // what to tell a person; empty when this is not the likely reason
}{
	{hasSpan | hasNow, hasSpan | hasNow, "it names two times"},
	{hasNow, hasDay | hasClock, "it names two times"},
	{hasSpan, hasDay, "it names two times"},
	{hasClock, hasClock, "it names two times"},
	{hasPeriod, hasPeriod, "it names two periods"},
	{hasDayPart, hasDayPart | hasNow, ""},
	{hasWeekdays, hasWeekdays | hasNumbered, "it says the same twice"},
	{hasDates, hasDates, "it says the same twice"}, {hasMinutes, hasMinutes, "it says the same twice"}, {hasWindow, hasWindow, "it says the same twice"},
	{hasMonths, hasMonths, "it says the same twice"}, {hasFrom, hasFrom, "it says the same twice"}, {hasUntil, hasUntil, "it says the same twice"},
	{hasFor, hasFor, "it says the same twice"}, {hasCount, hasCount, "it says the same twice"}, {hasShift, hasShift, "it says the same twice"},
	{hasExcept, hasExcept, "it says the same twice"}, {hasSkip, hasSkip, "it says the same twice"}, {hasRate, hasRate, "it says the same twice"}, {hasInYear, hasInYear, "it names two years"}, {hasDays, hasDays, "it says the same twice"},
}

// goesWith reports whether the next part of a text, which begins at a token, goes with what was
// read before it.
func (m *meaning) goesWith(x *meaning, p *parser, begin int) bool {
	hourly := func(m *meaning) bool { return m.has&hasPeriod != 0 && m.recur.unit <= uHour }
	for _, a := range conflicts {
		// every 2 hours between 9:00 and 17:00, every day
		if a.one == hasPeriod && (hourly(m) && x.recur.namesDays(x.has) || hourly(x) && m.recur.namesDays(m.has)) {
			continue
		}
		if (m.has&a.one != 0 && x.has&a.other != 0 || m.has&a.other != 0 && x.has&a.one != 0) && !m.spanAndDay(x) {
			if a.why != "" {
				p.clash(a.why, "leave one of the two out")
			}
			return false
		}
	}
	daily := func(m *meaning) bool { return m.has&(hasPeriod|hasDayPart) == hasPeriod && m.recur.unit == uDay }
	weekly := func(m *meaning) bool { return m.has&(hasPeriod|hasWeekdays) == hasWeekdays && m.recur.each }
	if daily(m) && weekly(x) || weekly(m) && daily(x) { // every day every monday
		p.clash("it names two periods", "leave one of the two out")
		return false
	}
	unsaid := func(c *clock, how uint16) bool { return c.how&how != 0 && c.how&clockAfterAt == 0 }
	switch {
	case x.has&hasDeadlineWord != 0 && m.has != 0, m.has == hasDeadlineWord && p.word(begin, "by"):
	// until the 3rd of december
	case p.word(begin, "of") && m.boundEndsAt(p, begin):
	// starting february 16th
	case begin > 0 && p.toks[begin-1].is(cMonth) && (p.toks[begin].is(cOrd) || p.toks[begin+1].is(cSuffix)) && m.boundEndsAt(p, begin):
	// except monday, tuesday and friday
	case x.has&(hasWeekdays|hasDay|hasDates|hasDays) != 0 && m.exceptEndsAt(p, begin):
	case x.has&(hasFrom|hasUntil) == hasUntil && m.rangesOn(p, begin):
	case m.has&hasClock != 0 && x.has&hasSpan != 0 && x.span.bare, m.has&(hasDay|hasSpan) != 0 && x.has&hasShift != 0:
	case x.has&hasClock != 0 && unsaid(&x.clock, clockCompact|clockSpoken) && m.yearFollows(p, begin):
	// 9 aug 25
	case m.has&(hasClock|hasDayPart) == hasClock && unsaid(&m.clock, clockLone) && x.has&hasDay != 0 && p.toks[begin].is(cMonth):
	case x.has&(hasDayPart|hasDay) == hasDayPart && x.clock.how&clockAfterAt == 0 && begin > 0 && !m.dayBefore(p, begin):
	case x.has&hasZone != 0 && x.zone.signed && !m.allowsOffset(x, p, begin):
	default:
		return true
	}
	return false
}

// rangesOn reports whether what looks like a bound is the end of a range of weekdays, of months or
// of days of the month: tuesday through friday, the 1st through 5th. "Until" is one behind several
// weekdays, and behind those that are left out.
func (m *meaning) rangesOn(p *parser, begin int) bool {
	if last := begin + 1; m.has&(hasDates|hasDay) != 0 && begin > 0 && p.toks[begin-1].is(cSuffix|cOrd) && p.word(begin, "through", "thru") {
		if p.word(last, "the") {
			last++
		}
		if p.toks[last+1].is(cSuffix) {
			last++
		}
		return p.toks[last].is(cSuffix|cOrd) && !p.word(last+1, "of") && !p.toks[last+1].is(cMonth)
	}
	// in june through august
	if begin > 0 && p.toks[begin-1].is(cMonth) && p.toks[begin+1].is(cMonth) {
		next, after := &p.toks[begin+2], &p.toks[min(begin+3, p.n)]
		dated := next.is(cN1|cOrd) && !after.is(cMer|cLetter) && after.mark() != ':'
		return m.has&hasMonths != 0 && !dated && p.word(begin, "through", "thru")
	}
	if begin == 0 || !p.toks[begin-1].is(cDay) || !p.toks[begin+1].is(cDay) {
		return false
	}
	several := m.recur.each || m.recur.ranged || m.has&(hasNumbered|hasFrom) != 0 || m.exceptEndsAt(p, begin)
	return !several || !p.word(begin, "until")
}

// exceptEndsAt reports whether days that are left out end before a token at which others begin: all
// of them are in one list.
func (m *meaning) exceptEndsAt(p *parser, begin int) bool {
	if m.has&hasExcept == 0 || p.word(begin, "on", "every", "each") {
		return false
	}
	end := p.resEnd(m.bound[boundExcept])
	return end == begin || end == begin-1
}

// boundEndsAt reports whether a bound, or days that are left out, end directly before a token.
func (m *meaning) boundEndsAt(p *parser, begin int) bool {
	return slices.ContainsFunc(m.bound[:], func(r int32) bool { return r > 0 && p.resEnd(r) == begin })
}

// yearFollows reports whether four digits at a token are not a time of day: they are the year of a
// date or a month before them, or a second year. Far from this year they are a time of day.
func (m *meaning) yearFollows(p *parser, begin int) bool {
	t, before := &p.toks[begin], &p.toks[max(begin-1, 0)]
	if !t.is(cNum) { // see yearInWords
		return p.word(begin, "twenty") && p.toks[begin+1].is(cLow|cTens) && m.day.kind == onAnnual && (int(m.day.end) == int(before.end) || before.mark() == ',')
	}
	if !t.is(cYear) || p.farAhead(t.n) {
		return false
	}
	dated := m.day.kind == onAnnual || m.day.kind == onBeside || len(m.days) > 0
	for _, r := range m.bound { // until dec 24
		if of := &p.res[max(r, 0)].m; r > 0 && p.resEnd(r) == begin {
			dated = dated || of.day.kind == onAnnual || slices.ContainsFunc(of.days, func(d day) bool { return d.kind == onAnnual })
		}
	}
	switch {
	case dated:
		return true
	case before.is(cMonth):
		return p.recurs
	}
	// 24 december 2026 2027
	return before.is(cYear) && m.day.kind == onDate && int(m.day.end) == int(before.end) && t.n%5 != 0 && p.near(t.n)
}

// near reports whether four digits may be a year that people name, and farAhead whether they are a
// year that nobody means.
func (p *parser) near(n int64) bool {
	now := int64(p.opts.Now.Year())
	return n >= now-yearsBack && n <= now+yearsAhead
}

func (p *parser) farAhead(n int64) bool { return n > int64(p.opts.Now.Year())+yearsAhead }

// merge adds the next part of a text, which begins at a token, to what was read before it. It
// reports false when the two do not go together.
func (m *meaning) merge(x *meaning, p *parser, begin int) bool {
	// -0600 (CST)
	if m.err == nil && !(m.has&x.has&hasZone != 0 && x.zone.abbr != nil && m.zone.fixed) {
		m.err = x.err
	}
	switch {
	case m.has == hasNow && x.has == hasSpan && !x.span.bare: // now next week
		m.increments = []span{x.span}
		return true
	case x.has&hasYear != 0:
		return m.takeYear(x.n)
	case !m.goesWith(x, p, begin):
		return false
	}
	if x.has&hasZone != 0 {
		zone, ok := x.zone, true
		if m.has&hasZone != 0 {
			zone, ok = m.zone.with(x.zone)
		}
		if m.zone = zone; !ok {
			p.clash("it names two time zones", "leave one of the two out")
			return false
		}
	}
	if x.has&hasDay != 0 && m.day.kind != noDay {
		// the 3rd thursday
		if m.also.kind != noDay || m.day.kind == onMonth && x.day.kind == onWeekday && p.toks[begin-1].mark() != ',' || !m.pair(&x.day) {
			p.clash("it names two days", "leave one of the two out")
			return false
		}
	} else if x.has&hasDay != 0 {
		m.day, m.also = x.day, x.also
	}
	take(x.has&hasClock, &m.clock, x.clock)
	take(x.has&hasClock, &m.more, x.more)
	take(x.has&hasDayPart, &m.dayPart, x.dayPart)
	take(x.has&hasSpan, &m.span, x.span)
	if len(m.increments)+len(x.increments) > 4 {
		p.clash("it has too many increments", "add them up")
		return false
	}
	m.increments = append(m.increments[:len(m.increments):len(m.increments)], x.increments...)
	m.recur.merge(&x.recur, x.has)
	take(len(x.days), &m.days, x.days)
	m.boundOff = max(m.boundOff, x.boundOff)
	for i, b := range x.bound {
		take(int(b), &m.bound[i], b)
	}
	m.rewrites = append(m.rewrites[:len(m.rewrites):len(m.rewrites)], x.rewrites...)
	m.passing = append(m.passing[:len(m.passing):len(m.passing)], x.passing...)
	m.has |= x.has
	return true
}

// takeYear adds the year that stands after the time of day.
func (m *meaning) takeYear(year int) bool {
	if m.has&hasClock == 0 || m.day.kind != onAnnual || m.clock.how&clockLone != 0 {
		return false
	}
	m.day.kind, m.day.year = onDate, int16(year)
	if why := checkDate(year, int(m.day.month), int(m.day.date)); m.err == nil {
		m.err = why
	}
	return true
}

// spanAndDay reports whether the two are as in "in 2 weeks on friday": the weekday is then in the
// week that the length leads to.
func (m *meaning) spanAndDay(x *meaning) bool {
	s, d := m.span, x.day
	if x.has&hasSpan != 0 {
		s, d = x.span, m.day
	}
	return (m.has^x.has)&(hasSpan|hasDay) == hasSpan|hasDay && (m.has|x.has)&hasNow == 0 && d.kind == onWeekday && !d.next && d.shift == 0 &&
		!s.bare && s.elapsed == 0 && s.months == 0 && s.days > 0 && s.days%7 == 0
}

// pair adds a second name of the day: a weekday beside a date, or "today" beside one.
func (m *meaning) pair(x *day) bool {
	plain := func(d *day) bool { return d.kind == onWeekday && !d.next && d.shift == 0 }
	dated := func(d *day) bool { return d.kind == onDate || d.kind == onAnnual || d.kind == onMonth }
	switch {
	case m.day.weekday != 0 && x.weekday != 0: // next friday friday
		return false
	case plain(x) && !plain(&m.day):
		m.also = *x
	case plain(&m.day) && !plain(x):
		m.also, m.day = m.day, *x
	case x.kind == onOffset && dated(&m.day):
		m.also = *x
	case m.day.kind == onOffset && dated(x):
		m.also, m.day = m.day, *x
	default:
		return false
	}
	return true
}

// dayBefore reports whether the token before begin ends a day. A part of the day may follow then.
func (m *meaning) dayBefore(p *parser, begin int) bool {
	if m.has&(hasDay|hasWeekdays) == 0 || begin < 2 && p.toks[0].mark() == ',' || begin == 0 {
		return false
	}
	before := &p.toks[begin-1]
	if before.mark() == ',' {
		before = &p.toks[begin-2]
	}
	return before.is(cDay|cDays|cSuffix|cOrd|cD31|cMonth) || m.has&hasDay != 0 && int(before.end) == int(m.day.end) || m.has&hasWeekdays != 0
}

// namesDays reports whether a part of a text that has some things is "every day", or days of every
// month.
func (c *recurrence) namesDays(has int) bool {
	return c.n == 1 && (has&(hasDay|hasWeekdays|hasDates) == 0 && c.unit == uDay || has&hasDates != 0 && c.within == 0)
}

// merge adds what another part of the text says about the recurrence.
func (c *recurrence) merge(x *recurrence, has int) {
	if has&hasPeriod != 0 && c.unit != uNone && c.unit <= uHour {
		c.daily = true
	} else if has&hasPeriod != 0 {
		c.daily, c.open = c.unit >= uDay && x.unit <= uHour, c.open && c.unit != uMonth
		c.unit, c.n, c.length, c.within, c.twice = x.unit, x.n, x.length, x.within, x.twice
	}
	if has&hasWeekdays != 0 {
		c.weekdays, c.listed, c.ranged, c.each, c.onDate = x.weekdays, x.listed, x.ranged, x.each, x.onDate
	}
	if has&hasDates != 0 {
		c.dates, c.nths, c.open, c.workdays = x.dates, x.nths, x.open, x.workdays
		if x.nths != 0 {
			c.weekdays = x.weekdays
		}
	}
	take(has&hasMonths, &c.months, x.months)
	take(has&hasInYear, &c.year, x.year)
	take(has&hasMinutes, &c.minutes, x.minutes)
	take(has&hasWindow, &c.from, x.from)
	take(has&hasWindow, &c.to, x.to)
	take(has&hasSkip, &c.skip, x.skip)
	take(has&hasSkip, &c.skipSpan, x.skipSpan)
	take(has&hasUntil, &c.through, x.through)
	take(has&hasUntil, &c.span, x.span)
	take(has&hasCount, &c.count, x.count)
	take(has&hasCount, &c.countAt, x.countAt)
	take(has&hasRate, &c.aDay, x.aDay)
}

// take sets a field to what another part of the text says, when has says that it does.
func take[T any](has int, field *T, said T) {
	if has != 0 {
		*field = said
	}
}
