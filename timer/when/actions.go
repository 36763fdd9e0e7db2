package when

import (
	"fmt"
	"strconv"
	"time"
)

// said reports whether one of the words of a match is w.
func (x *found) says(w string) bool {
	for i := x.begin; i < x.end; i++ {
		t := &x.p.toks[i]
		if x.p.low[t.off:t.end] == w {
			return true
		}
	}
	return false
}

// first is the meaning that the first capture has.
func asIs(x *found, m *meaning) bool {
	*m = *x.of(0)
	return true
}

func nothing(*found, *meaning) bool { return true }

// filler is a word that changes nothing, behind others.
func filler(x *found, _ *meaning) bool {
	before := &x.p.toks[max(x.begin-1, 0)]
	return x.begin > 0 && (x.p.toks[x.end].is(cEnd) || before.is(cNum|cMer|cPart|cLow) || x.p.word(x.begin-1, "noon", "midnight"))
}

// vague refuses what is no exact time, refused what is no time.
func vague(why, hint string) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.err = &refusal{code: CodeAmbiguous, why: why, hint: hint}
		return true
	}
}

// numberAhead refuses "in 5".
func numberAhead(x *found, m *meaning) bool {
	m.err = &refusal{code: CodeAmbiguous, why: "a number needs a unit", off: x.stop(), end: x.stop(), readings: []string{" minutes", " hours"}}
	return x.begin == 0 && x.p.toks[x.end].is(cEnd)
}

func refused(why, hint string) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.err = &refusal{why: why, hint: hint}
		return true
	}
}

// Numbers.

func whole(x *found, m *meaning) bool {
	m.q.whole = x.tok(0).n
	return m.q.whole >= 0
}

func decimal(x *found, m *meaning) bool {
	last := &x.p.toks[x.end-1]
	if !x.has(1) && x.begin > 0 && !x.p.toks[x.begin].gap { // the .5 of 18:00:00.5
		return false
	}
	if x.has(1) {
		m.q.whole = x.tok(0).n
	}
	m.q.nano = fraction(x.p.low[last.off:last.end])
	return m.q.whole >= 0
}

// fraction reads the digits after a decimal point in billionths; further ones are cut off.
func fraction(digits string) int64 {
	n, place := int64(0), int64(1e8)
	for i := 0; i < len(digits) && place > 0; i, place = i+1, place/10 {
		n += int64(digits[i]-'0') * place
	}
	return n
}

// halves reads 1/2 and 1 1/2, halves and quarters alone.
func halves(x *found, m *meaning) bool {
	top, bottom := x.tok(0), x.tok(1)
	if x.has(2) {
		m.q.whole = top.n
		if top, bottom = bottom, x.tok(2); !top.gap {
			return false
		}
	}
	if m.q.whole < 0 || bottom.n != 2 && bottom.n != 4 || top.n < 1 || top.n >= bottom.n {
		return false
	}
	m.q.nano = 1e9 / bottom.n * top.n
	return true
}

func countOf(n int64) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.q.whole = n
		return true
	}
}

// cardinal is a number in words.
func cardinal(x *found, m *meaning) bool {
	n := &m.q.whole
	for i := x.begin; i < x.end; i++ {
		switch t := &x.p.toks[i]; {
		case x.p.word(i, "hundred"):
			*n = max(*n, 1) * 100
		case x.p.word(i, "thousand"):
			*n = max(*n, 1) * 1000
		case x.p.word(i, "dozen"):
			*n = 12
		default:
			*n += int64(t.num)
		}
	}
	return true
}

// ordinal reads 1st, first and twenty-first; m.q.whole is 1 when it is in words.
func ordinal(x *found, m *meaning) bool {
	t := x.tok(0)
	switch {
	case t.is(cNum):
		m.n = int(t.n)
		return t.digits <= 2
	case x.has(1):
		m.n = int(t.num + x.tok(1).num)
	default:
		m.n = int(t.num)
	}
	m.q.whole = 1
	return true
}

func fractionOf(nano int64) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.q.nano = nano
		return true
	}
}

// Lengths of time.

// length makes a count of a unit the span.
func (x *found) length(m *meaning, a quantity, t *token) bool {
	s := &m.span
	if t.end-t.off == 1 && x.p.text[t.off] == 'M' { // minutes or months: which, the units before it must tell
		s.open, s.openCount, s.openAt = true, a.whole, t.off
		return a.nano == 0
	}
	u := t.unit
	s.units = 1 << u
	if s.count = a.whole; a.nano == 0 {
		s.one = u
	}
	m.err = s.add(a, u)
	return true
}

// add adds a units to the span, or says why that cannot be.
func (s *span) add(a quantity, u unit) *refusal {
	months, days, elapsed := u.measure()
	switch {
	case months > 0:
		if a.whole > maxMonths {
			return tooFar
		}
		if a.nano*months%1e9 != 0 {
			return &refusal{code: CodeAmbiguous, why: "months have no fixed length to take a part of", hint: "say days, weeks or whole months"}
		}
		s.months += a.whole*months + a.nano*months/1e9
		s.calendar = true
	case days > 0:
		if a.whole > maxDays {
			return tooFar
		}
		s.days += a.whole*days + a.nano*days/1e9
		rest, _ := quantity{0, a.nano * days % 1e9}.scaled(int64(24 * time.Hour))
		s.elapsed += time.Duration(rest)
		s.calendar = true
	default:
		n, ok := a.scaled(int64(elapsed))
		if !ok {
			return tooFar
		}
		s.elapsed += time.Duration(n)
	}
	if s.months > maxMonths || s.days > maxDays || s.elapsed < 0 {
		return tooFar
	}
	return nil
}

var tooFar = &refusal{why: "it is too far away", hint: "the last year that can be named is 9999, and 292 years the longest count of hours"}

// item reads a number and its unit; one says how many there are when no number does.
func item(one int64) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		a, t := quantity{whole: one}, x.tok(x.labelled(isUnit))
		if i := x.labelled(isCount); i >= 0 {
			a = x.of(i).q
		} else if t.is(cUnits) {
			return false
		}
		if i := x.labelled(isFraction); i >= 0 {
			if a.nano != 0 {
				return false
			}
			a.nano = x.of(i).q.nano
		}
		return x.length(m, a, t)
	}
}

// itemCounted reads "5 min", where it is no time of day, and no day of the month.
func itemCounted(x *found, m *meaning) bool {
	n, next, t := &x.p.toks[x.begin], &x.p.toks[x.begin+1], x.tok(x.labelled(isUnit))
	switch {
	case t.is(cOrd) && n.is(cTens): // twenty second
		return false
	case n.is(cHHMM) && next == t && t.gap && t.is(cLong) && !t.is(cUnits) && t.unit >= uDay: // 1530 day after tomorrow
		return false
	case n.is(cHHMM) && next == t && t.unit == uHour && x.p.low[n.off] == '0': // 0930 hours
		return false
	case x.p.toks[x.end-1].mark() == '.' && (t.end-t.off > 4 || !x.p.toks[x.end].gap):
		return false
	}
	return item(0)(x, m)
}

