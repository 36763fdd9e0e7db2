package when

import (
	"fmt"
	"strconv"
	"time"
)

// clock is a time of day as a text has it.
type clock struct {
	set                        bool
	hour, minute, second, nano int
	mer                        word // wAM, wPM or wNone
	bare                       bool // an hour alone, without minutes or am and pm: 7
	lone                       bool // nothing but its place says that the number is an hour
	compact                    bool // 0930, without a mark between
	dotted                     bool // 9.15, which is a decimal number as well
	hform                      bool // 1h30, which is a length as well
	spoken                     bool // quarter past 5
	exact                      bool // written with its seconds
	name                       word // wNoon, wMidnight, wTeatime
	off, end                   int  // where it stands in the text
}

// setClock claims the time of day, which began at token from.
func (p *parser) setClock(m *moment, c clock, from int) bool {
	if m.clock.set || m.now {
		return p.fail("it names two times", "leave one of the two out")
	}
	c.set = true
	c.off, c.end = int(p.toks[from].off), int(p.toks[p.i-1].end)
	switch {
	case c.mer != wNone && (c.hour < 1 || c.hour > 12):
		return p.fail("there is no "+quoted(p.text[c.off:c.end]), "hours with am and pm are 1 to 12")
	case c.hour > 24 || c.minute > 59 || c.second > 59,
		c.hour == 24 && (c.minute != 0 || c.second != 0 || c.nano != 0):
		return p.fail("there is no "+quoted(p.text[c.off:c.end]), "hours are 0 to 23, minutes and seconds 0 to 59")
	}
	m.clock = c
	return true
}

// meridiem reads am, pm, a.m. and p.m., with or without the last point, and the letter alone after digits: 5p.
func (p *parser) meridiem() word {
	t := p.at(0)
	switch {
	case t.role == wAM || t.role == wPM:
		p.i++
		if p.isMark(0, '.') && p.joined(0) {
			p.i++
		}
		return t.role
	case t.kind != tWord || t.end-t.off != 1:
		return wNone
	}
	w := wNone
	switch p.low[t.off] {
	case 'a':
		w = wAM
	case 'p':
		w = wPM
	default:
		return wNone
	}
	if p.isMark(1, '.') && p.is(2, "m") && p.joined(1) {
		p.i += 3
		if p.isMark(0, '.') && p.joined(0) {
			p.i++
		}
		return w
	}
	if p.i > 0 && p.toks[p.i-1].kind == tNum && !t.gap && !p.joined(1) {
		p.i++
		return w
	}
	return wNone
}

// oclock reads "o'clock" and "o clock".
func (p *parser) oclock() bool {
	switch {
	case p.at(0).role == wClock:
		p.i++
	case p.is(0, "o") && p.is(1, "clock"):
		p.i += 2
	default:
		return false
	}
	return true
}

// two reads a number of exactly two digits, joined to the mark before it.
func (p *parser) two(k int) (int, bool) {
	t := p.at(k)
	return int(t.n), t.kind == tNum && t.digits == 2 && !t.gap
}

// clockDigits reads a time of day that begins with digits and is marked as one: 22:30, 9.15am, 10pm, 5 o'clock, 10h30, 12
// noon. It reports done when the text can be nothing else.
func (p *parser) clockDigits(m *moment, link word) (ok, done bool) {
	from := p.i
	t := p.at(0)
	if t.n < 0 || t.digits > 4 {
		return false, false
	}
	c := clock{hour: int(t.n)}
	next := p.at(1)
	minute, isTwo := p.two(2)
	short := t.digits <= 2
	switch {
	case next.mark == ':' && !next.gap && short:
		if !isTwo {
			return false, false
		}
		c.minute = minute
		p.i += 3
		p.seconds(&c)
		if c.mer = p.meridiem(); c.mer == wNone && (p.at(0).unit == uHour || p.oclock()) {
			if p.at(0).unit == uHour { // 14:00 hrs
				p.i++
			}
		}
		p.named12(&c)
	case next.mark == '.' && !next.gap && short && isTwo && p.at(3).unit == uNone &&
		!(p.isMark(3, '.') && p.at(4).kind == tNum):
		c.minute = minute
		p.i += 3
		if c.mer = p.meridiem(); c.mer == wNone {
			c.dotted = link != wAt && m.day == noDay
			if c.hour > 24 || c.minute > 59 {
				p.i = from
				return false, false
			}
		}
	case p.is(1, "h") && !next.gap && short && isTwo && p.at(3).unit == uNone && minute < 60 && c.hour < 24:
		c.minute = minute
		c.hform = link != wAt && m.day == noDay
		p.i += 3
	default:
		p.i++
		if c.mer = p.meridiem(); c.mer != wNone {
			if !short { // 1030pm
				c.hour, c.minute = c.hour/100, c.hour%100
			}
			p.named12(&c)
			break
		}
		if !short {
			p.i = from
			return false, false
		}
		if p.oclock() {
			c.bare = true
			if c.mer = p.meridiem(); c.mer != wNone {
				c.bare = false
			}
			break
		}
		if !p.named12(&c) {
			p.i = from
			return false, false
		}
	}
	if link == wIn && c.mer == wNone && c.name == wNone && !c.bare { // in 1:30
		in := int(p.toks[from-1].off)
		return p.unclear("it may be a length or a time of day", in, int(p.toks[p.i-1].end),
			fmt.Sprintf("in %dh%dm", c.hour, c.minute), fmt.Sprintf("at %d:%02d", c.hour, c.minute)), true
	}
	return p.setClock(m, c, from), true
}

