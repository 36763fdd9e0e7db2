package when

import (
	"math"
	"math/bits"
	"time"
)

// span is a length of time in the three measures that do not convert into one another: months, days that keep the
// wall clock, and elapsed time.
type span struct {
	months, days int64
	elapsed      time.Duration
	calendar     bool // a unit of days or more was named, if only zero of them

	one   unit // the unit, when it is a whole count of one unit
	count int64
}

func (s span) negated() span {
	return span{months: -s.months, days: -s.days, elapsed: -s.elapsed, calendar: s.calendar}
}

// The most of each measure, so that sums of a few cannot overflow.
const (
	maxMonths = 12 * 10000
	maxDays   = 366 * 10000
)

// measure is how much of which measure a unit is.
func (u unit) measure() (months, days int64, elapsed time.Duration) {
	switch u {
	case uNanosecond:
		return 0, 0, 1
	case uMicrosecond:
		return 0, 0, time.Microsecond
	case uMillisecond:
		return 0, 0, time.Millisecond
	case uSecond:
		return 0, 0, time.Second
	case uMinute:
		return 0, 0, time.Minute
	case uHour:
		return 0, 0, time.Hour
	case uDay:
		return 0, 1, 0
	case uWeek:
		return 0, 7, 0
	case uFortnight:
		return 0, 14, 0
	case uMonth:
		return 1, 0, 0
	case uQuarter:
		return 3, 0, 0
	case uYear:
		return 12, 0, 0
	case uDecade:
		return 120, 0, 0
	}
	return 0, 0, 0
}

// quantity is a decimal number of at most nine places: whole + nano / 1e9.
type quantity struct {
	whole, nano int64
}

// scaled is a × by, rounded towards zero, or false when it exceeds an int64.
func (a quantity) scaled(by int64) (int64, bool) {
	hi, whole := bits.Mul64(uint64(a.whole), uint64(by))
	if hi != 0 || whole > math.MaxInt64 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(a.nano), uint64(by))
	part, _ := bits.Div64(hi, lo, 1e9)
	sum := whole + part
	return int64(sum), sum <= math.MaxInt64
}

// add adds a units to the span. It reports false, with the reason noted, for more than can be counted and for a part of
// a month.
func (p *parser) add(s *span, a quantity, u unit) bool {
	months, days, elapsed := u.measure()
	switch {
	case months > 0:
		if a.whole > maxMonths || a.nano*months%1e9 != 0 {
			if a.whole <= maxMonths {
				return p.fail("months have no fixed length to take a part of", "say days, weeks or whole months")
			}
			return p.tooLong()
		}
		s.months += a.whole*months + a.nano*months/1e9
		s.calendar = true
	case days > 0:
		if a.whole > maxDays {
			return p.tooLong()
		}
		s.days += a.whole*days + a.nano*days/1e9
		rest, _ := quantity{0, a.nano * days % 1e9}.scaled(int64(24 * time.Hour))
		s.elapsed += time.Duration(rest)
		s.calendar = true
	default:
		n, ok := a.scaled(int64(elapsed))
		if !ok || n > math.MaxInt64-int64(s.elapsed) {
			return p.tooLong()
		}
		s.elapsed += time.Duration(n)
	}
	if s.months > maxMonths || s.days > maxDays || s.elapsed < 0 {
		return p.tooLong()
	}
	return true
}

func (p *parser) tooLong() bool {
	return p.fail("it is too far away", "the last year that can be named is 9999, and 292 years the longest count of hours")
}

// decimal reads 12, 2.5 or .5. The point must stand between the digits without space.
func (p *parser) decimal() (quantity, bool) {
	var a quantity
	t := p.at(0)
	switch {
	case t.kind == tNum && t.n >= 0:
		a.whole = t.n
		p.i++
		if !(p.isMark(0, '.') && p.joined(0) && p.at(1).kind == tNum && p.joined(1)) {
			return a, true
		}
		p.i++
	case t.mark == '.' && p.at(1).kind == tNum && p.joined(1):
		p.i++
	default:
		return a, false
	}
	f := p.at(0)
	p.i++
	a.nano = fraction(p.low[f.off:f.end])
	return a, true
}

// fraction reads the digits after a decimal point in billionths; further ones are cut off.
func fraction(digits string) int64 {
	n, place := int64(0), int64(1e8)
	for i := 0; i < len(digits) && place > 0; i, place = i+1, place/10 {
		n += int64(digits[i]-'0') * place
	}
	return n
}

