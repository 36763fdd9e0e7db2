package when

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
)

// everyBare refuses --every 5, which has no unit.
func (p *parser) everyBare(a quantity) (*Schedule, *Error) {
	if p.opts.OnceOnly {
		return nil, p.refuse("a recurrence and one instant are asked for at once", "leave one of the two out")
	}
	if c := p.toks[0].mark(); c == '-' || c == '+' {
		return nil, p.refuse("an interval has no sign", `say it as in "5m"`)
	}
	e := &Error{Code: CodeUsage, Message: "the interval " + quoted(p.typed) + " has no unit", Hint: `give a length of time, as in "5m"`}
	if e.instead = p.understood(p.withUnit(a)...); e.instead != nil {
		e.Hint = say(e.instead)
	}
	return nil, e
}

// periodClash refuses a period and days that do not go together.
var periodClash = &refusal{why: "its period and its days do not go together", hint: `say it as in "every 2 weeks on friday at 17:00"`}

// builder makes the schedule of a recurrence.
type builder struct {
	p      *parser
	m      *meaning
	c      *recurrence
	s      *Schedule
	wall   time.Time // the wall time of the anchor
	anchor time.Time
	o      Options
	freq   string
	parts  []string // parts such as BYMONTH=1
	pos    string   // the value of BYSETPOS, for days
	// The anchor says which days are meant, so the period is counted from it.
	from   bool
	except *Days
}

// allowedRecurrence makes the schedule of a recurrence, or refuses it where one instant is asked
// for.
func (p *parser) allowedRecurrence(m *meaning) (*Schedule, *refusal, *Error) {
	s, why, err := p.recurrence(m)
	if s != nil && (p.opts.OnceOnly || p.opts.Form != Any && p.opts.Form != EveryForm) {
		return nil, nil, notOnce(p.typed)
	}
	return s, why, err
}

func (p *parser) recurrence(m *meaning) (*Schedule, *refusal, *Error) {
	b := &builder{p: p, m: m, c: &m.recur, o: *p.opts}
	if why := b.needsEvery(); why != nil {
		return nil, why, nil
	}
	if m.err != nil {
		return nil, m.err, nil
	}
	b.s = &Schedule{Text: p.typed, Kind: RRule, Zone: b.o.Zone}
	if z := m.zone; z != nil {
		if z.fixed && !z.utc && !z.zulu || z.also != nil {
			return nil, &refusal{why: "a recurrence follows the clocks of a place", hint: `name it, as in "Europe/Warsaw", or use`, option: "tz"}, nil
		}
		b.s.Zone = z.loc
	}
	b.anchor = b.o.Start
	if b.anchor.IsZero() {
		b.anchor = b.o.Now
	}
	if why := b.bounds(); why != nil {
		return nil, why, nil
	}
	if whole := b.anchor.Truncate(time.Second); !b.o.Start.IsZero() && !b.elapsed() && whole.Before(b.anchor) {
		// The instants of a rule are whole seconds, and so is its DTSTART.
		b.anchor = whole.Add(time.Second)
		b.o.Start = b.anchor
	}
	b.wall = wallTime(b.anchor, b.s.Zone)
	if b.o.Start.IsZero() {
		b.wall = b.wall.Truncate(time.Minute)
	}
	var err *Error
	why := b.days()
	if why == nil {
		why = b.lengthOfDay()
	}
	switch {
	case why != nil:
	case b.elapsed():
		err = b.interval()
	default:
		why, err = b.rules()
	}
	if why != nil || err != nil {
		return nil, why, err
	}
	b.s.except(b.except)
	b.s.except(b.o.Except)
	s, err := b.s.bounded(b.o)
	if err == nil {
		b.canonical()
	}
	return s, nil, err
}

// needsEvery refuses a text that does not say that it recurs.
func (b *builder) needsEvery() *refusal {
	m, c, p := b.m, b.c, b.p
	every := &refusal{why: "it names two days", hint: "leave one of the two out", say: "say %q for all of them", readings: []string{"every "}}
	alone := m.has&(hasPeriod|hasEvery) == 0
	if c := &m.clock; m.has&hasClock != 0 && c.how&clockLone != 0 && (m.dayPart == 0 || p.hasClass(cDayParts)) && m.err == nil {
		word := p.text[c.off:c.end]
		if c.hour > 12 || c.hour == 0 || p.dayPartsAt(int(c.end)) { // 4 nights
			return &refusal{hint: quoted(word) + " is not understood here; " + p.tryThese()}
		}
		return &refusal{hint: quoted(word) + " is not understood here; " + p.tryThese(), say: quoted(word) + " is not understood here; say %q",
			off: int(c.off), end: int(c.end), readings: []string{"at " + word, "at " + word + ":00"}}
	}
	switch {
	case m.has&hasDeadlineWord != 0 || m.has&(hasSpan|hasNow|hasShift) != 0 || len(m.increments) > 0 || m.clock.how&(clockMinute|clockNow) != 0:
		return &refusal{}
	case m.has&hasWeekdays != 0 && c.listed && alone:
		return every
	case m.has&hasWeekdays != 0 && c.ranged && alone && m.has&(hasClock|hasWindow) == 0:
		every.why, every.hint, every.say = "it may be one time or all of them", `say it as in "every monday to friday at 9:00"`, "say %q"
		return every
	case m.has&hasDates != 0 && alone, alone && m.has&hasWeekdays == 0:
		return &refusal{why: "how often is not said", hint: `say it as in "every day at 9:00"`}
	}
	return nil
}