// itemOne reads "an hour".
func itemOne(x *found, m *meaning) bool {
	t := x.tok(0)
	switch {
	case x.begin > 0 && !x.p.toks[x.begin].gap && x.p.toks[x.begin-1].is(cNum): // 12:59a day after tomorrow
		return false
	case t.unit == uQuarter && x.p.word(x.begin-1, "and"): // 2 hours and a quarter
		return false
	}
	return t.gap && item(1)(x, m)
}

func itemQuarters(x *found, m *meaning) bool {
	n, _ := x.number(isCount)
	return n < 8 && x.length(m, quantity{n / 4, n % 4 * 25e7}, x.tok(x.labelled(isUnit)))
}

// itemClock reads "1:30 hours", which may be a time of day as well.
func itemClock(x *found, m *meaning) bool {
	h, min := x.tok(0), x.tok(1)
	if h.digits > 1 {
		return false
	}
	m.span = span{elapsed: time.Duration(h.n)*time.Hour + time.Duration(min.n)*time.Minute, units: 1<<uHour | 1<<uMinute}
	m.subs = []sub{{x.off(), x.stop(), fmt.Sprintf("%dh%dm", h.n, min.n)}}
	return true
}

// joinDigits puts two lengths together that nothing parts: the second begins with a number.
func joinDigits(x *found, m *meaning) bool {
	t := &x.p.toks[x.p.res[x.at[0]].end]
	return (t.is(cNum|cLow|cTens) || t.mark() == '.') && join2(x, m)
}

// join2 adds the second length to the first.
func join2(x *found, m *meaning) bool {
	a, b := x.of(0), x.of(1)
	t := x.p.resEnd(x.at[0])
	if x.p.toks[t].mark() == ',' {
		t++
	}
	if x.p.toks[t].is(cHHMM) && x.p.toks[t+1].unit == uHour && x.p.toks[t+1].gap { // in 2 days 1700 hours
		return false
	}
	*m = *a
	s := &m.span
	tail := b.span
	if m.err == nil {
		m.err = b.err
	}
	if tail.open && !s.open {
		switch {
		case s.elapsed > 0 && !s.calendar: // 1H30M
			m.err = tail.add(quantity{whole: tail.openCount}, uMinute)
			tail.open, tail.units = false, tail.units|1<<uMinute
		case s.calendar && s.days == 0 && s.elapsed == 0: // 1Y6M
			m.err = tail.add(quantity{whole: tail.openCount}, uMonth)
			tail.open, tail.units = false, tail.units|1<<uMonth
		default:
			s.open, s.openCount, s.openAt = true, tail.openCount, tail.openAt
		}
	}
	if s.units&tail.units != 0 && m.err == nil {
		m.err = &refusal{why: "it names the same unit twice", hint: "add them up"}
	}
	s.units |= tail.units
	s.months += tail.months
	s.days += tail.days
	if s.elapsed += tail.elapsed; s.elapsed < 0 || s.months > maxMonths || s.days > maxDays {
		m.err = tooFar
	}
	s.calendar = s.calendar || tail.calendar
	s.one = uNone
	m.subs = nil
	return true
}

// isoSpan reads ISO 8601 durations: PT15M, P1DT12H, P2W, P1Y6M. Units in their order, a decimal in the last one only.
func isoSpan(x *found, m *meaning) bool {
	text := x.p.low[x.tok(0).off+1 : x.tok(0).end]
	timed, last, any, done := false, uDecade, false, false
	for i := 0; i < len(text); {
		if text[i] == 't' && !timed {
			timed, any = true, false
			i++
			continue
		}
		begin := i
		var a quantity
		for ; i < len(text) && isDigit(text[i]); i++ {
			if a.whole = a.whole*10 + int64(text[i]-'0'); i-begin > 17 {
				return false
			}
		}
		digits := i - begin
		if i < len(text) && text[i] == '.' {
			frac := i + 1
			for i++; i < len(text) && isDigit(text[i]); i++ {
			}
			a.nano, digits = fraction(text[frac:i]), digits+1
		}
		if digits == 0 || i == len(text) || done {
			return false
		}
		done = a.nano != 0
		u := uNone
		switch c := text[i]; {
		case timed:
			u = map[byte]unit{'h': uHour, 'm': uMinute, 's': uSecond}[c]
		default:
			u = map[byte]unit{'y': uYear, 'm': uMonth, 'w': uWeek, 'd': uDay}[c]
		}
		if i++; u == uNone || u >= last {
			return false
		}
		last, any = u, true
		if err := m.span.add(a, u); err != nil {
			m.err = err
		}
	}
	return any
}

func bareSpan(x *found, m *meaning) bool {
	*m = *x.of(0)
	m.has, m.span.bare = hasSpan, true
	return true
}

func spanAhead(x *found, m *meaning) bool {
	*m = *x.of(0)
	m.has, m.subs = hasSpan, nil
	return true
}

func spanBack(x *found, m *meaning) bool {
	if t := &x.p.toks[x.begin+1]; t.mark() == '-' && !t.gap { // in-5-minutes
		return false
	}
	*m = *x.of(0)
	m.has, m.span = hasSpan, m.span.negated()
	m.span.one = uNone
	return true
}

// spanHours reads "in 1h30": "in" leaves no room for a time of day.
func spanHours(x *found, m *meaning) bool {
	m.has = hasSpan
	m.span = span{elapsed: time.Duration(x.tok(0).n)*time.Hour + time.Duration(x.tok(1).n)*time.Minute}
	return true
}

// inClock refuses "in 1:30".
func inClock(x *found, m *meaning) bool {
	h, min := x.tok(0).n, x.tok(1).n
	m.has = hasSpan
	m.err = &refusal{code: CodeAmbiguous, why: "it may be a length or a time of day", off: x.off(), end: x.stop(),
		readings: []string{fmt.Sprintf("in %dh%dm", h, min), fmt.Sprintf("at %d:%02d", h, min)}}
	return true
}

// increment reads "+ 3 days", which counts from what stands before it, or from now.
func increment(negative bool) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		s := x.of(0).span
		m.err = x.of(0).err
		if negative {
			s = s.negated()
		}
		if t := &x.p.toks[x.begin]; x.begin > 0 && !t.gap && x.p.toks[x.begin-1].is(cNum|cMonth) { // 25-12-26 minutes
			return false
		}
		if s.one = uNone; x.begin == 0 {
			m.has, m.span = hasSpan, s
			return true
		}
		if x.says("now") {
			return false
		}
		m.adds = []span{s}
		return true
	}
}

