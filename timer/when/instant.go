package when

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// finish makes the schedule of a reading. It returns a refusal or an error when there is none.
func (p *parser) finish(m *meaning) (*Schedule, *refusal, *Error) {
	// A text that is only "at :30" is the next such minute.
	if m.has&anyRecurring == hasMinutes && m.has == hasMinutes {
		if marks := m.recur.minutes; marks&(marks-1) == 0 {
			minute := int8(0)
			for marks>>minute != 1 {
				minute++
			}
			m.has, m.clock = hasClock, clock{minute: minute, how: clockMinute | clockAfterAt}
		}
	}
	if m.has&anyRecurring != 0 {
		return p.allowedRecurrence(m)
	}
	if m.err != nil {
		return nil, m.err, nil
	}
	a, why := p.resolve(m)
	if why != nil {
		return nil, why, nil
	}
	if err := p.wrongForm(m); err != nil {
		return nil, nil, err
	}
	return p.once(a, m), nil, nil
}

// wrongForm refuses an instant where a length is asked for, and a length where an instant is.
func (p *parser) wrongForm(m *meaning) *Error {
	isSpan := m.has&(hasSpan|hasNow) != 0
	switch {
	case p.opts.Form == DelayForm && (!isSpan || m.has&hasClock != 0):
		return &Error{
			Code:    CodeUsage,
			Message: quoted(p.typed) + " is not a duration",
			Hint:    `give one, as in "90s" or "2 hours", or give the instant with`,
			Options: []string{string(UntilForm)},
		}
	case p.opts.Form == UntilForm && m.has&hasSpan != 0 && m.span.bare && m.has&hasClock == 0:
		e := &Error{Code: CodeUsage, Message: quoted(p.typed) + " is a duration, and an instant is asked for", Hint: "give the duration with", Options: []string{string(DelayForm)}}
		if list := p.understood("in " + p.typed); list != nil {
			e.Hint, e.instead = fmt.Sprintf("say %q, or ", list[0])+e.Hint, list
		}
		return e
	}
	return nil
}

// once makes the schedule of one instant and notes its other readings.
func (p *parser) once(a answer, m *meaning) *Schedule {
	s := &Schedule{Text: p.typed, Kind: Once, Zone: a.zone, Notes: p.notes}
	if first, second := &p.toks[0], &p.toks[1]; p.n == 2 && first.is(cHHMM) && second.unit == uHour && m.has == hasSpan {
		p.other(fmt.Sprintf("%02d:%02d", first.n/100, first.n%100), p.text+" is a length of time; for the time of day say %q")
	}
	if p.nested {
		p.others = nil
	}
	for _, o := range p.others {
		if at, ok := p.means(o.text); ok && !at.Equal(a.at) {
			s.Others = append(s.Others, Candidate{o.text, at})
			s.note(NoteReading, o.note, o.text)
		}
	}
	s.At, s.Delay, s.Fixed = a.at.In(a.zone), a.delay, a.fixed
	if a.atTimeOfDay && len(m.increments) == 0 && !a.fixed {
		s.clockChange(a.tod)
	}
	if a.delay > 0 || a.zero {
		s.Canonical = shortDuration(a.delay)
	} else {
		s.Canonical = instantText(s.At)
	}
	return s
}

// instantText returns an instant in RFC 3339. It is in UTC when the offset has seconds, as those of
// local mean times have.
func instantText(t time.Time) string {
	if _, offset := t.Zone(); offset%60 != 0 {
		t = t.UTC()
	}
	return t.Format(time.RFC3339Nano)
}

// shortDuration returns a duration as people write it: 5m, not 5m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if d >= time.Minute {
		text = strings.TrimSuffix(text, "m0s")
		if len(text) < len(d.String()) {
			text += "m"
		}
		if hours := strings.TrimSuffix(text, "h0m"); hours != text {
			text = hours + "h"
		}
	}
	return text
}

// bareSeconds makes the schedule of a number alone. It is in seconds, as in sleep(1).
func (p *parser) bareSeconds(a quantity) (*Schedule, *Error) {
	var m meaning
	m.has = hasSpan
	if why := m.span.add(a, uSecond); why != nil {
		return nil, p.errorOf(why)
	}
	if p.toks[0].mark() == '-' {
		m.span = m.span.negated()
	}
	s, why, err := p.finish(&m)
	if why != nil {
		err = p.errorOf(why)
	}
	return s, err
}