// dayPartsAt reports whether the first word after a place in the text is one such as "nights".
func (p *parser) dayPartsAt(off int) bool {
	i := slices.IndexFunc(p.toks[:p.n], func(t token) bool { return int(t.off) >= off })
	return i >= 0 && p.toks[i].is(cDayParts)
}

// bounds works out what "from", "until", "for", "times" and "except" say.
func (b *builder) bounds() *refusal {
	m, p := b.m, b.p
	if from, until := &p.res[m.bound[boundFrom]].m, &p.res[m.bound[boundUntil]].m; m.has&(hasFrom|hasUntil) == hasFrom|hasUntil && (from.has|until.has)&(hasDay|hasNow|hasSpan) == 0 {
		return &refusal{code: CodeAmbiguous, why: "it may be a span of every day or one span", hint: `say it as in "every hour between 9:00 and 17:00"`}
	} else if m.has&(hasFrom|hasUntil|hasClock) == hasFrom|hasUntil && (from.has^until.has)&hasClock != 0 && (m.has&hasPeriod == 0 || m.recur.unit > uHour) {
		return &refusal{} // from 1 december to 24 december at 9:00
	}
	for i, has := range [...]int{boundFrom: hasFrom, boundUntil: hasUntil} {
		if m.has&has == 0 {
			continue
		}
		if why := b.checkBound(&p.res[m.bound[i]].m); why != nil {
			return why
		}
	}
	if m.has&hasCount != 0 && m.has&hasClock == 0 && m.recur.unit > uHour && !p.hasClass(cAdverb) && m.has&hasPeriod == 0 {
		return &refusal{}
	}
	if m.has&hasFrom != 0 {
		of := p.res[m.bound[boundFrom]].m
		at, why := b.boundAt(&of, false)
		if why != nil {
			return why
		}
		// from today
		if of.has&hasDay != 0 && of.has&hasClock == 0 && of.day.kind == onOffset && of.day.shift == 0 {
			at = b.anchor
		}
		if at.Before(b.anchor) && of.has&hasNow == 0 {
			return &refusal{code: CodePast, at: at.In(b.s.Zone)}
		}
		b.o.Start, b.anchor = at, at
	}
	end := time.Time{}
	switch {
	case m.has&(hasUntil|hasFor) == hasUntil|hasFor, m.has&hasCount != 0 && m.has&(hasUntil|hasFor) != 0:
		return &refusal{why: "it says twice when it ends", hint: "leave one of the two out"}
	case m.has&hasUntil != 0:
		of := p.res[m.bound[boundUntil]].m
		at, why := b.boundAt(&of, true)
		if why != nil {
			return why
		}
		if !at.After(b.anchor) {
			return &refusal{code: CodePast, at: at.In(b.s.Zone)}
		}
		end = at
	case m.has&hasFor != 0:
		at, ok := addSpan(b.anchor, p.res[m.bound[boundUntil]].m.span, b.s.Zone)
		if !ok {
			return tooFar
		}
		end = at
	case m.has&hasCount != 0:
		if b.o.Count == 0 || int64(b.o.Count) > m.recur.count {
			b.o.Count = int(min(m.recur.count, 1<<31))
		}
	}
	if !end.IsZero() && (b.o.End.IsZero() || end.Before(b.o.End)) {
		b.o.End = end
	}
	if m.has&hasExcept != 0 {
		var why *refusal
		if b.except, why = daysOf(&p.res[m.bound[boundExcept]].m); why != nil {
			return why
		}
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
	ahead := year - wallTime(b.o.Now, b.s.Zone).Year()
	switch {
	case year > 0 && timed && hourly && ahead >= 0 && ahead <= soon:
		return &refusal{code: CodeAmbiguous, why: "it may be a year or a time of day", off: int(c.off), end: int(c.end),
			readings: []string{fmt.Sprintf("%d-01-01", year), fmt.Sprintf("%02d:%02d", c.hour, c.minute)}}
	case year >= 1900 && timed != hourly:
		return &refusal{}
	case timed && !hourly:
		return &refusal{code: CodeAmbiguous, why: "it names a part of the day, and a time in it is asked for", hint: `say it as in "every day at 9:00"`}
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
			at := wallTime(a.at, o.Zone)
			if b.c.through {
				months, days, _ := m.recur.unit.measure()
				at = addMonthsDays(at, months, days)
			}
			return InstantOf(at, o.Zone).Add(-1), nil
		}
		return InstantOf(wallTime(a.at, o.Zone).AddDate(0, 0, 1), o.Zone).Add(-1), nil
	}
	return a.at, nil
}

