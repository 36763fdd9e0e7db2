package when

import (
	"math"
	"math/bits"
	"time"
)

// The kinds of things that a meaning may have.
const (
	hasLead = 1 << iota // until, by
	hasNow
	hasSpan  // a length of time from now
	hasShift // "2 hours before", which something must follow
	hasDay
	hasClock
	hasPart // a part of the day
	hasZone
	hasPeriod   // every 2 weeks, daily
	hasEvery    // a word says that it recurs
	hasWeekdays // weekdays of a recurrence
	hasDates    // days of the month of one, or numbered weekdays
	hasNumbered // numbered weekdays
	hasMonths
	hasMarks  // minutes of each hour
	hasWindow // between two times of day
	hasExcept
	hasSkip // times of day that are left out
	hasFrom
	hasUntil
	hasFor
	hasCount
	hasYear // a year behind the time of day

	// anyRecurring is what makes a text a recurrence.
	anyRecurring = hasPeriod | hasEvery | hasWeekdays | hasDates | hasNumbered | hasMonths | hasMarks | hasWindow | hasExcept | hasSkip | hasFrom | hasUntil | hasFor | hasCount
)

// meaning is what a match of a part of the grammar means: a number, a length, a day; in the end a whole text.
type meaning struct {
	has      int
	q        quantity
	n        int // an ordinal, a month, whatever number the part has
	span     span
	adds     []span // to be added once the rest is an instant
	clock    clock
	more     []clock // further times of day
	day      day
	also     day // a second name of the same day: a weekday beside a date
	part     uint8
	zone     *zoneText
	cad      cadence
	bound    [3]int32 // results: from, until, except
	boundOff uint16   // where "until" stands
	err      *refusal // it is understood and refused
	days     []day    // of an exception
	subs     []sub    // what would be typed instead of parts of it, had this been the only meaning
}

// The bounds of a meaning.
const (
	boundFrom = iota
	boundUntil
	boundExcept
)

// sub is what may be typed instead of a part of the text to say one of its meanings.
type sub struct {
	off, end int
	text     string
}

// quantity is a decimal number of at most nine places: whole + nano / 1e9.
type quantity struct {
	whole, nano int64
}

// scaled is a × by, rounded towards zero, or false when it exceeds an int64.
func (a quantity) scaled(by int64) (int64, bool) {
	hi, whole := bits.Mul64(uint64(a.whole), uint64(by))
	if hi != 0 || whole > math.MaxInt64 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(a.nano), uint64(by))
	part, _ := bits.Div64(hi, lo, 1e9)
	sum := whole + part
	return int64(sum), sum <= math.MaxInt64
}

// span is a length of time in the three measures that do not convert into one another: months, days that keep the
// wall clock, and elapsed time.
type span struct {
	months, days int64
	elapsed      time.Duration
	calendar     bool // a unit of days or more was named, if only zero of them
	next         bool // next week
	bare         bool // it is a duration and nothing more: no "in", no sign
	open         bool // it has a lone capital M, first of its units
	openCount    int64
	openAt       uint16 // where that stands
	units        uint16 // the units that it names
	one          unit   // the unit, when it is a whole count of one unit
	count        int64
}

func (s span) negated() span {
	s.months, s.days, s.elapsed = -s.months, -s.days, -s.elapsed
	return s
}

// The most of each measure, so that sums of a few cannot overflow.
const (
	maxMonths = 12 * 10000
	maxDays   = 366 * 10000
)

// The ways in which a time of day may be written that are not times of day everywhere.
const (
	clockBare        = 1 << iota // an hour alone, which may be in the morning or in the evening
	clockLone                    // only its place says that it is an hour
	clockDotted                  // 9.15, a decimal number as well
	clockLength                  // 1h30, a length as well
	clockCompact                 // 0930
	clockSpoken                  // half past nine
	clockExact                   // it has its seconds
	clockNow                     // this time
	clockMinute                  // the next such minute of an hour
	clockSaid                    // "at" stood before it
	clockColon                   // hh:mm in digits
	clockThreeDigits             // 730
	clockInPart                  // 8 in the morning
)

// clock is a time of day as a text has it.
type clock struct {
	hour, minute, second int8
	nano                 int32
	mer                  byte // 'a' or 'p' for am and pm
	name                 byte // 'n' noon, 'm' midnight
	how                  uint16
	off, end             uint16
}

// dayKind says how a text names its day.
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
	onSpan            // the two days that follow, and those between them
)

// day is a day as a text has it.
type day struct {
	kind      dayKind
	next      bool // "next" stood before a weekday
	named     bool // the month is counted from this one in shift
	needs     byte // what must stand beside it: 'w' a weekday, 'c' a time of day; 'n': without one it is that of now
	workdays  bool // the Mondays to Fridays of the month are counted
	points    bool // written with points, the day first, where the month may be first as well
	yearFirst bool // four digits before the month are its year
	iso       bool
	month     int8
	date      int8 // -1 is the last
	weekday   int8 // Sunday is 1
	nth       int8 // -1 is the last
	year      int16
	shift     int32 // days, weeks or months, as the kind has them
	off, end  uint16
}

