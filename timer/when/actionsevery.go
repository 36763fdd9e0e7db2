package when

import (
	"fmt"
	"time"
)

// The ways in which weekdays are written, as bits in meaning.n.
const (
	isPlural  = 1 << iota // mondays
	isRange               // monday to friday
	isSet                 // weekdays, weekend
	isList                // monday, friday
	isSpelled             // "first day", where "1st" would do
	isFew                 // the first two
)

// period makes n units the period of the recurrence.
func (m *meaning) period(u unit, n int64) bool {
	m.has |= hasPeriod | hasEvery
	c := &m.recur
	if c.within = 0; u == uQuarter && n == 1 {
		c.within = u
	}
	if n <= 0 {
		m.err = &refusal{why: "a period of zero never ends", hint: "give at least 1"}
		return true
	}
	switch months, days, elapsed := u.measure(); {
	case elapsed > 0:
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

// periodOf returns the action of words that always name the same period.
func periodOf(n int64, u unit) func(x *match, m *meaning) bool {
	return func(_ *match, m *meaning) bool { return m.period(u, n) }
}

// everyUnit returns the action that reads "every hour", and with n of 2 "every other day".
func everyUnit(n int64) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		t := x.tok(1)
		return !t.is(cUnits) && m.period(t.unit, n)
	}
}

// everyNth reads "every third day". "Every first day" is not a period.
func everyNth(x *match, m *meaning) bool {
	n, t := x.of(1).n, x.tok(2)
	return n > 1 && t.unit >= uSecond && !t.is(cUnits) && !x.p.word(x.end, "of", "in") && m.period(t.unit, int64(n))
}

func everyAndHalf(x *match, m *meaning) bool {
	var s meaning
	if x.tok(1).is(cUnits) || !x.length(&s, quantity{1, x.of(2).q.nano}, x.tok(1)) {
		return false
	}
	return x.everySpan(m, &s)
}

// everyWithin reads "every day of the week" and "every hour of the day".
func everyWithin(x *match, m *meaning) bool {
	t, of := x.tok(1), x.tok(2)
	return t.unit > uSecond && t.unit < of.unit && !t.is(cUnits) && !of.is(cUnits) && m.period(t.unit, 1)
}

// alternate reads "alternate days".
func alternate(x *match, m *meaning) bool {
	t := x.tok(0)
	return t.unit >= uDay && m.period(t.unit, 2)
}

func everySpan(x *match, m *meaning) bool {
	return !x.p.word(x.p.resEnd(x.at[0]), "a", "an") && x.everySpan(m, x.of(1))
}

// spanApart reads "at 5 minute intervals".
func spanApart(x *match, m *meaning) bool { return x.everySpan(m, x.of(0)) }

// ofEvery reads "of every year" behind a date, and "of every week" behind a weekday.
func ofEvery(x *match, m *meaning) bool {
	t, behind := x.tok(1), cDay|cDays
	switch t.unit {
	case uDay:
		behind = cMer | cNum | cDayPart
	case uYear:
		behind = cMonth | cN1 | cSuffix | cOrd
	case uWeek:
	default:
		return false
	}
	if x.begin == 0 || t.is(cUnits) || !x.p.toks[x.begin-1].is(behind) {
		return false
	}
	return m.period(t.unit, 1)
}

// everySpan makes a length of time the period.
func (x *match) everySpan(m, of *meaning) bool {
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
		m.err = x.p.minutesOrMonths(s)
		return true
	case s.calendar && s.elapsed != 0:
		return refuse("it mixes days and hours", "give hours alone")
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
		return refuse("a period of zero never ends", "give a longer one")
	}
	return m.period(uNanosecond, int64(s.elapsed))
}

// everyNumber refuses "every 5".
func everyNumber(x *match, m *meaning) bool {
	if !x.p.toks[x.begin+1].is(cNum) || !x.p.toks[x.end].is(cEnd) && !x.p.word(x.end, "at") {
		return false
	}
	m.has = hasPeriod | hasEvery
	if x.of(1).q == (quantity{}) {
		m.err = &refusal{why: "a period of zero never ends", hint: "give a longer one"}
		return true
	}
	m.err = &refusal{why: "the unit is missing", hint: "add it: s, m, h, days or longer"}
	return true
}

func everyDayPart(days int64) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		m.period(uDay, days)
		m.has, m.dayPart = m.has|hasDayPart, x.tok(1).dayPart
		m.clock.how = clockAfterAt
		return true
	}
}

// everyNthPart reads "every second morning".
func everyNthPart(x *match, m *meaning) bool {
	n := x.of(1).n
	m.period(uDay, int64(n))
	m.has, m.dayPart, m.clock.how = m.has|hasDayPart, x.tok(2).dayPart, clockAfterAt
	return n > 1
}

// everyClock reads "every 9am" as every day at that time. "Every 9:30" may be a length as well.
func everyClock(x *match, m *meaning) bool {
	c := x.of(1).clock
	m.has, m.clock = hasEvery|hasClock, c
	m.clock.how |= clockEvery
	if c.how&(clockMinute|clockNow|clockCompact) != 0 {
		return false
	}
	if x.says("minutes") || x.says("mins") || x.says("min") { // every 10 minutes till 4pm
		return false
	}
	if c.mer == 0 && c.name == 0 && c.how&(clockBare|clockSpoken) == 0 {
		m.err = either("it may be a length or a time of day", int(c.off), int(c.end),
			fmt.Sprintf("day at %d:%02d", c.hour, c.minute), fmt.Sprintf("%dh%dm", c.hour, c.minute))
	}
	return true
}

func adverb(x *match, m *meaning) bool {
	t := x.tok(0)
	m.period(t.unit, int64(t.num))
	if t.dayPart != 0 {
		m.has, m.dayPart, m.clock.how = m.has|hasDayPart, t.dayPart, clockAfterAt
	}
	return true
}

// biannual refuses "biannually".
func biannual(x *match, m *meaning) bool {
	m.period(uMonth, 6)
	m.err = either("it may be twice a year or every two years", x.off(), x.stop(), "every 6 months", "every 2 years")
	return true
}

// twiceWord reads "biweekly" and "bimonthly". They mean every two weeks or months, or two times in
// each: see builder.days.
func twiceWord(u unit) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		m.period(u, 2)
		m.recur.twice = [2]uint16{uint16(x.off()), uint16(x.stop())}
		return true
	}
}

func onceA(x *match, m *meaning) bool {
	t := x.tok(0)
	return t.unit >= uSecond && !t.is(cUnits) && m.period(t.unit, 1)
}

// timesA reads "twice a day". The text must then name as many times.
func timesA(x *match, m *meaning) bool {
	n, t := int64(2), x.p.toks[x.end-1]
	switch {
	case x.has(1):
		n = x.of(0).q.whole
	case x.says("thrice"):
		n = 3
	}
	if n < 1 || n > 99 || t.is(cUnits) {
		return false
	}
	m.period(t.unit, 1)
	m.has, m.recur.aDay = m.has|hasRate, int8(n)
	return true
}
