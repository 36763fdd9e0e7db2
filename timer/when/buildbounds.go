package when

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// bounds works out what "from", "until", "for", "times" and "except" say.
func (b *builder) bounds() *refusal {
	m, p := b.m, b.p
	hourly := m.has&hasPeriod != 0 && m.has&(hasClock|hasDayPart) == 0 && m.recur.length >= time.Minute && m.recur.length < 24*time.Hour
	// Every 15 minutes tomorrow, and tomorrow between 9 and 10. "Until 10:00 tomorrow" is a bound.
	if d := m.day; m.has&(hasDay|hasFrom|hasUntil|hasDays) == hasDay && (hourly || m.has&hasWindow != 0) && m.also.kind == noDay && (d.kind == onOffset || d.dated()) &&
		!strings.HasPrefix(p.low[m.recur.from.end:], " until") {
		on := p.dateOf(d)
		m.days = []day{{kind: onSpan, off: d.off, end: d.end}, on, on}
		m.has = m.has&^hasDay | hasDays
	}
	if why := b.ofEach(); why != nil {
		return why
	}
	if why := b.everyYear(); why != nil {
		return why
	}
	if from, until := b.bound(boundFrom), b.bound(boundUntil); m.has&(hasFrom|hasUntil) == hasFrom|hasUntil && (from.has|until.has)&(hasDay|hasNow|hasSpan) == 0 {
		return &refusal{code: fault.CodeAmbiguous, why: "it may be a span of every day or one span", hint: "say between which times of every day, or name the days of the first and the last"}
	} else if m.has&(hasFrom|hasUntil|hasClock) == hasFrom|hasUntil && (from.has^until.has)&hasClock != 0 && (m.has&hasPeriod == 0 || m.recur.unit > uHour) {
		return &refusal{} // from 1 december to 24 december at 9:00
	}
	for i, has := range [...]int{boundFrom: hasFrom, boundUntil: hasUntil} {
		if m.has&has == 0 {
			continue
		}
		if why := b.checkBound(b.bound(i)); why != nil {
			return why
		}
	}
	if why := b.yearOrTime(); why != nil {
		return why
	}
	if m.has&hasCount != 0 && m.has&hasClock == 0 && m.recur.unit > uHour && !p.hasClass(cAdverb) && m.has&hasPeriod == 0 {
		return &refusal{}
	}
	if why := b.yearBound(); why != nil {
		return why
	}
	if why := b.beginBound(); why != nil {
		return why
	}
	if why := b.endBound(); why != nil {
		return why
	}
	if m.has&hasExcept != 0 {
		var why *refusal
		of := p.res[m.bound[boundExcept]].m
		if of.has&hasDay != 0 && len(of.days) == 0 { // except 24/12, except tomorrow
			of.days = []day{p.dateOf(of.day)}
		}
		if b.except, why = daysOf(&of); why != nil {
			return why
		}
		return b.whichFirst(&of)
	}
	return nil
}

// whichFirst refuses "every monday except the first", which may be the first monday of the month or
// its first day.
func (b *builder) whichFirst(of *meaning) *refusal {
	if of.n&isSpelled != 0 || of.recur.dates == 0 || of.recur.dates&^0b111110 != 0 || b.m.has&hasWeekdays == 0 {
		return nil
	}
	p, last := b.p, b.p.resEnd(b.m.bound[boundExcept])-1
	end := int(p.toks[last].end)
	for ; !p.toks[last].is(cSuffix | cOrd); last-- {
	}
	readings := []string{" day of the month"}
	if bits.OnesCount8(b.c.weekdays) == 1 {
		readings = append(readings, " "+strings.Fields(weekdayWords[bits.TrailingZeros8(b.c.weekdays)])[0]+" of the month")
	}
	return either("it may leave out a weekday, or a day of the month", int(p.toks[last].end), end, readings...)
}

// soonYear returns the year of the next ten that the four digits of a time of day may be, or 0.
func (p *parser) soonYear(c *clock) int {
	year := int(c.hour)*100 + int(c.minute)
	if ahead := year - civil.Wall(p.opts.Now, p.opts.Zone).Year(); c.how&(clockCompact|clockAfterAt) != clockCompact || ahead < 0 || ahead > soon {
		return 0
	}
	return year
}

