package when

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// The actions of times of day.

// meridiem reads am and p.m. with the point behind it, if there is one.
func meridiem(x *match, m *meaning) bool {
	m.n = int(x.p.low[x.tok(0).off])
	next := &x.p.toks[x.end]
	return next.gap || next.mark() != '.'
}

func seconds(x *match, m *meaning) bool {
	m.n = int(x.tok(0).n)
	if x.has(1) {
		m.q.nano = fraction(x.p.low[x.tok(1).off:x.tok(1).end])
	}
	return true
}

// setClock makes c the time of day. It reports false when a day has no such time.
func (x *match) setClock(m *meaning, c clock) bool {
	if c.mer != 0 && (c.hour < 1 || c.hour > 12) || c.hour > 24 || c.minute > 59 || c.hour == 24 && (c.minute != 0 || c.second != 0 || c.nano != 0) {
		return false
	}
	c.off, c.end = uint16(x.off()), uint16(x.stop())
	m.has, m.clock = hasClock, c
	return true
}

// clockOf returns the time of day that the labelled captures say. A number of three digits or more
// is hours and minutes. It reports false when there is no such time.
func (x *match) clockOf(how uint16) (clock, bool) {
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

// clockAs returns the action that reads a time of day and notes in how the way in which it was
// written.
func clockAs(how uint16) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		c, ok := x.clockOf(how)
		return ok && x.setClock(m, c)
	}
}

// mer returns the am or pm of a capture as 'a' or 'p', or 0 without one. The text must end after a
// letter alone, as in 5p.
func (x *match) mer(i int) (byte, bool) {
	switch {
	case i < 0:
		return 0, true
	case !x.isToken(i):
		return byte(x.of(i).n), true
	}
	next, after := &x.p.toks[x.end], &x.p.toks[min(x.end+1, x.p.n)]
	return x.p.low[x.tok(i).off], next.gap || next.mark() == ',' || next.mark() == '.' && after.gap
}

// orLength notes how to write a time of day that may be a length as well.
func (x *match) orLength(m *meaning) {
	m.rewrites = []rewrite{{x.off(), x.stop(), fmt.Sprintf("%d:%02d", m.clock.hour, m.clock.minute)}}
}

// clockHours reads 18:30 hrs. 1:30 hours may be a length as well.
func clockHours(x *match, m *meaning) bool {
	ok := clockAs(clockColon)(x, m)
	if x.tok(0).digits == 1 {
		x.orLength(m)
	}
	return ok
}

// clockPointH reads 17.30h, which may be a decimal number of hours as well.
func clockPointH(x *match, m *meaning) bool {
	ok := clockAs(0)(x, m) && m.clock.hour > 12
	x.orLength(m)
	return ok
}

// clockFourHours reads 0930 hours. 1800 hours may be a length as well.
func clockFourHours(x *match, m *meaning) bool {
	zero := x.p.low[x.off()] == '0'
	if !x.p.toks[x.end-1].gap && !zero || x.p.opts.Form == DelayForm || !clockAs(0)(x, m) {
		return false
	}
	if !zero {
		x.orLength(m)
	}
	return true
}

// clockHundred reads "eighteen hundred". "Two hundred" is a count only.
func clockHundred(x *match, m *meaning) bool {
	hour, _ := x.number(isHour)
	return hour >= 13 && hour < 24 && clockAs(0)(x, m)
}

// clockWords reads "five thirty".
func clockWords(x *match, m *meaning) bool {
	minute, _ := x.number(isMinute)
	return minute >= 10 && clockAs(clockSpoken)(x, m)
}

// timeBehindDate reads the T10:00 of an ISO 8601 date. In a recurrence it belongs to a bound, which
// reads it itself.
func timeBehindDate(x *match, m *meaning) bool {
	*m = *x.of(0)
	m.clock.settle()
	x.minutesOrOffset(m)
	return !x.p.recurs
}

func clockPoint(x *match, m *meaning) bool {
	next, after := &x.p.toks[x.end], &x.p.toks[min(x.end+1, x.p.n)]
	return (next.gap || next.mark() != '.' || !after.is(cNum) || after.gap) && clockAs(clockDotted)(x, m)
}