// answer is the instant of a meaning, and how it was found.
type answer struct {
	at          time.Time
	delay       time.Duration // when the meaning is only a length of elapsed time
	zero        bool          // the instant is now
	fixed       bool
	zone        *time.Location
	tod         time.Duration // when atTimeOfDay is set
	atTimeOfDay bool
}

// ahead returns the first instant after now at which the clocks of a zone show wall. It reports
// false when there is none, with the earliest instant of wall.
func ahead(wall time.Time, zone *time.Location, now time.Time) (time.Time, bool) {
	first, second, n := instantsOf(wall, zone)
	switch {
	case n == 0:
		first = InstantOf(wall, zone)
	case n == 2 && !first.After(now) && second.After(now):
		return second, true
	}
	return first, first.After(now)
}

var namesTwoTimes = &refusal{why: "it names two times", hint: "leave one of the two out"}

// resolve turns a meaning into an instant.
func (p *parser) resolve(m *meaning) (a answer, why *refusal) {
	now := p.opts.Now
	a.zone = p.opts.Zone
	if m.zone != nil {
		if m.has&(hasClock|hasDay) == 0 || m.zone.byPlace && m.has&hasClock == 0 {
			return a, &refusal{why: "a time zone needs a time of day", hint: `give one, as in "10:00 UTC"`}
		}
		if a.fixed = m.zone.fixed; !a.fixed {
			a.zone = m.zone.loc
		}
	}
	if m.has == 0 || m.has == hasDeadlineWord || m.has&hasDeadlineWord != 0 && m.has&hasSpan != 0 && m.has&hasClock == 0 || m.has&hasShift != 0 && (m.has&(hasDay|hasClock) == 0 || m.increments[0].next && m.has&hasDay == 0) || m.has&hasDayPart != 0 && m.has&(hasClock|hasDay) == 0 {
		return a, &refusal{}
	}
	if m.has&(hasSpan|hasNow) != 0 && m.has&(hasClock|hasDayPart|hasDay) == 0 {
		if m.zone != nil {
			return a, &refusal{why: "a length of time has no time zone", hint: "leave the zone out"}
		}
		return p.resolveLength(m, a)
	}
	// "two days three"
	if m.has&hasSpan != 0 && m.has&hasClock != 0 && m.dayPart == 0 && m.clock.how&(clockLone|clockLength) != 0 && m.clock.how&clockAfterAt == 0 {
		return a, &refusal{}
	}
	if m.has&hasNow != 0 || len(m.more) > 0 || m.has&hasSpan != 0 && (m.span.elapsed != 0 || !m.span.calendar) {
		return a, namesTwoTimes
	}
	r := resolver{p: p, m: m, zone: a.zone, now: now}
	if m.zone != nil {
		r.zone = m.zone.loc
	}
	t, why := r.base()
	if why != nil {
		return a, why
	}
	if m.zone != nil {
		if why := m.zone.check(t, p); why != nil {
			return a, why
		}
	}
	for _, s := range m.increments {
		var ok bool
		if t, ok = addSpan(t, s, r.zone); !ok {
			return a, tooFar
		}
	}
	if m.has&hasShift != 0 && m.day.kind == onOffset && m.also.kind == onWeekday && int(t.In(r.zone).Weekday()) != int(m.also.weekday)-1 {
		return a, &refusal{why: fmt.Sprintf("%s is a %s", t.In(r.zone).Format("2 January 2006"), t.In(r.zone).Weekday()), hint: "leave the weekday out, or correct one of the two", strong: true}
	}
	switch {
	case !t.After(now) && !p.past:
		return a, &refusal{code: CodePast, at: t.In(a.zone)}
	case t.Year() > lastYear:
		return a, tooFar
	}
	a.at, a.tod, a.atTimeOfDay = t, r.tod, true
	return a, nil
}