// yearOrTime refuses four digits that may be a year or a time of day: monthly on the 15th 2027.
// Beside weekdays and times only those that are no multiple of five minutes are a likely year.
func (b *builder) yearOrTime() *refusal {
	m, c := b.m, &b.m.clock
	if b.yearInList() {
		return &refusal{code: fault.CodeAmbiguous, why: "it may be a year or a time of day", hint: `name the year with "in", or write the time with a colon`}
	}
	year := b.p.soonYear(c)
	dated := m.has&(hasDates|hasMonths) != 0 || m.has&hasPeriod != 0 && m.recur.unit >= uMonth
	if m.has&hasClock == 0 || len(m.more) > 0 || year == 0 || !dated && year%5 == 0 {
		return nil
	}
	return either("it may be a year or a time of day", int(c.off), int(c.end), fmt.Sprintf("in %d", year), fmt.Sprintf("at %02d:%02d", c.hour, c.minute))
}

// yearInList reports whether the last of several times may be a year: every day at 9am, 2027.
func (b *builder) yearInList() bool {
	if len(b.m.more) == 0 {
		return false
	}
	c := &b.m.more[len(b.m.more)-1]
	year := int(c.hour)*100 + int(c.minute)
	ahead := year - civil.Wall(b.o.Now, b.s.Zone).Year()
	compact := b.m.clock.how&clockCompact != 0 && year%5 == 0
	return c.how&clockCompact != 0 && !compact && ahead >= 0 && ahead <= soon && strings.HasSuffix(b.p.text[:c.off], ", ")
}

// yearBound bounds the recurrence to the months or the year that the text names with a year.
func (b *builder) yearBound() *refusal {
	year, first, last := int(b.c.year), 1, 12
	if year == 0 {
		return nil
	}
	if months := members(b.c.months, false); len(months) > 0 {
		first, last = months[0], months[len(months)-1]
	}
	begin := civil.InstantOf(civil.Date(year, time.Month(first), 1), b.s.Zone)
	end := civil.InstantOf(civil.Date(year, time.Month(last)+1, 1), b.s.Zone).Add(-1)
	if !end.After(b.anchor) {
		return &refusal{code: fault.CodePast, at: end.In(b.s.Zone)}
	}
	if begin.After(b.anchor) {
		b.o.Start, b.anchor, b.later = begin, begin, true
	}
	if b.o.End.IsZero() || end.Before(b.o.End) {
		b.o.End = end
	}
	return nil
}

// bound returns the meaning of a bound. The bounds of "24-26 dec" are among the days.
func (b *builder) bound(which int) *meaning {
	if days := b.m.days; len(days) == 3 && days[0].kind == onSpan {
		return &meaning{has: hasDay, day: days[which+1]}
	}
	return &b.p.res[b.m.bound[which]].m
}

// ofEach makes days from one to another those of each month or week, when that is the period: every
// month from the 1st to the 5th, every week from monday until wednesday.
func (b *builder) ofEach() *refusal {
	m, c := b.m, b.c
	if m.has&(hasPeriod|hasFrom|hasUntil|hasDates|hasDay|hasWeekdays) != hasPeriod|hasFrom|hasUntil {
		return nil
	}
	from, until := b.bound(boundFrom), b.bound(boundUntil)
	switch first, last := from.day, until.day; {
	case c.unit == uMonth && first.kind == onMonth && last.kind == onMonth && first.date < last.date:
		c.dates, m.has = 2<<last.date-1<<first.date, m.has|hasDates
	case c.unit == uWeek && first.kind == onWeekday && last.kind == onWeekday && first.weekday < last.weekday:
		c.weekdays, m.has = 1<<last.weekday-1<<(first.weekday-1), m.has|hasWeekdays
	default:
		return nil
	}
	if (from.has|until.has)&hasClock != 0 { // the time belongs to all of the days
		return periodClash
	}
	m.has, m.passing = m.has&^(hasFrom|hasUntil), nil
	return nil
}