// spelled reads a number in words, up to 999: "five", "twenty-five", "a hundred and twenty".
func (p *parser) spelled() (int64, bool) {
	start := p.i
	tens := func() int64 {
		t := p.at(0)
		if t.role != wNumber {
			return 0
		}
		n := int64(t.num)
		p.i++
		if n < 20 {
			return n
		}
		dash := 0
		if p.isMark(0, '-') && p.joined(0) && p.joined(1) {
			dash = 1
		}
		if one := p.at(dash); one.role == wNumber && one.num < 10 {
			n += int64(one.num)
			p.i += dash + 1
		}
		return n
	}
	var n int64
	if p.at(0).role == wA && p.at(1).role == wHundred {
		n = 1
		p.i++
	} else if n = tens(); n == 0 {
		return 0, false
	}
	if p.at(0).role != wHundred {
		return n, true
	}
	if n > 9 {
		p.i = start
		return 0, false
	}
	n *= 100
	p.i++
	save := p.i
	if p.at(0).role == wAnd {
		p.i++
	}
	rest := tens()
	if rest == 0 {
		p.i = save
	}
	return n + rest, true
}

// number reads a decimal or spelled number.
func (p *parser) number() (quantity, bool) {
	if a, ok := p.decimal(); ok {
		return a, true
	}
	if n, ok := p.spelled(); ok {
		return quantity{whole: n}, true
	}
	return quantity{}, false
}

// named is the unit that the next token names, or uNone. A lone capital M is minutes or months: which, the units before
// it must tell.
func (p *parser) named(s *span) unit {
	t := p.at(0)
	if t.kind != tWord || t.unit == uNone {
		return uNone
	}
	if t.end-t.off == 1 && p.text[t.off] == 'M' {
		switch {
		case s.elapsed > 0 && !s.calendar: // 1H30M
		case s.calendar && s.days == 0 && s.elapsed == 0: // 1Y6M
			return uMonth
		default:
			p.unclear("M is minutes or months", int(t.off), int(t.end), "m", " months")
			return uNone
		}
	}
	return t.unit
}

// andA reads the tail "and a half" or "and a quarter".
func (p *parser) andA() int64 {
	if p.at(0).role != wAnd || p.at(1).role != wA {
		return 0
	}
	nano := int64(0)
	switch p.at(2).role {
	case wHalf:
		nano = 5e8
	case wQuarter:
		nano = 25e7
	default:
		return 0
	}
	p.i += 3
	return nano
}

// half reads the fraction of "1/2 hour" and "1 1/2 hours" into a whole number already read. It reports false for one that
// is none of halves and quarters.
func (p *parser) half(a *quantity) bool {
	slash := func(k int) (int64, bool) {
		top, bottom := p.at(k-1), p.at(k+1)
		if !p.isMark(k, '/') || !p.joined(k) || bottom.kind != tNum || bottom.gap {
			return 0, false
		}
		if a.nano != 0 || bottom.n != 2 && bottom.n != 4 || top.n < 1 || top.n >= bottom.n {
			return 0, true
		}
		return 1e9 / bottom.n * top.n, true
	}
	if nano, ok := slash(0); ok {
		p.i += 2
		*a = quantity{nano: nano}
		return nano != 0
	}
	if t := p.at(0); t.kind == tNum && t.gap {
		if nano, ok := slash(1); ok {
			p.i += 3
			a.nano = nano
			return nano != 0
		}
	}
	return true
}

// item reads one count of one unit into the span: "5 min", "half an hour", "an hour and a half", "a couple of days".
func (p *parser) item(s *span, seen *uint16) bool {
	start := p.i
	back := func() bool {
		p.miss()
		p.i = start
		return false
	}
	var a quantity
	t := p.at(0)
	article := t.role == wA
	k := 0
	if article {
		k = 1
	}
	switch role := p.at(k).role; {
	case role == wHalf:
		a.nano = 5e8
		p.i += k + 1
		if p.isMark(0, '-') && p.joined(0) && p.joined(1) {
			p.i++
		} else if !article && p.at(0).role == wA {
			p.i++
		}
	case role == wQuarter && (p.at(k+1).role == wOf || p.at(k+1).unit >= uSecond):
		a.nano = 25e7
		p.i += k + 1
		if p.at(0).role == wOf {
			p.i++
			if p.at(0).role == wA {
				p.i++
			}
		}
	case role == wCouple:
		a.whole = 2
		p.i += k + 1
		if p.at(0).role == wOf {
			p.i++
		}
	case role == wFew:
		if p.at(k+1).unit != uNone {
			return p.fail("how many is not said", `give a number, as in "5 minutes"`)
		}
		return back()
	case article && p.at(1).unit != uNone && p.at(1).gap:
		a.whole = 1
		p.i++
	default:
		var ok bool
		if a, ok = p.number(); !ok || !p.half(&a) {
			return back()
		}
		if p.at(0).role == wQuarters && p.at(1).role == wOf && a.nano == 0 && a.whole < 8 {
			a = quantity{a.whole / 4, a.whole % 4 * 25e7}
			p.i += 2
			if p.at(0).role == wA {
				p.i++
			}
		} else if a.nano == 0 {
			a.nano = p.andA()
		}
	}
	u := p.named(s)
	if u == uNone {
		if p.err != nil {
			return false
		}
		return back()
	}
	p.i++
	if p.isMark(0, '.') && p.joined(0) && p.at(1).gap && p.toks[p.i-1].end-p.toks[p.i-1].off < 5 { // 5 min.
		p.i++
	}
	if a.nano == 0 {
		a.nano = p.andA()
	}
	if *seen&(1<<u) != 0 {
		return p.fail("it names the same unit twice", "add them up")
	}
	s.one, s.count = uNone, a.whole
	if *seen == 0 && a.nano == 0 {
		s.one = u
	}
	*seen |= 1 << u
	return p.add(s, a, u)
}

