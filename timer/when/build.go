package when

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxTimes is how many times of day a phrase may spread over a day.
const maxTimes = 144

// build makes the schedule of a phrase: an interval when it counts elapsed time, else an RRULE.
func (p *parser) build(c *cadence, o Options) (*Schedule, *Error) {
	s := &Schedule{Text: p.typed, Kind: RRule, Zone: o.Zone}
	if c.zone != nil {
		s.Zone = c.zone
	}
	anchor := o.Start
	if anchor.IsZero() {
		anchor = o.Now
	}
	if c.counted && c.unit <= uHour && c.from == nil && len(c.marks) == 0 {
		if c.weekdays != 0 || c.dates != nil || len(c.times) > 0 || c.part != 0 || c.zone != nil {
			p.lengthAndDays(c)
			return nil, p.err
		}
		s.Kind, s.Every = Interval, c.length.elapsed
		s.Canonical = "every " + shortDuration(s.Every)
		s.rule = newInterval(s.Every, anchor)
		return s.bounded(o)
	}
	if few := bits.OnesCount8(c.weekdays) + len(c.dates) + len(c.nths); c.twice && few != 1 {
		name := map[unit]string{uWeek: "weeks", uMonth: "months"}[c.unit]
		p.unclear(fmt.Sprintf("it may be every two %s or twice in one", name), c.twiceOff, c.twiceEnd, "every 2 "+name)
		return nil, p.err
	}
	b := builder{p: p, c: c, s: s, wall: reading(anchor, s.Zone)}
	if o.Start.IsZero() {
		b.wall = b.wall.Truncate(time.Minute)
	}
	freq, ok := b.frequency()
	if !ok {
		return nil, p.err
	}
	freq, ok = b.clock(freq, o)
	if !ok {
		return nil, p.err
	}
	if err := b.rule(freq, anchor, o); err != nil {
		return nil, err
	}
	return s.bounded(o)
}

// lengthAndDays refuses a length of elapsed time beside days or times.
func (p *parser) lengthAndDays(c *cadence) bool {
	var texts []string
	if hourly, ok := strings.CutPrefix(p.low, "every hour "); ok && c.unit == uHour {
		texts = append(texts, "every hour at :00 "+p.text[len(p.text)-len(hourly):])
	}
	if c.weekdays != 0 {
		texts = append(texts, p.text+" between 9:00 and 17:00")
	}
	return p.failFor("a length of time and days or times do not go together", "say %q",
		`say it as in "every day at 9:00" or "every 15 minutes between 9:00 and 17:00"`, texts...)
}

// shortDuration is a duration as people write it: 5m, not 5m0s.
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

// builder writes the RRULE of a cadence.
type builder struct {
	p     *parser
	c     *cadence
	s     *Schedule
	wall  time.Time // the reading of the anchor
	parts []string  // BYxxx parts
	pos   []string  // of BYSETPOS
	from  bool      // the anchor itself says which days, so the period counts from it
}