// clockHourAlone reads a number alone as an hour. Whether the rest of the text makes it one is
// decided when the whole text is read.
func clockHourAlone(x *match, m *meaning) bool {
	next := &x.p.toks[x.end]
	switch mark := next.mark(); {
	case next.gap || mark == 0 || mark == ',' || mark == '(' || mark == '/' || mark == '-' && x.p.recurs:
	case mark != '.' || !x.p.toks[x.end+1].gap:
		return false
	}
	return clockAs(clockBare|clockLone)(x, m) && m.clock.hour < 24
}

// clockH reads 1h30, 18h, 09h and 2230h, which may be lengths as well. Behind "at", 9h is a time.
func clockH(x *match, m *meaning) bool {
	_, digits := x.number(isHour)
	next := &x.p.toks[x.end]
	switch minutes := x.labelled(isMinute) >= 0; {
	// 1d 12h UTC
	case digits <= 2 && !minutes && x.begin > 0 && x.p.toks[x.begin-1].is(cUnit) && next.is(cAbbr|cUTC|cZoneName):
		return false
	case digits > 2 && x.p.opts.Form == DelayForm, minutes && next.is(cUnit) && next.unit <= uHour:
		return false
	case next.is(cAbbr | cUTC | cZoneName):
	case digits <= 2 && !minutes && (x.tok(0).n <= 12 && x.p.low[x.off()] != '0' && !x.p.word(x.begin-1, "at") || !next.gap):
		return false
	}
	return clockAs(clockLength)(x, m) && m.clock.hour < 24
}

// clockThree reads the 730 of "at 730 in the evening".
func clockThree(x *match, m *meaning) bool {
	return x.tok(0).digits == 3 && clockAs(clockThreeDigits)(x, m)
}

// isoClock reads 093015 and 093015.5.
func isoClock(x *match, m *meaning) bool {
	n := x.tok(0).n
	c := clock{hour: int8(n / 10000), minute: int8(n / 100 % 100), second: int8(n % 100), how: clockExact}
	if x.has(1) {
		c.nano = int32(fraction(x.p.low[x.tok(1).off:x.tok(1).end]))
	}
	return c.second < 60 && x.setClock(m, c)
}

// hourOf reads the hour after "past" and "to".
func hourOf(x *match, m *meaning) bool {
	next := &x.p.toks[x.end]
	if !clockAs(0)(x, m) || next.mark() == ':' && !next.gap || next.mark() == '.' && x.p.toks[x.end+1].is(cNum) {
		return false
	}
	return m.clock.hour < 24 && (m.clock.mer != 0 || !next.is(cUnit) || next.unit == uHour || next.unit == uSecond)
}

func clockNamed(name byte, hour int8) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool { return x.setClock(m, clock{hour: hour, name: name}) }
}

// clock12 reads "12 noon" and "12:00 midnight".
func clock12(name byte, hour int8) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		return x.tok(0).n == 12 && (!x.has(1) || x.tok(1).n == 0) && x.setClock(m, clock{hour: hour, name: name})
	}
}

// spokenAt sets the time that is so many minutes after the hour h, or before it when minutes is
// negative.
func (x *match) spokenAt(m *meaning, minutes int, h clock) bool {
	total := (h.hour24()*60 + minutes + 24*60) % (24 * 60)
	c := clock{hour: int8(total / 60), minute: int8(total % 60)}
	if h.mer == 0 && h.name == 0 {
		c.how = clockSpoken
	} else {
		c.settle()
	}
	return x.setClock(m, c)
}

// settle gives an hour of the 24-hour clock its am or pm, so that no part of the day changes it.
func (c *clock) settle() {
	if c.hour == 24 {
		return
	}
	if c.mer = 'a'; c.hour >= 12 {
		c.mer = 'p'
	}
	c.hour = (c.hour+11)%12 + 1
}

func spoken(minutes int) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool { return x.spokenAt(m, minutes, x.of(0).clock) }
}

