package when

import (
	"fmt"
	"time"
)

// The actions of lengths of time.

// length makes a count of a unit the length of time.
func (x *match) length(m *meaning, a quantity, t *token) bool {
	s := &m.span
	// A capital M alone is minutes or months. The units before it decide.
	if t.end-t.off == 1 && x.p.text[t.off] == 'M' {
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

// item returns the action that reads a number and its unit. When the text has no number, one says
// how many units there are.
func item(one int64) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		a, t := quantity{whole: one}, x.tok(x.labelled(isUnit))
		if i := x.labelled(isCount); i >= 0 {
			a = x.of(i).q
		} else if t.is(cUnits) && !x.p.toks[x.end].is(cTime) { // in a weeks time
			return false
		}
		if t.unit == uQuarter && x.p.quarterOf(x.begin) {
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

// quarterOf reports whether the quarters that begin at a token are of the unit before them, and not
// of a year: 2 hours and three quarters.
func (p *parser) quarterOf(begin int) bool {
	joined := p.word(begin-1, "and") || begin > 0 && (p.toks[begin-1].mark() == '&' || p.toks[begin-1].mark() == ',')
	if joined {
		begin--
	}
	before := &p.toks[max(begin-1, 0)]
	return begin > 0 && (p.word(begin, "and") || before.unit != uNone && before.unit <= uHour)
}

// itemCounted reads "5 min". It leaves times of day and ordinals to other rows.
func itemCounted(x *match, m *meaning) bool {
	n, next, t := &x.p.toks[x.begin], &x.p.toks[x.begin+1], x.tok(x.labelled(isUnit))
	switch {
	case t.is(cOrd) && n.is(cTens): // twenty second
		return false
	// 18h00 day after tomorrow
	case x.begin > 0 && !n.gap && x.p.toks[x.begin-1].unit == uHour && t.unit > uHour:
		return false
	// 1530 day after tomorrow
	case n.is(cHHMM) && next == t && t.gap && t.is(cLong) && !t.is(cUnits) && t.unit >= uDay:
		return false
	case n.is(cHHMM) && next == t && x.p.low[n.off] == '0': // 0930 hours, +0200 days
		return false
	case x.p.toks[x.end-1].mark() == '.' && (t.end-t.off > 4 || !x.p.toks[x.end].gap):
		return false
	}
	return item(0)(x, m)
}

// itemOne reads "an hour".
func itemOne(x *match, m *meaning) bool {
	t := x.tok(0)
	switch {
	// 12:59a day after tomorrow
	case x.begin > 0 && !x.p.toks[x.begin].gap && x.p.toks[x.begin-1].is(cNum):
		return false
	}
	return t.gap && item(1)(x, m)
}

// itemPart reads "3/4 of an hour": a fraction only.
func itemPart(x *match, m *meaning) bool {
	i := x.labelled(isCount)
	return x.of(i).q.whole == 0 && x.of(i).q.nano != 0 && item(0)(x, m)
}

func itemQuarters(x *match, m *meaning) bool {
	n, _ := x.number(isCount)
	return n < 8 && x.length(m, quantity{n / 4, n % 4 * 25e7}, x.tok(x.labelled(isUnit)))
}

// itemClock reads "1:30 hours", which may be a time of day as well.
func itemClock(x *match, m *meaning) bool {
	h, min := x.tok(0), x.tok(1)
	if h.digits > 1 {
		return false
	}
	m.span = span{elapsed: time.Duration(h.n)*time.Hour + time.Duration(min.n)*time.Minute, units: 1<<uHour | 1<<uMinute}
	m.rewrites = []rewrite{{x.off(), x.stop(), fmt.Sprintf("%dh%dm", h.n, min.n)}}
	return true
}

// itemHours reads "an hour thirty" and "2 hours and 10", in which the second number is of minutes.
func itemHours(x *match, m *meaning) bool {
	hours, minutes := quantity{whole: 1}, x.of(x.labelled(isMinute)).q
	if i := x.labelled(isCount); i >= 0 {
		hours = x.of(i).q
	}
	last := x.p.toks[x.end-1].gap && x.p.toks[x.end].is(cEnd) || x.p.word(x.end, "from", "later", "hence", "ago")
	m.span = span{elapsed: time.Duration(hours.whole)*time.Hour + time.Duration(minutes.whole)*time.Minute, units: 1<<uHour | 1<<uMinute}
	return last && !x.p.recurs && hours.nano+minutes.nano == 0 && hours.whole < 1000 && minutes.whole >= 10 && minutes.whole < 60
}

// joinDigits joins two lengths with nothing between them. The second must begin with a number.
func joinDigits(x *match, m *meaning) bool {
	t := &x.p.toks[x.p.res[x.at[0]].end]
	return (t.is(cNum|cLow|cTens) || t.mark() == '.') && join2(x, m)
}

// join2 adds the second length to the first.
func join2(x *match, m *meaning) bool {
	a, b := x.of(0), x.of(1)
	t := x.p.resEnd(x.at[0])
	if x.p.toks[t].mark() == ',' {
		t++
	}
	// "in 2 days 1700 hours": the second is a time of day
	if x.p.toks[t].is(cHHMM) && x.p.toks[t+1].unit == uHour && x.p.toks[t+1].gap {
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
	m.rewrites = nil
	return true
}

// isoSpan reads a duration of ISO 8601: PT15M, P1DT12H, P2W, P1Y6M. The units come in their order,
// and only the last may have a decimal.
func isoSpan(x *match, m *meaning) bool {
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
		if i < len(text) && (text[i] == '.' || text[i] == ',') {
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

func bareSpan(x *match, m *meaning) bool {
	*m = *x.of(0)
	m.has, m.span.bare = hasSpan, true
	return true
}

func spanAhead(x *match, m *meaning) bool {
	*m = *x.of(0)
	m.has, m.rewrites = hasSpan, nil
	m.span.lasting = x.says("for")
	return true
}

func spanBack(x *match, m *meaning) bool {
	if t := &x.p.toks[x.begin+1]; t.mark() == '-' && !t.gap { // in-5-minutes
		return false
	}
	*m = *x.of(0)
	m.has, m.span = hasSpan, m.span.negated()
	m.span.one = uNone
	return true
}

// spanHours reads "in 1h30". After "in", it cannot be a time of day.
func spanHours(x *match, m *meaning) bool {
	m.has = hasSpan
	m.span = span{elapsed: time.Duration(x.tok(0).n)*time.Hour + time.Duration(x.tok(1).n)*time.Minute}
	return true
}

// inClock refuses "in 1:30" and "for 1:30".
func inClock(x *match, m *meaning) bool {
	h, min := x.tok(0).n, x.tok(1).n
	m.has = hasSpan
	first := &x.p.toks[x.begin]
	m.err = either("it may be a length or a time of day", x.off(), x.stop(), fmt.Sprintf("%s %dh%dm", x.p.text[first.off:first.end], h, min), fmt.Sprintf("at %d:%02d", h, min))
	return true
}

// increment returns the action that reads "+ 3 days". It counts from what stands before it, or from
// now.
func increment(negative bool) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		s := x.of(0).span
		m.err = x.of(0).err
		if negative {
			s = s.negated()
		}
		// 25-12-26 minutes, six forty-three minutes
		if t := &x.p.toks[x.begin]; negative && x.begin > 0 && !t.gap && x.p.toks[x.begin-1].is(cNum|cMonth|cLow|cTens) {
			return false
		}
		if s.one = uNone; x.begin == 0 {
			m.has, m.span = hasSpan, s
			return true
		}
		if x.says("now") {
			return false
		}
		m.increments = []span{s}
		return true
	}
}

func nextUnit(x *match, m *meaning) bool {
	t := x.tok(0)
	if t.unit < uMinute || t.is(cUnits) {
		return false
	}
	m.has = hasSpan
	ok := x.length(m, quantity{whole: 1}, t)
	m.span.next = true
	return ok
}

func nextCount(x *match, m *meaning) bool {
	m.has = hasSpan
	return x.length(m, x.of(0).q, x.tok(1))
}

// lastUnit reads "last week" and "the past 2 days".
func lastUnit(x *match, m *meaning) bool {
	n := quantity{whole: 1}
	if x.has(0) {
		n = x.of(0).q
	}
	m.has = hasSpan
	ok := (x.has(0) || !x.tok(1).is(cUnits)) && x.length(m, n, x.tok(1))
	m.span = m.span.negated()
	return ok
}

// shift notes a length that is added to what follows: "2 hours after".
func (x *match) shift(m *meaning, s span, back bool) bool {
	next := &x.p.toks[x.end]
	// a quarter after nine
	hour := s.units == 1<<uQuarter && (next.is(cNum|cLow|cTens) || x.p.word(x.end, "noon", "midday", "midnight"))
	if next.is(cEnd) || x.p.word(x.end, "now") || hour {
		return false
	}
	if back {
		s = s.negated()
	}
	m.has, m.increments = hasShift, []span{s}
	return true
}

func shiftBy(back bool) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		m.err = x.of(0).err
		return x.shift(m, x.of(0).span, back)
	}
}

// shiftUnit reads the "week from" of "1530 week from tomorrow", in which an article is missing.
func shiftUnit(x *match, m *meaning) bool {
	var s meaning
	ok := x.begin > 0 && x.p.toks[x.begin-1].is(cHHMM) && x.tok(0).unit >= uDay && item(1)(x, &s)
	return ok && x.shift(m, s.span, false)
}

// shiftOn reads the "a week on" of "a week on friday".
func shiftOn(x *match, m *meaning) bool {
	s := x.of(0).span
	return x.p.toks[x.end].is(cDay) && s.months == 0 && s.elapsed == 0 && s.days > 0 && s.days%7 == 0 && x.shift(m, s, false)
}

// dayShift returns the action that reads "the day after". A day must follow.
func dayShift(back bool) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		return !x.p.word(x.end, "tomorrow", "yesterday") && x.shift(m, span{days: 1, calendar: true, next: true}, back)
	}
}

func now(x *match, m *meaning) bool {
	m.has = hasNow
	return true
}
