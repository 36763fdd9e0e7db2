package when

import (
	"fmt"
	"strings"
	"time"
)

// answer is the instant that a moment means.
type answer struct {
	at    time.Time
	delay time.Duration // of a pure length of elapsed time
	zero  bool          // now: an instant that need not lie ahead
	fixed bool
	zone  *time.Location
}

// ahead places a reading into a zone: the first pass that is still ahead of now. Without one it reports false, with the
// first pass.
func ahead(wall time.Time, zone *time.Location, now time.Time) (time.Time, bool) {
	first, second, n := passes(wall, zone)
	switch {
	case n == 0:
		first = place(wall, zone)
	case n == 2 && !first.After(now) && second.After(now):
		return second, true
	}
	return first, first.After(now)
}

// resolve turns what was read into an instant. It reports false with p.err set.
func (p *parser) resolve(m *moment) (a answer, ok bool) {
	now := p.opts.Now
	a.zone = p.opts.Zone
	if m.zone.loc != nil {
		if !m.clock.set && m.day == noDay {
			return a, p.fail("a time zone needs a time of day", `give one, as in "10:00 UTC"`)
		}
		if a.fixed = m.zone.fixed; !a.fixed {
			a.zone = m.zone.loc
		}
	}
	if m.isSpan && !m.clock.set && m.part == 0 {
		if m.zone.loc != nil {
			return a, p.fail("a length of time has no time zone", "leave the zone out")
		}
		return p.resolveLength(m, a)
	}
	if m.now {
		if m.part != 0 || m.zone.loc != nil || m.clock.set {
			return a, p.fail("it names two times", "leave one of the two out")
		}
		return p.resolveLength(m, a)
	}
	t, ok := p.base(m)
	if !ok {
		return a, false
	}
	if !p.agree(m, t) {
		return a, false
	}
	zone := a.zone
	if m.zone.loc != nil {
		zone = m.zone.loc
	}
	for _, s := range m.add[:m.adds] {
		if t, ok = plus(t, s, zone); !ok {
			return a, p.tooLong()
		}
	}
	if !t.After(now) && !p.past {
		p.err = p.tooLate(t.In(a.zone))
		return a, false
	}
	if t.Year() > lastYear {
		return a, p.tooLong()
	}
	a.at = t
	return a, true
}

// resolveLength answers a length of time from now.
func (p *parser) resolveLength(m *moment, a answer) (answer, bool) {
	now := p.opts.Now
	pure := !m.length.calendar
	t, ok := plus(now, m.length, a.zone)
	for i := 0; ok && i < m.adds; i++ {
		pure = pure && !m.add[i].calendar
		t, ok = plus(t, m.add[i], a.zone)
	}
	switch {
	case !ok:
		return a, p.tooLong()
	case t.Before(now) && !p.past:
		p.err = p.tooLate(t.In(a.zone))
		return a, false
	}
	if l := m.length; pure && m.adds == 0 && !m.bare && (l.one == uMinute || l.one == uHour) {
		if t, ok = natural(l.count, l.one, now); !ok {
			t = now.Add(l.elapsed)
		}
	}
	a.at = t
	a.zero = t.Equal(now)
	if pure {
		a.delay = t.Sub(now)
		if !now.Add(a.delay).Equal(t) {
			return a, p.tooLong()
		}
	}
	return a, true
}