func nextUnit(x *found, m *meaning) bool {
	t := x.tok(0)
	if t.unit < uMinute || t.is(cUnits) {
		return false
	}
	m.has = hasSpan
	ok := x.length(m, quantity{whole: 1}, t)
	m.span.next = true
	return ok
}

func nextCount(x *found, m *meaning) bool {
	m.has = hasSpan
	return x.length(m, x.of(0).q, x.tok(1))
}

func lastUnit(x *found, m *meaning) bool {
	m.has = hasSpan
	ok := !x.tok(0).is(cUnits) && x.length(m, quantity{whole: 1}, x.tok(0))
	m.span = m.span.negated()
	return ok
}

// shift notes a length to be added to what follows: "2 hours after".
func (x *found) shift(m *meaning, s span, back bool) bool {
	if next := &x.p.toks[x.end]; next.is(cEnd) || x.p.word(x.end, "now") {
		return false
	}
	if back {
		s = s.negated()
	}
	m.has, m.adds = hasShift, []span{s}
	return true
}

func shiftBy(back bool) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.err = x.of(0).err
		return x.shift(m, x.of(0).span, back)
	}
}

// shiftUnit reads the "week from" of "1530 week from tomorrow", an article left out.
func shiftUnit(x *found, m *meaning) bool {
	var s meaning
	ok := x.begin > 0 && x.p.toks[x.begin-1].is(cHHMM) && x.tok(0).unit >= uDay && item(1)(x, &s)
	return ok && x.shift(m, s.span, false)
}

// shiftOn reads the "a week on" of "a week on friday".
func shiftOn(x *found, m *meaning) bool {
	s := x.of(0).span
	return x.p.toks[x.end].is(cDay) && s.months == 0 && s.elapsed == 0 && s.days > 0 && s.days%7 == 0 && x.shift(m, s, false)
}

// dayShift reads "the day after", which a day must follow.
func dayShift(back bool) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		return !x.p.word(x.end, "tomorrow", "yesterday") && x.shift(m, span{days: 1, calendar: true, next: true}, back)
	}
}

func now(x *found, m *meaning) bool {
	m.has = hasNow
	return true
}

// Times of day.

func meridiem(x *found, m *meaning) bool {
	m.n = int(x.p.low[x.tok(0).off])
	return true
}

func seconds(x *found, m *meaning) bool {
	m.n = int(x.tok(0).n)
	if x.has(1) {
		m.q.nano = fraction(x.p.low[x.tok(1).off:x.tok(1).end])
	}
	return true
}

// setClock makes c the time of day, if there is such a one.
func (x *found) setClock(m *meaning, c clock) bool {
	if c.mer != 0 && (c.hour < 1 || c.hour > 12) || c.hour > 24 || c.minute > 59 || c.hour == 24 && (c.minute != 0 || c.second != 0 || c.nano != 0) {
		return false
	}
	c.off, c.end = uint16(x.off()), uint16(x.stop())
	m.has, m.clock = hasClock, c
	return true
}

// clockOf is the time of day that the labelled captures say; three digits and more are hours and minutes. It reports false when
// there is no such time.
func (x *found) clockOf(how uint16) (clock, bool) {
	h, digits := x.number(isHour)
	minute, _ := x.number(isMinute)
	if digits > 2 {
		h, minute = h/100, h%100
	}
	c := clock{hour: int8(min(h, 99)), minute: int8(min(minute, 99)), how: how}
	if i := x.labelled(isSecond); i >= 0 {
		c.second, c.nano = int8(x.of(i).n), int32(x.of(i).q.nano)
		c.how |= clockExact
	}
	var ok bool
	if c.mer, ok = x.mer(x.labelled(isMeridiem)); c.mer != 0 {
		c.how &^= clockBare
	}
	return c, ok
}

// clockAs reads a time of day that is written in one of the ways.
func clockAs(how uint16) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		c, ok := x.clockOf(how)
		return ok && x.setClock(m, c)
	}
}

// mer is the am or pm of a capture as 'a' or 'p', 0 without one. A letter alone, as in 5p, must end there.
func (x *found) mer(i int) (byte, bool) {
	switch {
	case i < 0:
		return 0, true
	case !x.isToken(i):
		return byte(x.of(i).n), true
	}
	next, after := &x.p.toks[x.end], &x.p.toks[min(x.end+1, x.p.n)]
	return x.p.low[x.tok(i).off], next.gap || next.mark() == ',' || next.mark() == '.' && after.gap
}

// orLength is the text of a time of day that may be a length as well.
func (x *found) orLength(m *meaning) {
	m.subs = []sub{{x.off(), x.stop(), fmt.Sprintf("%d:%02d", m.clock.hour, m.clock.minute)}}
}

// clockHours reads 18:30 hrs; 1:30 hours is a length.
func clockHours(x *found, m *meaning) bool {
	ok := clockAs(clockColon)(x, m)
	if x.tok(0).digits == 1 {
		x.orLength(m)
	}
	return ok
}

// clockPointH reads 17.30h, which may be hours and a part of one as well.
func clockPointH(x *found, m *meaning) bool {
	ok := clockAs(0)(x, m) && m.clock.hour > 12
	x.orLength(m)
	return ok
}

// clockFourHours reads 0930 hours; 1800 hours may be a length.
func clockFourHours(x *found, m *meaning) bool {
	zero := x.p.low[x.off()] == '0'
	if !x.p.toks[x.end-1].gap && !zero || x.p.opts.Form == DelayForm || !clockAs(0)(x, m) {
		return false
	}
	if !zero {
		x.orLength(m)
	}
	return true
}

// clockWords reads "five thirty".
func clockWords(x *found, m *meaning) bool {
	minute, _ := x.number(isMinute)
	return minute >= 10 && clockAs(clockSpoken)(x, m)
}

// clockPoint reads 9.15, which is a decimal number as well.
// timeBehindDate reads the T10:00 of an ISO 8601 date; that of a bound belongs to the bound.
func timeBehindDate(x *found, m *meaning) bool {
	*m = *x.of(0)
	return !x.p.recurs
}

func clockPoint(x *found, m *meaning) bool {
	next, after := &x.p.toks[x.end], &x.p.toks[min(x.end+1, x.p.n)]
	return (next.gap || next.mark() != '.' || !after.is(cNum) || after.gap) && clockAs(clockDotted)(x, m)
}

// clockHourAlone reads a number alone as an hour; whether something says that it is one is judged when all is read.
func clockHourAlone(x *found, m *meaning) bool {
	next := &x.p.toks[x.end]
	switch mark := next.mark(); {
	case next.gap || mark == 0 || mark == ',' || mark == '(' || mark == '/' || mark == '-' && x.p.recurs:
	case mark != '.' || !x.p.toks[x.end+1].gap:
		return false
	}
	return clockAs(clockBare|clockLone)(x, m) && m.clock.hour < 24
}

