package when

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// everyBare refuses --every 5, which has no unit.
func (p *parser) everyBare(a quantity) *fault.Error {
	e := &fault.Error{Code: fault.CodeUsage, Message: "the interval " + fault.Quoted(p.typed) + " has no unit", Hint: "give a length of time with its unit: s, m, h, days or longer"}
	if e.Instead = p.understood(p.withUnit(a)...); e.Instead != nil {
		e.Hint = offer(e.Instead)
	}
	return e
}

// periodClash refuses a period and days that do not go together.
var periodClash = &refusal{why: "its period and its days do not go together", hint: "leave one of the two out"}

// twoPeriods refuses "every day every hour".
var twoPeriods = &refusal{why: "it names two periods", hint: "leave one of the two out"}

// whichWeekday refuses "monthly on friday", and ofWhichMonth "every year on the 31st".
var (
	whichWeekday = &refusal{code: fault.CodeAmbiguous, why: "it does not say which such weekday of the month", hint: "number it, as in the first friday"}
	ofWhichMonth = &refusal{code: fault.CodeAmbiguous, why: "it does not say of which month", hint: "name the month"}
)

// hoursNotAgreed refuses a length of time in a part of the day.
var hoursNotAgreed = &refusal{code: fault.CodeAmbiguous, why: "its hours are not agreed", hint: "say between which times of day"}

// builder makes the schedule of a recurrence.
type builder struct {
	p      *parser
	m      *meaning
	c      *recurrence
	s      *Schedule
	wall   time.Time // the wall time of the anchor
	anchor time.Time
	o      Options
	parts  recur.Parts   // of the days; BYSETPOS is of the days, too
	all    []recur.Parts // with their times, and without INTERVAL
	// The anchor says which days are meant, so the period is counted from it.
	from  bool
	later bool // the text says that it begins later than now
	// The time of day, when the text does not name it.
	assumed string
	several bool // it is several rules
	except  *recur.Days
}

// allowedRecurrence makes the schedule of a recurrence, or refuses it where one instant is asked
// for.
func (p *parser) allowedRecurrence(m *meaning) (*Schedule, *refusal) {
	s, why := p.recurrence(m)
	if s != nil && p.onceAsked() {
		return nil, &refusal{made: notOnce(p.typed)}
	}
	return s, why
}

// onceAsked reports whether one instant is asked for, and no recurrence.
func (p *parser) onceAsked() bool {
	return p.opts.OnceOnly || p.opts.Form != Any && p.opts.Form != EveryForm
}

func (p *parser) recurrence(m *meaning) (*Schedule, *refusal) {
	b := &builder{p: p, m: m, c: &m.recur, o: *p.opts}
	if why := b.needsEvery(); why != nil {
		return nil, why
	}
	if m.err != nil {
		return nil, m.err
	}
	if b.c.daily && m.has&(hasWindow|hasMinutes) == 0 {
		return nil, twoPeriods
	}
	b.s = &Schedule{Text: p.typed, Kind: RRule, Zone: b.o.Zone}
	if z := m.zone; z != nil {
		if z.fixed && !z.utc && !z.zulu || z.also != nil {
			return nil, &refusal{why: "a recurrence follows the clocks of a place", hint: "name its area and city in the IANA database, or use", option: "tz"}
		}
		b.s.Zone = z.loc
	}
	b.anchor = b.o.Start
	if b.anchor.IsZero() {
		b.anchor = b.o.Now
	}
	if why := b.bounds(); why != nil {
		return nil, why
	}
	if whole := b.anchor.Truncate(time.Second); !b.o.Start.IsZero() && !b.elapsed() && whole.Before(b.anchor) {
		// The instants of a rule are whole seconds, and so is its DTSTART.
		b.anchor = whole.Add(time.Second)
		b.o.Start = b.anchor
	}
	b.wall = civil.Wall(b.anchor, b.s.Zone)
	if b.o.Start.IsZero() {
		b.wall = b.wall.Truncate(time.Minute)
	}
	why := b.days()
	if why == nil {
		why = b.lengthOfDay()
	}
	switch {
	case why != nil:
	case b.elapsed():
		why = b.interval()
	default:
		why = b.rules()
	}
	if why != nil {
		return nil, why
	}
	b.s.except(b.except)
	b.s.except(b.o.Except)
	s, err := b.s.bounded(b.o)
	if err != nil {
		return nil, &refusal{made: err}
	}
	b.canonical()
	return s, nil
}

