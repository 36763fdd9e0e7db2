package when

import "fmt"

// minuteMarks reads :15 and :15 and :45, minutes of every hour.
func (p *parser) minuteMarks(c *cadence) bool {
	for {
		minute, ok := p.two(1)
		if !ok || !p.isMark(0, ':') || minute > 59 {
			return false
		}
		c.marks = append(c.marks, minute)
		p.i += 2
		k := 0
		if p.isMark(0, ',') {
			k++
		}
		if p.at(k).role == wAnd || p.isMark(k, '&') {
			k++
		}
		if k == 0 || !p.isMark(k, ':') {
			return true
		}
		p.i += k
	}
}

// oneClock reads one time of day.
func (p *parser) oneClock(link word) (clock, bool) {
	var m moment
	m.day = onOffset // dotted times are times here
	t := p.at(0)
	var ok, done bool
	switch {
	case t.role == wNoon || t.role == wMidnight || t.role == wTeatime:
		ok = p.namedTime(&m)
	case t.kind == tNum:
		if ok, done = p.clockDigits(&m, link); done {
			break
		}
		if ok, done = p.spokenClock(&m); done {
			break
		}
		if t.digits == 4 && p.at(1).unit == uNone {
			ok, _ = p.fourDigits(&m, wAt, p.at(1))
			break
		}
		ok = p.at(1).unit == uNone && p.at(1).role != wSuffix && link == wAt && p.bareHour(&m, link)
	default:
		if ok, done = p.spokenClock(&m); !done {
			ok, _ = p.spelledHour(&m, link)
			ok = ok && !m.clock.lone
		}
	}
	return m.clock, ok && p.err == nil
}

// clocks reads times of day with commas or "and" between them.
func (p *parser) clocks(c *cadence, link word) bool {
	if len(c.times) > 0 {
		return p.timesTwice(c, link)
	}
	for {
		one, ok := p.oneClock(link)
		if !ok {
			return false
		}
		c.times = append(c.times, one)
		link = wAt // for those that follow
		k := 0
		if p.isMark(0, ',') {
			k++
		}
		if p.at(k).role == wAnd || p.isMark(k, '&') {
			k++
		}
		if p.at(k).role == wAt && k > 0 {
			k++
		}
		next := p.at(k)
		if k == 0 || next.kind != tNum && next.role != wNumber && next.role != wNoon && next.role != wMidnight &&
			next.role != wTeatime && next.role != wHalf && next.role != wQuarter {
			return true
		}
		p.i += k
	}
}

// timesTwice refuses times of day after others. When days of their own stand with them, they are a task of their own.
func (p *parser) timesTwice(c *cadence, link word) bool {
	from := p.i
	k := 0
	for p.isMark(k, ',') || p.at(k).role == wAnd || p.at(k).role == wOn || p.at(k).role == wEvery {
		k++
	}
	if t := p.at(k); t.day != 0 || t.role == wDays || t.role == wWeekend {
		hint := "make two tasks of it"
		one, ok := p.pasted(p.text[:c.times[len(c.times)-1].end])
		second := p.text[t.off:]
		if !t.many {
			second = "every " + second
		}
		two, ok2 := p.pasted(second)
		if ok && ok2 {
			hint = fmt.Sprintf("make two tasks: %q and %q", one, two)
		}
		return p.fail("it has several days, each with a time", hint)
	}
	if _, ok := p.oneClock(link); !ok {
		p.i = from
		return false
	}
	return p.fail("it names its times twice", `join them, as in "at 9:00 and 17:00"`)
}

// between reads "between 9am and 5pm" and "from 9am to 5pm".
func (p *parser) between(c *cadence) bool {
	middle := wAnd
	if p.at(0).role == wFrom {
		middle = wTo
	}
	p.i++
	var from clock
	var ok bool
	if r := p.at(1).role; p.at(0).kind == tNum && (r == wTo || r == wThrough) { // 9 to 17 is no 8:51 here
		var m moment
		ok = p.bareHour(&m, wAt)
		from = m.clock
	} else {
		from, ok = p.oneClock(wAt)
	}
	if !ok {
		if middle == wTo && p.err == nil {
			return p.failGiving("the bounds of a recurrence are flags", "give", "start", "end", "count")
		}
		return false
	}
	if r := p.at(0).role; r != middle && !(middle == wTo && r == wThrough) {
		return false
	}
	p.i++
	to, ok := p.oneClock(wAt)
	if !ok || c.from != nil {
		return false
	}
	c.from, c.to = &from, &to
	return true
}