// span reads a length of time without a sign: items with commas or "and" between them, or ISO 8601's PT15M. Where it
// reports false, it has moved nothing, or noted an error.
func (p *parser) span() (s span, ok bool) {
	if t := p.at(0); t.kind == tWord && p.low[t.off] == 'p' && p.at(1).kind == tNum {
		return p.isoSpan()
	}
	var seen uint16
	if !p.item(&s, &seen) {
		return s, false
	}
	for {
		save := p.i
		if p.isMark(0, ',') {
			p.i++
		}
		if p.at(0).role == wAnd || p.isMark(0, '&') {
			p.i++
		}
		// "9am and 5 minutes" never gets here; "an hour and 5pm" must stop before the comma.
		if t := p.at(0); t.kind != tNum && t.role != wA && t.role != wNumber && t.role != wHalf && t.mark != '.' {
			p.i = save
			return s, true
		}
		if !p.item(&s, &seen) {
			if p.err != nil {
				return s, false
			}
			p.i = save
			return s, true
		}
	}
}

// isoSpan reads ISO 8601 durations: PT15M, P1DT12H, P2W, P1Y6M. Without space, units in their order, a decimal in the
// last one only.
func (p *parser) isoSpan() (s span, ok bool) {
	start := p.i
	head := p.at(0)
	timed := p.low[head.off:head.end] == "pt"
	if !timed && p.low[head.off:head.end] != "p" {
		p.miss()
		return s, false
	}
	p.i++
	last := uDecade
	done := false
	for p.at(0).kind == tNum && p.joined(0) && !done {
		a, _ := p.decimal()
		done = a.nano != 0
		t := p.at(0)
		if t.kind != tWord || t.gap {
			break
		}
		letter := p.low[t.off:t.end]
		turn := len(letter) == 2 && letter[1] == 't' && !timed
		if turn {
			letter = letter[:1]
		}
		u := uNone
		switch {
		case letter == "y" && !timed:
			u = uYear
		case letter == "m" && !timed:
			u = uMonth
		case letter == "w" && !timed:
			u = uWeek
		case letter == "d" && !timed:
			u = uDay
		case letter == "h" && timed:
			u = uHour
		case letter == "m":
			u = uMinute
		case letter == "s" && timed:
			u = uSecond
		}
		if u == uNone || u >= last {
			break
		}
		p.i++
		if !p.add(&s, a, u) {
			return s, false
		}
		last, ok = u, true
		if turn {
			timed, ok = true, false
		}
	}
	if !ok || p.joined(0) {
		p.miss()
		p.i = start
		return s, false
	}
	return s, true
}

// plus moves an instant by a span: months first (to the month's last day at most), then days, both on the wall of the
// zone, then elapsed time. It reports false beyond the years that can be written.
func plus(t time.Time, s span, zone *time.Location) (time.Time, bool) {
	if s.months != 0 || s.days != 0 {
		t = place(shift(reading(t, zone), s.months, s.days), zone)
	}
	if y := t.Year(); y < 1 || y > lastYear {
		return t, false
	}
	t = t.Add(s.elapsed)
	return t, t.Year() >= 1 && t.Year() <= lastYear
}

// shift moves a reading by months, to the month's last day at most, and then days.
func shift(wall time.Time, months, days int64) time.Time {
	y, m, d := wall.Date()
	month := int64(m) - 1 + months
	y += int(month / 12)
	if month %= 12; month < 0 {
		month += 12
		y--
	}
	m = time.Month(month + 1)
	d = min(d, monthDays(y, int(m)))
	return time.Date(y, m, d+int(days), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), time.UTC)
}

// monthDays is how many days a month has.
func monthDays(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}