// needsEvery refuses a text that does not say that it recurs.
func (b *builder) needsEvery() *refusal {
	m, c, p := b.m, b.c, b.p
	every := &refusal{why: "it names several days", hint: "leave one of the two out", say: "say %q for all of them", readings: []string{"every "}}
	for i := 0; p.word(i, "from", "on", "the"); i++ {
		every.end = int(p.toks[i+1].off)
	}
	if p.word(0, "between") {
		every.readings[0] = "every day "
	}
	alone := m.has&(hasPeriod|hasEvery) == 0
	if c := &m.clock; m.has&hasClock != 0 && c.how&clockLone != 0 && (m.dayPart == 0 || p.hasClass(cDayParts)) && m.err == nil {
		word := p.text[c.off:c.end]
		if c.hour > 12 || c.hour == 0 || p.pluralAt(int(c.end)) { // 4 nights
			return &refusal{hint: fault.Quoted(word) + " is not understood here; " + p.tryThese()}
		}
		return &refusal{hint: fault.Quoted(word) + " is not understood here; " + p.tryThese(), say: fault.Quoted(word) + " is not understood here; say %q",
			off: int(c.off), end: int(c.end), readings: []string{"at " + word, "at " + word + ":00"}}
	}
	switch {
	case m.has&hasDeadlineWord != 0 || m.has&(hasSpan|hasNow|hasShift) != 0 || len(m.increments) > 0 || m.clock.how&(clockMinute|clockNow) != 0:
		return &refusal{}
	case m.has&hasWeekdays != 0 && c.listed && alone:
		return every
	case m.has&hasWeekdays != 0 && c.ranged && alone && m.has&(hasClock|hasWindow) == 0:
		every.code, every.why, every.hint = fault.CodeAmbiguous, "it may be one time or all of them", "say that it recurs, or give a date"
		return every
	case m.has&hasDates != 0 && m.has&hasMonths != 0 && alone:
		every.why, every.hint, every.say = "it names several days, and not how often", "say that it recurs, or give one date", "say %q for those of every year"
		return every
	case m.has&hasDates != 0 && alone, alone && m.has&hasWeekdays == 0:
		return &refusal{why: "it does not say how often", hint: "add how often, or name one day"}
	}
	return nil
}

// pluralAt reports whether the first word after a place in the text begins days of which the number
// before it may be the count: 4 nights, 5 working days.
func (p *parser) pluralAt(off int) bool {
	i := slices.IndexFunc(p.toks[:p.n], func(t token) bool { return int(t.off) >= off })
	return i >= 0 && (p.toks[i].is(cDayParts|cDays) || p.word(i, "working", "business", "work", "week", "weekdays", "workdays", "weekends"))
}

// days adds the day that the text names to the recurrence: "weekly on friday", "24 december every
// year".
func (b *builder) days() *refusal {
	m, c := b.m, b.c
	// every 14 days on friday, every 12 months on 24 december
	if n := int64(c.length / (24 * time.Hour)); m.has&hasPeriod != 0 && c.unit <= uHour && n > 1 && c.length%(24*time.Hour) == 0 && m.has&(hasClock|hasDay|hasWeekdays) != 0 {
		c.unit, c.n = uDay, n // every 48 hours at noon
	}
	switch d := m.day.kind; {
	case c.n == 0:
	case c.unit == uDay && c.n%7 == 0 && (d == onWeekday || m.has&hasWeekdays != 0):
		c.unit, c.n = uWeek, c.n/7
	case c.unit == uMonth && c.n%12 == 0 && (d == onAnnual || m.has&hasMonths != 0):
		c.unit, c.n = uYear, c.n/12
	}
	if m.has&hasDay != 0 {
		if why := b.namedDay(); why != nil {
			return why
		}
	}
	if c.open && c.unit == uYear && m.has&hasMonths == 0 {
		return ofWhichMonth
	}
	if c.open && c.unit != uMonth && c.unit != uYear {
		return either("it does not say of which month", len(b.p.text), len(b.p.text), " of this month", " of next month", " of every month")
	}
	if why := b.calendarSpan(); why != nil {
		return why
	}
	if why := b.rate(); why != nil {
		return why
	}
	few := bits.OnesCount8(c.weekdays) + bits.OnesCount64(c.dates) + bits.OnesCount64(c.nths)
	if c.nths != 0 {
		few -= bits.OnesCount8(c.weekdays)
	}
	if c.twice[1] > 0 && few != 1 {
		name := map[unit]string{uWeek: "weeks", uMonth: "months"}[c.unit]
		return either(fmt.Sprintf("it may be every two %s or twice in one", name), int(c.twice[0]), int(c.twice[1]), "every 2 "+name)
	}
	if e := b.except; e != nil && m.has&hasWeekdays != 0 && c.unit != uMonth && e.Weekdays != 0 {
		if c.weekdays &^= e.Weekdays; c.weekdays == 0 {
			return &refusal{why: "no day is left", hint: "leave the exception out"}
		}
		e.Weekdays = 0
	}
	return nil
}