// base is the instant of the day and time of day, ahead of now unless increments follow.
func (p *parser) base(m *moment) (time.Time, bool) {
	c := &m.clock
	switch {
	case c.lone && m.day == noDay && m.part == 0 && !m.isSpan:
		return time.Time{}, p.bareNumber()
	case c.lone && m.part == 0 && (c.hour > 12 || c.hour == 0): // friday 13
		readings := []string{fmt.Sprintf("at %d:00", c.hour)}
		if m.day == onWeekday {
			readings = append(readings, fmt.Sprintf("the %dth", c.hour))
		}
		return time.Time{}, p.unclear("a number alone is no time of day", c.off, c.end, readings...)
	case c.dotted && m.day == noDay && m.part == 0 && !m.isSpan && m.zone.loc == nil:
		return time.Time{}, p.unclear("it may be a count of seconds or a time of day", 0, len(p.text),
			p.text+"s", fmt.Sprintf("at %d:%02d", c.hour, c.minute))
	case c.hform && m.day == noDay && m.part == 0 && !m.isSpan && m.zone.loc == nil:
		return time.Time{}, p.unclear("it may be a length or a time of day", c.off, c.end,
			fmt.Sprintf("%dh%dm", c.hour, c.minute), fmt.Sprintf("%d:%02d", c.hour, c.minute))
	case m.part != 0 && !c.set:
		return time.Time{}, p.vaguePart(m)
	}
	if m.isSpan && (m.length.elapsed != 0 || !m.length.calendar) {
		return time.Time{}, p.fail("it names two times", "leave one of the two out")
	}
	zone := p.opts.Zone
	if m.zone.loc != nil {
		zone = m.zone.loc
	}
	now := p.opts.Now
	today := reading(now, zone)
	tod, timed, after := p.opts.DefaultTime, c.set, false
	if timed {
		var ok bool
		if tod, after, ok = p.timeOfDay(m); !ok {
			return time.Time{}, false
		}
	}
	if after && m.day != noDay && !(m.day == onOffset && m.days == 0) {
		return time.Time{}, p.nightAfter()
	}
	y, mo, d := today.Date()
	midnight := time.Date(y, mo, d, 0, 0, 0, 0, time.UTC)
	r := resolver{p, m, zone, now, today, midnight, tod, timed}
	m.tod, m.placed = tod, true

	if m.isSpan { // in 1 week at noon
		if m.zone.loc != nil && !r.sameDay() {
			return time.Time{}, p.fail("today is another day in that time zone", "give the date")
		}
		wall := shift(midnight, m.length.months, m.length.days)
		return r.on(wall)
	}
	switch m.day {
	case noDay:
		return r.nextTime()
	case onOffset:
		return r.offset(after)
	case onDate:
		return r.on(time.Date(m.year, time.Month(m.month), m.date, 0, 0, 0, 0, time.UTC))
	case onAnnual:
		return r.annual()
	case onMonth:
		return r.monthly()
	case onNth:
		return r.nth()
	case onWeek:
		monday := midnight.AddDate(0, 0, -(int(today.Weekday())+6)%7)
		return r.on(monday.AddDate(0, 0, 7*m.weeks+(m.weekday-1+6)%7))
	}
	return r.weekday()
}

// resolver is what the kinds of days need to find their instant.
type resolver struct {
	p        *parser
	m        *moment
	zone     *time.Location
	now      time.Time
	today    time.Time // the reading of now
	midnight time.Time // of today, a reading
	tod      time.Duration
	timed    bool
}

// sameDay reports whether the zone of the text and the user's have the same date now.
func (r *resolver) sameDay() bool {
	y, m, d := reading(r.now, r.p.opts.Zone).Date()
	ry, rm, rd := r.today.Date()
	return y == ry && m == rm && d == rd
}

// on is the instant on a day that can be no other: ahead, or refused unless increments follow.
func (r *resolver) on(day time.Time) (time.Time, bool) {
	if !r.agrees(day) {
		return time.Time{}, false
	}
	t, ok := ahead(day.Add(r.tod), r.zone, r.now)
	if !ok && r.m.adds == 0 && !r.p.past {
		if r.p.err == nil {
			r.p.err = r.p.tooLate(t.In(r.zoneShown()))
		}
		return t, false
	}
	return t, true
}

// zoneShown is the zone that errors name instants in.
func (r *resolver) zoneShown() *time.Location {
	if r.m.zone.fixed {
		return r.p.opts.Zone
	}
	return r.zone
}

// agrees refuses a weekday that is not that of the day beside it.
func (r *resolver) agrees(day time.Time) bool {
	if r.m.check == 0 || int(day.Weekday()) == r.m.check-1 {
		return true
	}
	return r.p.fail(fmt.Sprintf("%s is a %s", day.Format("2 January 2006"), day.Weekday()),
		wrongWeekday)
}

// nextTime is the next time that the clocks show the time of day. In a gap it counts as shown only before the gap.
func (r *resolver) nextTime() (time.Time, bool) {
	for day := range 3 {
		wall := r.midnight.AddDate(0, 0, day).Add(r.tod)
		if _, _, n := passes(wall, r.zone); n == 0 && r.today.After(wall) {
			continue
		}
		if t, ok := ahead(wall, r.zone, r.now); ok {
			r.noteSpoken(t)
			return t, true
		}
	}
	return time.Time{}, r.p.fail("the clocks show no such time soon", "give the date")
}

// noteSpoken says how "half past nine" was read.
func (r *resolver) noteSpoken(t time.Time) {
	c := &r.m.clock
	if c.spoken && r.m.part == 0 && c.hour < 13 {
		text := r.p.text
		r.m.other(fmt.Sprintf("%s%d:%02dpm%s", text[:c.off], (c.hour+11)%12+1, c.minute, text[c.end:]),
			fmt.Sprintf("%q is read on the 24-hour clock, %02d:%02d; for the other say %%q", text[c.off:c.end], c.hour, c.minute))
	}
}