// seconds reads :SS and a fraction after it.
func (p *parser) seconds(c *clock) {
	second, ok := p.two(1)
	if !ok || !p.isMark(0, ':') || !p.joined(0) {
		return
	}
	c.second, c.exact = second, true
	p.i += 2
	if (p.isMark(0, '.') || p.isMark(0, ',')) && p.joined(0) && p.at(1).kind == tNum && p.joined(1) {
		f := p.at(1)
		c.nano = int(fraction(p.low[f.off:f.end]))
		p.i += 2
	}
}

// named12 reads the name after 12 or 12:00 in "12 noon" and "12 midnight".
func (p *parser) named12(c *clock) bool {
	role := p.at(0).role
	if c.hour != 12 || c.minute != 0 || c.mer != wNone || role != wNoon && role != wMidnight {
		return false
	}
	p.i++
	c.name = role
	if role == wMidnight {
		c.hour = 0
	}
	return true
}

// isoClock reads the time of an ISO 8601 text, after its T: 09, 09:30, 09:30:15.5, 0930, 093015.
func (p *parser) isoClock(m *moment) bool {
	from := p.i
	t := p.at(0)
	if t.kind != tNum {
		return false
	}
	var c clock
	switch t.digits {
	case 2:
		c.hour = int(t.n)
		p.i++
		if minute, ok := p.two(1); ok && p.isMark(0, ':') && p.joined(0) {
			c.minute = minute
			p.i += 2
			p.seconds(&c)
		}
	case 4, 6:
		n := int(t.n)
		if t.digits == 6 {
			c.second, c.exact = n%100, true
			n /= 100
		}
		c.hour, c.minute = n/100, n%100
		p.i++
		if t.digits == 6 && (p.isMark(0, '.') || p.isMark(0, ',')) && p.joined(0) && p.at(1).kind == tNum && p.joined(1) {
			f := p.at(1)
			c.nano = int(fraction(p.low[f.off:f.end]))
			p.i += 2
		}
	default:
		return false
	}
	return p.setClock(m, c, from)
}

// namedTime reads noon, midnight and teatime.
func (p *parser) namedTime(m *moment) bool {
	c := clock{name: p.at(0).role}
	switch c.name {
	case wNoon:
		c.hour = 12
	case wTeatime:
		c.hour = 16
	}
	p.i++
	return p.setClock(m, c, p.i-1)
}

// spokenClock reads "quarter past 5", "half past nine pm", "ten to six" and "20 minutes to midnight". It reports done when
// the text is one, right or wrong.
func (p *parser) spokenClock(m *moment) (ok, done bool) {
	from := p.i
	minutes := 0
	digits := false
	k := 0
	if p.at(0).role == wA {
		k = 1
	}
	switch role := p.at(k).role; {
	case role == wHalf && k == 0 && p.at(1).role == wPast:
		minutes = 30
		p.i++
	case role == wQuarter && p.toPast(k+1):
		minutes = 15
		p.i += k + 1
	case k == 1:
		return false, false
	default:
		if t := p.at(0); t.kind == tNum && t.digits <= 2 {
			minutes = int(t.n)
			digits = true
			p.i++
		} else if n, isNumber := p.spelled(); isNumber && n < 60 {
			minutes = int(n)
		}
		if minutes == 0 || minutes > 59 {
			p.i = from
			return false, false
		}
		if p.at(0).unit == uMinute {
			digits = false
			p.i++
		}
		if !p.toPast(0) {
			p.i = from
			return false, false
		}
	}
	toPast := p.at(0).role
	p.i++
	var c clock
	t := p.at(0)
	switch {
	case t.role == wNoon || t.role == wMidnight:
		if t.role == wNoon {
			c.hour = 12
		}
		c.name = wNoon // an exact time, whatever the name
		p.i++
	case t.kind == tNum && t.digits <= 2 && t.n < 24 && !p.isMark(1, ':') && !(p.isMark(1, '.') && p.at(2).kind == tNum):
		c.hour = int(t.n)
		p.i++
	default:
		n, isNumber := p.spelled()
		if !isNumber || n > 23 {
			p.i = from
			return false, false
		}
		c.hour = int(n)
	}
	if u := p.at(0).unit; u != uNone && u != uHour {
		p.i = from
		return false, false
	}
	if c.name == wNone {
		p.oclock()
		if c.mer = p.meridiem(); digits && toPast == wTo {
			p.i = from
			return p.fail("it may be a range", `say it as in "ten to six" or "17:50"`), true
		}
	}
	if c.mer != wNone && (c.hour < 1 || c.hour > 12) {
		return p.setClock(m, c, from), true
	}
	hour := c.hour
	switch c.mer {
	case wAM:
		hour %= 12
	case wPM:
		hour = hour%12 + 12
	}
	if toPast == wTo {
		minutes = -minutes
	}
	total := (hour*60 + minutes + 24*60) % (24 * 60)
	c.spoken = c.mer == wNone && c.name == wNone
	c.mer, c.name = wNone, wNone
	c.hour, c.minute = total/60, total%60
	return p.setClock(m, c, from), true
}