// clockH reads 1h30, 18h and 2230h, which are lengths as well.
func clockH(x *found, m *meaning) bool {
	_, digits := x.number(isHour)
	next := &x.p.toks[x.end]
	switch minutes := x.labelled(isMinute) >= 0; {
	case digits > 2 && x.p.opts.Form == DelayForm, minutes && next.is(cUnit):
		return false
	case digits <= 2 && !minutes && (x.tok(0).n <= 12 || !next.gap):
		return false
	}
	return clockAs(clockLength)(x, m) && m.clock.hour < 24
}

// clockThree reads the 730 of "at 730 in the evening".
func clockThree(x *found, m *meaning) bool {
	return x.tok(0).digits == 3 && clockAs(clockThreeDigits)(x, m)
}

// isoClock reads 093015 and 093015.5.
func isoClock(x *found, m *meaning) bool {
	n := x.tok(0).n
	c := clock{hour: int8(n / 10000), minute: int8(n / 100 % 100), second: int8(n % 100), how: clockExact}
	if x.has(1) {
		c.nano = int32(fraction(x.p.low[x.tok(1).off:x.tok(1).end]))
	}
	return c.second < 60 && x.setClock(m, c)
}

// hourOf reads the hour behind "past" and "to".
func hourOf(x *found, m *meaning) bool {
	next := &x.p.toks[x.end]
	if !clockAs(0)(x, m) || next.mark() == ':' && !next.gap || next.mark() == '.' && x.p.toks[x.end+1].is(cNum) {
		return false
	}
	return m.clock.hour < 24 && (m.clock.mer != 0 || !next.is(cUnit) || next.unit == uHour || next.unit == uSecond)
}

func clockNamed(name byte, hour int8) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool { return x.setClock(m, clock{hour: hour, name: name}) }
}

// clock12 reads "12 noon" and "12:00 midnight".
func clock12(name byte, hour int8) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		return x.tok(0).n == 12 && (!x.has(1) || x.tok(1).n == 0) && x.setClock(m, clock{hour: hour, name: name})
	}
}

// spokenAt is the time so many minutes from an hour.
func (x *found) spokenAt(m *meaning, minutes int, h clock) bool {
	hour := int(h.hour)
	switch h.mer {
	case 'a':
		hour %= 12
	case 'p':
		hour = hour%12 + 12
	}
	total := (hour*60 + minutes + 24*60) % (24 * 60)
	c := clock{hour: int8(total / 60), minute: int8(total % 60)}
	if h.mer == 0 && h.name == 0 {
		c.how = clockSpoken
	}
	return x.setClock(m, c)
}

func spoken(minutes int) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool { return x.spokenAt(m, minutes, x.of(0).clock) }
}

// spokenCount reads "20 past 3pm" and "ten to six"; "5 to 6" may be a range.
func spokenCount(sign int) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		n := x.of(0).q
		if n.nano != 0 || n.whole < 1 || n.whole > 59 {
			return false
		}
		minutes := x.says("minutes") || x.says("minute") || x.says("min") || x.says("mins")
		if sign < 0 && x.p.toks[x.begin].is(cNum) && !minutes {
			m.err = &refusal{code: CodeAmbiguous, why: "it may be a range", hint: `say it as in "ten to six" or "17:50"`}
		}
		return x.spokenAt(m, sign*int(n.whole), x.of(1).clock)
	}
}

// spokenHalf refuses "half eight", which is 8:30 to some and 7:30 to others.
func spokenHalf(x *found, m *meaning) bool {
	h := x.of(0).clock
	if h.name != 0 {
		return false
	}
	text := x.p.text
	hour := text[x.p.toks[x.begin+1].off:x.stop()]
	ok := x.spokenAt(m, 30, h)
	m.err = &refusal{
		code: CodeAmbiguous, why: "it is half past that hour to some and half an hour before it to others",
		off: x.off(), end: x.stop(), readings: []string{"half past " + hour, "thirty minutes to " + hour},
	}
	return ok
}

func said(x *found, m *meaning) bool {
	*m = *x.of(0)
	m.clock.how = m.clock.how&^clockLone | clockSaid
	m.subs = nil
	return true
}

// saidApart reads "@ 3"; @3 is a second since 1970.
func saidApart(x *found, m *meaning) bool { return x.p.toks[x.begin+1].gap && said(x, m) }

func minuteAt(minute int8) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool { return x.setClock(m, clock{minute: minute, how: clockMinute}) }
}

func thisTime(x *found, m *meaning) bool {
	wall := reading(x.p.opts.Now, x.p.opts.Zone)
	return x.setClock(m, clock{hour: int8(wall.Hour()), minute: int8(wall.Minute()), second: int8(wall.Second()), nano: int32(wall.Nanosecond()), how: clockNow | clockExact | clockSaid})
}

// noClock refuses 25:99 and 13pm.
func noClock(x *found, m *meaning) bool {
	h := x.tok(0)
	minute, second, mer := int64(0), int64(0), false
	for i := 1; i < 3 && x.has(i); i++ {
		switch {
		case !x.isToken(i):
			mer = true
		case x.tok(i).digits != 2:
			return false
		case i == 1:
			minute = x.tok(1).n
		default:
			second = x.tok(2).n
		}
	}
	hint := "hours are 0 to 23, minutes and seconds 0 to 59"
	switch {
	case mer && (h.n < 1 || h.n > 12):
		hint = "hours with am and pm are 1 to 12"
	case h.n > 24, minute > 59, second > 59, h.n == 24 && (minute != 0 || second != 0):
	default:
		return false
	}
	m.has = hasClock
	m.err = &refusal{why: "there is no " + quoted(x.text()), hint: hint}
	return true
}

func noFour(x *found, m *meaning) bool {
	t := x.tok(0)
	if t.is(cHHMM) || x.p.toks[x.end].is(cUnit) {
		return false
	}
	text := x.text()
	m.has = hasClock
	m.err = &refusal{why: "there is no " + text + " on the clock",
		hint: "four digits are hours and minutes, 0000 to 2359; a length of time has a unit: " + text + "s"}
	return true
}