// resolveLength returns the instant that is a length of time from now.
func (p *parser) resolveLength(m *meaning, a answer) (answer, *refusal) {
	now := p.opts.Now
	s := m.span
	if s.open {
		at, months := int(s.openAt), " months"
		if at > 0 && p.text[at-1] == ' ' {
			months = "months"
		}
		return a, &refusal{code: CodeAmbiguous, why: "M is minutes or months", off: at, end: at + 1, readings: []string{"m", months}}
	}
	if s.bare && len(m.increments) > 0 && (m.increments[0].elapsed < 0 || m.increments[0].days < 0 || m.increments[0].months < 0) {
		return a, &refusal{code: CodeAmbiguous, why: "it may be a range or a difference", hint: `say it as in "1h30m", or count from now, as in "now + 2h - 30m"`}
	}
	pure := !s.calendar
	t, ok := addSpan(now, s, a.zone)
	for i := 0; ok && i < len(m.increments); i++ {
		pure = pure && !m.increments[i].calendar
		t, ok = addSpan(t, m.increments[i], a.zone)
	}
	switch {
	case !ok:
		return a, tooFar
	case t.Before(now) && !p.past:
		return a, &refusal{code: CodePast, at: t.In(a.zone)}
	}
	if pure && len(m.increments) == 0 && !s.bare && (s.one == uMinute || s.one == uHour) {
		if t, ok = natural(s.count, s.one, now); !ok {
			t = now.Add(s.elapsed)
		}
	}
	if s.next && s.calendar { // next week
		name := strings.TrimPrefix(p.low, "next ")
		p.notes = append(p.notes, Note{NoteReading, fmt.Sprintf("\"next %s\" is one %[1]s from now", name)})
	}
	a.at = t
	a.zero = t.Equal(now)
	if pure {
		a.delay = t.Sub(now)
		if !now.Add(a.delay).Equal(t) {
			return a, tooFar
		}
	}
	return a, nil
}

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