// days adds the day that the text names to the recurrence: "weekly on friday", "24 december every
// year".
func (b *builder) days() *refusal {
	m, c := b.m, b.c
	d := &m.day
	if m.has&hasDay != 0 {
		plain := m.also.kind == noDay && !d.next && d.shift == 0
		switch {
		case d.needs != 0:
			return &refusal{}
		case plain && d.kind == onWeekday && m.has&hasWeekdays != 0: // every monday friday
			return &refusal{why: "it names two days", hint: `join them with "and" or "to", or leave one of the two out`}
		case !plain || m.has&(hasDates|hasWeekdays|hasMonths) != 0:
			return periodClash
		case d.kind == onWeekday && c.unit == uWeek:
			c.weekdays, m.has = 1<<(d.weekday-1), m.has|hasWeekdays
		case d.kind == onMonth && c.unit == uMonth:
			c.dates, m.has = 1<<d.date, m.has|hasDates
		case d.kind == onAnnual && c.unit == uYear:
			c.months, c.dates, m.has = 1<<d.month, 1<<d.date, m.has|hasDates|hasMonths
		case d.kind == onNth && d.year == 0 && (d.month == 0) == (c.unit == uMonth) && (c.unit == uMonth || c.unit == uYear):
			nth := max(d.nth, 0)
			if m.has |= hasDates; d.weekday == 0 {
				c.dates = 1 << nth
			} else {
				c.nths, c.weekdays = 1<<nth, 1<<(d.weekday-1)
			}
			if d.month != 0 {
				c.months, m.has = 1<<d.month, m.has|hasMonths
			}
		case d.kind == onDate && d.yearFirst, d.kind == onDate:
			return &refusal{why: "a date with its year comes once", hint: "leave the year out"}
		default:
			return periodClash
		}
	}
	if c.open && c.unit != uMonth && !(c.unit == uYear && m.has&hasMonths != 0) {
		return &refusal{code: CodeAmbiguous, why: "of which month is not said", off: len(b.p.text), end: len(b.p.text),
			readings: []string{" of this month", " of next month", " of every month"}}
	}
	if why := b.calendarSpan(); why != nil {
		return why
	}
	if n := int(c.aDay); n > 0 {
		named := 1 + len(m.more)
		switch c.unit {
		case uWeek:
			named = bits.OnesCount8(c.weekdays)
		case uMonth:
			named = bits.OnesCount32(c.dates)
		}
		if c.unit == uDay && m.has&hasClock == 0 || named != n {
			return &refusal{why: "how far apart is not said", hint: `name the times, as in "every day at 9:00 and 17:00"`,
				say: "-"}
		}
	}
	few := bits.OnesCount8(c.weekdays) + bits.OnesCount32(c.dates) + bits.OnesCount8(c.nths)
	if c.nths != 0 {
		few -= bits.OnesCount8(c.weekdays)
	}
	if c.twice[1] > 0 && few != 1 {
		name := map[unit]string{uWeek: "weeks", uMonth: "months"}[c.unit]
		return &refusal{code: CodeAmbiguous, why: fmt.Sprintf("it may be every two %s or twice in one", name),
			off: int(c.twice[0]), end: int(c.twice[1]), readings: []string{"every 2 " + name}}
	}
	if e := b.except; e != nil && m.has&hasWeekdays != 0 && c.unit != uMonth && e.weekdays != 0 {
		if c.weekdays &^= e.weekdays; c.weekdays == 0 {
			return &refusal{why: "no day is left", hint: "leave the exception out"}
		}
		e.weekdays = 0
	}
	return nil
}

// calendarSpan finds the months of days that are counted in each calendar quarter or year: the last
// friday of every quarter. A quarter begins in January, April, July and October, as "quarterly"
// does in systemd.time(7).
func (b *builder) calendarSpan() *refusal {
	m, c := b.m, b.c
	if c.within == 0 || m.has&hasDates == 0 || m.has&hasMonths != 0 {
		return nil
	}
	first, last := uint16(1<<1), uint16(1<<12)
	name := "year"
	if c.within == uQuarter {
		first, last, name = 1<<1|1<<4|1<<7|1<<10, 1<<3|1<<6|1<<9|1<<12, "quarter"
	}
	switch {
	case c.dates|uint32(c.nths) == 1<<1:
		c.months = first
	case c.dates|uint32(c.nths) == 1:
		c.months = last
	default:
		return &refusal{code: CodeAmbiguous, why: "of which month of the " + name + " is not said", hint: `name the months, as in "on the 15th in january and july"`}
	}
	c.unit, c.n, m.has = uYear, 1, m.has|hasMonths
	return nil
}