// rangeOfTimes refuses what begins at one time and ends at another.
func rangeOfTimes(x *found, m *meaning) bool {
	for i := x.begin + 1; i < x.end-1; i++ { // 10:00-11:00 may be an offset
		if t := &x.p.toks[i]; t.mark() == '-' && !x.p.toks[i+1].gap && x.p.toks[i+1].is(cN2) && x.p.toks[i+1].n <= 14 && x.p.toks[i+2].mark() == ':' {
			return false
		}
	}
	if x.p.toks[x.begin].is(cHHMM) && x.begin+1 < x.end && x.p.toks[x.begin+1].mark() == '-' && !x.p.toks[x.begin+1].gap {
		return false // 2026-11-31
	}
	m.has = hasClock
	m.err = &refusal{code: CodeAmbiguous, why: "it names two times, and one is asked for", hint: "name one of them"}
	var texts []string
	for i := 0; i < 2 && x.has(i); i++ {
		if !x.isToken(i) {
			c := x.of(i).clock
			texts = append(texts, x.p.text[c.off:c.end])
		}
	}
	if len(texts) == 2 {
		m.err.off, m.err.end, m.err.readings = x.off(), x.stop(), texts
	}
	return true
}

// Parts of the day.

func partOfDay(x *found, m *meaning) bool {
	m.has, m.part = hasPart, x.tok(0).part
	if x.begin < x.end-1 { // in the morning
		m.clock.how = clockSaid
	}
	return true
}

func partNight(x *found, m *meaning) bool {
	m.has, m.part, m.clock.how = hasPart, night, clockSaid
	return true
}

func (x *found) partOn(m *meaning, part uint8, days int32) bool {
	m.part = part
	ok := x.setDay(m, day{kind: onOffset, shift: days})
	m.has = hasPart | hasDay
	return ok
}

func thisPart(x *found, m *meaning) bool  { return x.partOn(m, x.tok(0).part, 0) }
func tonight(x *found, m *meaning) bool   { return x.partOn(m, night, 0) }
func lastNight(x *found, m *meaning) bool { return x.partOn(m, night, -1) }

// Days.

func (x *found) setDay(m *meaning, d day) bool {
	d.off, d.end = uint16(x.off()), uint16(x.stop())
	m.has, m.day = hasDay, d
	return true
}

func offset(days int32) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool { return x.setDay(m, day{kind: onOffset, shift: days}) }
}

func weekdayNext(x *found, m *meaning) bool {
	return x.setDay(m, day{kind: onWeekday, weekday: int8(x.tok(0).day)})
}

func weekdayWeek(x *found, m *meaning) bool {
	return x.setDay(m, day{kind: onWeekday, weekday: int8(x.tok(0).day), shift: 1})
}

func weekdayMode(x *found, m *meaning) bool {
	return x.setDay(m, day{kind: onWeekday, weekday: int8(x.tok(0).day), next: true})
}

func weekdayOf(weeks int32) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		return x.setDay(m, day{kind: onWeek, weekday: int8(x.tok(0).day), shift: weeks})
	}
}

// weekdayThen reads "monday at 9am next week", and annualThen "5 january at noon next year".
func weekdayThen(weeks int32) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool { return weekdayOf(weeks)(x, m) && x.at1(m) }
}

func annualThen(years int) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		d := x.of(0).day
		year := reading(x.p.opts.Now, x.p.opts.Zone).Year() + years
		return x.setDate(m, year, int(d.month), int(d.date)) && x.at1(m)
	}
}

// at1 adds the time of day that is the second part.
func (x *found) at1(m *meaning) bool {
	m.has, m.clock = m.has|hasClock, x.of(1).clock
	m.clock.how |= clockSaid
	if m.err == nil {
		m.err = x.of(1).err
	}
	return !x.p.recurs
}

// weekdayLast is the last such weekday before today.
func weekdayLast(x *found, m *meaning) bool {
	today := int(reading(x.p.opts.Now, x.p.opts.Zone).Weekday())
	weeks := int32(0)
	if (int(x.tok(0).day)-1+6)%7 >= (today+6)%7 {
		weeks = -1
	}
	return x.setDay(m, day{kind: onWeek, weekday: int8(x.tok(0).day), shift: weeks})
}

// checkDate refuses days that no calendar has; a year of 0 stands for any.
func checkDate(year, month, date int) *refusal {
	if month < 1 || month > 12 {
		return &refusal{why: fmt.Sprintf("there is no month %d", month), hint: "months are 1 to 12"}
	}
	leapYear := year
	if year == 0 {
		leapYear = 2000
	}
	if most := monthDays(leapYear, month); date < 1 || date > most {
		name := time.Month(month).String()
		if year != 0 && month == 2 {
			name += " " + strconv.Itoa(year)
		}
		return &refusal{why: fmt.Sprintf("%s has no day %d", name, date), hint: fmt.Sprintf("its last day is %d", most)}
	}
	return nil
}

func (x *found) setDate(m *meaning, year, month, date int) bool {
	m.err = checkDate(year, month, date)
	return x.setDay(m, day{kind: onDate, year: int16(year), month: int8(month), date: int8(date)})
}

func (x *found) setAnnual(m *meaning, month, date int) bool {
	m.err = checkDate(0, month, date)
	return x.setDay(m, day{kind: onAnnual, month: int8(month), date: int8(date)})
}

func dayMonth(x *found, m *meaning) bool {
	date := x.dateIn(0)
	return x.setAnnual(m, int(x.tok(1).month), date)
}

func monthDay(x *found, m *meaning) bool {
	last := &x.p.toks[x.end-1]
	next := &x.p.toks[x.end]
	if last.is(cNum) && (next.mark() == ':' && !next.gap || next.is(cMer) || next.mark() == '.' && !next.gap && x.p.toks[x.end+1].is(cNum) && !x.p.toks[x.end+1].gap) {
		return false
	}
	return x.setAnnual(m, int(x.tok(0).month), x.dateIn(1))
}

// dateIn is a day of the month in a capture: a number, or an ordinal.
func (x *found) dateIn(i int) int {
	if x.isToken(i) {
		return int(x.tok(i).n)
	}
	return x.of(i).n
}

// century is the year that a number of two or four digits names. Two digits are 1969 to 2068, as POSIX has them.
func century(t *token) int {
	if t.digits != 2 {
		return int(t.n)
	}
	if t.n >= 69 {
		return 1900 + int(t.n)
	}
	return 2000 + int(t.n)
}

func yearNumber(x *found, m *meaning) bool {
	m.n = century(x.tok(0))
	next := &x.p.toks[x.end]
	return !(next.mark() == ':' && !next.gap || next.is(cMer) || next.is(cUnit) && next.unit != uQuarter && x.tok(0).digits == 4)
}

// yearShort reads two digits as a year, where they are no hour.
func yearShort(x *found, m *meaning) bool {
	t, next := x.tok(0), &x.p.toks[x.end]
	m.n = century(t)
	if next.mark() == ':' && !next.gap || next.is(cMer|cUnit|cSuffix) || next.mark() == '.' && !next.gap && x.p.toks[x.end+1].is(cNum) {
		return false
	}
	if t.n <= 24 || x.begin != x.end-1 {
		m.subs = []sub{{int(t.off), int(t.end), strconv.Itoa(m.n)}}
	}
	if x.begin != x.end-1 && t.n <= 31 { // Dec 25, 26 and Dec 25-26: another row
		m.q.whole = 1
	}
	return true
}

