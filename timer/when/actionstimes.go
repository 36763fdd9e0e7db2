package when

import "time"

// Several times, minutes of each hour, and times between two others.

func moreTimes(x *found, m *meaning) bool {
	a, b := x.of(0), x.of(1)
	if last := lastOf(b); last.how&clockInPart != 0 && a.clock.how&(clockBare|clockSpoken) != 0 {
		return false // at 6 and 8 in the evening: the part of the day is that of both
	}
	*m = *a
	m.more = append(append([]clock{}, b.clock), b.more...)
	if m.subs = nil; b.err != nil {
		m.err = b.err
	}
	return true
}

// lastOf is the last of several times.
func lastOf(m *meaning) clock {
	if n := len(m.more); n > 0 {
		return m.more[n-1]
	}
	return m.clock
}

// timeInPart reads "8 in the morning" where a time of day is one of several; one that is alone has the part of the day as a part of its own.
func timeInPart(x *found, m *meaning) bool {
	*m = *x.of(0)
	part := uint8(night)
	if x.isToken(1) {
		part = x.tok(1).part
	}
	c := &m.clock
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

// severalOnce refuses "9am and 5pm" where one time is asked for.
func severalOnce(x *found, m *meaning) bool {
	*m = meaning{has: hasClock}
	all := x.of(0)
	first := all.clock
	if x.p.recurs || x.p.opts.Form == DelayForm || first.how&(clockLone|clockDotted|clockLength|clockThreeDigits) != 0 && !x.says("at") {
		return false
	}
	var readings []string
	for _, c := range append([]clock{first}, all.more...) {
		readings = append(readings, "at "+x.p.text[c.off:c.end])
	}
	list := x.p.text[first.off:x.stop()]
	m.err = &refusal{code: CodeAmbiguous, why: "it names several times, and one is asked for", hint: `say it as in "every day at 9:00 and 17:00"`, off: x.off(), end: x.stop(),
		readings: append(readings, "every day at "+list)}
	return true
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