// lengthOfDay turns a length that divides the day evenly into a period of days or hours when its
// times or minutes are named: every 12 hours at 6:00 and 18:00, every 2 hours on the hour, every 15
// minutes on the quarter hour.
func (b *builder) lengthOfDay() *refusal {
	m, c := b.m, b.c
	const day = 24 * time.Hour
	if m.has&(hasPeriod|hasWindow) != hasPeriod || c.unit > uHour || c.length < time.Minute || day%c.length != 0 {
		return nil
	}
	marks := members(c.minutes, false)
	switch {
	case m.has&(hasMinutes|hasClock) == hasMinutes && c.length > time.Hour && c.length%time.Hour == 0:
		m.has = m.has&^hasMinutes | hasClock
		for at := time.Duration(0); at < day; at += c.length {
			for _, minute := range marks {
				m.more = append(m.more, clock{hour: int8(at / time.Hour), minute: int8(minute)})
			}
		}
		m.clock, m.more = m.more[0], m.more[1:]
		c.unit, c.n = uDay, 1
	case m.has&(hasMinutes|hasClock) == hasMinutes && c.length < time.Hour && c.length%time.Minute == 0:
		apart := int(c.length / time.Minute)
		if len(marks) != 1 && len(marks) != 60/apart {
			return nil
		}
		var all uint64
		for minute := marks[0] % apart; minute < 60; minute += apart {
			all |= 1 << minute
		}
		if c.minutes&^all == 0 {
			c.minutes, c.unit, c.length = all, uHour, time.Hour
		}
	case m.has&(hasMinutes|hasClock) == hasClock && time.Duration(1+len(m.more))*c.length == day:
		times, why := b.clocks()
		if why != nil {
			return why
		}
		for i, at := range times {
			if at != times[0]+time.Duration(i)*c.length {
				return nil
			}
		}
		c.unit, c.n = uDay, 1
	}
	return nil
}

// elapsed reports whether the recurrence counts elapsed time.
func (b *builder) elapsed() bool {
	c := b.c
	return b.m.has&hasPeriod != 0 && c.unit <= uHour && b.m.has&(hasWindow|hasMinutes|hasSkip) == 0 && !b.allDay()
}

// allDay reports whether a length of time is repeated through the whole of certain days: every 15
// minutes on saturdays.
func (b *builder) allDay() bool {
	return b.m.has&(hasWeekdays|hasMonths) != 0 && b.m.has&(hasDates|hasClock|hasDayPart) == 0 && b.c.length >= time.Minute && 24*time.Hour%b.c.length == 0
}

// interval makes the schedule of a recurrence that counts elapsed time.
func (b *builder) interval() *Error {
	m, c, s := b.m, b.c, b.s
	if m.has&(hasWeekdays|hasDates|hasMonths|hasClock|hasDayPart|hasZone) != 0 {
		return b.p.errorOf(b.lengthAndDays())
	}
	s.Kind, s.Every = Interval, c.length
	s.Canonical = "every " + shortDuration(s.Every)
	anchor := b.anchor
	if m.has&hasFrom != 0 { // "starting at noon" has an instant at noon as well
		anchor = anchor.Add(-s.Every)
	}
	s.rule = newInterval(s.Every, anchor)
	return nil
}

// lengthAndDays refuses a length of elapsed time with days or times beside it.
func (b *builder) lengthAndDays() *refusal {
	p, c := b.p, b.c
	var texts []string
	if hourly, ok := strings.CutPrefix(p.low, "every hour "); ok && c.unit == uHour {
		texts = append(texts, "every hour at :00 "+p.text[len(p.text)-len(hourly):])
	}
	if c.weekdays != 0 {
		texts = append(texts, p.text+" between 9:00 and 17:00")
	}
	return &refusal{why: "a length of time and days or times do not go together", say: "say %q", end: len(p.text), readings: texts,
		hint: `say it as in "every day at 9:00" or "every 15 minutes between 9:00 and 17:00"`}
}

// weekdayText returns a BYDAY list, Monday first.
func weekdayText(set uint8, prefix string) string {
	var days []string
	for i, code := range weekdayCodes {
		if set>>((i+1)%7)&1 == 1 {
			days = append(days, prefix+code)
		}
	}
	return strings.Join(days, ",")
}

func join(list []int) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

// members returns the numbers of a set. When last is set, bit 0 is the last one, and is -1 at the
// end.
func members[T uint8 | uint16 | uint32 | uint64](set T, last bool) []int {
	var list []int
	for i := 0; i < 64; i++ {
		if set>>i&1 == 1 && (i > 0 || !last) {
			list = append(list, i)
		}
	}
	if last && set&1 == 1 {
		list = append(list, -1)
	}
	return list
}