// offset is a day counted from today. after says that the time lies behind the midnight of tonight.
func (r *resolver) offset(after bool) (time.Time, bool) {
	m := r.m
	if m.zone.loc != nil && !r.sameDay() {
		var texts []string
		for _, today := range []time.Time{r.today, reading(r.now, r.p.opts.Zone)} {
			texts = append(texts, today.AddDate(0, 0, m.days).Format("2006-01-02"))
		}
		return time.Time{}, r.p.unclear("today is another day in that time zone", m.dayOff, m.dayEnd, texts...)
	}
	if m.adds > 0 && !r.timed && m.days == 0 { // 3 days from today
		t, _ := ahead(r.midnight.Add(r.tod), r.zone, r.now)
		return t, r.agrees(r.midnight)
	}
	if after { // tonight at 1
		if t, ok := ahead(r.midnight.Add(r.tod), r.zone, r.now); ok && r.today.Hour() < 6 {
			return t, r.agrees(r.midnight)
		}
		return r.on(r.midnight.AddDate(0, 0, 1))
	}
	if m.clock.name == wMidnight && m.days == 0 {
		return time.Time{}, r.p.unclear("today began with one midnight and ends with another", 0, len(r.p.text), "midnight")
	}
	if m.clock.name == wMidnight {
		r.noteMidnight(r.midnight.AddDate(0, 0, m.days))
	}
	return r.on(r.midnight.AddDate(0, 0, m.days))
}

// noteMidnight says which end of the day midnight is.
func (r *resolver) noteMidnight(day time.Time) {
	text := day.AddDate(0, 0, 1).Format("2006-01-02 00:00")
	if z := &r.m.zone; z.loc != nil {
		text += " " + r.p.text[z.off:z.end]
	}
	r.m.other(text, "midnight of a day is its start; for its end say %q")
}

// annual is the next such date ahead, 29 February included.
func (r *resolver) annual() (time.Time, bool) {
	m := r.m
	for year := r.today.Year(); year <= r.today.Year()+9; year++ {
		if m.date > monthDays(year, m.month) {
			continue
		}
		day := time.Date(year, time.Month(m.month), m.date, 0, 0, 0, 0, time.UTC)
		if t, ok := ahead(day.Add(r.tod), r.zone, r.now); ok {
			return t, r.agrees(day)
		}
	}
	return time.Time{}, r.p.tooLong()
}

// monthly is the next such day of a month, of any that has it or of the month named.
func (r *resolver) monthly() (time.Time, bool) {
	m := r.m
	first := r.midnight.AddDate(0, 0, 1-r.midnight.Day())
	if m.mon == 1 {
		month := shift(first, int64(m.monthShift), 0)
		if !r.p.checkDate(month.Year(), int(month.Month()), m.date) {
			return time.Time{}, false
		}
		return r.on(month.AddDate(0, 0, m.date-1))
	}
	for i := range 13 {
		month := shift(first, int64(i), 0)
		if m.date > monthDays(month.Year(), int(month.Month())) {
			continue
		}
		day := month.AddDate(0, 0, m.date-1)
		if t, ok := ahead(day.Add(r.tod), r.zone, r.now); ok {
			return t, r.agrees(day)
		}
	}
	return time.Time{}, r.p.tooLong()
}

// nth is the n-th weekday or day of a month: of the month named, next year's when this year's is past.
func (r *resolver) nth() (time.Time, bool) {
	m := r.m
	first := r.midnight.AddDate(0, 0, 1-r.midnight.Day())
	if m.month == 0 {
		day, ok := r.nthIn(shift(first, int64(m.monthShift), 0))
		if !ok {
			return day, false
		}
		return r.on(day)
	}
	if m.year != 0 {
		day, ok := r.nthIn(time.Date(m.year, time.Month(m.month), 1, 0, 0, 0, 0, time.UTC))
		if !ok {
			return day, false
		}
		return r.on(day)
	}
	for i := range 2 {
		day, ok := r.nthIn(time.Date(r.today.Year()+i, time.Month(m.month), 1, 0, 0, 0, 0, time.UTC))
		if !ok {
			return day, false
		}
		if t, ok := ahead(day.Add(r.tod), r.zone, r.now); ok {
			return t, r.agrees(day)
		}
	}
	return time.Time{}, r.p.tooLong()
}