// toPast reports whether the token k places ahead is to, past or after.
func (p *parser) toPast(k int) bool {
	r := p.at(k).role
	return r == wTo || r == wPast || r == wAfter
}

// spelledHour reads an hour in words: "seven tonight", "five o'clock", "five thirty pm". It reports done when it is one.
func (p *parser) spelledHour(m *moment, link word) (ok, done bool) {
	from := p.i
	n, isNumber := p.spelled()
	if !isNumber || n > 24 || p.at(0).unit != uNone {
		return false, false
	}
	c := clock{hour: int(n), bare: true}
	if minutes, two := p.spelled(); two {
		if minutes < 10 || minutes > 59 || p.at(0).unit != uNone {
			return false, false
		}
		c.minute, c.bare, c.spoken = int(minutes), false, true
	}
	exact := p.oclock()
	if c.mer = p.meridiem(); c.mer != wNone {
		c.bare, c.spoken = false, false
	}
	c.lone = !exact && c.bare && link != wAt
	if link == wIn || link == wThe {
		return false, false
	}
	return p.setClock(m, c, from), true
}

// bareHour reads a number alone as an hour. Whether something says that it is one is judged when all is read.
func (p *parser) bareHour(m *moment, link word) bool {
	t := p.at(0)
	if t.digits > 2 || t.n > 23 || link == wIn || link == wThe || link == wOn {
		return false
	}
	if next := p.at(1); next.mark != 0 && next.mark != ',' && next.mark != '(' && !next.gap {
		return false
	}
	if m.day == onAnnual && t.digits == 2 && link == wNone && p.i > 0 && p.toks[p.i-1].kind != tMark { // 25 Dec 20
		return p.unclear(fmt.Sprintf("%s is a year or an hour", p.low[t.off:t.end]), int(t.off), int(t.end),
			fmt.Sprintf("at %d:00", t.n), strconv.Itoa(century(t)))
	}
	p.i++
	return p.setClock(m, clock{hour: int(t.n), bare: true, lone: link != wAt}, p.i-1)
}

// partOfDay reads "in the morning", "tomorrow morning", "at night".
func (p *parser) partOfDay(m *moment, link word) bool {
	t := p.at(0)
	if m.part != 0 || link == wNone && m.day == noDay || link == wOn || link == wAt && t.part != night {
		return false
	}
	p.i++
	m.part = int(t.part)
	return true
}

// timeOfDay is the time since 00:00 on the wall that the text means, with the part of day beside it considered. next is
// set when it lies after midnight of a night that began on the day named. It reports false with p.err set.
func (p *parser) timeOfDay(m *moment) (tod time.Duration, next, ok bool) {
	c := &m.clock
	hour := c.hour
	wrong := func() (time.Duration, bool, bool) {
		return 0, false, p.fail("the time is not in that part of the day", "leave one of the two out")
	}
	switch {
	case c.mer == wAM:
		hour %= 12
	case c.mer == wPM:
		hour = hour%12 + 12
	case c.name == wNone && m.part != 0 && hour <= 12:
		if c.spoken && hour == 0 {
			hour = 12 // ten to one in the afternoon
		}
		hour, ok = inPart(hour, m.part)
		if !ok {
			return wrong()
		}
	case c.bare && hour <= 12 && hour > 0:
		minutes := fmt.Sprintf("%d:%02d", c.hour, c.minute)
		why := minutes[:len(minutes)-3] + " in the morning or in the evening"
		return 0, false, p.unclear(why, c.off, c.end, minutes+"am", minutes+"pm")
	}
	if m.part == night && hour == 0 || m.part == night && hour < 6 {
		next = true
	}
	switch {
	case m.part == morning && hour >= 12,
		m.part == afternoon && (hour < 12 || hour > 18),
		m.part == evening && (hour < 16 || hour == 24),
		m.part == night && hour >= 6 && hour < 17:
		if !(m.part == night && hour == 24) {
			return wrong()
		}
	}
	return time.Duration(hour)*time.Hour + time.Duration(c.minute)*time.Minute +
		time.Duration(c.second)*time.Second + time.Duration(c.nano), next, true
}

// inPart is the hour of the day that an hour of the twelve is in a part of the day.
func inPart(hour, part int) (int, bool) {
	switch part {
	case morning:
		return hour, hour < 12
	case afternoon:
		return hour%12 + 12, hour == 12 || hour >= 1 && hour <= 6
	case evening:
		return hour + 12, hour >= 4 && hour <= 11
	default:
		switch {
		case hour == 12 || hour == 0:
			return 0, true
		case hour <= 4:
			return hour, true
		}
		return hour + 12, hour >= 6
	}
}