// spokenCount reads "20 past 3pm" and "ten to six". "5 to 6" and "nine to five" may be ranges: of
// words, only five and ten are said so without "minutes". "20 to 6pm" cannot be one.
func spokenCount(sign int) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool {
		n := x.of(0).q
		var why *refusal
		minutes := x.says("minutes") || x.says("minute") || x.says("min") || x.says("mins")
		h := x.of(1).clock
		hours := n.whole <= 12 && n.whole != 5 && n.whole != 10
		if x.p.toks[x.begin].is(cNum) {
			hours = n.whole <= 12 || n.whole <= 24 && h.mer == 0 && h.name == 0
		}
		// 12 to 16 september, july 13 to 15
		dated := x.p.toks[x.end].is(cMonth) || x.p.word(x.end, "of") || x.begin > 0 && x.p.toks[x.begin-1].is(cMonth)
		only := x.says("of") || x.says("before") // ten of six pm
		if only && (n.whole%5 != 0 || h.mer == 0 && h.name == 0 || x.begin > 0 && x.p.toks[x.begin-1].is(cMonth|cTens)) {
			return false
		}
		if n.nano != 0 || n.whole < 1 || n.whole > 59 || dated && sign < 0 && hours && !minutes && h.mer == 0 && h.name == 0 {
			return false
		}
		if sign < 0 && hours && !minutes && !only && x.p.mayBeRange(int(n.whole), &h) {
			why = either("it may be a range, or minutes before the hour", x.off(), x.stop(), minutesOrRange(int(n.whole), h)...)
		}
		ok := x.spokenAt(m, sign*int(n.whole), h)
		m.err = why
		return ok
	}
}

// mayBeRange reports whether "10 to 6" may begin at ten, by the part of the day beside it: "20 to 6
// this evening" and "10 to 9 tomorrow morning" cannot.
func (p *parser) mayBeRange(n int, h *clock) bool {
	i := slices.IndexFunc(p.toks[:p.n], func(t token) bool { return t.is(cDayPart) })
	if i < 0 || p.recurs || p.toks[i].dayPart == night || h.hour > 12 {
		return true
	}
	if n > 12 {
		return p.toks[i].dayPart == morning
	}
	return (int(h.hour)-n+12)%12 < 10
}

// minutesOrRange returns what "10 to 6pm" may be: ten minutes before six, the begin of a range, and
// its end. When nothing says which half of the day it is, only the first is known, in both.
func minutesOrRange(n int, h clock) []string {
	at := func(hour, minute int) string { return fmt.Sprintf("%d:%02d", (hour+24)%24, minute) }
	end, half := h.hour24(), h.mer == 0 && h.name == 0 && h.hour <= 12
	list := []string{at(end-1, 60-n)}
	switch {
	case half: // the last two are times when a part of the day follows
		return append(list, at(end+11, 60-n), strconv.Itoa(n), strconv.Itoa(int(h.hour)))
	case n <= 12 && h.mer == 0 && h.name == 0:
		list = append(list, at(n, 0))
	case n <= 12:
		list = append(list, at(hourBefore(n, end), 0))
	default:
		list = append(list, at(n, 0))
	}
	return append(list, at(end, 0))
}

// hourBefore returns the last hour before another that a clock of twelve hours shows as n.
func hourBefore(n, end int) int {
	if n %= 12; n+12 < end || n >= end {
		n += 12
	}
	return n
}

// spokenHalf refuses "half eight", which is 8:30 to some and 7:30 to others.
func spokenHalf(x *match, m *meaning) bool {
	h := x.of(0).clock
	if h.name != 0 {
		return false
	}
	text := x.p.text
	hour := text[x.p.toks[x.begin+1].off:x.stop()]
	ok := x.spokenAt(m, 30, h)
	m.err = either("it is half past that hour to some and half an hour before it to others", x.off(), x.stop(), "half past "+hour, "thirty minutes to "+hour)
	return ok
}

func afterAt(x *match, m *meaning) bool {
	*m = *x.of(0)
	// by 5 december nine in the morning
	dated := m.clock.how&clockLone != 0 && x.p.toks[x.end-1].is(cNum) && x.p.toks[x.end].is(cMonth) && x.p.toks[x.end+1].is(cLow|cTens) && !x.p.toks[x.end+2].is(cEnd)
	m.clock.how = m.clock.how&^clockLone | clockAfterAt
	m.rewrites = nil
	return !dated
}

// clockDashed reads the "- 5pm" of "friday - 5pm": a dash with space on both sides, after a day.
func clockDashed(x *match, m *meaning) bool {
	if x.begin == 0 || !x.p.toks[x.begin].gap || !x.p.toks[x.begin+1].gap || x.p.recurs {
		return false
	}
	before := &x.p.toks[x.begin-1]
	dated := before.is(cYear) || x.begin > 1 && x.p.toks[x.begin-2].mark() == '-'
	return (!before.is(cNum|cMer|cDays) || dated) && afterAt(x, m)
}