// frequency decides FREQ and the parts that name days.
func (b *builder) frequency() *refusal {
	m, c := b.m, b.c
	if c.n == 0 {
		c.n = 1
	}
	part := func(name, value string) { b.parts = append(b.parts, name+"="+value) }
	if c.months != 0 {
		part("BYMONTH", join(members(c.months, false)))
	}
	period := m.has&hasPeriod != 0
	within := period && c.unit <= uHour
	switch {
	case within && m.has&hasDates != 0, m.has&hasWindow != 0 && !within, m.has&hasMinutes != 0 && c.unit != uHour:
		if m.has&hasWindow != 0 && !within {
			return &refusal{code: CodeAmbiguous, why: "it names a span of the day, and how often is not said", hint: `say it as in "every hour between 9:00 and 17:00"`}
		}
		return periodClash
	case m.has&hasMinutes != 0 && m.has&hasClock != 0:
		return &refusal{why: "it names minutes and times", hint: "leave one of the two out"}
	case within:
		if c.weekdays != 0 {
			part("BYDAY", weekdayText(c.weekdays, ""))
		}
		if b.freq = "DAILY"; m.has&hasMinutes != 0 && m.has&(hasWindow|hasSkip) == 0 {
			b.freq = "HOURLY"
		}
		return nil
	case c.nths != 0:
		if period && c.unit != uMonth && !(c.unit == uYear && c.months != 0) {
			return periodClash
		}
		if b.freq = "MONTHLY"; c.workdays {
			part("BYDAY", weekdayText(c.weekdays, ""))
			// BYSETPOS counts in each period of FREQ
			if b.pos = join(members(c.nths, true)); c.within != 0 {
				return nil
			}
		} else {
			var days []string
			for _, n := range members(c.nths, true) {
				days = append(days, weekdayText(c.weekdays, strconv.Itoa(n)))
			}
			part("BYDAY", strings.Join(days, ","))
		}
		b.yearly()
		return nil
	case c.dates != 0:
		if period && c.unit != uMonth && !(c.unit == uYear && c.months != 0) || c.weekdays != 0 && !c.onDate {
			return periodClash
		}
		if c.onDate {
			part("BYDAY", weekdayText(c.weekdays, ""))
		}
		dates := members(c.dates, true)
		part("BYMONTHDAY", join(dates))
		b.freq = "MONTHLY"
		if b.yearly(); b.freq == "YEARLY" {
			if c.months == 1<<2 && c.dates == 1<<29 {
				b.s.note(NoteLeap, "29 February comes in leap years alone")
			}
			if month := bits.TrailingZeros16(c.months); bits.OnesCount16(c.months) == 1 && len(dates) == 1 && dates[0] > 0 {
				return checkDate(0, month, dates[0])
			}
		} else if last := bits.Len32(c.dates) - 1; last > 28 {
			b.s.note(NoteMonths, "months without a day %d are left out; \"the last day\" is in all", last)
		}
		return nil
	case c.weekdays != 0:
		if period && c.unit != uWeek && !(c.unit == uDay && c.n == 1) {
			return periodClash
		}
		part("BYDAY", weekdayText(c.weekdays, ""))
		b.freq = "WEEKLY"
		return nil
	case !period:
		return &refusal{why: "how often is not said", hint: `say it as in "every day at 9:00"`}
	case c.months != 0 && c.unit != uDay:
		return periodClash
	}
	b.fromAnchor()
	return nil
}

// yearly makes a rule of days in certain months yearly, when its period is a year.
func (b *builder) yearly() {
	if b.c.months != 0 && (b.c.unit == uYear || b.m.has&hasPeriod == 0) {
		b.freq = "YEARLY"
	}
}

// fromAnchor gives a period that names no days the day of the anchor. In a shorter month, the 31st
// is the last day.
func (b *builder) fromAnchor() {
	b.from = true
	day := b.wall.Day()
	part := func(name, value string) { b.parts = append(b.parts, name+"="+value) }
	clamp := func() {
		if day <= 28 {
			part("BYMONTHDAY", strconv.Itoa(day))
			return
		}
		var days []int
		for d := 28; d <= day; d++ {
			days = append(days, d)
		}
		part("BYMONTHDAY", join(days))
		b.pos = "-1"
	}
	switch b.c.unit {
	case uDay:
		b.freq = "DAILY"
	case uWeek:
		part("BYDAY", weekdayText(1<<b.wall.Weekday(), ""))
		b.freq = "WEEKLY"
	case uMonth:
		clamp()
		b.freq = "MONTHLY"
	default:
		part("BYMONTH", strconv.Itoa(int(b.wall.Month())))
		if day == 29 && b.wall.Month() == time.February {
			clamp()
		} else {
			part("BYMONTHDAY", strconv.Itoa(day))
		}
		b.freq = "YEARLY"
	}
}

// times returns the times of day in order, without those that are left out.
func (b *builder) times() ([]time.Duration, *refusal) {
	times, why := b.timesNamed()
	if why != nil || b.m.has&hasSkip == 0 {
		return times, why
	}
	without, why := b.skipped()
	if why != nil {
		return nil, why
	}
	left := slices.DeleteFunc(slices.Clone(times), without)
	switch {
	case len(left) == len(times):
		return nil, &refusal{why: "it leaves out a time that it does not have", hint: "leave the exception out"}
	case len(left) == 0:
		return nil, &refusal{why: "no time is left", hint: "leave the exception out"}
	}
	return left, nil
}

// skipped returns a function that reports whether a time of day is left out.
func (b *builder) skipped() (func(time.Duration) bool, *refusal) {
	if !b.c.skipSpan {
		times, why := b.clockList(b.c.skip)
		return func(at time.Duration) bool { return slices.Contains(times, at) }, why
	}
	from, to, why := b.window(b.c.skip[0], b.c.skip[1])
	if why == nil && to < from {
		return func(at time.Duration) bool { return at >= from || at <= to }, nil
	}
	return func(at time.Duration) bool { return at >= from && at <= to }, why
}

