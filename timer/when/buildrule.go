package when

import (
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// frequency decides FREQ and the parts that name days.
func (b *builder) frequency() *refusal {
	m, c := b.m, b.c
	if c.n == 0 {
		c.n = 1
	}
	rule := &b.parts
	rule.Set(recur.ByMonth, members(c.months, false))
	period := m.has&hasPeriod != 0
	within := period && c.unit <= uHour
	switch {
	case within && m.has&(hasDayPart|hasClock) == hasDayPart:
		return hoursNotAgreed
	case within && m.has&hasDates != 0, m.has&hasWindow != 0 && !within, m.has&hasMinutes != 0 && c.unit != uHour:
		if m.has&hasWindow != 0 && !within {
			return &refusal{code: fault.CodeAmbiguous, why: "it names a span of the day, and it does not say how often", hint: "add how often"}
		}
		if m.has&hasMinutes != 0 && within {
			return &refusal{why: "that length does not part the hour or the day evenly", hint: "leave one of the two out"}
		}
		return periodClash
	case m.has&hasMinutes != 0 && m.has&hasClock != 0:
		return &refusal{why: "it names minutes and times", hint: "leave one of the two out"}
	case within:
		if c.weekdays != 0 {
			rule.Weekdays = recur.NthWeekdays(c.weekdays, 0)
		}
		if rule.Freq = recur.Daily; m.has&hasMinutes != 0 && m.has&(hasWindow|hasSkip) == 0 {
			rule.Freq = recur.Hourly
		}
		return nil
	case c.nths != 0:
		if period && c.unit != uMonth && !(c.unit == uYear && c.months != 0) {
			return periodClash
		}
		if rule.Freq = recur.Monthly; c.workdays {
			rule.Weekdays = recur.NthWeekdays(c.weekdays, 0)
			// BYSETPOS counts in each period of FREQ, so several months need a rule of months.
			if rule.Set(recur.BySetPos, members(c.nths, true)); c.within != 0 || bits.OnesCount16(c.months) > 1 {
				if c.unit == uYear && c.n > 1 {
					return &refusal{why: "it is too much for one rule", hint: "make several tasks of it"}
				}
				return nil
			}
		} else {
			for _, n := range members(c.nths, true) {
				rule.Weekdays = append(rule.Weekdays, recur.NthWeekdays(c.weekdays, n)...)
			}
		}
		b.yearly()
		return nil
	case c.dates != 0:
		if period && c.unit != uMonth && !(c.unit == uYear && c.months != 0) || c.weekdays != 0 && !c.onDate {
			return periodClash
		}
		if c.onDate {
			rule.Weekdays = recur.NthWeekdays(c.weekdays, 0)
		}
		dates := members(c.dates, true)
		rule.Set(recur.ByMonthDay, dates)
		rule.Freq = recur.Monthly
		if b.yearly(); rule.Freq == recur.Yearly {
			if c.months == 1<<2 && c.dates == 1<<29 {
				b.s.note(recur.NoteLeap, "29 February comes in leap years alone")
			}
			if month := bits.TrailingZeros16(c.months); bits.OnesCount16(c.months) == 1 && len(dates) == 1 && dates[0] > 0 {
				return checkDate(0, month, dates[0])
			}
		} else if last := bits.Len32(uint32(c.dates)) - 1; last > 28 {
			b.s.note(recur.NoteMonths, "months without a day %d are left out; \"the last day\" is in all", last)
		}
		return nil
	case c.weekdays != 0:
		if period && c.unit == uMonth {
			return whichWeekday
		}
		// Every day on weekends is a rule, and every day on thursdays a contradiction.
		daily := c.unit == uDay && c.n == 1 && bits.OnesCount8(c.weekdays) > 1
		if period && c.unit != uWeek && !daily {
			return periodClash
		}
		rule.Weekdays, rule.Freq = recur.NthWeekdays(c.weekdays, 0), recur.Weekly
		return nil
	case !period && m.has&(hasEvery|hasClock) == hasEvery|hasClock: // every noon
		rule.Freq = recur.Daily
		return nil
	case !period:
		return &refusal{why: "it does not say how often", hint: "add how often"}
	case c.months != 0 && c.unit == uYear:
		return &refusal{code: fault.CodeAmbiguous, why: "it does not say which day", hint: "name the day"}
	case c.months != 0 && c.unit != uDay:
		return periodClash
	}
	if m.clock.how&clockEvery != 0 { // weekly every noon
		return twoPeriods
	}
	b.fromAnchor()
	return nil
}

// yearly makes a rule of days in certain months yearly, when its period is a year.
func (b *builder) yearly() {
	if b.c.months != 0 && (b.c.unit == uYear || b.m.has&hasPeriod == 0) {
		b.parts.Freq = recur.Yearly
	}
}

// fromAnchor gives a period that names no days the day of the anchor. In a shorter month, the 31st
// is the last day.
func (b *builder) fromAnchor() {
	b.from = true
	day, rule := b.wall.Day(), &b.parts
	clamp := func() {
		rule.Set(recur.ByMonthDay, []int{day})
		if day > 28 {
			var days []int
			for d := 28; d <= day; d++ {
				days = append(days, d)
			}
			rule.Set(recur.ByMonthDay, days)
			rule.Set(recur.BySetPos, []int{-1})
		}
	}
	switch b.c.unit {
	case uDay:
		rule.Freq = recur.Daily
	case uWeek:
		rule.Weekdays = recur.NthWeekdays(1<<b.wall.Weekday(), 0)
		rule.Freq = recur.Weekly
	case uMonth:
		clamp()
		rule.Freq = recur.Monthly
	default:
		rule.Set(recur.ByMonth, []int{int(b.wall.Month())})
		rule.Set(recur.ByMonthDay, []int{day})
		if day == 29 && b.wall.Month() == time.February {
			clamp()
		}
		rule.Freq = recur.Yearly
	}
}

// clockSet is a set of times of day that an RRULE can say: every combination of its hours, minutes
// and seconds.
type clockSet struct {
	hours, minutes, seconds []int
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

// rules makes one rule, or several where one cannot say it, as for several days of the year.
func (b *builder) rules() *refusal {
	if len(b.m.days) == 0 || b.m.days[0].kind == onSpan {
		if why := b.rule(); why != nil {
			return why
		}
		return b.build()
	}
	var dates [13]uint64 // of each month
	for _, d := range b.m.days {
		dates[d.month] |= 1 << d.date
	}
	for month, of := range dates {
		if of == 0 {
			continue
		}
		b.c.dates, b.c.months, b.parts = of, 1<<month, recur.Parts{}
		if why := b.rule(); why != nil {
			return why
		}
	}
	return b.build()
}

// rule adds the parts of a rule. Times that are not one clockSet need BYSETPOS within a day, which
// makes the frequency daily, or several rules.
func (b *builder) rule() *refusal {
	if why := b.frequency(); why != nil {
		return why
	}
	if b.parts.Freq == recur.Hourly {
		b.add(clockSet{minutes: members(b.c.minutes, false), seconds: []int{0}})
		return nil
	}
	times, why := b.times()
	if why != nil {
		return why
	}
	set, exact := product(times)
	ofDays := b.parts.Lists[recur.BySetPos] != nil
	sets := []clockSet{set}
	switch {
	case exact && (len(times) == 1 || !ofDays):
	case ofDays: // it counts the times of a day as well
		sets = nil
		for i := range times {
			one, _ := product(times[i : i+1])
			sets = append(sets, one)
		}
	default:
		if b.c.nths == 0 && b.parts.Freq != recur.Yearly && (b.parts.Freq == recur.Daily || b.c.n == 1) {
			b.parts.Set(recur.BySetPos, set.positions(times))
		}
		if b.parts.Lists[recur.BySetPos] != nil {
			b.parts.Freq = recur.Daily
		} else {
			sets = groups(times)
		}
	}
	for _, set := range sets {
		b.add(set)
	}
	return nil
}

// add adds a rule of the days at times of day.
func (b *builder) add(clock clockSet) {
	parts := b.parts
	parts.Set(recur.ByHour, clock.hours)
	parts.Set(recur.ByMinute, clock.minutes)
	parts.Set(recur.BySecond, clock.seconds)
	b.all = append(b.all, parts)
}

// build makes the rules of their parts. A period of more than one unit starts from the first day on
// which one of them has an instant, or from the anchor when that says the day. In both cases, and
// when the text names a zone, a rule has a DTSTART.
func (b *builder) build() *refusal {
	c, s := b.c, b.s
	start, head := civil.InstantOf(b.wall, s.Zone), ""
	phased := c.n > 1 && c.unit > uHour
	if phased || b.m.zone != nil || b.later {
		begin := civil.Midnight(b.wall)
		switch {
		case phased && (!b.from || b.m.has&hasClock != 0 && c.unit == uDay):
			rules, why := b.made(start)
			if why != nil {
				return why
			}
			floor := b.anchor
			if !b.o.Start.IsZero() {
				floor = floor.Add(-1)
			}
			first, ok := rules.Next(floor)
			if !ok {
				return &refusal{made: b.p.refuse("it never comes", "")}
			}
			begin = civil.Midnight(civil.Wall(first, s.Zone))
		case b.later && !phased:
			begin = b.wall
		}
		start, head = civil.InstantOf(begin, s.Zone), recur.StartLine(begin, s.Zone)
	}
	for i := range b.all {
		b.all[i].Interval = c.n
	}
	rules, why := b.made(start)
	if why != nil {
		return why
	}
	if s.rule, b.several = rules, len(rules) > 1; !b.several {
		s.rule, s.Canonical = rules[0], b.all[0].After(head)
	}
	return nil
}

// made returns the rules.
func (b *builder) made(start time.Time) (recur.AnyOf, *refusal) {
	var rules recur.AnyOf
	for i := range b.all {
		r, err := b.all[i].Build("", start, b.s.Zone)
		if err != nil {
			return nil, b.p.asRule(err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// canonical adds the bounds that were words to the plain form. A rule has them as UNTIL. What one
// rule cannot say stays in words.
func (b *builder) canonical() {
	s, m := b.s, b.m
	bounded := !s.end.IsZero() && m.has&(hasUntil|hasFor|hasCount|hasInYear) != 0
	switch {
	case b.several || b.except != nil && !b.except.Empty():
		s.Canonical = b.words()
	case s.Kind == Interval && b.later:
		s.Canonical += " from " + instantText(b.anchor.In(s.Zone))
		fallthrough
	case s.Kind == Interval:
		if bounded {
			s.Canonical += " until " + instantText(s.end.In(s.Zone))
		}
	case bounded:
		s.Canonical += ";UNTIL=" + s.end.UTC().Format("20060102T150405Z")
	}
}

// words returns the text in a form that has the same instants whenever it is read: the time of day
// is named, and the bounds are instants.
func (b *builder) words() string {
	s, m, c := b.s, b.m, b.c
	text := strings.Join(strings.Fields(b.p.replace(m.passing)), " ")
	text = strings.ReplaceAll(strings.ReplaceAll(text, " ,", ","), ",,", ",")
	text = strings.Trim(text, ", ")
	if b.assumed != "" {
		text += " at " + b.assumed
	}
	switch phased := c.n > 1 && c.unit > uHour; {
	case b.from && (c.unit != uDay || b.assumed != "" && phased):
		begin := b.wall
		if b.assumed == "" {
			begin = civil.Midnight(begin)
		}
		text += " starting " + instantText(civil.InstantOf(begin, s.Zone).In(s.Zone))
	case m.has&hasFrom != 0 && !b.elapsed():
		text += " starting " + instantText(b.anchor.In(s.Zone))
	case phased, b.elapsed():
		base := s.rule
		for e, ok := base.(recur.Excluding); ok; e, ok = base.(recur.Excluding) {
			base = e.Rule
		}
		if first, ok := base.Next(s.start.Add(-1)); ok {
			text += " starting " + instantText(first.In(s.Zone))
		}
	}
	if !s.end.IsZero() && m.has&(hasUntil|hasFor|hasCount) != 0 {
		text += " until " + instantText(s.end.In(s.Zone))
	}
	return text
}

// asRule returns the error of a rule that was made from words, in terms of the words.
func (p *parser) asRule(err error) *refusal {
	e := asError(err)
	if e.Message = fault.Quoted(p.typed) + " never comes"; e.Code != fault.CodeNever {
		e = p.refuse("it is too much for one rule", "make several tasks of it")
	}
	return &refusal{made: e}
}

// members returns the numbers of a set. When last is set, they are as nthBit has them; the last is
// -1 at the end.
func members[T uint8 | uint16 | uint32 | uint64](set T, last bool) []int {
	var list []int
	for i := 0; i < 64; i++ {
		switch {
		case set>>i&1 == 0 || last && i == 0:
		case last && i > 32:
			list = append(list, 32-i)
		default:
			list = append(list, i)
		}
	}
	if last && set&1 == 1 {
		list = append(list, -1)
	}
	return list
}