// cadence is how a recurrence goes.
type cadence struct {
	unit     unit // of the period
	n        int64
	length   time.Duration // of a period of elapsed time
	weekdays uint8         // bit 0 is Sunday
	listed   bool          // weekdays in a list without a word that says they recur
	ranged   bool          // monday to friday
	each     bool          // weekdays behind "every"
	workdays bool          // numbered weekdays are the Mondays to Fridays together
	nths     uint8         // of weekdays: bit 1 to 5, bit 0 is the last
	dates    uint32        // of the month: bit 1 to 31, bit 0 is the last
	within   unit          // days are counted in each calendar quarter or year: the last day of every quarter
	onDate   bool          // weekdays and dates are both needed: friday the 13th
	open     bool          // numbered weekdays of which month is not said
	months   uint16
	marks    uint64
	from, to clock
	skip     []clock // times of day that are left out; with skipSpan those from the first to the second
	skipSpan bool
	twice    [2]uint16 // where a word like biweekly stands
	count    int64     // for 3 times
	through  bool      // the whole of the month or year that ends it: through march
	aDay     int8      // twice a day: so many times must follow
}

// apart are things that do not go together: one part of the text has some of the first, another some of the second, in either
// order.
var apart = []struct {
	one, other int
	why        string // empty when it is no reason to tell
}{
	{hasSpan | hasNow, hasSpan | hasNow, "it names two times"},
	{hasNow, hasDay | hasClock, "it names two times"},
	{hasSpan, hasDay, "it names two times"},
	{hasClock, hasClock, "it names two times"},
	{hasPeriod, hasPeriod, "it names two periods"},
	{hasPart, hasPart | hasNow, ""},
	{hasWeekdays, hasWeekdays | hasNumbered, "it says the same twice"},
	{hasDates, hasDates, "it says the same twice"}, {hasMarks, hasMarks, "it says the same twice"}, {hasWindow, hasWindow, "it says the same twice"},
	{hasMonths, hasMonths, "it says the same twice"}, {hasFrom, hasFrom, "it says the same twice"}, {hasUntil, hasUntil, "it says the same twice"},
	{hasFor, hasFor, "it says the same twice"}, {hasCount, hasCount, "it says the same twice"}, {hasShift, hasShift, "it says the same twice"},
	{hasExcept, hasExcept, "it says the same twice"}, {hasSkip, hasSkip, "it says the same twice"},
}

// goesWith reports whether the next part of a text, which begins at a token, goes with what was said before it.
func (m *meaning) goesWith(x *meaning, p *parser, begin int) bool {
	for _, a := range apart {
		if (m.has&a.one != 0 && x.has&a.other != 0 || m.has&a.other != 0 && x.has&a.one != 0) && !m.spanAndDay(x) {
			if a.why != "" {
				p.clash(a.why, "leave one of the two out")
			}
			return false
		}
	}
	daily := func(m *meaning) bool { return m.has&(hasPeriod|hasPart) == hasPeriod && m.cad.unit == uDay }
	weekly := func(m *meaning) bool { return m.has&(hasPeriod|hasWeekdays) == hasWeekdays && m.cad.each }
	if daily(m) && weekly(x) || weekly(m) && daily(x) { // every day every monday
		p.clash("it names two periods", "leave one of the two out")
		return false
	}
	unsaid := func(c *clock, how uint16) bool { return c.how&how != 0 && c.how&clockSaid == 0 }
	switch {
	case x.has&hasLead != 0 && m.has != 0:
	case m.has&hasClock != 0 && x.has&hasSpan != 0 && x.span.bare, m.has&(hasDay|hasSpan) != 0 && x.has&hasShift != 0:
	case x.has&hasClock != 0 && unsaid(&x.clock, clockCompact) && p.toks[begin].n >= 1900 && (m.day.kind == onAnnual || len(m.days) > 0 || m.has&hasUntil != 0 && p.toks[begin-1].is(cMonth)): // Aug 2 2030
	case m.has&(hasClock|hasPart) == hasClock && unsaid(&m.clock, clockLone) && x.has&hasDay != 0 && p.toks[begin].is(cMonth): // 9 aug 25
	case x.has&(hasPart|hasDay) == hasPart && x.clock.how&clockSaid == 0 && !m.dayBefore(p, begin):
	case x.has&hasZone != 0 && x.zone.signed && !m.takesOffset(x, p, begin):
	default:
		return true
	}
	return false
}