// everyYear makes the days from one date to another those of every year when the period is a year:
// every year on dec 24-26, every year from dec 24 to dec 26. Otherwise they are bounds.
func (b *builder) everyYear() *refusal {
	m := b.m
	yearly := m.has&hasPeriod != 0 && m.recur.unit == uYear
	switch {
	case m.has&hasDays == 0 && (!yearly || m.has&(hasFrom|hasUntil) != hasFrom|hasUntil):
		return nil
	case !yearly && m.has&(hasFrom|hasUntil) != 0:
		return &refusal{why: "it says twice when it begins or ends", hint: "leave one of the two out"}
	case !yearly:
		m.has |= hasFrom | hasUntil
		m.passing = append(m.passing, rewrite{int(m.days[0].off), int(m.days[0].end), ""})
		return nil
	}
	from, until := b.bound(boundFrom), b.bound(boundUntil)
	if from.day.kind != onAnnual || until.day.kind != onAnnual || (from.has|until.has)&hasClock != 0 || from.n+until.n > 0 || m.has&(hasDay|hasDates|hasMonths|hasWeekdays) != 0 {
		if m.has&hasDays != 0 {
			return periodClash
		}
		return nil
	}
	begin := civil.Date(2000, time.Month(from.day.month), int(from.day.date))
	end := civil.Date(2000, time.Month(until.day.month), int(until.day.date))
	if m.recur.n > 1 && end.Before(begin) {
		return &refusal{strong: true, why: "its days go on into the next year", hint: "make several tasks of it"}
	}
	if m.days = nil; m.has&hasDays == 0 {
		m.has, m.passing = m.has&^(hasFrom|hasUntil), nil
	}
	for at := begin; ; at = at.AddDate(0, 0, 1) {
		m.days = append(m.days, day{kind: onAnnual, month: int8(at.Month()), date: int8(at.Day())})
		if at.Month() == end.Month() && at.Day() == end.Day() {
			break
		}
	}
	m.has |= hasDates | hasMonths
	return nil
}

// begun reports whether a recurrence that begins on a day begins now: the day is today, or today
// is between the dates of "from dec 1 to dec 24" and nearer to the first that has passed than to
// the next one, which is at.
func (b *builder) begun(d *day, at time.Time) bool {
	today := civil.Wall(b.anchor, b.s.Zone)
	switch {
	case d.kind == onOffset:
		return d.shift == 0
	case d.kind == onDate:
		return int(d.year) == today.Year() && int(d.month) == int(today.Month()) && int(d.date) == today.Day()
	case d.kind != onAnnual:
		return false
	case int(d.month) == int(today.Month()) && int(d.date) == today.Day():
		return true
	}
	until := b.bound(boundUntil)
	if b.m.has&hasUntil == 0 || until.day.kind != onAnnual {
		return false
	}
	end, why := b.boundAt(until, true)
	return why == nil && end.Before(at) && b.anchor.Sub(at.AddDate(-1, 0, 0)) < at.Sub(b.anchor)
}

// beginBound moves the anchor to what "from" says.
func (b *builder) beginBound() *refusal {
	m := b.m
	if m.has&hasFrom == 0 {
		return nil
	}
	of := *b.bound(boundFrom)
	if m.has&hasUntil != 0 && m.recur.span && of.day.kind == onAnnual {
		of.day = of.day.before(&b.bound(boundUntil).day)
	}
	at, why := b.boundAt(&of, false)
	if why != nil {
		return why
	}
	if of.has&hasDay != 0 && of.has&hasClock == 0 && b.begun(&of.day, at) {
		return nil
	}
	// A past instant of RFC 3339 is where the recurrence counts from, as DTSTART is.
	if at.Before(b.anchor) && of.has&hasNow == 0 && !(of.has&hasZone != 0 && of.day.iso) {
		return &refusal{code: fault.CodePast, at: at.In(b.s.Zone)}
	}
	b.o.Start, b.anchor, b.later = at, at, true
	return nil
}

// before gives a day without a year the last one before a date with a year, such as the first of
// "from aug 10 to nov 12 2028".
func (d day) before(last *day) day {
	if last.kind == onDate {
		d.kind, d.year = onDate, last.year
		if d.month > last.month || d.month == last.month && d.date > last.date {
			d.year--
		}
	}
	return d
}

