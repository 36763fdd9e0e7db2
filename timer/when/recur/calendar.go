package recur

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// calendarWords are the names that systemd.time(7) gives to common events.
var calendarWords = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"minutely": "*-*-* *:*:00", "hourly": "*-*-* *:00:00", "daily": "*-*-* 00:00:00", "monthly": "*-*-01 00:00:00", "weekly": "Mon *-*-* 00:00:00",
		"yearly": "*-01-01 00:00:00", "annually": "*-01-01 00:00:00", "quarterly": "*-01,04,07,10-01 00:00:00", "semiannually": "*-01,07-01 00:00:00",
		"semi-annually": "*-01,07-01 00:00:00", "biannually": "*-01,07-01 00:00:00", "bi-annually": "*-01,07-01 00:00:00", "anually": "*-01-01 00:00:00",
	}
})

// CalendarText has the parts of a calendar event. Each may be empty.
type CalendarText struct{ Weekdays, Date, Clock, Zone string }

// CalendarParts cuts a text into the parts of a calendar event. It reports false for what cannot be
// one. The names of systemd.time(7), such as weekly, become what they stand for.
func CalendarParts(text string) (c CalendarText, ok bool) {
	fields := strings.Fields(text)
	only := func(characters string) bool { return len(fields) > 0 && strings.Trim(fields[0], characters) == "" }
	take := func(is bool, part *string) {
		if is {
			*part, fields = fields[0], fields[1:]
		}
	}
	if n := len(fields) - 1; n > 0 {
		if letter := fields[n][0] | 0x20; 'a' <= letter && letter <= 'z' {
			c.Zone, fields = fields[n], fields[:n]
		}
	}
	if len(fields) == 1 && calendarWords()[strings.ToLower(fields[0])] != "" {
		fields = strings.Fields(calendarWords()[strings.ToLower(fields[0])])
	}
	if len(fields) > 0 {
		_, is := calendarWeekdays(fields[0])
		take(is, &c.Weekdays)
	}
	take(only("0123456789*.,/-~") && strings.ContainsAny(fields[0], "-~"), &c.Date)
	take(only("0123456789*.,/:") && strings.Contains(fields[0], ":"), &c.Clock)
	return c, len(fields) == 0 && c.Weekdays+c.Date+c.Clock != ""
}

// LooksLikeCalendar reports whether a text can only be a calendar event of systemd, such as
// Mon..Fri *-*-* 09:00:00, *-*~03, 0/4:00 or Sat,Sun 20:00.
func LooksLikeCalendar(text string) bool {
	if strings.Contains(text, "*-") || strings.Contains(text, "-*") || strings.Contains(text, "*:") || strings.Contains(text, ":*") {
		return true
	}
	// The ~ of *-*~03, and not that of ~10 minutes.
	if i := strings.IndexByte(text, '~'); i > 0 && strings.IndexByte("*0123456789", text[i-1]) >= 0 {
		return true
	}
	if !strings.Contains(text, ":") && !strings.Contains(text, "..") && !strings.Contains(text, "/") {
		return false
	}
	c, ok := CalendarParts(text)
	if !ok {
		return false
	}
	hours, minutes, _ := strings.Cut(c.Clock, ":")
	_, step, stepped := strings.Cut(hours, "/")
	n, err := strconv.Atoi(step)
	year, _, stepsYears := strings.Cut(c.Date, "/")
	switch {
	case strings.Contains(c.Weekdays+c.Date, "..") && strings.Count(c.Date, "-") <= 2, strings.Contains(c.Clock, "..") && c.Weekdays+c.Date != "",
		strings.Contains(c.Weekdays, ",") && !strings.HasSuffix(c.Weekdays, ",") && c.Clock != "",
		stepsYears && len(year) == 4 && strings.Count(c.Date, "-") == 2,
		stepped && err == nil && n <= 12,
		strings.ContainsAny(strings.TrimSuffix(minutes, ","), ",/") && !strings.Contains(minutes, ":"):
		return true
	}
	return false
}

// calendarField is one field of a calendar event and the values that it takes. A value that is
// counted from the end of the month is negative.
type calendarField struct {
	name     string
	min, max int
	values   []int
	all      bool
}