// merge adds the next part of a text, which begins at a token, to what was said before it. It reports false when the two do not
// go together.
func (m *meaning) merge(x *meaning, p *parser, begin int) bool {
	if m.err == nil && !(m.has&x.has&hasZone != 0 && x.zone.abbr != nil && m.zone.fixed) { // -0600 (CST)
		m.err = x.err
	}
	switch {
	case m.has == hasNow && x.has == hasSpan && !x.span.bare: // now next week
		m.adds = []span{x.span}
		return true
	case x.has&hasYear != 0:
		return m.takeYear(x.n)
	case !m.goesWith(x, p, begin):
		return false
	}
	if x.has&hasZone != 0 {
		zone, ok := x.zone, true
		if m.has&hasZone != 0 {
			zone, ok = m.zone.beside(x.zone)
		}
		if m.zone = zone; !ok {
			p.clash("it names two time zones", "leave one of the two out")
			return false
		}
	}
	if x.has&hasDay != 0 && m.day.kind != noDay {
		if m.also.kind != noDay || m.day.kind == onMonth && x.day.kind == onWeekday && p.toks[begin-1].mark() != ',' || !m.pair(&x.day) { // the 3rd thursday
			p.clash("it names two days", "leave one of the two out")
			return false
		}
	} else if x.has&hasDay != 0 {
		m.day, m.also = x.day, x.also
	}
	if x.has&hasClock != 0 {
		m.clock, m.more = x.clock, x.more
	}
	if x.has&hasPart != 0 {
		m.part = x.part
	}
	if x.has&hasSpan != 0 {
		m.span = x.span
	}
	if len(m.adds)+len(x.adds) > 4 {
		p.clash("it has too many increments", "add them up")
		return false
	}
	m.adds = append(m.adds[:len(m.adds):len(m.adds)], x.adds...)
	m.cad.merge(&x.cad, x.has)
	if len(x.days) > 0 {
		m.days = x.days
	}
	m.boundOff = max(m.boundOff, x.boundOff)
	for i, b := range x.bound {
		if b > 0 {
			m.bound[i] = b
		}
	}
	m.subs = append(m.subs[:len(m.subs):len(m.subs)], x.subs...)
	m.has |= x.has
	return true
}

// takeYear adds the year that stands behind the time of day.
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

// spanAndDay keeps "in 2 weeks on friday": the weekday of the week that the length leads to.
func (m *meaning) spanAndDay(x *meaning) bool {
	s, d := m.span, x.day
	if x.has&hasSpan != 0 {
		s, d = x.span, m.day
	}
	return (m.has^x.has)&(hasSpan|hasDay) == hasSpan|hasDay && (m.has|x.has)&hasNow == 0 && d.kind == onWeekday && !d.next && d.shift == 0 &&
		!s.bare && s.elapsed == 0 && s.months == 0 && s.days > 0 && s.days%7 == 0
}

// pair notes a second name of the day: a weekday beside a date, or today beside one.
func (m *meaning) pair(x *day) bool {
	plain := func(d *day) bool { return d.kind == onWeekday && !d.next && d.shift == 0 }
	dated := func(d *day) bool { return d.kind == onDate || d.kind == onAnnual || d.kind == onMonth }
	switch {
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

// dayBefore reports whether the token before begin ends a day: a part of the day may follow.
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

// merge adds what another part of the text says of the recurrence.
func (c *cadence) merge(x *cadence, has int) {
	if has&hasPeriod != 0 {
		c.unit, c.n, c.length, c.within, c.twice, c.aDay = x.unit, x.n, x.length, x.within, x.twice, x.aDay
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
	if has&hasMonths != 0 {
		c.months = x.months
	}
	if has&hasMarks != 0 {
		c.marks = x.marks
	}
	if has&hasWindow != 0 {
		c.from, c.to = x.from, x.to
	}
	if has&hasSkip != 0 {
		c.skip, c.skipSpan = x.skip, x.skipSpan
	}
	if has&hasUntil != 0 {
		c.through = x.through
	}
	if has&hasCount != 0 {
		c.count = x.count
	}
}

// plus moves an instant by a span: months first (to the month's last day at most), then days, both on the wall of the
// zone, then elapsed time. It reports false beyond the years that can be written.
func plus(t time.Time, s span, zone *time.Location) (time.Time, bool) {
	if s.months != 0 || s.days != 0 {
		t = place(shift(reading(t, zone), s.months, s.days), zone)
	}
	if y := t.Year(); y < 1 || y > lastYear {
		return t, false
	}
	t = t.Add(s.elapsed)
	return t, t.Year() >= 1 && t.Year() <= lastYear
}

// shift moves a reading by months, to the month's last day at most, and then days.
func shift(wall time.Time, months, days int64) time.Time {
	y, m, d := wall.Date()
	month := int64(m) - 1 + months
	y += int(month / 12)
	if month %= 12; month < 0 {
		month += 12
		y--
	}
	m = time.Month(month + 1)
	d = min(d, monthDays(y, int(m)))
	return time.Date(y, m, d+int(days), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), time.UTC)
}

// monthDays is how many days a month has.
func monthDays(year, month int) int {
	switch month {
	case 2:
		if leap(year) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}