// timesNamed returns the times of day that are named, in order.
func (b *builder) timesNamed() ([]time.Duration, *refusal) {
	m, p := b.m, b.p
	if m.has&hasWindow != 0 || m.has&hasMinutes != 0 {
		return b.spread()
	}
	if b.elapsedUnit() {
		if b.c.length < time.Minute || 24*time.Hour%b.c.length != 0 {
			return nil, b.lengthAndDays()
		}
		return spreadOver(0, 24*time.Hour-1, b.c.length), nil
	}
	if m.has&hasClock != 0 {
		return b.clocks()
	}
	switch {
	case m.dayPart != 0:
		return nil, p.vagueDayPart(m.dayPart)
	// starting friday at 17:00
	case m.has&hasFrom != 0 && !b.from && p.res[m.bound[boundFrom]].m.has&hasClock != 0:
		return []time.Duration{b.wall.Sub(midnight(b.wall)).Truncate(time.Second)}, nil
	case !b.from:
		return []time.Duration{p.opts.DefaultTime.Truncate(time.Second)}, nil
	}
	tod := b.wall.Sub(midnight(b.wall)).Truncate(time.Second)
	example := "9:00"
	if tod == 9*time.Hour {
		example = "18:00"
	}
	b.s.note(NoteStart, "runs at %s, the time of day it starts from; %q names another", clockOf(tod), "at "+example)
	return []time.Duration{tod}, nil
}

// clocks returns the times of day that the text lists, in order.
func (b *builder) clocks() ([]time.Duration, *refusal) {
	return b.clockList(append([]clock{b.m.clock}, b.m.more...))
}

// clockList returns some times of day in order.
func (b *builder) clockList(all []clock) ([]time.Duration, *refusal) {
	var times []time.Duration
	b.p.assume24Hour(all)
	for i := range all {
		tod, why := b.tod(&all[i])
		if why != nil {
			return nil, why
		}
		if slices.Contains(times, tod) {
			return nil, &refusal{why: "it names the same time twice", hint: "name it once"}
		}
		times = append(times, tod)
	}
	slices.Sort(times)
	return times, nil
}

// assume24Hour takes hours without am or pm as hours of the 24-hour clock, when one of the times
// can only be one.
func (p *parser) assume24Hour(all []clock) {
	for i := range all {
		if c := &all[i]; c.how&clockColon != 0 && c.mer == 0 && (c.hour > 12 || c.hour == 0) || c.how&clockBare != 0 && c.mer == 0 && c.hour > 12 {
			for j := range all {
				all[j].how &^= clockBare
			}
			return
		}
	}
}

// tod returns the time of day that a clock means in a recurrence.
func (b *builder) tod(c *clock) (time.Duration, *refusal) {
	tod, _, why := b.p.timeOfDay(c, b.m.dayPart)
	if c.how&clockThreeDigits != 0 && b.m.dayPart == 0 {
		return 0, &refusal{}
	}
	switch {
	case why != nil:
		return 0, why
	case tod >= 24*time.Hour:
		return 0, &refusal{why: "a day ends before 24:00", say: "say %q", hint: "say it as 00:00", off: int(c.off), end: int(c.end), readings: []string{"00:00"}}
	case tod%time.Second != 0:
		return 0, &refusal{why: "a recurrence falls on whole seconds", hint: "leave the fraction out"}
	}
	return tod, nil
}

// spread returns the times within the range of the text, a period apart. Both ends are included,
// and the range may cross midnight.
func (b *builder) spread() ([]time.Duration, *refusal) {
	m, c := b.m, b.c
	from, to, why := time.Duration(0), 24*time.Hour-1, (*refusal)(nil)
	if m.has&hasWindow != 0 {
		from, to, why = b.window(c.from, c.to)
	}
	if why != nil {
		return nil, why
	}
	switch {
	case m.has&hasMinutes != 0:
		var times []time.Duration
		for at := from.Truncate(time.Hour); at <= to; at += time.Hour {
			for _, minute := range members(c.minutes, false) {
				if t := at + time.Duration(minute)*time.Minute; t >= from && t <= to && t < 24*time.Hour {
					times = append(times, t)
				}
			}
		}
		if len(times) == 0 {
			return nil, &refusal{why: "no time is left", hint: "name others"}
		}
		return times, nil
	case m.has&hasClock != 0 || c.length < time.Minute:
		return nil, &refusal{why: "times between two others are at least a minute apart", hint: `say it as in "every 15 minutes between 9:00 and 17:00"`}
	case to == from:
		return nil, &refusal{why: "the second time is not after the first", hint: "name two times"}
	case to < from && (m.has&(hasWeekdays|hasMonths) != 0):
		return nil, &refusal{why: "the second time is not after the first", hint: "make a task for each side of midnight"}
	case to < from:
		to += 24 * time.Hour
	}
	return spreadOver(from, to, c.length), nil
}

// spreadOver returns the times from one to another, both included, a length apart.
func spreadOver(from, to, length time.Duration) []time.Duration {
	var times []time.Duration
	for t := from; t <= to; t += length {
		times = append(times, t%(24*time.Hour))
	}
	slices.Sort(times)
	return slices.Compact(times)
}

// elapsedUnit reports whether the period is one of hours or less.
func (b *builder) elapsedUnit() bool { return b.m.has&hasPeriod != 0 && b.c.unit <= uHour }