// endBound moves the end to what "until", "for" or "times" says.
func (b *builder) endBound() *refusal {
	m, p := b.m, b.p
	end := time.Time{}
	switch {
	case m.has&(hasUntil|hasFor) == hasUntil|hasFor, m.has&hasCount != 0 && m.has&(hasUntil|hasFor) != 0:
		return &refusal{why: "it says twice when it ends", hint: "leave one of the two out"}
	case m.has&hasUntil != 0:
		at, why := b.boundAt(b.bound(boundUntil), true)
		if why != nil {
			return why
		}
		if !at.After(b.anchor) {
			return &refusal{code: fault.CodePast, at: at.In(b.s.Zone)}
		}
		end = at
	case m.has&hasFor != 0:
		length := p.res[m.bound[boundUntil]].m.span
		if length.open {
			return p.minutesOrMonths(length)
		}
		at, ok := addSpan(b.anchor, length, b.s.Zone)
		if !ok {
			return tooFar
		}
		// An instant at the start counts, and so the one that ends the length does not.
		if end = at; b.later || !b.o.Start.IsZero() && !b.elapsed() {
			end = end.Add(-1)
		}
	case m.has&hasCount != 0 && m.recur.countAt[1] > 0 && b.named() > 1 && b.named() == int(m.recur.count):
		// daily 2 times at 8am and 8pm
	case m.has&hasCount != 0 && m.recur.countAt[1] > 0 && b.named() == 0 && m.has&hasPeriod != 0 && m.recur.unit >= uDay:
		at := m.recur.countAt
		return either("it may be a rate, or how often it comes in all", int(at[0]), int(at[1]), ","+p.text[at[0]:at[1]])
	case m.has&hasCount != 0:
		if b.o.Count == 0 || int64(b.o.Count) > m.recur.count {
			b.o.Count = int(min(m.recur.count, 1<<31))
		}
	}
	if !end.IsZero() && (b.o.End.IsZero() || end.Before(b.o.End)) {
		b.o.End = end
	}
	return nil
}

// checkBound refuses a bound that is only a time of day where days recur. Four digits are a year
// there. Where hours or less recur they are a time of day, unless they are also a year of the next
// ten.
func (b *builder) checkBound(of *meaning) *refusal {
	hourly := b.m.has&hasPeriod != 0 && b.m.recur.unit <= uHour
	c, d := &of.clock, &of.day
	timed, year := of.has&(hasClock|hasDay) == hasClock, 0
	switch {
	case timed && c.how&clockCompact != 0:
		year = int(c.hour)*100 + int(c.minute)
	case of.n == 1 && of.recur.unit == uYear && d.year < 2400 && d.year%100 < 60:
		year = int(d.year)
	}
	ahead := year - civil.Wall(b.o.Now, b.s.Zone).Year()
	switch {
	case year > 0 && timed && hourly && ahead >= 0 && ahead <= soon:
		return either("it may be a year or a time of day", int(c.off), int(c.end), fmt.Sprintf("%d-01-01", year), fmt.Sprintf("%02d:%02d", c.hour, c.minute))
	case year >= 1900 && timed != hourly:
		return &refusal{}
	case timed && hourly && b.m.has&(hasWeekdays|hasMonths) != 0:
		return &refusal{code: fault.CodeAmbiguous, why: "it may be a time of every day, or one instant", hint: "say between which times of every day, or name the day of the one"}
	case timed && !hourly:
		return &refusal{code: fault.CodeAmbiguous, why: "it names a part of the day, and a time in it is asked for", hint: "name one time of day"}
	}
	return nil
}

// boundAt returns the instant of a bound. An end that is a day is the end of that day.
func (b *builder) boundAt(m *meaning, end bool) (time.Time, *refusal) {
	if m.has&hasNow != 0 {
		return b.anchor, nil
	}
	if m.err != nil {
		return time.Time{}, m.err
	}
	o := b.o
	o.DefaultTime, o.Zone, o.Now = 0, b.s.Zone, b.anchor
	switch wall := civil.Midnight(civil.Wall(b.anchor, b.s.Zone)); {
	case !end || m.has&hasClock != 0 || m.day.kind != onAnnual && m.day.kind != onMonth:
	case m.n == 0: // until december 24, said on that day
		o.Now = civil.InstantOf(wall, b.s.Zone).Add(-1)
	// through december, said in that month
	case b.c.through && int(m.day.month) == int(wall.Month()):
		o.Now = civil.InstantOf(wall.AddDate(0, 0, 1-wall.Day()), b.s.Zone).Add(-1)
	}
	p, of := b.p, *m
	of.n = 0
	opts, how, notes, others := p.opts, p.readMode, p.notes, p.others
	p.opts, p.readMode = &o, readMode{nested: true, past: true}
	a, why := p.resolve(&of)
	p.opts, p.readMode, p.notes, p.others = opts, how, notes, others
	if why != nil {
		return a.at, why
	}
	if end && m.has&(hasClock|hasSpan) == 0 {
		if m.n == 1 { // until march
			at := civil.Wall(a.at, o.Zone)
			if b.c.through {
				months, days, _ := m.recur.unit.measure()
				at = civil.AddMonthsDays(at, months, days)
			}
			return civil.InstantOf(at, o.Zone).Add(-1), nil
		}
		return civil.InstantOf(civil.Wall(a.at, o.Zone).AddDate(0, 0, 1), o.Zone).Add(-1), nil
	}
	return a.at, nil
}
