package when

import (
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// resolver has what every kind of day needs to find its instant.
type resolver struct {
	p        *parser
	m        *meaning
	zone     *time.Location
	now      time.Time
	today    time.Time // the wall time of now
	midnight time.Time // the wall time at which today began
	tod      time.Duration
	timed    bool
}

// base returns the instant of the day and the time of day. It is ahead of now unless increments
// follow.
func (r *resolver) base() (time.Time, *refusal) {
	m, p := r.m, r.p
	if m.has&hasClock != 0 {
		if why := r.unclearClock(); why != nil {
			return time.Time{}, why
		}
	}
	if m.has&hasDayPart != 0 && m.has&hasClock == 0 {
		return time.Time{}, p.vagueDayPart(m.dayPart)
	}
	if m.day.needs == 'w' && m.also.kind != onWeekday || m.day.needs == 'c' && m.has&hasClock == 0 && (m.also.kind != onWeekday || m.day.date < 24) {
		return time.Time{}, &refusal{}
	}
	r.today = civil.Wall(r.now, r.zone)
	if m.day.needs == 'n' && m.has&(hasClock|hasDayPart) == 0 {
		r.tod = r.today.Sub(civil.Midnight(r.today))
		return r.on(workday(civil.Midnight(r.today), int(m.day.nth)))
	}
	after := false
	r.tod, r.timed = p.opts.DefaultTime, m.has&hasClock != 0
	if r.timed {
		var why *refusal
		if r.tod, after, why = p.timeOfDay(&m.clock, m.dayPart); why != nil {
			return time.Time{}, why
		}
	}
	if after && m.has&hasDay != 0 && !(m.day.kind == onOffset && m.day.shift == 0) {
		return time.Time{}, r.oneNight()
	}
	r.midnight = civil.Midnight(r.today)
	switch {
	case m.clock.how&clockMinute != 0:
		return r.minuteAhead()
	case m.clock.how&clockNow != 0 && m.has&(hasDay|hasSpan) == 0:
		return time.Time{}, &refusal{why: "it does not say of which day", hint: "add the day"}
	case m.has&hasSpan != 0 && m.has&hasDay != 0:
		return r.weekdayOfSpan()
	case m.has&hasSpan != 0: // in 1 week at noon
		if m.zone != nil && !r.sameDay() {
			return time.Time{}, &refusal{why: "today is another day in that time zone", hint: "give the date"}
		}
		return r.on(civil.AddMonthsDays(r.midnight, m.span.months, m.span.days))
	}
	switch m.day.kind {
	case noDay:
		return r.nextTime()
	case onOffset:
		return r.offset(after)
	case onDate:
		if m.day.points {
			d := &m.day
			p.notes = append(p.notes, recur.Note{Kind: recur.NoteReading, Text: fmt.Sprintf("%s is read with the day first: %d %s %d", p.text[d.off:d.end], d.date, time.Month(d.month), d.year)})
			p.other(p.text[:d.off]+fmt.Sprintf("%04d-%02d-%02d", d.year, d.date, d.month)+p.text[d.end:], "with the month first, say %q")
		}
		return r.on(civil.Date(int(m.day.year), time.Month(m.day.month), int(m.day.date)))
	case onAnnual:
		return r.annual()
	case onBeside:
		return r.soonest(10, func(i int) (time.Time, bool) {
			year := r.today.Year() + i - 1
			return m.day.besideIn(year), int(m.day.date) <= civil.MonthDays(year, int(m.day.month))
		})
	case onMonth:
		return r.monthly()
	case onNth:
		return r.nth()
	case onWorkday:
		return r.on(workday(r.midnight, int(m.day.nth)))
	case onWeek:
		return r.on(weekBegin(r.midnight).AddDate(0, 0, 7*int(m.day.shift)+(int(m.day.weekday)-1+6)%7))
	}
	return r.weekday()
}

// on returns the instant on a day that cannot be another one. It refuses an instant that is past,
// unless increments follow.
func (r *resolver) on(day time.Time) (time.Time, *refusal) {
	if why := r.agrees(day); why != nil {
		return time.Time{}, why
	}
	t, ok := ahead(day.Add(r.tod), r.zone, r.now)
	if !ok && len(r.m.increments) == 0 && !r.p.past {
		return t, &refusal{code: fault.CodePast, at: t.In(r.zoneShown())}
	}
	return t, nil
}

// zoneShown returns the zone in which errors name instants.
func (r *resolver) zoneShown() *time.Location {
	if r.m.zone != nil && r.m.zone.fixed {
		return r.p.opts.Zone
	}
	return r.zone
}

// agrees refuses a day whose second name is another day, such as a weekday beside a date.
func (r *resolver) agrees(day time.Time) *refusal {
	also := &r.m.also
	switch {
	case r.m.has&hasShift != 0 && r.m.day.kind == onOffset && also.kind == onWeekday:
	case also.kind == onWeekday && int(day.Weekday()) != int(also.weekday)-1 && r.m.day.kind == onOffset:
		return &refusal{why: "it names two days", hint: "leave one of the two out"}
	case also.kind == onWeekday && int(day.Weekday()) != int(also.weekday)-1:
		return &refusal{why: fmt.Sprintf("%s is a %s", day.Format("2 January 2006"), day.Weekday()),
			hint: "leave the weekday out, or correct one of the two", strong: r.m.day.needs != 'w'}
	case also.kind == onOffset && !day.Equal(r.midnight.AddDate(0, 0, int(also.shift))):
		return &refusal{why: "it names two days", hint: "leave one of the two out"}
	}
	return nil
}

// nextTime returns the next instant at which the clocks show the time of day. A time that they skip
// today counts only until they have skipped it.
func (r *resolver) nextTime() (time.Time, *refusal) {
	for day := range 3 {
		wall := r.midnight.AddDate(0, 0, day).Add(r.tod)
		if _, _, n := civil.InstantsOf(wall, r.zone); n == 0 && r.today.After(wall) {
			continue
		}
		if t, ok := ahead(wall, r.zone, r.now); ok {
			r.noteSpoken()
			return t, nil
		}
	}
	return time.Time{}, &refusal{why: "the clocks show no such time soon", hint: "give the date"}
}

// minuteAhead returns the next such minute of an hour.
func (r *resolver) minuteAhead() (time.Time, *refusal) {
	if r.m.has&^(hasDeadlineWord|hasClock) != 0 {
		return time.Time{}, &refusal{}
	}
	wall := r.today.Truncate(time.Hour).Add(time.Duration(r.m.clock.minute) * time.Minute)
	for range 4 {
		if t, ok := ahead(wall, r.zone, r.now); ok {
			r.tod = wall.Sub(civil.Midnight(wall))
			return t, nil
		}
		wall = wall.Add(time.Hour)
	}
	return time.Time{}, &refusal{}
}

// noteSpoken notes how "half past nine" was read.
func (r *resolver) noteSpoken() {
	c := &r.m.clock
	if c.how&clockSpoken != 0 && c.mer == 0 && r.m.dayPart == 0 && c.hour < 13 {
		text := r.p.text
		r.p.other(fmt.Sprintf("%s%d:%02dpm%s", text[:c.off], (c.hour+11)%12+1, c.minute, text[c.end:]),
			fmt.Sprintf("%q is read on the 24-hour clock, %02d:%02d; for the other say %%q", text[c.off:c.end], c.hour, c.minute))
	}
}

// offset returns the instant on a day that is counted from today. When after is set, the time of
// day lies after the next midnight.
func (r *resolver) offset(after bool) (time.Time, *refusal) {
	m := r.m
	days := int(m.day.shift)
	day := r.midnight.AddDate(0, 0, days)
	if m.zone != nil && !r.sameDay() {
		var texts []string
		for _, today := range []time.Time{r.today, civil.Wall(r.now, r.p.opts.Zone)} {
			texts = append(texts, today.AddDate(0, 0, days).Format("2006-01-02"))
		}
		return time.Time{}, either("today is another day in that time zone", int(m.day.off), int(m.day.end), texts...)
	}
	if len(m.increments) > 0 && !r.timed && days == 0 { // 3 days from today
		t, _ := ahead(day.Add(r.tod), r.zone, r.now)
		return t, r.agrees(r.midnight)
	}
	if after { // tonight at 1
		if t, ok := ahead(r.midnight.Add(r.tod), r.zone, r.now); ok && r.today.Hour() < 6 {
			return t, r.agrees(r.midnight)
		}
		return r.on(r.midnight.AddDate(0, 0, 1))
	}
	if m.clock.name == 'm' && days == 0 {
		return time.Time{}, either("today began with one midnight and ends with another", 0, len(r.p.text), "midnight")
	}
	if m.clock.name == 'm' {
		r.noteMidnight(day)
	}
	return r.on(day)
}

// noteMidnight notes which end of the day "midnight" is.
func (r *resolver) noteMidnight(day time.Time) {
	r.p.other(day.AddDate(0, 0, 1).Format("2006-01-02 00:00")+r.zoneTyped(), "midnight of a day is its start; for its end say %q")
}

// zoneTyped returns the zone as typed, with a space before it.
func (r *resolver) zoneTyped() string {
	if z := r.m.zone; z != nil {
		return " " + r.p.text[z.off:z.end]
	}
	return ""
}

// soonest returns the first of n days that lies ahead. day reports false when the calendar has no
// i-th day. When a weekday beside the date fits only the day before that, which is nearer, the date
// is past: on 25 November 2026, "tuesday 24 november".
func (r *resolver) soonest(n int, day func(i int) (time.Time, bool)) (time.Time, *refusal) {
	for i := range n {
		if d, ok := day(i); ok {
			if t, ok := ahead(d.Add(r.tod), r.zone, r.now); ok {
				if why := r.agrees(d); why == nil || len(r.m.increments) > 0 {
					return t, why
				} else if past, ok := r.latest(i-1, n, day); ok && r.midnight.Sub(past) < d.Sub(r.midnight) {
					return r.on(past)
				} else {
					return t, why
				}
			}
		}
	}
	return time.Time{}, tooFar
}

// latest returns the last of the days up to the i-th, if it agrees with its second name.
func (r *resolver) latest(i, n int, day func(i int) (time.Time, bool)) (time.Time, bool) {
	for last := i; last > i-n; last-- {
		if d, ok := day(last); ok {
			return d, r.agrees(d) == nil
		}
	}
	return time.Time{}, false
}

// annual returns the next such date ahead. 29 February may lie eight years ahead. Said with "next",
// it may also be that of the next year.
func (r *resolver) annual() (time.Time, *refusal) {
	d := &r.m.day
	t, why := r.comingAnnual(d)
	year := r.today.Year() + 1
	if coming := civil.Wall(t, r.zone); why == nil && d.next && coming.Year() < year && int(d.date) <= civil.MonthDays(year, int(d.month)) {
		return t, either("it may be the coming one or that of the next year", int(d.off), int(d.end),
			coming.Format("2006-01-02"), civil.Date(year, time.Month(d.month), int(d.date)).Format("2006-01-02"))
	}
	return t, why
}

func (r *resolver) comingAnnual(d *day) (time.Time, *refusal) {
	return r.soonest(10, func(i int) (time.Time, bool) {
		year := r.today.Year() + i
		return civil.Date(year, time.Month(d.month), int(d.date)), int(d.date) <= civil.MonthDays(year, int(d.month))
	})
}

// month returns the first day of the month that is so many months after this one.
func (r *resolver) month(months int) time.Time {
	return civil.AddMonthsDays(r.midnight.AddDate(0, 0, 1-r.midnight.Day()), int64(months), 0)
}

// monthly returns the next such day of a month that has it. Friday the 13th is the next Friday that
// is one, and other weekdays must agree with the next such day.
func (r *resolver) monthly() (time.Time, *refusal) {
	date, also := int(r.m.day.date), time.Weekday(r.m.also.weekday-1)
	idiom := date == 13 && r.m.also.kind == onWeekday && also == time.Friday
	return r.soonest(15, func(i int) (time.Time, bool) {
		month := r.month(i)
		day := month.AddDate(0, 0, date-1)
		return day, date <= civil.MonthDays(month.Year(), int(month.Month())) && (!idiom || day.Weekday() == also)
	})
}

// nth returns the n-th weekday or day of a month. When it is past in the named month of this year,
// it is next year's.
func (r *resolver) nth() (time.Time, *refusal) {
	d := &r.m.day
	if d.month == 0 {
		day, why := d.nthFrom(r.month(int(d.shift)))
		if why != nil {
			return day, why
		}
		return r.on(day)
	}
	var lacking *refusal // a year in which the month has no such day
	t, why := r.soonest(2, func(i int) (time.Time, bool) {
		day, why := d.nthFrom(civil.Date(r.today.Year()+i, time.Month(d.month), 1))
		if lacking == nil {
			lacking = why
		}
		return day, lacking == nil
	})
	if lacking != nil {
		return t, lacking
	}
	return t, why
}

// nthFrom returns the n-th weekday or day of the month, quarter or year that begins on first.
func (d *day) nthFrom(first time.Time) (at time.Time, why *refusal) {
	end := first.AddDate(0, int(d.months), 0)
	weekday, n := int(d.weekday)-1, int(d.nth)
	switch {
	case d.workdays && n < 0:
		at = workday(end, n)
	case d.workdays:
		at = workday(first.AddDate(0, 0, -1), n)
	case weekday < 0 && n < 0:
		at = end.AddDate(0, 0, n)
	case weekday < 0 && d.months == 1:
		return first.AddDate(0, 0, n-1), checkDate(first.Year(), int(first.Month()), n)
	case weekday < 0:
		at = first.AddDate(0, 0, n-1)
	case n < 0:
		at = onOrBefore(end.AddDate(0, 0, -1), weekday).AddDate(0, 0, 7*(n+1))
	default:
		at = onOrAfter(first, weekday).AddDate(0, 0, 7*(n-1))
	}
	if n == 0 || !at.Before(end) || at.Before(first) {
		name := map[int8]string{1: "January 2006", 3: "the quarter", 12: "2006"}[d.months]
		return first, &refusal{why: first.Format(name) + " has no such day"}
	}
	return at, nil
}

// sameDay reports whether the zone of the text and the user's zone have the same date now.
func (r *resolver) sameDay() bool {
	y, m, d := civil.Wall(r.now, r.p.opts.Zone).Date()
	ry, rm, rd := r.today.Date()
	return y == ry && m == rm && d == rd
}

// clockOf returns a time of day as it is typed.
func clockOf(tod time.Duration) string {
	at := time.Time{}.Add(tod)
	if tod%time.Minute != 0 {
		return at.Format("15:04:05.999999999")
	}
	return at.Format("15:04")
}