// read reads a list of values, ranges and repetitions: 1..7, 0/15, *, 8,20.
func (f *calendarField) read(text string) error {
	f.all = text == "*"
	for item := range strings.SplitSeq(text, ",") {
		span, stepText, stepped := strings.Cut(item, "/")
		low, high, ranged := strings.Cut(span, "..")
		first, last, step := f.min, f.max, 1
		var err error
		if span == "*" && !f.all {
			return fmt.Errorf("the %s %q has more than its *; for every second one say %d/2", f.name, text, f.min)
		}
		if !f.all {
			if first, err = f.number(low); err != nil {
				return err
			}
			switch {
			case ranged:
				if last, err = f.number(high); err != nil {
					return err
				}
			case !stepped:
				last = first
			}
		}
		if stepped {
			if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
				return fmt.Errorf("the %s step %q is not a number from 1 on", f.name, stepText)
			}
		}
		if last < first {
			return fmt.Errorf("the %s range %s runs backwards", f.name, span)
		}
		if stepped && !ranged && first+step > f.max {
			return fmt.Errorf("the %s step %d leads beyond %d", f.name, step, f.max)
		}
		for v := first; v <= last; v += step {
			f.values = append(f.values, v)
		}
	}
	slices.Sort(f.values)
	f.values = slices.Compact(f.values)
	f.all = f.all || len(f.values) == f.max-f.min+1
	return nil
}

func (f *calendarField) number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if f.name == "year" && len(text) <= 2 { // 69 is 2069, 70 is 1970
		if n += 1900; n < 1970 {
			n += 100
		}
	}
	if err != nil || strings.Trim(text, "0123456789") != "" || n < f.min || n > f.max {
		return 0, fmt.Errorf("the %s %q is not in %d..%d", f.name, text, f.min, f.max)
	}
	return n, nil
}

// calendarWeekdays reads Mon..Fri and Sat,Sun. Bit 0 is Sunday.
func calendarWeekdays(text string) (set uint8, ok bool) {
	day := func(name string) int {
		for d := time.Sunday; d <= time.Saturday; d++ {
			if full := d.String(); strings.EqualFold(name, full) || strings.EqualFold(name, full[:3]) {
				return int(d)
			}
		}
		return -1
	}
	for item := range strings.SplitSeq(strings.TrimSuffix(text, ","), ",") {
		low, high, ranged := strings.Cut(item, "..")
		if !ranged {
			low, high, ranged = strings.Cut(item, "-")
		}
		first := day(low)
		last := first
		if ranged {
			last = day(high)
		}
		if first < 0 || last < 0 {
			return 0, false
		}
		for d := first; ; d = (d + 1) % 7 {
			if set |= 1 << d; d == last {
				break
			}
		}
	}
	return set, true
}

// ReadCalendar reads a calendar event of systemd.time(7): weekdays, a date, a time of day and a
// time zone. Each may be left out. The event becomes a rule of RFC 5545 and follows its rules for
// clock changes; its plain form is that rule.
func ReadCalendar(text string, start time.Time, zone *time.Location) (r Recurrence, err error) {
	refuse := func(why string) (Recurrence, error) {
		return Recurrence{}, &fault.Error{Code: fault.CodeNotUnderstood, Message: fmt.Sprintf("could not understand the calendar event %s: %s", fault.Quoted(text), why),
			Hint: `write it as in "Mon..Fri *-*-* 09:00:00" (systemd.time(7))`}
	}
	c, ok := CalendarParts(text)
	if !ok {
		return refuse("it has a part that is no weekday, date, time of day or zone")
	}
	named := c.Zone != ""
	if named {
		if zone, err = civil.LoadZone(c.Zone); err != nil {
			return r, err
		}
	}
	var parts Parts
	if set, _ := calendarWeekdays(c.Weekdays); c.Weekdays != "" && set != 0b1111111 {
		parts.Weekdays = NthWeekdays(set, 0)
	}
	years := calendarField{name: "year", min: 1970, max: civil.LastYear, all: true}
	if c.Date != "" {
		if err := calendarDate(c.Date, &years, &parts); err != nil {
			return refuse(err.Error())
		}
	}
	clock := c.Clock
	if clock == "" {
		clock = "00:00:00"
	}
	if err := calendarClock(clock, &parts); err != nil {
		return refuse(err.Error())
	}
	if !years.all {
		first, last, apart := years.values[0], years.values[len(years.values)-1], 1
		if len(years.values) > 1 {
			apart = years.values[1] - first
		}
		if last-first != apart*(len(years.values)-1) || apart > 1 && parts.Freq != Daily {
			return refuse("years in a list are only read when they are evenly apart, with some hundred instants a day at most")
		}
		if apart > 1 {
			parts.Freq, parts.Interval = Yearly, int64(apart)
			if len(parts.Weekdays)+len(parts.Lists[ByMonthDay]) == 0 {
				parts.Set(ByMonthDay, oneTo31)
			}
			for first < civil.Wall(start, zone).Year() {
				first += apart
			}
			named = true
		}
		if from := civil.InstantOf(civil.Date(first, 1, 1), zone); from.After(start) {
			start, named = from, true
		}
		if last < civil.LastYear {
			parts.last = civil.InstantOf(civil.Date(last+1, 1, 1), zone).Add(-time.Second)
			parts.until = parts.last.UTC().Format("20060102T150405Z")
		}
	}
	head := ""
	if named {
		begin := civil.Midnight(civil.Wall(start, zone))
		start, head = civil.InstantOf(begin, zone), StartLine(begin, zone)
	}
	r.Canonical = parts.After(head)
	r.Rule, err = parts.Build(r.Canonical, start, zone)
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Code == fault.CodeNever {
		err = &fault.Error{Code: fault.CodeNever, Message: fmt.Sprintf("the calendar event %s never comes after %s", fault.Quoted(text), say.Stamp(start.In(zone))),
			Hint: "check its date and its years"}
	}
	return r, err
}

