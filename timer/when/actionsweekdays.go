package when

import (
	"fmt"
	"strconv"
)

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

// weekdaysRange reads "mondays to fridays".
func weekdaysRange(x *found, m *meaning) bool {
	ok := weekdayRange(x, m)
	m.n |= isPlural
	return ok
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

// everyWeekdayOn reads "every friday the 13th".
func everyWeekdayOn(x *found, m *meaning) bool {
	i := 0
	if x.has(2) {
		i++
	}
	n := x.of(i + 1).n
	m.has, m.cad.weekdays, m.cad.dates, m.cad.onDate = hasWeekdays|hasDates|hasEvery, x.of(i).cad.weekdays, 1<<min(n, 31), true
	if n < 1 || n > 31 {
		m.err = &refusal{why: fmt.Sprintf("no month has a day %d", n)}
	}
	return true
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