func yearFrom(years int) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.n = reading(x.p.opts.Now, x.p.opts.Zone).Year() + years
		return true
	}
}

// datedYear is a day and month with its year.
func datedYear(x *found, m *meaning) bool {
	d, y := x.of(0).day, x.of(1)
	if y.q.whole == 1 {
		return false
	}
	m.subs = y.subs
	return x.setDate(m, y.n, int(d.month), int(d.date))
}

// severalDays refuses Dec 25-26 and Dec 25, 26, which may be two days, or a day and its year.
func severalDays(x *found, m *meaning) bool {
	d, t := x.of(0).day, x.tok(1)
	next := &x.p.toks[x.end]
	if t.n > 31 || next.mark() == ':' && !next.gap || next.is(cMer|cUnit|cSuffix|cMonth) || next.mark() == '.' && !next.gap || x.p.word(x.end, "past", "to", "noon", "midnight", "o'clock", "in", "o") {
		return false
	}
	end := int(d.end)
	readings := []string{" " + strconv.Itoa(century(t)), ""}
	if t.digits < 2 {
		readings = readings[1:]
	}
	m.err = &refusal{code: CodeAmbiguous, why: "it may be several days or a day and a year", off: end, end: int(t.end), readings: readings}
	return x.setDay(m, d)
}

// yearMonthDay reads 2018 March 18; four digits before a month may be a time of day as well.
func yearMonthDay(x *found, m *meaning) bool {
	ok := x.setDate(m, int(x.tok(0).n), int(x.tok(1).month), x.dateIn(2))
	if next := &x.p.toks[x.begin+1]; next.is(cMonth) && x.tok(0).is(cHHMM) {
		m.day.yearFirst = true
	}
	return ok && !x.hourFollows()
}

// hourFollows reports whether the number just read is the hour of a time of day.
func (x *found) hourFollows() bool {
	last, next := &x.p.toks[x.end-1], &x.p.toks[x.end]
	return last.is(cNum) && (next.mark() == ':' && !next.gap || next.is(cMer))
}

func dayMonthYear(x *found, m *meaning) bool {
	return x.setDate(m, century(x.tok(2)), int(x.tok(1).month), int(x.tok(0).n))
}

func isoDate(x *found, m *meaning) bool {
	ok := x.setDate(m, int(x.tok(0).n), int(x.tok(1).n), int(x.tok(2).n))
	m.day.iso = x.p.toks[x.begin+1].mark() == '-'
	return ok
}

func isoCompact(x *found, m *meaning) bool {
	n := int(x.tok(0).n)
	if y, mo := n/10000, n/100%100; y < 1900 || mo < 1 || mo > 12 {
		return false
	}
	ok := x.setDate(m, n/10000, n/100%100, n%100)
	m.day.iso = true
	return ok
}

func yearDay(x *found, m *meaning) bool {
	year, n := int(x.tok(0).n), int(x.tok(1).n)
	at := time.Date(year, 1, n, 0, 0, 0, 0, time.UTC)
	ok := x.setDate(m, year, int(at.Month()), at.Day())
	if m.day.iso = true; n < 1 || at.Year() != year {
		m.err = &refusal{why: fmt.Sprintf("%d has no day %d", year, n)}
	}
	return ok
}

// isoWeek reads 2027-W05-1 and 2027W051. Monday is day 1.
func isoWeek(x *found, m *meaning) bool {
	year := int(x.tok(0).n)
	week, date := int(x.tok(1).n)/10, int(x.tok(1).n)%10
	if x.has(2) {
		week, date = int(x.tok(1).n), int(x.tok(2).n)
	}
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // always in week 1
	monday := fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7+7*(week-1))
	at := monday.AddDate(0, 0, date-1)
	ok := x.setDate(m, at.Year(), int(at.Month()), at.Day())
	m.day.iso = true
	if y, w := monday.ISOWeek(); date < 1 || date > 7 || week < 1 || y != year || w != week {
		m.err = &refusal{why: fmt.Sprintf("%d has no week %d with a day %d", year, week, date)}
	}
	return ok
}

// dateTime is a day and the time behind it.
func dateTime(x *found, m *meaning) bool {
	*m = *x.of(0)
	m.clock, m.has = x.of(1).clock, hasDay|hasClock
	if m.clock.how&clockCompact != 0 && m.day.kind == onAnnual && x.p.toks[x.end-1].is(cYear) && !x.says("at") { // dec 1 2026
		return false
	}
	m.clock.how &^= clockCompact
	return true
}

func timeDate(x *found, m *meaning) bool {
	*m = *x.of(1)
	m.clock, m.has = x.of(0).clock, hasDay|hasClock
	return true
}

// compactTime reads 202703040506 and 20270304050607.
func compactTime(x *found, m *meaning) bool {
	n, c := x.tok(0).n, clock{}
	if x.tok(0).digits == 14 {
		c.second = int8(n % 100)
		n /= 100
	}
	c.hour, c.minute = int8(n/100%100), int8(n%100)
	n /= 10000
	if y, mo := n/10000, n/100%100; y < 1900 || mo < 1 || mo > 12 || c.second > 59 {
		return refused("there is no such date", "write it as 2027-03-04 15:00")(x, m)
	}
	if !x.setDate(m, int(n/10000), int(n/100%100), int(n%100)) {
		return false
	}
	d := m.day
	d.iso = true
	if !x.setClock(m, c) {
		return refused("there is no such time", "hours are 0 to 23, minutes and seconds 0 to 59")(x, m)
	}
	m.day, m.has = d, hasDay|hasClock
	return true
}

// The orders of the numbers of a date.
const (
	dayFirst = iota
	monthFirst
	shortYearFirst
	noOrder // in none of them they are a date
)

// soon is how many years ahead a two-digit year in front of a date may lie.
const soon = 10

func isDate(y, m, d int) bool { return m >= 1 && m <= 12 && d >= 1 && d <= monthDays(y, m) }

