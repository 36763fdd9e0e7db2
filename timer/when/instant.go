package when

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// finish makes the schedule of a reading. It returns a refusal or an error when there is none.
func (p *parser) finish(m *meaning) (*Schedule, *refusal) {
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
		return nil, m.err
	}
	if c, d := &m.clock, &m.day; d.kind == onWeekday && c.off > d.off && m.also.kind == noDay {
		if p.soonYear(c)%5 != 0 { // monday 2027
			return nil, either("it may be a year or a time of day", int(c.off), int(c.end), fmt.Sprintf("at %02d:%02d", c.hour, c.minute))
		}
	}
	a, why := p.resolve(m)
	if why != nil {
		return nil, why
	}
	if err := p.wrongForm(m); err != nil {
		return nil, &refusal{made: err}
	}
	return p.once(a, m), nil
}

// wrongForm refuses an instant where a length is asked for, and a length where an instant is.
func (p *parser) wrongForm(m *meaning) *fault.Error {
	isSpan := m.has&(hasSpan|hasNow) != 0
	switch {
	case p.opts.Form == DelayForm && (!isSpan || m.has&hasClock != 0):
		return &fault.Error{
			Code:    fault.CodeUsage,
			Message: fault.Quoted(p.typed) + " is not a duration",
			Hint:    `give one, as in "90s" or "2 hours", or give the instant with`,
			Options: []string{string(UntilForm)},
		}
	case p.opts.Form == UntilForm && m.has&hasSpan != 0 && m.span.bare && m.has&hasClock == 0:
		e := &fault.Error{Code: fault.CodeUsage, Message: fault.Quoted(p.typed) + " is a duration, and an instant is asked for", Hint: "give the duration with", Options: []string{string(DelayForm)}}
		if p.past { // it bounds something else, so no option gives its length
			e.Hint, e.Options = `name one, as in "tomorrow at 9:00"`, nil
		}
		if list := p.understood("in " + p.typed); list != nil {
			e.Hint, e.Instead = fmt.Sprintf("say %q, or ", list[0])+e.Hint, list
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
			s.Others = append(s.Others, fault.Candidate{Text: o.text, At: at})
			s.note(recur.NoteReading, o.note, o.text)
		}
	}
	s.At, s.Delay, s.Fixed = a.at.In(a.zone), a.delay, a.fixed
	days := func(s span) bool { return s.months != 0 || s.days != 0 }
	s.TimeOnly = m.has&hasClock != 0 && m.has&(hasDay|hasSpan|hasNow) == 0 && m.clock.how&clockMinute == 0 && !slices.ContainsFunc(m.increments, days)
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
func (p *parser) bareSeconds(a quantity) (*Schedule, *fault.Error) {
	var m meaning
	m.has = hasSpan
	if why := m.span.add(a, uSecond); why != nil {
		return nil, p.errorOf(why)
	}
	if p.toks[0].mark() == '-' {
		m.span = m.span.negated()
	}
	s, why := p.finish(&m)
	if why != nil {
		return nil, p.errorOf(why)
	}
	return s, nil
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
	first, second, n := civil.InstantsOf(wall, zone)
	switch {
	case n == 0:
		first = civil.InstantOf(wall, zone)
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
			return a, &refusal{why: "a time zone needs a time of day", hint: "add the time of day"}
		}
		if a.fixed = m.zone.fixed; !a.fixed {
			a.zone = m.zone.loc
		}
	}
	if m.has == 0 || m.has == hasDeadlineWord || m.has&hasDeadlineWord != 0 && m.has&hasSpan != 0 && m.has&hasClock == 0 || m.has&hasShift != 0 && (m.has&(hasDay|hasClock) == 0 || m.increments[0].next && m.has&hasDay == 0) {
		return a, &refusal{}
	}
	if m.span.open {
		return a, p.minutesOrMonths(m.span)
	}
	for _, s := range m.increments {
		if s.open {
			return a, p.minutesOrMonths(s)
		}
	}
	if m.has&(hasSpan|hasNow) != 0 && m.has&(hasClock|hasDayPart|hasDay) == 0 {
		if m.zone != nil {
			return a, &refusal{why: "a length of time has no time zone", hint: "leave the zone out"}
		}
		return p.resolveLength(m, a)
	}
	if m.has&hasSpan != 0 && m.span.lasting && m.span.calendar && m.has&(hasClock|hasDay) != 0 {
		return a, &refusal{why: "it says how long, and not how often", hint: "add how often", say: "say %q", readings: []string{"every day "}}
	}
	if c := &m.clock; m.has&hasSpan != 0 && m.has&hasClock != 0 && m.dayPart == 0 && c.how&clockAfterAt == 0 {
		switch {
		case c.how&clockLone != 0: // two days three
			return a, &refusal{}
		// in 2 days 18h00
		case c.how&clockLength != 0 && m.zone == nil && !m.span.next && p.unitBefore(c.off):
			return a, either("it may be a length or a time of day", int(c.off), int(c.end), fmt.Sprintf("%dh%dm", c.hour, c.minute),
				fmt.Sprintf("at %d:%02d", c.hour, c.minute))
		}
	}
	// Python prints "1 day, 2:03:04", a length
	if c := &m.clock; m.has&hasSpan != 0 && m.span.bare && c.how&clockExact != 0 && c.mer == 0 && c.how&clockAfterAt == 0 {
		return a, either("it may be a length or a time of day", int(c.off), int(c.end), fmt.Sprintf("%dh%dm%ds", c.hour, c.minute, c.second),
			"at "+p.text[c.off:c.end])
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
	wall := civil.Midnight(civil.Wall(t, r.zone)).Add(r.tod)
	_, _, shown := civil.InstantsOf(wall, r.zone)
	for _, s := range m.increments {
		// The clocks skip the time on that day, and days are counted from it nevertheless.
		if shown == 0 && s.elapsed == 0 {
			wall = civil.AddMonthsDays(wall, s.months, s.days)
			t = civil.InstantOf(wall, r.zone)
			continue
		}
		shown = 1
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
		return a, &refusal{code: fault.CodePast, at: t.In(a.zone)}
	case t.Year() > civil.LastYear:
		return a, tooFar
	}
	a.at, a.tod, a.atTimeOfDay = t, r.tod, true
	return a, nil
}

// minutesOrMonths refuses a length such as 5M.
func (p *parser) minutesOrMonths(s span) *refusal {
	at, months := int(s.openAt), " months"
	if at > 0 && p.text[at-1] == ' ' {
		months = "months"
	}
	return either("M is minutes or months", at, at+1, "m", months)
}

// unitBefore reports whether a unit stands directly before what begins at off.
func (p *parser) unitBefore(off uint16) bool {
	i := slices.IndexFunc(p.toks[:p.n], func(t token) bool { return t.off == off })
	return i > 0 && p.toks[i-1].is(cUnit)
}

// resolveLength returns the instant that is a length of time from now.
func (p *parser) resolveLength(m *meaning, a answer) (answer, *refusal) {
	now := p.opts.Now
	s := m.span
	if (s.bare || p.word(0, "in", "for", "within") && !strings.Contains(p.low, "minus")) && len(m.increments) > 0 && (m.increments[0].elapsed < 0 || m.increments[0].days < 0 || m.increments[0].months < 0) {
		return a, &refusal{code: fault.CodeAmbiguous, why: "it may be a range or a difference", hint: "give one length, or say from when it counts"}
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
		return a, &refusal{code: fault.CodePast, at: t.In(a.zone)}
	}
	if pure && len(m.increments) == 0 && !s.bare && (s.one == uMinute || s.one == uHour) {
		if t, ok = natural(s.count, s.one, now); !ok {
			t = now.Add(s.elapsed)
		}
	}
	if name, ok := strings.CutPrefix(p.low, "next "); ok && s.next && s.calendar && vocabulary()[name].is(cUnit) {
		p.notes = append(p.notes, recur.Note{Kind: recur.NoteReading, Text: fmt.Sprintf("\"next %s\" is one %[1]s from now", name)})
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
