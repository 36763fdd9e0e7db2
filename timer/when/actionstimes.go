package when

import (
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// The actions of several times, of minutes of each hour, and of times between two others.

func moreTimes(x *match, m *meaning) bool {
	a, b := x.of(0), x.of(1)
	if last := lastOf(b); last.how&clockInPart != 0 && a.clock.how&(clockBare|clockSpoken) != 0 {
		// In "at 6 and 8 in the evening" the part of the day belongs to both.
		return false
	}
	*m = *a
	m.more = append(append([]clock{}, b.clock), b.more...)
	if m.rewrites = nil; b.err != nil {
		m.err = b.err
	}
	return true
}

// everyPartTimes reads "every morning at 8 and every evening at 9".
func everyPartTimes(x *match, m *meaning) bool {
	*m = *x.of(0)
	m.period(uDay, 1)
	m.has |= hasClock
	return x.p.recurs && len(m.more) > 0
}

// lastOf returns the last of several times.
func lastOf(m *meaning) clock {
	if n := len(m.more); n > 0 {
		return m.more[n-1]
	}
	return m.clock
}

// timeInPart reads "8 in the morning" and "every morning at 8" as one of several times. When it is
// the only time, the row of DAYPART reads the part of the day.
func timeInPart(x *match, m *meaning) bool {
	*m = *x.of(max(x.labelled(isHour), 0))
	i := slices.IndexFunc(x.p.toks[x.begin:x.end], func(t token) bool { return t.is(cDayPart) })
	part, c := x.p.toks[x.begin+i].dayPart, &m.clock
	tod, _, why := x.p.timeOfDay(c, part)
	if why != nil || c.name != 0 || c.how&(clockDotted|clockLength|clockThreeDigits) != 0 {
		return false
	}
	c.mer = 'a'
	if tod >= 12*time.Hour {
		c.mer = 'p'
	}
	if c.hour = int8(tod/time.Hour) % 12; c.hour == 0 {
		c.hour = 12
	}
	c.how = c.how&^(clockBare|clockLone|clockSpoken) | clockInPart
	c.end = uint16(x.stop())
	return true
}

func timesAfterAt(x *match, m *meaning) bool {
	*m = *x.of(0)
	m.has, m.rewrites = hasClock, nil
	m.clock.how = m.clock.how&^clockLone | clockAfterAt
	for i := range m.more {
		m.more[i].how = m.more[i].how&^clockLone | clockAfterAt
	}
	return x.p.recurs
}

// timesAlone reads several times of day without "at". The first must look like a time of day.
func timesAlone(x *match, m *meaning) bool {
	return x.of(0).clock.how&(clockLone|clockDotted|clockLength|clockThreeDigits) == 0 && !x.p.toks[x.begin].is(cYear) && timesAfterAt(x, m)
}

// severalOnce refuses "9am and 5pm" where one instant is asked for.
func severalOnce(x *match, m *meaning) bool {
	*m = meaning{has: hasClock}
	all := x.of(0)
	first := all.clock
	year := x.p.toks[x.begin].is(cYear) && x.p.toks[x.begin+1].mark() == '/'
	if x.p.recurs || year || x.p.opts.Form == DelayForm || first.how&(clockLone|clockDotted|clockLength|clockThreeDigits) != 0 && !x.says("at") && lastOf(all).mer == 0 {
		return false
	}
	times := append([]clock{first}, all.more...)
	if ways, settled := inOrder(times); len(ways) == 1 && settled {
		times = ways[0]
	}
	var readings []string
	for i := range times {
		readings = append(readings, "at "+x.p.timesText(times[i:i+1]))
	}
	list := x.p.text[first.off:x.stop()]
	m.err = &refusal{code: fault.CodeAmbiguous, why: "it names several times, and one is asked for", hint: "name one of them", off: x.off(), end: x.stop(),
		readings: append(readings, "every day at "+list)}
	return true
}

// timeBeside reads the "an hour before noon" of every day.
func timeBeside(x *match, m *meaning) bool {
	s, c := x.of(0).span, x.of(1).clock
	if x.says("before") {
		s = s.negated()
	}
	at := time.Duration(c.hour24())*time.Hour + time.Duration(c.minute)*time.Minute + s.elapsed
	if c.name == 'm' && s.elapsed < 0 {
		at += 24 * time.Hour
	}
	if !x.p.recurs || s.calendar || s.open || s.elapsed%time.Minute != 0 || at < 0 || at >= 24*time.Hour || c.bare() {
		return false
	}
	return x.setClock(m, clock{hour: int8(at / time.Hour), minute: int8(at / time.Minute % 60), second: c.second})
}

// everyTimes reads "every 9am and 5pm".
func everyTimes(x *match, m *meaning) bool {
	*m = *x.of(1)
	if m.clock.mer == 0 && m.clock.name == 0 {
		return false
	}
	m.has, m.clock.how = m.has|hasEvery|hasClock, m.clock.how|clockEvery
	return true
}

// minuteMark reads :15, a minute of every hour.
func minuteMark(x *match, m *meaning) bool {
	colon, next := &x.p.toks[x.begin], &x.p.toks[x.end]
	m.recur.minutes = 1 << x.tok(0).n
	return (x.begin == 0 || colon.gap) && !next.is(cMer) && (next.gap || next.mark() != ':')
}

func minuteMarkAt(minute int) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		m.recur.minutes = 1 << minute
		return true
	}
}

func (x *match) minuteOf(m *meaning, n int64) bool {
	if x.of(0).q.nano != 0 || n < 0 || n > 59 {
		return false
	}
	m.recur.minutes = 1 << n
	return true
}

func minutesPast(x *match, m *meaning) bool { return x.minuteOf(m, x.of(0).q.whole) }

// minuteMore reads the list "15 and 45" of minutes.
func minuteMore(x *match, m *meaning) bool {
	ok := minutesPast(x, m)
	m.recur.minutes |= x.of(1).recur.minutes
	return ok
}

// pastTheHour reads "every hour, 5 minutes past", and "5 minutes past the hour".
func pastTheHour(x *match, m *meaning) bool {
	return (x.p.recurs || x.says("hour")) && (x.says("past") || x.says("after") || x.says("to") || x.says("before")) && hourMinutes(x, m)
}

func minutesTo(x *match, m *meaning) bool { return x.minuteOf(m, 60-x.of(0).q.whole) }

func hourMinutes(x *match, m *meaning) bool {
	m.has, m.recur.minutes = hasMinutes, x.of(0).recur.minutes
	return true
}

func minutesEvery(x *match, m *meaning) bool {
	m.period(uHour, 1)
	m.has, m.recur.minutes = m.has|hasMinutes, x.of(0).recur.minutes
	return true
}

// fullHours reads "every full hour".
func fullHours(_ *match, m *meaning) bool {
	m.period(uHour, 1)
	m.has, m.recur.minutes = m.has|hasMinutes, 1
	return true
}

func window1(x *match, m *meaning) bool {
	m.has, m.recur.from, m.recur.to = hasWindow, x.of(0).clock, x.of(1).clock
	if x.of(0).err != nil {
		m.err = x.of(0).err
	}
	return x.p.recurs
}

// windowDashed reads "every 15 minutes 9:00-17:00". A recurrence of days does not take such a
// range.
func windowDashed(x *match, m *meaning) bool {
	window1(x, m)
	m.recur.ranged = true
	return x.p.recurs
}
