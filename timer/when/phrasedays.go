package when

// weekdayList reads weekdays, "weekdays" and "weekends" with commas or "and" between them.
func (p *parser) weekdayList(c *cadence) bool {
	if c.weekdays != 0 && len(c.times) > 0 {
		return p.timesTwice(c, wNone)
	}
	for {
		t := p.at(0)
		set := uint8(0)
		switch {
		case t.kind == tWord && t.day != 0:
			set = 1 << (t.day - 1)
		case t.role == wDays:
			set = 0b0111110
		case t.role == wWeekend:
			set = 0b1000001
		default:
			return false
		}
		if c.weekdays&set != 0 {
			return p.fail("it names the same day twice", "name it once")
		}
		c.weekdays |= set
		p.i++
		if p.isMark(0, '.') && p.joined(0) {
			p.i++
		}
		if p.isMark(0, '-') || p.at(0).role == wTo || p.at(0).role == wThrough { // monday to friday
			last := p.at(1)
			if t.day == 0 || last.day == 0 {
				return false
			}
			for d := t.day; d != last.day; {
				if d++; d > 7 {
					d = 1
				}
				c.weekdays |= 1 << (d - 1)
			}
			p.i += 2
		}
		k := 0
		if p.isMark(0, ',') {
			k++
		}
		if p.at(k).role == wAnd || p.isMark(k, '&') {
			k++
		}
		if p.at(k).role == wOn || p.at(k).role == wEvery && k > 0 {
			k++
		}
		if next := p.at(k); k == 0 || next.day == 0 && next.role != wDays && next.role != wWeekend {
			return true
		}
		p.i += k
	}
}

// onDays reads what follows "on" or "the": weekdays, days of the month, a date, "the last friday of every month", "the half
// hour".
func (p *parser) onDays(c *cadence) bool {
	if p.at(0).role == wEvery {
		p.i++
	}
	the := p.at(0).role == wThe
	if the {
		p.i++
	}
	t := p.at(0)
	if p.is(0, "day") && p.at(1).kind == tNum && p.at(1).n >= 1 && p.at(1).n <= 31 && p.at(2).mark != ':' { // day 15 of every month
		if c.dates != nil || c.nths != nil {
			return p.fail("it names days of the month twice", `join them, as in "on the 1st and 15th"`)
		}
		c.dates = []int{int(p.at(1).n)}
		p.i += 2
		return p.ofMonth(c)
	}
	switch {
	case !the && (t.kind == tWord && t.day != 0 || t.role == wDays || t.role == wWeekend):
		return p.weekdayList(c)
	case c.unit == uHour && p.is(0, "hour"):
		p.i++
		c.marks = append(c.marks, 0)
		return true
	case c.unit == uHour && (t.role == wHalf || t.role == wQuarter) && p.is(1, "hour"):
		p.i += 2
		c.marks = append(c.marks, map[word]int{wHalf: 30, wQuarter: 15}[t.role])
		return true
	case t.month != 0, t.kind == tNum && (p.at(1).month != 0 || p.at(1).role == wOf && p.at(2).month != 0):
		return p.yearly(c)
	}
	if c.dates != nil || c.nths != nil {
		return p.fail("it names days of the month twice", `join them, as in "on the 1st and 15th"`)
	}
	var list []int
	for {
		if p.at(0).role == wThe {
			p.i++
		}
		n := -1
		if p.at(0).role == wLast {
			p.i++
		} else {
			from := p.i
			var ok bool
			if n, ok = p.ordinal(); !ok || n < 1 || n > 31 {
				return false
			}
			if p.at(0).month != 0 || p.at(0).role == wOf && p.at(1).month != 0 {
				p.i = from
				return len(list) == 0 && p.yearly(c)
			}
		}
		list = append(list, n)
		if p.at(0).unit == uDay && p.at(0).kind == tWord {
			p.i++
		}
		k := 0
		if p.isMark(0, ',') {
			k++
		}
		if p.at(k).role == wAnd || p.isMark(k, '&') {
			k++
		}
		next := p.at(k)
		if k == 0 || next.role != wThe && next.role != wLast && next.role != wOrdinal &&
			!(next.kind == tNum && p.at(k+1).role == wSuffix) {
			break
		}
		p.i += k
	}
	t = p.at(0)
	switch {
	case t.kind == tWord && (t.day != 0 || t.role == wDays):
		for _, n := range list {
			if n > 5 {
				return p.fail("no month has that many weeks", "a month has the first to the fifth, and the last")
			}
		}
		if t.role == wDays && len(list) > 1 {
			return false
		}
		c.nths = list
		c.workdays = t.role == wDays
		c.weekdays = 0b0111110
		if t.day != 0 {
			c.weekdays = 1 << (t.day - 1)
		}
		p.i++
	case p.toks[p.i-1].role == wLast:
		return false
	default:
		c.dates = list
	}
	return p.ofMonth(c)
}

// ofMonth reads "of every month", "of the month", "each month", "of every 3 months" after days of the month.
func (p *parser) ofMonth(c *cadence) bool {
	from := p.i
	if r := p.at(0).role; r == wOf || r == wIn {
		p.i++
	}
	switch t := p.at(0); {
	case t.role == wEvery:
		p.i++
		if p.is(0, "month") {
			p.i++
			return p.period(c, uMonth, 1)
		}
		if p.at(0).role == wOther && p.is(1, "month") {
			p.i += 2
			return p.period(c, uMonth, 2)
		}
		if s, ok := p.span(); ok && s.months > 0 {
			return p.everySpan(c, s)
		}
		return false
	case (t.role == wThe || t.role == wA) && p.is(1, "month") && p.i > from:
		p.i += 2
		return true
	case p.i > from:
		return false
	}
	if c.nths != nil && c.unit == uNone && p.opts.Form == Any && !p.evidence() {
		return false
	}
	return true
}

// yearly reads a date of every year.
func (p *parser) yearly(c *cadence) bool {
	var m moment
	var ok bool
	switch t := p.at(0); {
	case t.month != 0:
		ok = p.monthFirst(&m)
	case p.at(1).role == wSuffix || t.role == wOrdinal || t.role == wNumber:
		ok = p.ordinalDay(&m)
	default:
		ok = p.dayFirst(&m)
	}
	if !ok {
		if p.err != nil && p.err.Code == CodeAmbiguous {
			p.err = p.refuse("a month is no day", `add the day, as in "every 1 march"`)
		}
		return false
	}
	if m.day != onAnnual {
		return p.fail("a date with its year comes once", "leave the year out")
	}
	if c.dates != nil || c.weekdays != 0 {
		return p.fail("it names days twice", "leave one of the two out")
	}
	c.month, c.dates = m.month, []int{m.date}
	if !c.counted {
		return p.period(c, uYear, 1)
	}
	return true
}
