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

// times returns the times of day in order, without those that are left out.
func (b *builder) times() ([]time.Duration, *refusal) {
	times, why := b.timesNamed()
	if why != nil || b.m.has&hasSkip == 0 {
		return times, why
	}
	if b.m.has&hasWeekdays != 0 && b.c.unit == uDay { // every day except at 9:00 on fridays
		return nil, &refusal{code: fault.CodeAmbiguous, why: "the days may be those of the times that are left out, or of all", hint: "make a task for each of the two"}
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
	// between 9 and 17 except at 12
	all := append(slices.Concat(b.c.skip, b.m.more), b.m.clock, b.c.from, b.c.to)
	b.p.assume24Hour(all)
	if !b.c.skipSpan || all[0].hour < all[1].hour {
		copy(b.c.skip, all)
	}
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
		if m.has&hasClock != 0 || b.c.length < time.Minute || 24*time.Hour%b.c.length != 0 {
			return nil, b.lengthAndDays()
		}
		return spreadOver(0, 24*time.Hour-1, b.c.length), nil
	}
	if m.has&hasClock != 0 {
		return b.clocks()
	}
	if m.dayPart != 0 {
		return nil, p.vagueDayPart(m.dayPart)
	}
	tod := p.opts.DefaultTime.Truncate(time.Second)
	switch {
	// starting friday at 17:00
	case m.has&hasFrom != 0 && !b.from && b.bound(boundFrom).has&hasClock != 0:
		tod = b.wall.Sub(civil.Midnight(b.wall)).Truncate(time.Second)
	case b.from:
		tod = b.wall.Sub(civil.Midnight(b.wall)).Truncate(time.Second)
		example := "9:00"
		if tod == 9*time.Hour {
			example = "18:00"
		}
		b.s.note(recur.NoteStart, "runs at %s, the time of day it starts from; %q names another", clockOf(tod), "at "+example)
	}
	b.assumed = clockOf(tod)
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
	if b.m.dayPart == 0 {
		ways, settled := inOrder(all)
		switch {
		case len(ways) == 1 && settled:
			first, last := all[0].off, all[len(all)-1].end
			b.s.note(recur.NoteReading, "%q is read as %s: the times are in order", b.p.text[first:last], b.p.timesText(ways[0]))
			all = ways[0]
		case len(all) > 1 && len(ways) > 0 && len(ways) <= 6:
			return nil, b.p.whichTimes(all, ways)
		}
	}
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

// inOrder returns the ways to take the bare hours of several times as am or pm in which each time
// is later than the one before it, as in "9, 12 and 3pm". There is none without bare hours.
// Settled reports whether one of the times is not bare.
func inOrder(all []clock) (ways [][]clock, settled bool) {
	some := false
	for i := range all {
		some, settled = some || all[i].bare(), settled || all[i].mer != 0 || all[i].name != 0
	}
	if !some || len(all) < 2 {
		return nil, false
	}
	minute := func(c *clock) int { return c.hour24()*60 + int(c.minute) }
	var choose func(way []clock)
	choose = func(way []clock) {
		n := len(way)
		if n > 1 && minute(&way[n-2]) >= minute(&way[n-1]) {
			return
		}
		if n == len(all) {
			ways = append(ways, way)
			return
		}
		next := all[n]
		if !next.bare() {
			choose(append(way[:n:n], next))
			return
		}
		next.how &^= clockBare | clockLone
		for _, next.mer = range []byte{'a', 'p'} {
			choose(append(way[:n:n], next))
		}
	}
	choose(nil)
	return ways, settled
}

// timesText returns the text of several times, with am and pm where they were taken as one of them.
func (p *parser) timesText(way []clock) string {
	var subs []rewrite
	for i := range way {
		if c := &way[i]; c.mer != 0 && isDigit(p.text[c.end-1]) {
			subs = append(subs, rewrite{int(c.off), int(c.end), fmt.Sprintf("%d:%02d%cm", c.hour, c.minute, c.mer)})
		}
	}
	text := p.replace(subs)
	return text[way[0].off : len(text)-len(p.text)+int(way[len(way)-1].end)]
}

// whichTimes refuses several times of which some may be am or pm.
func (p *parser) whichTimes(all []clock, ways [][]clock) *refusal {
	why := &refusal{code: fault.CodeAmbiguous, off: int(all[0].off), end: int(all[len(all)-1].end)}
	for i := range all {
		if c := &all[i]; c.how&clockBare != 0 && c.mer == 0 && why.why == "" {
			why.why = p.text[c.off:c.end] + " in the morning or in the evening"
		}
	}
	for _, way := range ways {
		why.readings = append(why.readings, p.timesText(way))
	}
	return why
}

// assume24Hour takes hours without am or pm as hours of the 24-hour clock, when one of the times
// can only be one.
func (p *parser) assume24Hour(all []clock) {
	for i := range all {
		if c := &all[i]; c.how&clockColon != 0 && c.mer == 0 && (c.hour > 12 || c.hour == 0) || c.how&clockBare != 0 && c.mer == 0 && (c.hour > 12 || c.hour == 0) {
			for j := range all {
				all[j].how &^= clockBare
			}
			return
		}
	}
}

// tod returns the time of day that a clock means in a recurrence.
func (b *builder) tod(c *clock) (time.Duration, *refusal) {
	tod, after, why := b.p.timeOfDay(c, b.m.dayPart)
	if c.how&clockThreeDigits != 0 && b.m.dayPart == 0 {
		return 0, &refusal{}
	}
	switch {
	case why != nil:
		return 0, why
	case after && b.m.has&(hasWeekdays|hasDates) != 0:
		if b.m.has&^(hasEvery|hasWeekdays|hasDayPart|hasClock) != 0 || len(b.m.more) > 0 {
			return 0, b.p.twoDays()
		}
		days, at := b.c.weekdays, " at "+clockOf(tod)
		return 0, b.p.twoDays(pluralWeekdays(days)+at, pluralWeekdays(dayAfter(days))+at)
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
	case m.has&hasMinutes == 0 && (m.has&hasClock != 0 || c.length < time.Minute):
		return nil, &refusal{why: "times between two others are at least a minute apart", hint: "give a longer period"}
	case to == from:
		return nil, &refusal{why: "the second time is not after the first", hint: "name two times"}
	case to < from && (m.has&(hasWeekdays|hasMonths|hasDates|hasDays) != 0 || b.later && b.bound(boundFrom).has&(hasClock|hasSpan) == 0):
		return nil, b.overMidnight(from, to)
	case to < from:
		to += 24 * time.Hour
	}
	if m.has&hasMinutes == 0 {
		return spreadOver(from, to, c.length), nil
	}
	var times []time.Duration
	for at := from.Truncate(time.Hour); at <= to; {
		before := len(times)
		for _, minute := range members(c.minutes, false) {
			if t := at + time.Duration(minute)*time.Minute; t >= from && t <= to {
				times = append(times, t%(24*time.Hour))
			}
		}
		if at += time.Hour; len(times) > before {
			at += c.length - time.Hour
		}
	}
	if len(times) == 0 {
		return nil, &refusal{why: "no time is left", hint: "name others"}
	}
	slices.Sort(times)
	return slices.Compact(times), nil
}

// overMidnight refuses "every hour between 11pm and 1am on fridays": what lies after midnight may
// belong to that day or to the next. It says how to type the night that follows the day.
func (b *builder) overMidnight(from, to time.Duration) *refusal {
	m, c := b.m, b.c
	why := &refusal{why: "what lies after midnight may belong to that day or to the next", hint: "make a task for each side of midnight", strong: true}
	const day = 24 * time.Hour
	if b.later && m.has&^(hasEvery|hasPeriod|hasWindow|hasFrom) == 0 { // starting tomorrow
		why.hint = "say at which time of day it starts"
	}
	first := from
	for first < day {
		first += c.length
	}
	if m.has&^(hasEvery|hasPeriod|hasWindow|hasWeekdays) != 0 || first > to+day {
		return why
	}
	side := func(from, to time.Duration, days uint8) string {
		if from == to {
			return pluralWeekdays(days) + " at " + clockOf(from)
		}
		return "every " + shortDuration(c.length) + " between " + clockOf(from) + " and " + clockOf(to) + " on " + pluralWeekdays(days)
	}
	last := from + (day-1-from)/c.length*c.length
	night := from + (to+day-from)/c.length*c.length - day
	texts := []string{side(from, last, c.weekdays), side(first-day, night, dayAfter(c.weekdays))}
	if list := b.p.understood(texts...); len(list) == 2 {
		why.hint = fmt.Sprintf("for the night after each day make two tasks: %q and %q", list[0], list[1])
	}
	return why
}

// dayAfter returns the weekdays that follow some others.
func dayAfter(set uint8) uint8 { return set<<1&0x7f | set>>6 }

// pluralWeekdays returns some weekdays as in "Mondays, Fridays".
func pluralWeekdays(set uint8) string {
	var list []string
	for i := range weekdayWords {
		if n := (i + 1) % 7; set>>n&1 == 1 {
			list = append(list, time.Weekday(n).String()+"s")
		}
	}
	return strings.Join(list, ", ")
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
	hour := func(h int8, pm bool) int8 {
		if pm {
			return h%12 + 12
		}
		return h % 12
	}
	f, t := &pair[0], &pair[1]
	switch fb, tb := f.bare(), t.bare(); {
	case fb && tb:
		// 9 to 5 is office hours
		if f.hour < 6 || f.hour > 10 || t.hour > 7 || t.hour < 3 || t.hour >= f.hour {
			var readings []string
			for _, ampm := range [][2]string{{"am", "am"}, {"am", "pm"}, {"pm", "pm"}, {"pm", "am"}} {
				fh, th := hour(f.hour, ampm[0] == "pm"), hour(t.hour, ampm[1] == "pm")
				if fh != th {
					readings = append(readings, fmt.Sprintf("%d:00%s%s%d:00%s", f.hour, ampm[0], b.p.text[f.end:t.off], t.hour, ampm[1]))
				}
			}
			return 0, 0, either("its hours may be in the morning or in the evening", int(f.off), int(t.end), readings...)
		}
		t.hour += 12
		f.how, t.how = 0, 0
	case fb && t.how&clockColon != 0 && t.mer == 0 && f.hour < t.hour: // between 9 and 10:30
		f.how = 0
	case fb && t.mer != 0 || fb && t.name != 0:
		end := int8(t.hour24())
		pm := hour(f.hour, true) < end
		if f.hour, f.how = hour(f.hour, pm), 0; !pm && f.hour >= end && end != 0 {
			f.hour = hour(f.hour, true)
		}
	case tb && f.mer != 0 || tb && f.name != 0:
		begin := int8(f.hour24())
		am, pm := hour(t.hour, false), hour(t.hour, true)
		if am > begin && pm > begin {
			word := b.p.text[t.off:t.end]
			return 0, 0, either(word+" in the morning or in the evening", int(t.off), int(t.end), word+":00am", word+":00pm")
		}
		if t.hour, t.how = am, 0; pm > begin {
			t.hour = pm
		}
	}
	if from, why = b.tod(f); why == nil {
		if t.name == 'm' || t.hour == 24 {
			to = 24 * time.Hour
			// The midnight is of the next day.
			if b.m.has&(hasWeekdays|hasMonths|hasDates|hasDays|hasFrom) != 0 {
				to--
			}
			return from, to, nil
		}
		to, why = b.tod(t)
	}
	return from, to, why
}