// named returns how many times of each day, or days of each week or month, the text names.
func (b *builder) named() int {
	switch m, c := b.m, b.c; {
	case c.unit == uHour:
		return bits.OnesCount64(c.minutes)
	case c.unit == uWeek:
		return bits.OnesCount8(c.weekdays)
	case c.unit == uMonth:
		return bits.OnesCount64(c.dates)
	case m.has&hasClock != 0:
		return 1 + len(m.more)
	}
	return 0
}

// rate refuses a rate, such as 3 times a day, when the text does not name as many times or days.
func (b *builder) rate() *refusal {
	m, c := b.m, b.c
	switch {
	case m.has&hasRate == 0:
	case b.named() != int(c.aDay) && m.has&hasPeriod != 0 && c.unit <= uHour:
		return &refusal{why: "it does not say how far apart", hint: "give the length of time between two of them, or the minutes of the hour"}
	case b.named() != int(c.aDay):
		why := "it does not say when"
		if named := b.named(); named > 0 {
			why = fmt.Sprintf("it says %s and names %d", plain.Plural(int(c.aDay), "time"), named)
		}
		return &refusal{why: why, hint: "name as many times as it says" + b.rateExample()}
	}
	return nil
}

// rateExample returns an example of a text that names as many times or days as its rate says, for a
// hint. It is empty when the text names some, or when none is known.
func (b *builder) rateExample() string {
	examples := map[unit][]string{
		uDay:   {2: "at 8:00 and 20:00", 3: "at 8:00, 14:00 and 20:00", 4: "at 6:00, 12:00, 18:00 and 22:00"},
		uWeek:  {2: "on monday and thursday", 3: "on monday, wednesday and friday", 4: "on monday, tuesday, thursday and friday", 5: "on monday to friday"},
		uMonth: {2: "on the 1st and 15th", 3: "on the 1st, 11th and 21st"},
	}[b.c.unit]
	n := int(b.c.aDay)
	if b.named() > 0 || n >= len(examples) || examples[n] == "" {
		return ""
	}
	list := b.p.understood(b.p.text + " " + examples[n])
	if list == nil {
		return ""
	}
	return fmt.Sprintf(", for example %q", list[0])
}

// namedDay turns a day into days that recur, when it is of the kind that the period has.
func (b *builder) namedDay() *refusal {
	m, c, d := b.m, b.c, &b.m.day
	plain := m.also.kind == noDay && !d.next && d.shift == 0 && !strings.HasPrefix(b.p.low[d.off:], "this")
	switch {
	case d.needs != 0:
		return &refusal{}
	case plain && d.kind == onWeekday && m.has&(hasPeriod|hasWeekdays) == hasPeriod && c.unit <= uHour && c.length >= time.Minute:
		return either("it may be that day once, or that of every week", int(d.off), int(d.end), strings.Fields(weekdayWords[d.weekday-1])[0]+"s")
	case plain && d.kind == onWeekday && m.has&hasWeekdays != 0: // every monday friday
		return &refusal{why: "it names two days", hint: `join them with "and" or "to", or leave one of the two out`}
	// every january on the 15th
	case d.kind == onMonth && plain && c.n == 1 && m.has&(hasDates|hasWeekdays|hasMonths) == hasMonths:
		c.dates, m.has = 1<<d.date, m.has|hasDates
	case !plain || m.has&(hasDates|hasWeekdays|hasMonths) != 0:
		return periodClash
	case plain && d.kind == onWeekday && c.unit == uMonth:
		return whichWeekday
	case plain && d.kind == onMonth && c.unit == uYear:
		return ofWhichMonth
	case d.kind == onWeekday && (c.unit == uWeek || m.has&hasPeriod == 0):
		c.weekdays, m.has = 1<<(d.weekday-1), m.has|hasWeekdays
	case d.kind == onMonth && c.unit == uMonth:
		c.dates, m.has = 1<<d.date, m.has|hasDates
	case d.kind == onAnnual && c.unit == uYear:
		c.months, c.dates, m.has = 1<<d.month, 1<<d.date, m.has|hasDates|hasMonths
	case d.kind == onNth && d.year == 0 && (d.month == 0) == (c.unit == uMonth) && (c.unit == uMonth || c.unit == uYear):
		nth := nthBit(int(d.nth))
		m.has |= hasDates
		switch {
		case d.workdays:
			c.nths, c.weekdays, c.workdays = nth, workingDays, true
		case d.weekday == 0:
			c.dates = nth
		default:
			c.nths, c.weekdays = nth, 1<<(d.weekday-1)
		}
		if d.month != 0 {
			c.months, m.has = 1<<d.month, m.has|hasMonths
		}
	case d.kind == onDate:
		return &refusal{why: "a date with its year comes once", hint: "leave the year out"}
	default:
		return periodClash
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
	case c.dates|c.nths == 1<<1:
		c.months = first
	case uint32(c.dates|c.nths)&^1 == 0:
		c.months = last
	default:
		return &refusal{code: fault.CodeAmbiguous, why: "it does not say of which month of the " + name, hint: `name the months`}
	}
	c.unit, c.n, m.has = uYear, 1, m.has|hasMonths
	return nil
}