// nthIn finds the n-th weekday or day in the month that first begins.
func (r *resolver) nthIn(first time.Time) (time.Time, bool) {
	m := r.m
	last := monthDays(first.Year(), int(first.Month()))
	date := m.nth
	switch {
	case m.weekday == 0 && m.nth < 0:
		date = last
	case m.weekday != 0 && m.nth > 0:
		date = 1 + (m.weekday-1-int(first.Weekday())+7)%7 + 7*(m.nth-1)
	case m.weekday != 0:
		end := first.AddDate(0, 0, last-1)
		date = last - (int(end.Weekday())-(m.weekday-1)+7)%7
	}
	if date > last {
		return first, r.p.fail(fmt.Sprintf("%s has no such day", first.Format("January 2006")), "")
	}
	return first.AddDate(0, 0, date-1), true
}

// weekday is the next such weekday. On that weekday itself it is today while its time is ahead, but for "next".
func (r *resolver) weekday() (time.Time, bool) {
	m := r.m
	days := (m.weekday - 1 - int(r.today.Weekday()) + 7) % 7
	if days == 0 {
		if m.mode != wNext && r.timed {
			if t, ok := ahead(r.midnight.Add(r.tod), r.zone, r.now); ok && m.weeks == 0 {
				r.note("a week later")
				return t, true
			}
		}
		days = 7
	}
	if m.clock.name == wMidnight {
		r.noteMidnight(r.midnight.AddDate(0, 0, days+7*m.weeks))
	}
	// Monday is the first day of the calendar week.
	if left := 7 - (int(r.today.Weekday())+6)%7; m.mode == wNext && (days < left || days < 7-int(r.today.Weekday())) {
		r.note("the week after")
	}
	return r.on(r.midnight.AddDate(0, 0, days+7*m.weeks))
}

// note names the other reading of a weekday.
func (r *resolver) note(when string) {
	m := r.m
	days := (m.weekday - 1 - int(r.today.Weekday()) + 7) % 7
	text := r.midnight.AddDate(0, 0, days+7).Format("2006-01-02")
	if m.adds > 0 {
		text = r.p.text[:m.dayOff] + text + r.p.text[m.dayEnd:]
	} else {
		if r.timed {
			text += " " + clockOf(r.tod)
		}
		if z := &m.zone; z.loc != nil {
			text += " " + r.p.text[z.off:z.end]
		}
	}
	m.other(text, fmt.Sprintf("%q is read as the coming one; for the one %s say %%q", r.p.text[m.dayOff:m.dayEnd], when))
}

// clockOf is a time of day as it is typed.
func clockOf(tod time.Duration) string {
	at := time.Time{}.Add(tod)
	if tod%time.Minute != 0 {
		return at.Format("15:04:05.999999999")
	}
	return at.Format("15:04")
}

// nightAfter refuses "tomorrow night at 1", which may be either side of that day.
func (p *parser) nightAfter() bool {
	p.err = p.refuse("a time after midnight belongs to one night and to two days",
		`give the date and leave "night" out, as in "2027-03-15 01:00"`)
	p.err.Code = CodeAmbiguous
	return false
}

// vaguePart refuses "tonight" and "tomorrow morning", offering a time in it.
func (p *parser) vaguePart(m *moment) bool {
	times := [...][2]string{
		morning: {" at 8am", " at 10am"}, afternoon: {" at 2pm", " at 4pm"}, evening: {" at 6pm", " at 8pm"},
		night: {" at 8pm", " at 10pm"},
	}[m.part]
	n := len(p.text)
	return p.unclear("a part of the day is no exact time", n, n, times[0], times[1])
}

// bareNumber refuses a number alone with what it may be.
func (p *parser) bareNumber() bool {
	readings := []string{p.text + "s", p.text + "m"}
	if t := &p.toks[0]; p.n == 1 && t.digits <= 2 && t.n < 24 {
		readings[1] = fmt.Sprintf("%d:00", t.n)
		if t.n > 0 && t.n < 12 {
			readings = append(readings, fmt.Sprintf("%dpm", t.n))
		}
	}
	if p.opts.Form == UntilForm {
		readings[0] = "in " + readings[0]
	}
	switch { // no seconds are no time ahead
	case strings.Trim(p.text, "0.") != "":
	case p.n > 1:
		readings = nil
	default:
		readings = readings[1:]
	}
	return p.unclear("a number needs a unit", 0, len(p.text), readings...)
}

// onlyNumber reports whether the text is one decimal number.
func (p *parser) onlyNumber() bool {
	save := p.i
	p.i = 0
	_, ok := p.decimal()
	ok = ok && p.i == p.n
	p.i = save
	return ok
}