// afterSpacedAt reads "@ 3", and the @3 behind a day. Alone, @3 is a second since 1970.
func afterSpacedAt(x *match, m *meaning) bool {
	return (x.begin > 0 || x.p.toks[x.begin+1].gap) && afterAt(x, m)
}

// untilHour reads the 5 of "until 5". Nothing says which half of the day is meant, so it stays
// ambiguous.
func untilHour(x *match, m *meaning) bool { return x.begin == 0 && !x.p.recurs && afterAt(x, m) }

func minuteAt(minute int8) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool { return x.setClock(m, clock{minute: minute, how: clockMinute}) }
}

func thisTime(x *match, m *meaning) bool {
	wall := civil.Wall(x.p.opts.Now, x.p.opts.Zone)
	return x.setClock(m, clock{hour: int8(wall.Hour()), minute: int8(wall.Minute()), second: int8(wall.Second()), nano: int32(wall.Nanosecond()), how: clockNow | clockExact | clockAfterAt})
}

// noClock refuses 25:99 and 13pm.
func noClock(x *match, m *meaning) bool {
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
	m.err = &refusal{why: "there is no " + fault.Quoted(x.text()), hint: hint}
	return true
}

// bothTimes reads "8am and pm" as two times.
func bothTimes(x *match, m *meaning) bool {
	h := x.tok(0)
	c := clock{hour: int8(h.n), mer: x.p.low[x.tok(1).off], off: h.off, end: h.end}
	m.clock, m.more = c, []clock{c}
	m.more[0].mer = x.p.low[x.tok(2).off]
	return m.clock.mer != m.more[0].mer
}

// bothHalves refuses "8am/pm".
func bothHalves(x *match, m *meaning) bool {
	h := x.tok(0)
	hour := x.p.text[x.off():h.end]
	m.has = hasClock
	m.err = either("it names two times, and one is asked for", x.off(), x.stop(), hour+"am", hour+"pm")
	return true
}