// window works out the two times of "between 9 and 5".
func (b *builder) window(first, last clock) (from, to time.Duration, why *refusal) {
	pair := []clock{first, last}
	b.p.assume24Hour(pair)
	bare := func(c *clock) bool { return c.how&clockBare != 0 && c.mer == 0 && c.hour > 0 && c.hour <= 12 }
	hour := func(h int8, pm bool) int8 {
		if pm {
			return h%12 + 12
		}
		return h % 12
	}
	f, t := &pair[0], &pair[1]
	switch fb, tb := bare(f), bare(t); {
	case fb && tb:
		// 9 to 5 is office hours
		if f.hour < 6 || f.hour > 10 || t.hour > 7 || t.hour < 3 || t.hour >= f.hour {
			var readings []string
			for _, ampm := range [][2]string{{"am", "am"}, {"am", "pm"}, {"pm", "pm"}, {"pm", "am"}} {
				fh, th := hour(f.hour, ampm[0] == "pm"), hour(t.hour, ampm[1] == "pm")
				if fh < th {
					readings = append(readings, fmt.Sprintf("%d:00%s%s%d:00%s", f.hour, ampm[0], b.p.text[f.end:t.off], t.hour, ampm[1]))
				}
			}
			return 0, 0, &refusal{code: CodeAmbiguous, why: "its hours may be in the morning or in the evening", off: int(f.off), end: int(t.end), readings: readings}
		}
		t.hour += 12
		f.how, t.how = 0, 0
	case fb && t.how&clockColon != 0 && t.mer == 0 && f.hour < t.hour: // between 9 and 10:30
		f.how = 0
	case fb && t.mer != 0 || fb && t.name != 0:
		end := t.hour
		if t.mer != 0 {
			end = hour(t.hour, t.mer == 'p')
		}
		pm := hour(f.hour, true) < end
		if f.hour, f.how = hour(f.hour, pm), 0; !pm && f.hour >= end && end != 0 {
			f.hour = hour(f.hour, true)
		}
	case tb && f.mer != 0 || tb && f.name != 0:
		begin := f.hour
		if f.mer != 0 {
			begin = hour(f.hour, f.mer == 'p')
		}
		am, pm := hour(t.hour, false), hour(t.hour, true)
		if am > begin && pm > begin {
			word := b.p.text[t.off:t.end]
			return 0, 0, &refusal{code: CodeAmbiguous, why: word + " in the morning or in the evening", off: int(t.off), end: int(t.end),
				readings: []string{word + ":00am", word + ":00pm"}}
		}
		if t.hour, t.how = am, 0; pm > begin {
			t.hour = pm
		}
	}
	if from, why = b.tod(f); why == nil {
		if t.name == 'm' || t.hour == 24 {
			return from, 24*time.Hour - 1, nil
		}
		to, why = b.tod(t)
	}
	return from, to, why
}

// clockSet is a set of times of day that an RRULE can say: every combination of its hours, minutes
// and seconds.
type clockSet struct {
	hours, minutes, seconds []int
}

func (c clockSet) String() string {
	return "BYHOUR=" + join(c.hours) + ";BYMINUTE=" + join(c.minutes) + ";BYSECOND=" + join(c.seconds)
}

// product returns the smallest such set that has all of some times. It is exact when it has no
// others.
func product(times []time.Duration) (set clockSet, exact bool) {
	for _, t := range times {
		set.hours = append(set.hours, int(t/time.Hour))
		set.minutes = append(set.minutes, int(t/time.Minute%60))
		set.seconds = append(set.seconds, int(t/time.Second%60))
	}
	for _, list := range []*[]int{&set.hours, &set.minutes, &set.seconds} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return set, len(set.hours)*len(set.minutes)*len(set.seconds) == len(times)
}

// groups splits times into sets that are exact: the hours of a set have the same minutes and
// seconds.
func groups(times []time.Duration) (sets []clockSet) {
	for len(times) > 0 {
		n := slices.IndexFunc(times, func(t time.Duration) bool { return t/time.Hour != times[0]/time.Hour })
		if n < 0 {
			n = len(times)
		}
		hour, exact := product(times[:n])
		if !exact {
			n = 1
			hour, _ = product(times[:n])
		}
		times = times[n:]
		same := func(c clockSet) bool {
			return slices.Equal(c.minutes, hour.minutes) && slices.Equal(c.seconds, hour.seconds)
		}
		if i := slices.IndexFunc(sets, same); i >= 0 {
			sets[i].hours = append(sets[i].hours, hour.hours...)
		} else {
			sets = append(sets, hour)
		}
	}
	return sets
}

// positions returns the positions of the times among those that the set has in a day.
func (c clockSet) positions(times []time.Duration) []int {
	var pos []int
	i := 0
	for _, h := range c.hours {
		for _, m := range c.minutes {
			for _, s := range c.seconds {
				i++
				if slices.Contains(times, time.Duration(h)*time.Hour+time.Duration(m)*time.Minute+time.Duration(s)*time.Second) {
					pos = append(pos, i)
				}
			}
		}
	}
	if i > 366 {
		return nil
	}
	return pos
}