// calendarDate reads a date into parts: 2027-*-1..7, *-02~03, 12-24. After a ~ the days are counted
// from the end of the month.
func calendarDate(text string, years *calendarField, parts *Parts) (err error) {
	months := calendarField{name: "month", min: 1, max: 12}
	days := calendarField{name: "day", min: 1, max: 31}
	head, day, fromEnd := strings.Cut(text, "~")
	if !fromEnd {
		i := strings.LastIndexByte(text, '-')
		head, day = text[:i], text[i+1:]
	}
	year, month, dated := strings.Cut(head, "-")
	if !dated {
		year, month = "*", head
	}
	if year != "*" {
		if err = years.read(year); err != nil {
			return err
		}
	}
	if err = months.read(month); err != nil {
		return err
	}
	if fromEnd { // 7/1 counts towards the end of the month
		if first, stepText, stepped := strings.Cut(day, "/"); stepped {
			step, err := strconv.Atoi(stepText)
			n, err2 := days.number(first)
			if err != nil || err2 != nil || step < 1 || n-step < 1 {
				return fmt.Errorf("the day %q is not counted from the end", day)
			}
			for ; n > 0; n -= step {
				days.values = append(days.values, n)
			}
		} else if err = days.read(day); err != nil {
			return err
		}
		for i := range days.values {
			days.values[i] = -days.values[i]
		}
		days.all = false
	} else if err = days.read(day); err != nil {
		return err
	}
	if !months.all {
		parts.Set(ByMonth, months.values)
	}
	if !days.all {
		parts.Set(ByMonthDay, days.values)
	}
	return nil
}

// calendarClock reads a time of day into parts: 09:00, *:0/15, 8,20:30:00.
func calendarClock(text string, parts *Parts) error {
	fields := [3]calendarField{{name: "hour", max: 23}, {name: "minute", max: 59}, {name: "second", max: 59}}
	words := strings.Split(text, ":")
	if len(words) == 2 {
		words = append(words, "00")
	}
	if len(words) != 3 {
		return fmt.Errorf("%q is not a time of day", text)
	}
	for i := range fields {
		if err := fields[i].read(words[i]); err != nil {
			return err
		}
	}
	hours, minutes, seconds := &fields[0], &fields[1], &fields[2]
	parts.Freq = Daily
	some := len(hours.values)*len(minutes.values)*len(seconds.values) <= maxPerDay
	switch {
	case some:
	case seconds.all:
		parts.Freq = Secondly
	default:
		parts.Freq = Minutely
	}
	// Every second has its hours, too: a rule without BY parts would count elapsed time.
	if some || !hours.all || seconds.all && minutes.all {
		parts.Set(ByHour, hours.values)
	}
	if some || !minutes.all {
		parts.Set(ByMinute, minutes.values)
	}
	if parts.Freq != Secondly {
		parts.Set(BySecond, seconds.values)
	}
	return nil
}

// oneTo31 are the days of the longest months.
var oneTo31 = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}

// maxPerDay is how many instants a day may have in a rule with FREQ=DAILY.
const maxPerDay = 300