func noFour(x *match, m *meaning) bool {
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

// rangeOfTimes refuses two times, a begin and an end, where one instant is asked for.
func rangeOfTimes(x *match, m *meaning) bool {
	if x.p.recurs { // see window1
		return false
	}
	// 10:00-11:00 may be a time with an offset.
	for i := x.begin + 1; i < x.end-1; i++ {
		if t := &x.p.toks[i]; t.mark() == '-' && !x.p.toks[i+1].gap && x.p.toks[i+1].is(cN2) && x.p.toks[i+1].n <= 14 && x.p.toks[i+2].mark() == ':' {
			return false
		}
	}
	if next := &x.p.toks[x.begin+1]; x.p.toks[x.begin].is(cYear) && next.mark() == '-' && !next.gap {
		return false // 2026-11-31
	}
	var ends [2]clock
	for i := range ends {
		if ends[i] = x.clockAt(i); ends[i].how&clockLone != 0 && (x.p.toks[x.end].is(cMonth) || x.p.word(x.end, "of") || x.begin > 0 && x.p.toks[x.begin-1].is(cMonth)) {
			return false // 12 to 16 september, july 13 through 15
		}
	}
	m.has = hasClock
	m.err = &refusal{code: fault.CodeAmbiguous, why: "it names two times, and one is asked for", hint: "name one of them", off: x.off(), end: x.stop(), readings: x.p.rangeEnds(ends)}
	// 13:30 -0600, 2017 - 6:37am
	last := &x.p.toks[x.end-1]
	mixed := (ends[0].how^ends[1].how)&clockCompact != 0
	return !mixed || !x.p.toks[x.begin].is(cYear) && !last.is(cYear) && (last.gap || !last.is(cHHMM))
}

// rangeOfBounds refuses "friday 9am to saturday noon" where one instant is asked for.
func rangeOfBounds(x *match, m *meaning) bool {
	const both = hasDay | hasClock
	a, b, last := x.of(0), x.of(1), x.p.resEnd(x.at[0])
	sign := &x.p.toks[last]
	if x.p.recurs || a.has != both || b.has&^both != 0 || x.p.word(last, "and") && !x.says("between") || sign.mark() == '-' && !(sign.gap && x.p.toks[last+1].gap) {
		return false
	}
	m.has = both
	m.err = &refusal{code: fault.CodeAmbiguous, why: "it names two times, and one is asked for", hint: "name one of them"}
	if a.has == b.has {
		first := x.begin
		if x.p.word(first, "between", "from") {
			first++
		}
		m.err.off, m.err.end = x.off(), x.stop()
		m.err.readings = []string{x.p.text[x.p.toks[first].off:x.p.toks[last-1].end], x.p.text[x.p.toks[last+1].off:x.stop()]}
	}
	return true
}

// clockAt returns the time of day of a capture, which may be a number alone.
func (x *match) clockAt(i int) clock {
	if !x.isToken(i) {
		return x.of(i).clock
	}
	t := x.tok(i)
	return clock{hour: int8(t.n), how: clockBare | clockLone, off: t.off, end: t.end}
}

// rangeEnds returns the begin and the end of a range of times as texts. When only one of them has
// am or pm, the other is the one that makes the range the shortest: 11 to 3pm begins at 11:00.
// Numbers alone give no texts, unless a part of the day stands beside them.
func (p *parser) rangeEnds(ends [2]clock) []string {
	const day = 24 * 60
	var ways [2][]int
	for i := range ends {
		c, other := &ends[i], &ends[1-i]
		ways[i] = []int{c.hour24()*60 + int(c.minute)}
		known := func(c *clock) bool { return c.mer != 0 || c.name != 0 }
		switch {
		case known(c):
		case known(other) && c.hour > 0 && c.hour <= 12 && p.low[c.off] != '0':
			am := int(c.hour)%12*60 + int(c.minute)
			ways[i] = []int{am, am + day/2}
		case c.bare() && other.bare() && p.hasClass(cDayPart): // 5 - 6 tonight
			return []string{p.text[ends[0].off:ends[0].end], p.text[ends[1].off:ends[1].end]}
		// 2014 to 2018
		case c.bare() && other.bare(), c.how&other.how&clockCompact != 0 && p.low[c.off] != '0' && p.low[other.off] != '0':
			return nil
		}
	}
	at, shortest := [2]int{}, day
	for _, begin := range ways[0] {
		for _, end := range ways[1] {
			if length := (end - begin + day - 1) % day; length < shortest {
				at, shortest = [2]int{begin, end}, length
			}
		}
	}
	var texts []string
	for i, c := range ends {
		text := p.text[c.off:c.end]
		if c.how&(clockLone|clockDotted|clockLength|clockThreeDigits) != 0 || at[i] != ways[i][0] || len(ways[i]) > 1 && c.hour == 12 {
			text = fmt.Sprintf("%d:%02d", at[i]/60, at[i]%60)
		}
		texts = append(texts, text)
	}
	return texts
}

// rangeOfHours refuses the 9-17 of "tomorrow 9-17". Without am and pm, an hour above 12 must say
// that they are hours of the 24-hour clock.
func rangeOfHours(x *match, m *meaning) bool {
	first, last := x.tok(0), x.tok(1)
	next := &x.p.toks[x.end]
	if !next.is(cEnd) && (!next.gap || next.is(cUnit|cMonth|cNum|cMer)) || x.p.recurs || x.begin > 0 && !first.gap {
		return false
	}
	m.has = hasClock
	m.err = &refusal{code: fault.CodeAmbiguous, why: "it may be a range", hint: "name one time of day"}
	if last.n > 12 && last.n > first.n {
		m.err.off, m.err.end, m.err.readings = x.off(), x.stop(), []string{fmt.Sprintf("%d:00", first.n), fmt.Sprintf("%d:00", last.n)}
	}
	return true
}

// The actions of parts of the day.

func partOfDay(x *match, m *meaning) bool {
	m.has, m.dayPart = hasDayPart, x.tok(0).dayPart
	if x.begin < x.end-1 { // in the morning, at night
		m.clock.how = clockAfterAt
	}
	return m.dayPart == night || !x.says("at")
}

func (x *match) partOn(m *meaning, part uint8, days int32) bool {
	m.dayPart = part
	ok := x.setDay(m, day{kind: onOffset, shift: days})
	m.has = hasDayPart | hasDay
	return ok
}

func thisPart(x *match, m *meaning) bool  { return x.partOn(m, x.tok(0).dayPart, 0) }
func tonight(x *match, m *meaning) bool   { return x.partOn(m, night, 0) }
func lastNight(x *match, m *meaning) bool { return x.partOn(m, night, -1) }