// rules makes one rule, or one for each of several days of the year.
func (b *builder) rules() (*refusal, *Error) {
	if len(b.m.days) == 0 {
		if why := b.frequency(); why != nil {
			return why, nil
		}
		return b.rule()
	}
	var rules anyOf
	for _, d := range b.m.days {
		b.c.dates, b.c.months, b.parts, b.freq = 1<<d.date, 1<<d.month, nil, ""
		if why := b.frequency(); why != nil {
			return why, nil
		}
		if why, err := b.rule(); why != nil || err != nil {
			return why, err
		}
		rules = append(rules, b.s.rule)
	}
	b.s.rule, b.s.Canonical = rules, b.p.low
	return nil, nil
}

// rule writes the RRULE and reads it back. Times that are not one clockSet need BYSETPOS within a
// day, which makes the frequency daily, or several rules.
func (b *builder) rule() (*refusal, *Error) {
	if b.freq == "HOURLY" {
		return nil, b.write("BYMINUTE="+join(members(b.c.minutes, false))+";BYSECOND=0", b.pos)
	}
	times, why := b.times()
	if why != nil {
		return why, nil
	}
	set, exact := product(times)
	if exact && (len(times) == 1 || b.pos == "") {
		return nil, b.write(set.String(), b.pos)
	}
	if b.pos == "" && b.c.nths == 0 && b.freq != "YEARLY" && (b.freq == "DAILY" || b.c.n == 1) {
		if pos := set.positions(times); pos != nil {
			b.freq = "DAILY"
			return nil, b.write(set.String(), join(pos))
		}
	}
	var rules anyOf
	for _, set := range groups(times) {
		if err := b.write(set.String(), b.pos); err != nil {
			return nil, err
		}
		rules = append(rules, b.s.rule)
	}
	b.s.rule, b.s.Canonical = rules, b.p.low
	return nil, nil
}

// anyOf has the instants of several rules.
type anyOf []rule

func (a anyOf) next(t time.Time) (time.Time, bool) {
	best, found := time.Time{}, false
	for _, r := range a {
		if next, ok := r.next(t); ok && (!found || next.Before(best)) {
			best, found = next, true
		}
	}
	return best, found
}

// write makes one RRULE. A period of more than one unit starts from its first occurrence, or from
// the anchor when that says the day. In both cases, and when the text names a zone, the rule has a
// DTSTART.
func (b *builder) write(clock, pos string) *Error {
	c, s := b.c, b.s
	tail := strings.Join(append(slices.Clone(b.parts), clock), ";")
	if pos != "" {
		tail += ";BYSETPOS=" + pos
	}
	text := "FREQ=" + b.freq + ";" + tail
	start := InstantOf(b.wall, s.Zone)
	phased := c.n > 1 && b.freq != "HOURLY" && c.unit > uHour
	if phased || b.m.zone != nil || b.m.has&hasFrom != 0 {
		day := b.wall
		if phased && (!b.from || b.m.has&hasClock != 0) {
			r, _, _, err := parseRRule(text, start, s.Zone)
			if err != nil {
				return b.p.asRule(err)
			}
			floor := b.anchor
			if !b.o.Start.IsZero() {
				floor = floor.Add(-1)
			}
			first, ok := r.next(floor)
			if !ok {
				return b.p.refuse("it never comes", "")
			}
			day = wallTime(first, s.Zone)
		}
		if phased {
			text = fmt.Sprintf("FREQ=%s;INTERVAL=%d;%s", b.freq, c.n, tail)
		}
		begin := midnight(day)
		if b.m.has&hasFrom != 0 && !phased {
			begin = b.wall
		}
		start, text = InstantOf(begin, s.Zone), withStart(text, begin, s.Zone)
	}
	r, canonical, notes, err := parseRRule(text, start, s.Zone)
	if err != nil {
		return b.p.asRule(err)
	}
	s.rule, s.Canonical = r, canonical
	s.Notes = append(s.Notes, notes...)
	return nil
}

// canonical adds the bounds that were words to the plain form as UNTIL. When a rule cannot say
// them, the plain form is the text itself.
func (b *builder) canonical() {
	s, m := b.s, b.m
	if m.has&(hasFrom|hasUntil|hasFor|hasCount) == 0 && (b.except == nil || b.except.empty()) {
		return
	}
	if _, several := s.rule.(anyOf); several || b.except != nil && !b.except.empty() || s.Canonical == b.p.low {
		s.Canonical = b.p.low
		return
	}
	if s.Kind == Interval {
		if m.has&hasFrom != 0 {
			s.Canonical += " from " + instantText(b.anchor.In(s.Zone))
		}
		if !s.end.IsZero() {
			s.Canonical += " until " + instantText(s.end.In(s.Zone))
		}
		return
	}
	if !s.end.IsZero() && m.has&(hasUntil|hasFor|hasCount) != 0 {
		s.Canonical += ";UNTIL=" + s.end.UTC().Format("20060102T150405Z")
	}
}

// asRule returns the error of a rule that was made from words, in terms of the words.
func (p *parser) asRule(err error) *Error {
	e := *asError(err)
	if e.Code == CodeNever {
		e.Message = quoted(p.typed) + " never comes"
		return &e
	}
	return p.refuse("it is too much for one rule", "make several tasks of it")
}