// numbers reads a date of three numbers, in one of the orders that it may have: with points the day is first, as at(1) has it;
// else a number above twelve must tell day from month.
func numbers(order int) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		a, b, c := x.tok(0), x.tok(1), x.tok(2)
		mark := x.p.toks[x.begin+1].mark()
		if x.p.toks[x.begin+3].mark() != mark || x.hourFollows() {
			return false
		}
		first, second, year := int(a.n), int(b.n), century(c)
		y, mo, d := year, second, first
		days, months := isDate(year, second, first), isDate(year, first, second)
		if mark == '.' && (days || c.digits == 2) {
			months = false
		}
		short := mark == '.' && c.digits == 2 && (a.digits == 1 || b.digits == 1) // 1.10.30 may be a version
		switch order {
		case dayFirst:
			if !days || short {
				return false
			}
		case monthFirst:
			if !months || first == second {
				return false
			}
			mo, d = first, second
		case shortYearFirst:
			if y = century(a); !isDate(y, second, int(c.n)) || y < x.p.opts.Now.Year() || y > x.p.opts.Now.Year()+soon {
				return false
			}
			mo, d = second, int(c.n)
		case noOrder:
			switch {
			case short:
				m.err = &refusal{why: "a date with points and a short year has two digits in each part", hint: "write it as 2027-03-04"}
			case days || months || mark == '-' && c.digits == 2 && a.digits == 2 && isDate(century(a), second, int(c.n)):
				return false
			default:
				m.err = &refusal{why: "there is no such date", hint: "dates are best written as 2027-03-04"}
				if mark == '.' && c.digits == 2 {
					m.err.off, m.err.end, m.err.readings = x.off(), x.stop(), []string{fmt.Sprintf("%d:%02d:%02d", first, second, c.n)}
				}
			}
			return x.setDay(m, day{kind: onDate, year: 2000, month: 1, date: 1})
		}
		x.setDate(m, y, mo, d)
		m.day.points = mark == '.' && first <= 12 && second <= 12 && first != second
		m.subs = []sub{{x.off(), x.stop(), fmt.Sprintf("%04d-%02d-%02d", y, mo, d)}}
		return true
	}
}

// twoNumbers reads 25/12 and 12/25, the next such date. With a hyphen it is one only beside its weekday.
func twoNumbers(order int) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		a, b := int(x.tok(0).n), int(x.tok(1).n)
		days, months := isDate(2000, b, a), isDate(2000, a, b)
		mark := x.p.toks[x.begin+1].mark()
		next := &x.p.toks[x.end]
		if !next.gap && (next.mark() == mark || next.mark() == '.' && x.p.toks[x.end+1].is(cNum) || next.is(cUnit|cMer)) || next.is(cUnit) || mark == '.' && next.is(cNum) && !next.gap {
			return false
		}
		month, date := b, a
		switch order {
		case dayFirst:
			if !days {
				return mark == '.' && x.setAnnual(m, b, a)
			}
		case monthFirst:
			if !months || a == b {
				return false
			}
			month, date = a, b
		default:
			if days || months || mark == '-' {
				return false
			}
			m.err = &refusal{why: "there is no such date", hint: "dates are best written as 2027-03-04"}
			return x.setDay(m, day{kind: onDate, year: 2000, month: 1, date: 1})
		}
		if mark == '-' && a <= 12 && b <= 12 {
			return false
		}
		x.setAnnual(m, month, date)
		if mark == '-' {
			m.day.needs = 'w'
		}
		if mark != '.' {
			m.subs = []sub{{x.off(), x.stop(), fmt.Sprintf("%d %s", date, time.Month(month))}}
		}
		return true
	}
}

// atDate reads at(1)'s MMDDYYYY and MMDDYY, the latter beside a time of day, unless the day may as well come first.
func atDate(x *found, m *meaning) bool {
	t := x.tok(0)
	n, year := int(t.n)/100, 2000+int(t.n)%100
	if t.digits == 8 {
		if n, year = int(t.n)/10000, int(t.n)%10000; year < 1900 || int(t.n)/10000 >= 1900 && int(t.n)/100%100 >= 1 && int(t.n)/100%100 <= 12 {
			return false
		}
	}
	month, date := n/100, n%100
	if month != date && date >= 1 && date <= 12 && month >= 1 && month <= 12 {
		m.err = &refusal{code: CodeAmbiguous, why: "the order of day and month in " + x.text() + " is not known", off: x.off(), end: x.stop(),
			readings: []string{fmt.Sprintf("%04d-%02d-%02d", year, month, date), fmt.Sprintf("%04d-%02d-%02d", year, date, month)}}
		ok := x.setDay(m, day{kind: onDate, year: int16(year), month: int8(month), date: int8(date)})
		if t.digits == 6 {
			m.day.needs = 'c'
		}
		return ok
	}
	ok := x.setDate(m, year, month, date)
	if t.digits == 6 {
		m.day.needs = 'c'
	}
	return ok
}

// monthlyDay reads "the 5th". A lone "second" is none.
func monthlyDay(x *found, m *meaning) bool {
	o := x.of(0)
	x.setDay(m, day{kind: onMonth, date: int8(min(o.n, 100))})
	switch the := x.says("the"); {
	case o.n < 1 || o.n > 31:
		m.err = &refusal{why: fmt.Sprintf("no month has a day %d", o.n)}
	case o.q.whole == 1 && !the:
		m.err = &refusal{why: quoted(x.text()) + " alone is no day", hint: `say it as in "the second"`, say: "say %q for the day of the month",
			off: x.off(), end: x.off(), readings: []string{"the "}}
	}
	return true
}

// dayOfMonth reads "on the 15".
func dayOfMonth(x *found, m *meaning) bool {
	next := &x.p.toks[x.end]
	return !x.hourFollows() && !next.is(cUnit|cMonth|cNum) && (next.gap || next.mark() == 0 || next.mark() == ',') && x.setDay(m, day{kind: onMonth, date: int8(x.tok(0).n)})
}

func (x *found) monthlyShift(m *meaning, shift int32) bool {
	n := x.of(0).n
	if n < 1 || n > 31 {
		return false
	}
	return x.setDay(m, day{kind: onMonth, date: int8(n), named: true, shift: shift})
}

func monthlyIn(x *found, m *meaning) bool {
	if x.says("next") || x.says("coming") {
		return x.monthlyShift(m, 1)
	}
	return x.monthlyShift(m, 0)
}

func monthlyNext(x *found, m *meaning) bool { return x.monthlyShift(m, 1) }

// monthYear is a month in m.n, with its year in m.q, or so many months from this one in m.q.nano.
func monthYear(x *found, m *meaning) bool {
	m.n = int(x.tok(0).month)
	if x.has(1) {
		m.q.whole = x.tok(1).n
	}
	return x.has(1) || !x.p.toks[x.end].is(cYear) || x.p.toks[x.end+1].mark() == ':'
}

func monthNextYear(x *found, m *meaning) bool {
	m.n = int(x.tok(0).month)
	m.q.whole = int64(reading(x.p.opts.Now, x.p.opts.Zone).Year() + 1)
	return true
}

func monthFrom(months int64) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool {
		m.q.nano = months
		return true
	}
}