// lengthOfDay turns a length that divides the day evenly into a period of days or hours when its
// times or minutes are named: every 12 hours at 6:00 and 18:00, every 2 hours on the hour, every 15
// minutes on the quarter hour. A length between two times of a day of the month becomes times.
func (b *builder) lengthOfDay() *refusal {
	m, c := b.m, b.c
	const day = 24 * time.Hour
	if m.has&(hasPeriod|hasWindow|hasDates) == hasPeriod|hasWindow|hasDates && c.unit <= uHour {
		times, why := b.spread()
		for _, at := range times {
			m.more = append(m.more, clock{hour: int8(at / time.Hour), minute: int8(at / time.Minute % 60)})
		}
		if why == nil {
			m.clock, m.more = m.more[0], m.more[1:]
			m.has, c.unit, c.n = m.has&^(hasPeriod|hasWindow|hasMinutes)|hasClock, uNone, 1
		}
		return why
	}
	if m.has&hasPeriod == 0 || c.unit > uHour || c.length < time.Minute || day%c.length != 0 {
		return nil
	}
	marks := members(c.minutes, false)
	switch {
	case m.has&(hasMinutes|hasWindow) == hasMinutes|hasWindow && c.length%time.Hour == 0:
		c.unit = uHour
	case m.has&(hasMinutes|hasClock) == hasMinutes && c.length > time.Hour && c.length%time.Hour == 0:
		m.has = m.has&^hasMinutes | hasClock
		for at := time.Duration(0); at < day; at += c.length {
			for _, minute := range marks {
				m.more = append(m.more, clock{hour: int8(at / time.Hour), minute: int8(minute)})
			}
		}
		m.clock, m.more = m.more[0], m.more[1:]
		c.unit, c.n = uDay, 1
	case m.has&(hasMinutes|hasClock) == hasMinutes && c.length < time.Hour && time.Hour%c.length == 0:
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
	case m.has&(hasMinutes|hasClock|hasWindow) == hasClock && time.Duration(1+len(m.more))*c.length == day:
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
func (b *builder) interval() *refusal {
	m, c, s := b.m, b.c, b.s
	if m.has&(hasWeekdays|hasDates|hasMonths|hasClock|hasDayPart|hasZone) != 0 {
		return &refusal{made: b.p.errorOf(b.lengthAndDays())}
	}
	s.Kind, s.Every = Interval, c.length
	s.Canonical = "every " + shortDuration(s.Every)
	anchor := b.anchor
	if b.later { // "starting at noon" has an instant at noon as well
		anchor = anchor.Add(-s.Every)
	} else if b.o.Start.After(b.o.Now) {
		s.note(recur.NoteStart, "comes first %s after its start; %q begins at it", shortDuration(s.Every),
			s.Canonical+" starting "+instantText(anchor.In(s.Zone)))
	}
	s.rule = recur.NewInterval(s.Every, anchor)
	return nil
}

// lengthAndDays refuses a length of elapsed time with days or times beside it.
func (b *builder) lengthAndDays() *refusal {
	p, c := b.p, b.c
	if b.m.has&(hasWeekdays|hasDates|hasMonths|hasClock|hasDayPart) == 0 {
		return &refusal{why: "a length of time has no time zone", hint: "leave the zone out"}
	}
	var texts []string
	if hourly, ok := strings.CutPrefix(p.low, "every hour "); ok && c.unit == uHour {
		texts = append(texts, "every hour at :00 "+p.text[len(p.text)-len(hourly):])
	}
	if c.weekdays != 0 {
		texts = append(texts, p.text+" between 9:00 and 17:00")
	}
	if b.m.has&(hasClock|hasDayPart) == hasDayPart {
		return hoursNotAgreed
	}
	return &refusal{why: "a length of time and days or times do not go together", say: "say %q", end: len(p.text), readings: texts,
		hint: "leave one of the two out, or say between which times"}
}