// unclearClock refuses a time of day that only the words around it could make one, when they do
// not.
func (r *resolver) unclearClock() *refusal {
	m, c, p := r.m, &r.m.clock, r.p
	alone := m.has&(hasDay|hasDayPart|hasSpan) == 0
	off, end := int(c.off), int(c.end)
	switch {
	case c.how&clockLone != 0 && alone:
		if m.has != hasClock {
			return &refusal{}
		}
		return p.bareNumber()
	case c.how&clockThreeDigits != 0 && m.dayPart == 0 && c.how&clockAfterAt != 0:
		text := fmt.Sprintf("%d:%02d", c.hour, c.minute)
		return &refusal{code: CodeAmbiguous, why: text + " in the morning or in the evening", off: off, end: end, readings: []string{text + "am", text + "pm"}}
	case c.how&clockThreeDigits != 0 && m.dayPart == 0:
		return &refusal{}
	case c.how&clockLone != 0 && m.dayPart == 0 && (c.hour > 12 || c.hour == 0): // friday 13
		readings := []string{fmt.Sprintf("at %d:00", c.hour)}
		if m.day.kind == onWeekday {
			readings = append(readings, fmt.Sprintf("the %dth", c.hour))
		}
		return &refusal{code: CodeAmbiguous, why: "a number alone is not a time of day", off: off, end: end, readings: readings}
	case c.how&clockDotted != 0 && alone && m.zone == nil && c.how&clockAfterAt == 0:
		readings := []string{p.text + "s", fmt.Sprintf("at %d:%02d", c.hour, c.minute)}
		if isDate(2000, int(c.minute), int(c.hour)) {
			readings = append(readings, fmt.Sprintf("%d %s", c.hour, time.Month(c.minute)))
		}
		if off != 0 || end != len(p.text) {
			readings = nil
		}
		return &refusal{code: CodeAmbiguous, why: "it may be a count of seconds or a time of day", end: len(p.text), readings: readings}
	case c.how&clockLength != 0 && alone && c.how&clockAfterAt == 0:
		t := &p.toks[0]
		switch {
		case t.is(cHHMM) && p.low[0] == '0':
			return nil
		case t.is(cHHMM) || p.n < 3:
			return &refusal{}
		}
		return &refusal{code: CodeAmbiguous, why: "it may be a length or a time of day", off: off, end: end,
			readings: []string{fmt.Sprintf("%dh%dm", c.hour, c.minute), fmt.Sprintf("%d:%02d", c.hour, c.minute)}}
	}
	return nil
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
	if m.day.needs == 'w' && m.also.kind != onWeekday || m.day.needs == 'c' && m.has&hasClock == 0 {
		return time.Time{}, &refusal{}
	}
	r.today = wallTime(r.now, r.zone)
	if m.day.needs == 'n' && m.has&(hasClock|hasDayPart) == 0 {
		r.tod = r.today.Sub(midnight(r.today))
		return r.on(workday(midnight(r.today), int(m.day.nth)))
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
		return time.Time{}, &refusal{code: CodeAmbiguous, why: "a time after midnight belongs to one night and to two days",
			hint: `give the date and leave "night" out, as in "2027-03-15 01:00"`}
	}
	r.midnight = midnight(r.today)
	switch {
	case m.clock.how&clockMinute != 0:
		return r.minuteAhead()
	case m.clock.how&clockNow != 0 && m.has&(hasDay|hasSpan) == 0:
		return time.Time{}, &refusal{why: "of which day is not said", hint: `say it as in "this time tomorrow"`}
	case m.has&hasSpan != 0 && m.has&hasDay != 0:
		return r.weekdayOfSpan()
	case m.has&hasSpan != 0: // in 1 week at noon
		if m.zone != nil && !r.sameDay() {
			return time.Time{}, &refusal{why: "today is another day in that time zone", hint: "give the date"}
		}
		return r.on(addMonthsDays(r.midnight, m.span.months, m.span.days))
	}
	switch m.day.kind {
	case noDay:
		return r.nextTime()
	case onOffset:
		return r.offset(after)
	case onDate:
		if m.day.points {
			d := &m.day
			p.notes = append(p.notes, Note{NoteReading, fmt.Sprintf("%s is read with the day first: %d %s %d", p.text[d.off:d.end], d.date, time.Month(d.month), d.year)})
			p.other(p.text[:d.off]+fmt.Sprintf("%04d-%02d-%02d", d.year, d.date, d.month)+p.text[d.end:], "with the month first, say %q")
		}
		return r.on(civilDate(int(m.day.year), time.Month(m.day.month), int(m.day.date)))
	case onAnnual:
		return r.annual()
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

// workday returns the n-th Monday to Friday after a day, or before it when n is negative.
func workday(day time.Time, n int) time.Time {
	step := 1
	if n < 0 {
		step, n = -1, -n
	}
	for n > 0 {
		if day = day.AddDate(0, 0, step); day.Weekday() != time.Saturday && day.Weekday() != time.Sunday {
			n--
		}
	}
	return day
}

// weekBegin returns the Monday of the week of a day.
func weekBegin(day time.Time) time.Time {
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}

// sameDay reports whether the zone of the text and the user's zone have the same date now.
func (r *resolver) sameDay() bool {
	y, m, d := wallTime(r.now, r.p.opts.Zone).Date()
	ry, rm, rd := r.today.Date()
	return y == ry && m == rm && d == rd
}

// on returns the instant on a day that cannot be another one. It refuses an instant that is past,
// unless increments follow.
func (r *resolver) on(day time.Time) (time.Time, *refusal) {
	if why := r.agrees(day); why != nil {
		return time.Time{}, why
	}
	t, ok := ahead(day.Add(r.tod), r.zone, r.now)
	if !ok && len(r.m.increments) == 0 && !r.p.past {
		return t, &refusal{code: CodePast, at: t.In(r.zoneShown())}
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
			hint: "leave the weekday out, or correct one of the two", strong: true}
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
		if _, _, n := instantsOf(wall, r.zone); n == 0 && r.today.After(wall) {
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
			r.tod = wall.Sub(midnight(wall))
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
		for _, today := range []time.Time{r.today, wallTime(r.now, r.p.opts.Zone)} {
			texts = append(texts, today.AddDate(0, 0, days).Format("2006-01-02"))
		}
		return time.Time{}, &refusal{code: CodeAmbiguous, why: "today is another day in that time zone", off: int(m.day.off), end: int(m.day.end), readings: texts}
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
		return time.Time{}, &refusal{code: CodeAmbiguous, why: "today began with one midnight and ends with another", end: len(r.p.text), readings: []string{"midnight"}}
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
// i-th day.
func (r *resolver) soonest(n int, day func(i int) (time.Time, bool)) (time.Time, *refusal) {
	for i := range n {
		if d, ok := day(i); ok {
			if t, ok := ahead(d.Add(r.tod), r.zone, r.now); ok {
				return t, r.agrees(d)
			}
		}
	}
	return time.Time{}, tooFar
}

// annual returns the next such date ahead. 29 February may lie eight years ahead.
func (r *resolver) annual() (time.Time, *refusal) {
	d := &r.m.day
	return r.soonest(10, func(i int) (time.Time, bool) {
		year := r.today.Year() + i
		return civilDate(year, time.Month(d.month), int(d.date)), int(d.date) <= monthDays(year, int(d.month))
	})
}

// month returns the first day of the month that is so many months after this one.
func (r *resolver) month(months int) time.Time {
	return addMonthsDays(r.midnight.AddDate(0, 0, 1-r.midnight.Day()), int64(months), 0)
}

// monthly returns the next such day of a month: of the month that is named, or of any that has it.
func (r *resolver) monthly() (time.Time, *refusal) {
	d := &r.m.day
	if d.named {
		month := r.month(int(d.shift))
		if why := checkDate(month.Year(), int(month.Month()), int(d.date)); why != nil {
			return time.Time{}, why
		}
		return r.on(month.AddDate(0, 0, int(d.date)-1))
	}
	return r.soonest(13, func(i int) (time.Time, bool) {
		month := r.month(i)
		return month.AddDate(0, 0, int(d.date)-1), int(d.date) <= monthDays(month.Year(), int(month.Month()))
	})
}

// nth returns the n-th weekday or day of a month. When it is past in the named month of this year,
// it is next year's.
func (r *resolver) nth() (time.Time, *refusal) {
	d := &r.m.day
	first := r.month(int(d.shift))
	if d.month != 0 {
		first = civilDate(int(d.year), time.Month(d.month), 1)
	}
	if d.month == 0 || d.year != 0 {
		day, why := r.nthIn(first)
		if why != nil {
			return day, why
		}
		return r.on(day)
	}
	var lacking *refusal // a year in which the month has no such day
	t, why := r.soonest(2, func(i int) (time.Time, bool) {
		day, why := r.nthIn(first.AddDate(r.today.Year()+i, 0, 0))
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

// nthIn returns the n-th weekday or day of the month that begins on first.
func (r *resolver) nthIn(first time.Time) (time.Time, *refusal) {
	d := &r.m.day
	last := monthDays(first.Year(), int(first.Month()))
	weekday, date := int(d.weekday), int(d.nth)
	switch {
	case d.workdays && d.nth < 0:
		return workday(first.AddDate(0, 1, 0), -1), nil
	case d.workdays:
		if day := workday(first.AddDate(0, 0, -1), date); day.Month() == first.Month() {
			return day, nil
		}
		date = last + 1
	case weekday == 0 && d.nth < 0:
		date = last
	case weekday != 0 && d.nth > 0:
		date = 1 + (weekday-1-int(first.Weekday())+7)%7 + 7*(int(d.nth)-1)
	case weekday != 0:
		end := first.AddDate(0, 0, last-1)
		date = last - (int(end.Weekday())-(weekday-1)+7)%7
	}
	if date > last {
		return first, &refusal{why: fmt.Sprintf("%s has no such day", first.Format("January 2006"))}
	}
	return first.AddDate(0, 0, date-1), nil
}

// weekday returns the next such weekday. On that weekday itself it is today while the time is
// ahead, unless "next" was said.
func (r *resolver) weekday() (time.Time, *refusal) {
	d := &r.m.day
	days := (int(d.weekday) - 1 - int(r.today.Weekday()) + 7) % 7
	if days == 0 {
		if !d.next && r.timed {
			if t, ok := ahead(r.midnight.Add(r.tod), r.zone, r.now); ok && d.shift == 0 {
				r.noteOther("a week later")
				return t, nil
			}
		}
		days = 7
	}
	day := r.midnight.AddDate(0, 0, days+7*int(d.shift))
	if r.m.clock.name == 'm' {
		r.noteMidnight(day)
	}
	// Monday is the first day of the calendar week.
	if left := 7 - (int(r.today.Weekday())+6)%7; d.next && (days < left || days < 7-int(r.today.Weekday())) {
		r.noteOther("the week after")
	}
	return r.on(day)
}

// weekdayOfSpan returns the day of "in 2 weeks on friday". It refuses the text when the friday of
// that week is not the first friday from then on.
func (r *resolver) weekdayOfSpan() (time.Time, *refusal) {
	there := addMonthsDays(r.midnight, r.m.span.months, r.m.span.days)
	weekday := int(r.m.day.weekday) - 1
	inWeek := weekBegin(there).AddDate(0, 0, (weekday+6)%7)
	first := there.AddDate(0, 0, (weekday-int(there.Weekday())+7)%7)
	if !inWeek.Equal(first) {
		return time.Time{}, &refusal{code: CodeAmbiguous, why: "of which week is not said",
			hint: fmt.Sprintf("give the date: %s or %s", inWeek.Format("2006-01-02"), first.Format("2006-01-02"))}
	}
	return r.on(first)
}

// noteOther notes the other reading of a weekday.
func (r *resolver) noteOther(when string) {
	m := r.m
	days := (int(m.day.weekday) - 1 - int(r.today.Weekday()) + 7) % 7
	text := r.midnight.AddDate(0, 0, days+7).Format("2006-01-02")
	if len(m.increments) > 0 {
		text = r.p.text[:m.day.off] + text + r.p.text[m.day.end:]
	} else {
		if r.timed {
			text += " " + clockOf(r.tod)
		}
		text += r.zoneTyped()
	}
	r.p.other(text, fmt.Sprintf("%q is read as the coming one; for the one %s say %%q", r.p.text[m.day.off:m.day.end], when))
}

// clockOf returns a time of day as it is typed.
func clockOf(tod time.Duration) string {
	at := time.Time{}.Add(tod)
	if tod%time.Minute != 0 {
		return at.Format("15:04:05.999999999")
	}
	return at.Format("15:04")
}

// vagueDayPart refuses "tonight" and "tomorrow morning" and offers times in that part of the day.
func (p *parser) vagueDayPart(part uint8) *refusal {
	times := [...][]string{
		morning: {" at 8am", " at 10am"}, afternoon: {" at 2pm", " at 4pm"}, evening: {" at 6pm", " at 8pm"},
		night: {" at 8pm", " at 10pm"},
	}[part]
	n := len(p.text)
	return &refusal{code: CodeAmbiguous, why: "a part of the day is not an exact time", off: n, end: n, readings: times}
}

// bareNumber refuses a number alone and offers what it may be.
func (p *parser) bareNumber() *refusal {
	readings := []string{p.text + "s", p.text + "m"}
	if t := &p.toks[0]; p.n == 1 && t.is(cNum) && t.digits <= 2 && t.n < 24 {
		readings[1] = fmt.Sprintf("%d:00", t.n)
		if t.n > 0 && t.n < 12 {
			readings = append(readings, fmt.Sprintf("%dpm", t.n))
		}
	}
	if p.opts.Form == UntilForm {
		readings[0] = "in " + readings[0]
	}
	if t := &p.toks[0]; p.n == 1 && (t.digits == 9 || t.digits == 10) {
		readings[1] = "@" + p.text
	}
	switch { // no seconds are not a time ahead
	case !p.toks[0].is(cNum) && p.toks[0].mark() == 0:
		readings = []string{"at " + p.text + " o'clock am", "at " + p.text + " o'clock pm"}
	case strings.Trim(p.text, "0.") != "":
	case p.n > 1:
		readings = nil
	default:
		readings = readings[1:]
	}
	return &refusal{code: CodeAmbiguous, why: "a number needs a unit", end: len(p.text), readings: readings}
}

// timeOfDay returns how long after 00:00 a clock means, given the part of the day beside it. next
// is set when that is after the midnight that ends the day named.
func (p *parser) timeOfDay(c *clock, part uint8) (tod time.Duration, next bool, why *refusal) {
	hour := int(c.hour)
	wrong := &refusal{why: "the time is not in that part of the day", hint: "leave one of the two out"}
	switch {
	case c.mer == 'a':
		hour %= 12
	case c.mer == 'p':
		hour = hour%12 + 12
	case c.name == 0 && part != 0 && hour <= 12:
		if c.how&clockSpoken != 0 && hour == 0 {
			hour = 12 // ten to one in the afternoon
		}
		var ok bool
		if hour, ok = inDayPart(hour, part); !ok {
			return 0, false, wrong
		}
	case c.how&clockBare != 0 && hour <= 12 && hour > 0:
		minutes := fmt.Sprintf("%d:%02d", c.hour, c.minute)
		return 0, false, &refusal{code: CodeAmbiguous, why: strconv.Itoa(hour) + " in the morning or in the evening",
			off: int(c.off), end: int(c.end), readings: []string{minutes + "am", minutes + "pm"}}
	}
	next = part == night && hour < 6
	switch {
	case part == morning && hour >= 12,
		part == afternoon && (hour < 12 || hour > 18),
		part == evening && (hour < 16 || hour == 24),
		part == night && hour >= 6 && hour < 17:
		return 0, false, wrong
	}
	return time.Duration(hour)*time.Hour + time.Duration(c.minute)*time.Minute +
		time.Duration(c.second)*time.Second + time.Duration(c.nano), next, nil
}

// inDayPart returns the hour of the day that an hour of the 12-hour clock is in a part of the day.
// It reports false when that part does not have the hour.
func inDayPart(hour int, part uint8) (int, bool) {
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