// nthOf reads "the first monday of may", "the last day of the month" and "the 3rd day of may".
func nthOf(x *found, m *meaning) bool {
	d := day{kind: onNth, nth: -1}
	i := 0
	if !x.says("last") {
		d.nth = int8(min(x.of(0).n, 100))
		i++
	}
	if x.isToken(i) && x.tok(i).is(cDay) {
		d.weekday = int8(x.tok(i).day)
		i++
	}
	ref := x.of(i)
	d.month, d.year, d.shift = int8(ref.n), int16(ref.q.whole), int32(ref.q.nano)
	d.named = ref.n == 0
	if d.weekday != 0 && d.nth > 5 || d.weekday == 0 && d.nth > 31 {
		m.err = &refusal{why: "no month has that many weeks", hint: "a month has the first to the fifth, and the last"}
	}
	return x.setDay(m, d)
}

// dayOfYear reads "first day of 2027" and "last day of the year".
func dayOfYear(x *found, m *meaning) bool {
	if x.says("last") {
		return x.setDate(m, x.of(0).n, 12, 31)
	}
	n, year := x.of(0).n, x.of(1).n
	at := time.Date(year, 1, n, 0, 0, 0, 0, time.UTC)
	ok := x.setDate(m, year, int(at.Month()), at.Day())
	if n < 1 || at.Year() != year {
		m.err = &refusal{why: fmt.Sprintf("%d has no day %d", year, n)}
	}
	return ok
}

// weekdayOfYear reads "first monday of 2027" and "last friday of the year".
func weekdayOfYear(x *found, m *meaning) bool {
	i, n := 0, 0
	if !x.says("last") {
		i, n = 1, x.of(0).n
	}
	year, weekday := x.of(i+1).n, int(x.tok(i).day)-1
	on := time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC)
	on = on.AddDate(0, 0, -(int(on.Weekday())-weekday+7)%7)
	if i > 0 {
		on = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		on = on.AddDate(0, 0, (weekday-int(on.Weekday())+7)%7+7*(n-1))
	}
	ok := x.setDate(m, on.Year(), int(on.Month()), on.Day())
	if on.Year() != year {
		m.err = &refusal{why: "no year has that many weeks", hint: "name the date"}
	}
	return ok
}

// workdayOf refuses "last working day of the month", which is not said to come once or every month.
func workdayOf(x *found, m *meaning) bool {
	if x.of(0).n != 0 || x.of(0).q.nano != 0 || x.says("this") {
		m.err = &refusal{why: "working days are counted in recurrences alone", hint: "name the date"}
		return true
	}
	end := x.stop()
	begin := end
	for i := x.end - 1; i > x.begin; i-- {
		if t := &x.p.toks[i]; x.p.low[t.off:t.end] == "of" {
			begin = int(t.end)
			break
		}
	}
	m.err = &refusal{code: CodeAmbiguous, why: "it may come once or every month", off: begin, end: end, readings: []string{" every month"}}
	return true
}

// whichMonth refuses "third monday".
func whichMonth(x *found, m *meaning) bool {
	if x.of(0).n > 5 || x.p.recurs {
		return false
	}
	m.err = &refusal{code: CodeAmbiguous, why: "of which month is not said", off: x.stop(), end: x.stop(),
		readings: []string{" of this month", " of next month", " of every month"}}
	return x.setDay(m, day{kind: onNth, nth: int8(x.of(0).n), weekday: int8(x.tok(1).day), named: true})
}

// epoch reads @1735117200 and @1735117200.5, seconds since 1970 in UTC.
func epoch(x *found, m *meaning) bool {
	n, nano := x.tok(0).n, int64(0)
	if x.has(1) {
		nano = fraction(x.p.low[x.tok(1).off:x.tok(1).end])
	}
	return x.setEpoch(m, n, nano)
}

// yearBehind reads the year of "Dec 24 17:00:00 2026".
func yearBehind(x *found, m *meaning) bool {
	m.has, m.n = hasYear, int(x.tok(0).n)
	next := &x.p.toks[x.end]
	return next.is(cEnd|cAbbr|cUTC|cPlace) || next.mark() != 0
}

func epochBefore(x *found, m *meaning) bool { return x.setEpoch(m, -x.tok(0).n, 0) }

func (x *found) setEpoch(m *meaning, n, nano int64) bool {
	if n > 253402300799 || n < -62135596800 || x.tok(0).n < 0 {
		m.err = tooFar
		return true
	}
	at := time.Unix(n, nano).UTC()
	x.setDate(m, at.Year(), int(at.Month()), at.Day())
	m.day.iso = true
	m.clock = clock{hour: int8(at.Hour()), minute: int8(at.Minute()), second: int8(at.Second()), nano: int32(at.Nanosecond()), how: clockExact, off: m.day.off, end: m.day.end}
	m.zone = &zoneText{loc: time.UTC, fixed: true}
	m.has = hasDay | hasClock | hasZone
	return true
}

func onDay(x *found, m *meaning) bool {
	*m = *x.of(0)
	return m.day.kind != onOffset
}

// leading reads a day behind "at", "in" or "the", which may lead a text.
func leading(x *found, m *meaning) bool {
	*m = *x.of(0)
	return x.begin == 0 && m.day.kind != noDay && !(m.day.yearFirst && x.says("at")) && !x.p.toks[x.begin+1].is(cOrd|cTens)
}

func leadingClock(x *found, m *meaning) bool {
	return x.begin == 0 && x.of(0).clock.how&clockCompact == 0 && said(x, m)
}

func leadingTime(x *found, m *meaning) bool { return x.begin == 0 && dateTime(x, m) }

// monthAlone refuses a month without a day, offering its first.
func monthAlone(x *found, m *meaning) bool {
	first := ""
	for i := x.begin; i < x.end; i++ {
		if t := &x.p.toks[i]; t.is(cMonth) {
			first = "1 " + time.Month(t.month).String()
		}
	}
	for i := x.begin; i < x.end; i++ {
		if t := &x.p.toks[i]; t.is(cYear) {
			first += " " + strconv.FormatInt(t.n, 10)
		}
	}
	m.err = &refusal{code: CodeAmbiguous, why: "a month is no day", off: x.off(), end: x.stop(), readings: []string{first}}
	return x.setDay(m, day{kind: onDate, year: 2000, month: 1, date: 1})
}

func noDayInMonth(x *found, m *meaning) bool {
	m.err = &refusal{why: "a month is no day", hint: `add the day, as in "2027-03-15"`}
	return x.setDay(m, day{kind: onDate, year: 2000, month: 1, date: 1})
}

func vagueEnd(x *found, m *meaning) bool {
	m.err = &refusal{why: "an end is no exact time", hint: `name it, as in "last day of the month at 23:59"`}
	return true
}

func lead1(x *found, m *meaning) bool {
	m.has = hasLead
	return x.begin == 0
}

func holiday(month, date int) func(x *found, m *meaning) bool {
	return func(x *found, m *meaning) bool { return x.setAnnual(m, month, date) }
}