var rruleDays = [...]string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// weekdayText is a BYDAY list, Monday first.
func weekdayText(set uint8, prefix string) string {
	var days []string
	for i := 1; i <= 7; i++ {
		if set&(1<<(i%7)) != 0 {
			days = append(days, prefix+rruleDays[i%7])
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

// frequency decides FREQ and the parts that name days. It reports false with the parser's error set.
func (b *builder) frequency() (string, bool) {
	c, p := b.c, b.p
	if c.n == 0 {
		c.n = 1
	}
	clash := func() (string, bool) {
		return "", p.fail("its period and its days do not go together", `say it as in "every 2 weeks on friday at 17:00"`)
	}
	switch {
	case c.counted && c.unit <= uHour: // within a day: marks, or between two times
		switch {
		case c.dates != nil || c.nths != nil || c.unit != uHour && len(c.marks) > 0:
			return clash()
		case len(c.marks) > 0 && c.from != nil:
			return clash()
		case c.weekdays != 0:
			b.parts = append(b.parts, "BYDAY="+weekdayText(c.weekdays, ""))
		}
		if len(c.marks) > 0 {
			return "HOURLY", true
		}
		return "DAILY", true
	case len(c.marks) > 0 || c.from != nil:
		return clash()
	case c.nths != nil:
		if c.counted && c.unit != uMonth {
			return clash()
		}
		if c.workdays {
			b.parts = append(b.parts, "BYDAY="+weekdayText(c.weekdays, ""))
			b.pos = append(b.pos, strconv.Itoa(c.nths[0]))
			return "MONTHLY", true
		}
		var days []string
		for _, n := range c.nths {
			days = append(days, weekdayText(c.weekdays, strconv.Itoa(n)))
		}
		b.parts = append(b.parts, "BYDAY="+strings.Join(days, ","))
		return "MONTHLY", true
	case c.month != 0:
		if c.unit != uYear || c.weekdays != 0 {
			return clash()
		}
		b.parts = append(b.parts, "BYMONTH="+strconv.Itoa(c.month), "BYMONTHDAY="+join(c.dates))
		if c.month == 2 && c.dates[0] == 29 {
			b.s.Notes = append(b.s.Notes, "29 February comes in leap years alone")
		}
		return "YEARLY", true
	case c.dates != nil:
		if c.counted && c.unit != uMonth || c.weekdays != 0 {
			return clash()
		}
		slices.Sort(c.dates)
		if len(slices.Compact(slices.Clone(c.dates))) != len(c.dates) {
			return "", p.fail("it names the same day twice", "name it once")
		}
		if last := c.dates[len(c.dates)-1]; last > 28 {
			b.s.Notes = append(b.s.Notes,
				fmt.Sprintf("months without a day %d are left out; \"the last day\" is in all", last))
		}
		b.parts = append(b.parts, "BYMONTHDAY="+join(c.dates))
		return "MONTHLY", true
	case c.weekdays != 0:
		if c.counted && c.unit != uWeek && !(c.unit == uDay && c.n == 1) {
			return clash()
		}
		b.parts = append(b.parts, "BYDAY="+weekdayText(c.weekdays, ""))
		return "WEEKLY", true
	case !c.counted:
		return "", p.fail("how often is not said", `say it as in "every day at 9:00"`)
	}
	b.from = true
	day := b.wall.Day()
	clamp := func() { // 31 in shorter months is their last day
		if day <= 28 {
			b.parts = append(b.parts, "BYMONTHDAY="+strconv.Itoa(day))
			return
		}
		var days []int
		for d := 28; d <= day; d++ {
			days = append(days, d)
		}
		b.parts = append(b.parts, "BYMONTHDAY="+join(days))
		b.pos = append(b.pos, "-1")
	}
	switch c.unit {
	case uDay:
		return "DAILY", true
	case uWeek:
		b.parts = append(b.parts, "BYDAY="+rruleDays[b.wall.Weekday()])
		return "WEEKLY", true
	case uMonth:
		clamp()
		return "MONTHLY", true
	}
	b.parts = append(b.parts, "BYMONTH="+strconv.Itoa(int(b.wall.Month())))
	if day == 29 && b.wall.Month() == time.February {
		clamp()
	} else {
		b.parts = append(b.parts, "BYMONTHDAY="+strconv.Itoa(day))
	}
	return "YEARLY", true
}

// clock adds the parts that name times of day. Times that are no product of hours and minutes need BYSETPOS within one
// day, which makes the frequency daily. It reports false with the parser's error set.
func (b *builder) clock(freq string, o Options) (string, bool) {
	c, p := b.c, b.p
	if freq == "HOURLY" {
		if len(c.times) > 0 || c.part != 0 {
			return "", p.fail("it names minutes and times", "leave one of the two out")
		}
		slices.Sort(c.marks)
		b.parts = append(b.parts, "BYMINUTE="+join(slices.Compact(c.marks)), "BYSECOND=0")
		return freq, true
	}
	times, ok := b.times(o)
	if !ok {
		return "", false
	}
	var hours, minutes, seconds []int
	for _, t := range times {
		hours = append(hours, int(t/time.Hour))
		minutes = append(minutes, int(t/time.Minute%60))
		seconds = append(seconds, int(t/time.Second%60))
	}
	for _, list := range []*[]int{&hours, &minutes, &seconds} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	b.parts = append(b.parts, "BYHOUR="+join(hours), "BYMINUTE="+join(minutes), "BYSECOND="+join(seconds))
	if len(hours)*len(minutes)*len(seconds) == len(times) {
		if len(times) > 1 && len(b.pos) > 0 {
			return "", p.fail("several times do not go with these days", "make a task for each time")
		}
		return freq, true
	}
	switch {
	case len(b.pos) > 0 || c.nths != nil || c.month != 0 || freq != "DAILY" && c.n > 1 || freq == "YEARLY":
		return "", p.fail("several times do not go with these days", "make a task for each time")
	case freq == "MONTHLY" || freq == "WEEKLY":
		freq = "DAILY"
	}
	var pos []int
	i := 0
	for _, h := range hours {
		for _, m := range minutes {
			for _, s := range seconds {
				i++
				at := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second
				if slices.Contains(times, at) {
					pos = append(pos, i)
				}
			}
		}
	}
	if i > 366 {
		return "", p.fail("its times are too many to name", "make a task for each time, or use a cron line")
	}
	b.pos = append(b.pos, join(pos))
	return freq, true
}

// times is the list of times of day, in order.
func (b *builder) times(o Options) ([]time.Duration, bool) {
	c, p := b.c, b.p
	settle := func(one *clock) (time.Duration, bool) {
		m := moment{clock: *one, part: c.part}
		tod, _, ok := p.timeOfDay(&m)
		if ok && tod >= 24*time.Hour {
			return 0, p.failFor("a day ends before 24:00", "say %q", "say it as 00:00", p.text[:one.off]+"00:00"+p.text[one.end:])
		}
		if ok && tod%time.Second != 0 {
			return 0, p.fail("a recurrence falls on whole seconds", "leave the fraction out")
		}
		return tod, ok
	}
	if c.from != nil {
		return b.spread(settle)
	}
	var times []time.Duration
	for i := range c.times {
		tod, ok := settle(&c.times[i])
		if !ok {
			return nil, false
		}
		if slices.Contains(times, tod) {
			return nil, p.fail("it names the same time twice", "name it once")
		}
		times = append(times, tod)
	}
	switch {
	case len(times) > 0:
		slices.Sort(times)
		return times, true
	case c.part != 0:
		return nil, p.vaguePart(&moment{part: c.part})
	case !b.from:
		return []time.Duration{o.DefaultTime.Truncate(time.Second)}, true
	}
	tod := b.wall.Sub(b.wall.Truncate(24 * time.Hour)).Truncate(time.Second)
	example := "9:00"
	if tod == 9*time.Hour {
		example = "18:00"
	}
	b.s.Notes = append(b.s.Notes, fmt.Sprintf("runs at %s, the time of day it starts from; %q names another",
		clockOf(tod), "at "+example))
	return []time.Duration{tod}, true
}

// spread is the times from one to the other, both included, a period apart.
func (b *builder) spread(settle func(*clock) (time.Duration, bool)) ([]time.Duration, bool) {
	c, p := b.c, b.p
	if len(c.times) > 0 || c.length.elapsed < time.Minute {
		return nil, p.fail("times between two others are at least a minute apart",
			`say it as in "every 15 minutes between 9:00 and 17:00"`)
	}
	from, ok := settle(c.from)
	if !ok {
		return nil, false
	}
	to, ok := settle(c.to)
	if !ok {
		return nil, false
	}
	if to <= from {
		return nil, p.fail("the second time is not after the first", "make a task for each side of midnight")
	}
	if (to-from)/c.length.elapsed >= maxTimes {
		return nil, p.fail("its times are too many to name", "use a cron line")
	}
	var times []time.Duration
	for t := from; t <= to; t += c.length.elapsed {
		times = append(times, t)
	}
	return times, true
}

// rule writes the RRULE and reads it back. A period longer than one starts from its first occurrence, or from the anchor
// when that is what says the day; then, and when the text names a zone, the rule has a DTSTART.
func (b *builder) rule(freq string, anchor time.Time, o Options) *Error {
	c, s := b.c, b.s
	tail := strings.Join(b.parts, ";")
	if len(b.pos) > 0 {
		tail += ";BYSETPOS=" + strings.Join(b.pos, ",")
	}
	text := "FREQ=" + freq + ";" + tail
	start := place(b.wall, s.Zone)
	phased := c.n > 1 && freq != "HOURLY" && c.unit > uHour
	if phased || c.zone != nil {
		day := b.wall
		if phased && (!b.from || len(c.times) > 0) {
			r, _, _, err := parseRRule(text, start, s.Zone)
			if err != nil {
				return b.p.asRule(err)
			}
			floor := anchor
			if !o.Start.IsZero() {
				floor = anchor.Add(-1)
			}
			first, ok := r.next(floor)
			if !ok {
				return b.p.refuse("it never comes", "")
			}
			day = reading(first, s.Zone)
		}
		if phased {
			text = fmt.Sprintf("FREQ=%s;INTERVAL=%d;%s", freq, c.n, tail)
		}
		midnight := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC)
		start = place(midnight, s.Zone)
		switch name := s.Zone.String(); {
		case s.Zone == time.UTC:
			text = "DTSTART:" + midnight.Format("20060102T150405Z") + " RRULE:" + text
		case strings.Contains(name, "/"):
			text = "DTSTART;TZID=" + name + ":" + midnight.Format("20060102T150405") + " RRULE:" + text
		}
	}
	r, canonical, notes, err := parseRRule(text, start, s.Zone)
	if err != nil {
		return b.p.asRule(err)
	}
	s.rule, s.Canonical = r, canonical
	s.Notes = append(s.Notes, notes...)
	return nil
}

// asRule is the error of a rule that was made from words, under the words' own name.
func (p *parser) asRule(err error) *Error {
	e := *asError(err)
	if e.Code == CodeNever {
		e.Message = quoted(p.typed) + " never comes"
		return &e
	}
	return p.refuse("it is too much for one rule", "make several tasks of it")
}
