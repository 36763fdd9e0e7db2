package when

import (
	"fmt"
	"strings"

	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// The actions of weekdays.

// workingDays are Monday to Friday.
const workingDays = 0b0111110

func oneWeekday(x *match, m *meaning) bool {
	t := x.tok(0)
	if m.recur.weekdays = 1 << (t.day - 1); t.is(cDays) {
		m.n = isPlural
	}
	return true
}

func weekdayRange(x *match, m *meaning) bool {
	first, last := x.tok(0).day, x.tok(1).day
	m.recur.weekdays, m.n = 1<<(first-1), isRange
	for d := first; d != last; {
		if d++; d > 7 {
			d = 1
		}
		m.recur.weekdays |= 1 << (d - 1)
	}
	return first != last
}

// weekdaysRange reads "mondays to fridays".
func weekdaysRange(x *match, m *meaning) bool {
	ok := weekdayRange(x, m)
	m.n |= isPlural
	return ok
}

func weekdaySet(days uint8, many bool) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		m.recur.weekdays, m.n = days, isSet
		if many {
			m.n |= isPlural
		}
		return true
	}
}

// everyWeekdays returns the action that reads "every monday and friday", and with n of 2 every
// other one.
func everyWeekdays(n int64) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		l := x.of(1)
		m.err = l.err
		if n > 1 {
			m.period(uWeek, n)
			if l.recur.weekdays == workingDays {
				return vague("it may be days or weeks that alternate", "name the days, or give the number of weeks")(x, m)
			}
		}
		m.has |= hasWeekdays | hasEvery
		m.recur.weekdays, m.recur.each = l.recur.weekdays, true
		return true
	}
}

// everyWeekdayOn reads "every friday the 13th".
func everyWeekdayOn(x *match, m *meaning) bool {
	i := 0
	if x.has(2) {
		i++
	}
	n := x.of(i + 1).n
	m.has, m.recur.weekdays, m.recur.dates, m.recur.onDate = hasWeekdays|hasDates|hasEvery, x.of(i).recur.weekdays, 1<<min(n, 31), true
	if n < 1 || n > 31 {
		m.err = &refusal{why: fmt.Sprintf("no month has a day %d", n)}
	}
	return true
}

// countedWeekday refuses "every second friday": it may count weeks, or weeks of the month.
func countedWeekday(x *match, m *meaning) bool {
	n, of := x.of(1).n, x.of(2)
	if n < 2 || x.p.word(x.end, "of", "in") {
		return false
	}
	off := int(x.p.toks[x.p.resEnd(x.at[1])].off)
	name, word := x.p.text[off:x.stop()], strings.TrimSpace(x.p.text[x.p.toks[x.p.resEnd(x.at[0])].off:off])
	m.has, m.recur.weekdays = hasWeekdays|hasEvery, of.recur.weekdays
	readings := []string{fmt.Sprintf("every %d weeks on %s", n, name), fmt.Sprintf("every %s %s of the month", word, name)}
	if m.err = either("it may count weeks, or weeks of the month", x.off(), x.stop(), readings...); of.recur.workdays {
		m.err = either("it may count working days, or those of the month", x.off(), x.stop(), readings[1])
	}
	return of.recur.workdays || n <= 5
}

// everyFew refuses "every 3 fridays" and "every 2 working days".
func everyFew(x *match, m *meaning) bool {
	m.err = &refusal{code: fault.CodeAmbiguous, why: "it may count those days, or weeks", hint: "name the days, or give the number of weeks"}
	if t := x.p.toks[x.end-1]; t.is(cDays) {
		m.err.off, m.err.end = x.off(), x.stop()
		m.err.readings = []string{fmt.Sprintf("every %d weeks on %s", x.of(1).q.whole, x.p.text[t.off:t.end-1])}
	}
	m.has = hasEvery
	return true
}

// weekdaysAlone reads weekdays without "every". Mondays and weekdays recur by themselves, and
// monday to friday does with a time of day. Other weekdays may be meant once.
func weekdaysAlone(x *match, m *meaning) bool {
	l := x.of(0)
	if l.n&(isPlural|isRange|isList) == 0 {
		return false
	}
	m.has, m.err = hasWeekdays, l.err
	m.recur.weekdays = l.recur.weekdays
	switch {
	case l.n&isPlural != 0:
		m.has |= hasEvery
	case l.n&isRange != 0 && l.n&isList == 0:
		m.recur.ranged = true
	default:
		m.recur.listed = true
	}
	return true
}

// weekendThen reads "on the weekend" of what recurs.
func weekendThen(x *match, m *meaning) bool {
	m.has, m.recur.weekdays = hasWeekdays, 0b1000001
	return x.p.recurs
}

// onThatWeekday reads "on a monday" of what recurs.
func onThatWeekday(x *match, m *meaning) bool {
	return x.p.recurs && x.setDay(m, day{kind: onWeekday, weekday: int8(x.tok(0).day)})
}

// unionOfList joins a weekday to a list that "and" ends: mondays wednesdays and fridays.
func unionOfList(x *match, m *meaning) bool { return x.of(1).n&isList != 0 && union(true)(x, m) }

// weekdayParts reads "friday afternoons", which recur by themselves.
func weekdayParts(x *match, m *meaning) bool {
	l := x.of(0)
	m.has, m.err, m.dayPart = hasWeekdays|hasEvery|hasDayPart, l.err, x.tok(1).dayPart
	m.recur.weekdays, m.clock.how = l.recur.weekdays, clockAfterAt
	return true
}

// someWeekday refuses "a friday".
func someWeekday(x *match, m *meaning) bool {
	vague("it does not say which", "name the date, or say that it recurs")(x, m)
	return x.begin == 0 || x.p.toks[x.begin].gap // 3:15a sunday
}

// weekdayBehind reads the "(Tue)" of "2026-12-01 (Tue)".
func weekdayBehind(x *match, m *meaning) bool {
	return x.begin > 0 && weekdayIs(day{kind: onWeekday})(x, m)
}

// weeknights refuses a word that is Monday to Friday to some and Sunday to Thursday to others.
func weeknights(x *match, m *meaning) bool {
	m.has = hasWeekdays | hasEvery | hasDayPart
	m.err = either("it may be Monday to Friday or Sunday to Thursday", x.off(), x.stop(), "monday to friday nights", "sunday to thursday nights")
	m.err.hint = "name the days and the time of day"
	return true
}

// dayParts reads "mornings": the morning of every day.
func dayParts(x *match, m *meaning) bool {
	m.period(uDay, 1)
	m.has, m.dayPart, m.clock.how = m.has|hasDayPart, x.tok(0).dayPart, clockAfterAt
	return true
}

// rangeFrom reads "from monday to friday".
func rangeFrom(x *match, m *meaning) bool {
	return x.of(0).n == isRange && weekdaysAlone(x, m)
}
