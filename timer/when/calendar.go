package when

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// calendarWords are the names that systemd.time(7) gives to common events.
var calendarWords = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"minutely": "*-*-* *:*:00", "hourly": "*-*-* *:00:00", "daily": "*-*-* 00:00:00", "monthly": "*-*-01 00:00:00", "weekly": "Mon *-*-* 00:00:00",
		"yearly": "*-01-01 00:00:00", "annually": "*-01-01 00:00:00", "quarterly": "*-01,04,07,10-01 00:00:00", "semiannually": "*-01,07-01 00:00:00",
	}
})

// looksLikeCalendar reports whether a text can only be a calendar event of systemd, such as
// Mon..Fri *-*-* 09:00:00, *-*~03 or Sat,Sun 20:00.
func looksLikeCalendar(text string) bool {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return false
	}
	if strings.Contains(text, "*-") || strings.Contains(text, "-*") || strings.Contains(text, "*:") || strings.Contains(text, ":*") {
		return true
	}
	// The ~ of *-*~03, and not that of ~10 minutes.
	if i := strings.IndexByte(text, '~'); i > 0 && strings.IndexByte("*0123456789", text[i-1]) >= 0 {
		return true
	}
	if len(fields) != 2 || !strings.Contains(fields[1], ":") || strings.Trim(fields[1], "0123456789:,/.") != "" {
		return false
	}
	_, ok := calendarWeekdays(fields[0])
	return ok && (strings.Contains(fields[0], "..") || strings.Contains(fields[0], ",") && !strings.HasSuffix(fields[0], ","))
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
	if err != nil || strings.Trim(text, "0123456789") != "" || n < f.min || n > f.max {
		return 0, fmt.Errorf("the %s %q is not in %d..%d", f.name, text, f.min, f.max)
	}
	return n, nil
}

// calendarWeekdays reads Mon..Fri and Sat,Sun. Bit 0 is Sunday.
func calendarWeekdays(text string) (set uint8, ok bool) {
	day := func(name string) int {
		for i, words := range weekdayWords {
			if slices.Contains(strings.Fields(words), strings.ToLower(name)) {
				return i
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

// parseCalendar reads a calendar event of systemd.time(7): weekdays, a date, a time of day and a
// time zone. Each may be left out. The event becomes a rule of RFC 5545 and follows its rules for
// clock changes; canonical is that rule.
func parseCalendar(text string, start time.Time, zone *time.Location) (r rule, canonical string, notes []Note, err error) {
	refuse := func(why string) (rule, string, []Note, error) {
		return nil, "", nil, &Error{Code: CodeNotUnderstood, Message: fmt.Sprintf("could not understand the calendar event %s: %s", quoted(text), why),
			Hint: `write it as in "Mon..Fri *-*-* 09:00:00" (systemd.time(7))`}
	}
	fields := strings.Fields(text)
	if len(fields) == 1 && calendarWords()[strings.ToLower(text)] != "" {
		fields = strings.Fields(calendarWords()[strings.ToLower(text)])
	}
	named := false
	if last := len(fields) - 1; last > 0 && strings.IndexByte("+-*0123456789", fields[last][0]) < 0 && !strings.Contains(fields[last], ":") {
		if zone, err = LoadZone(fields[last]); err != nil {
			return nil, "", nil, err
		}
		fields, named = fields[:last], true
	}
	var parts []string
	if len(fields) > 0 {
		if set, ok := calendarWeekdays(fields[0]); ok {
			if set != 0b1111111 {
				parts = append(parts, "BYDAY="+weekdayText(set, ""))
			}
			fields = fields[1:]
		}
	}
	years := calendarField{name: "year", min: 1970, max: lastYear, all: true}
	if len(fields) > 0 && !strings.Contains(fields[0], ":") {
		date, err := calendarDate(fields[0], &years)
		if err != nil {
			return refuse(err.Error())
		}
		parts, fields = append(date, parts...), fields[1:]
	}
	clock := "00:00:00"
	if len(fields) > 0 && strings.Contains(fields[0], ":") {
		clock, fields = fields[0], fields[1:]
	}
	if len(fields) > 0 {
		return refuse(fmt.Sprintf("%q is left over", fields[0]))
	}
	freq, clockParts, err := calendarClock(clock)
	if err != nil {
		return refuse(err.Error())
	}
	rule := "FREQ=" + freq + ";" + strings.Join(append(parts, clockParts...), ";")
	if !years.all {
		first, last := years.values[0], years.values[len(years.values)-1]
		if last-first != len(years.values)-1 {
			return refuse("years in a list are not read")
		}
		if from := InstantOf(civilDate(first, 1, 1), zone); from.After(start) {
			start, named = from, true
		}
		rule += ";UNTIL=" + InstantOf(civilDate(last+1, 1, 1), zone).Add(-time.Second).UTC().Format("20060102T150405Z")
	}
	if named {
		begin := midnight(wallTime(start, zone))
		start, rule = InstantOf(begin, zone), withStart(rule, begin, zone)
	}
	return parseRRule(rule, start, zone)
}

// calendarDate reads a date: 2027-*-1..7, *-02~03, 12-24. After a ~ the days are counted from the
// end of the month.
func calendarDate(text string, years *calendarField) (parts []string, err error) {
	months := calendarField{name: "month", min: 1, max: 12}
	days := calendarField{name: "day", min: 1, max: 31}
	head, day, fromEnd := strings.Cut(text, "~")
	if !fromEnd {
		i := strings.LastIndexByte(text, '-')
		if i < 0 {
			return nil, fmt.Errorf("%q is not a date", text)
		}
		head, day = text[:i], text[i+1:]
	}
	year, month, dated := strings.Cut(head, "-")
	if !dated {
		year, month = "*", head
	}
	if year != "*" {
		if err = years.read(year); err != nil {
			return nil, err
		}
	}
	if err = months.read(month); err != nil {
		return nil, err
	}
	if fromEnd { // 7/1 counts towards the end of the month
		if first, stepText, stepped := strings.Cut(day, "/"); stepped {
			step, err := strconv.Atoi(stepText)
			n, err2 := days.number(first)
			if err != nil || err2 != nil || step < 1 {
				return nil, fmt.Errorf("the day %q is not counted from the end", day)
			}
			for ; n > 0; n -= step {
				days.values = append(days.values, n)
			}
		} else if err = days.read(day); err != nil {
			return nil, err
		}
		for i := range days.values {
			days.values[i] = -days.values[i]
		}
		days.all = false
	} else if err = days.read(day); err != nil {
		return nil, err
	}
	if !months.all {
		parts = append(parts, "BYMONTH="+join(months.values))
	}
	if !days.all {
		parts = append(parts, "BYMONTHDAY="+join(days.values))
	}
	return parts, nil
}

// calendarClock reads a time of day: 09:00, *:0/15, 8,20:30:00.
func calendarClock(text string) (freq string, parts []string, err error) {
	fields := [3]calendarField{{name: "hour", max: 23}, {name: "minute", max: 59}, {name: "second", max: 59}}
	words := strings.Split(text, ":")
	if len(words) == 2 {
		words = append(words, "00")
	}
	if len(words) != 3 {
		return "", nil, fmt.Errorf("%q is not a time of day", text)
	}
	for i := range fields {
		if err := fields[i].read(words[i]); err != nil {
			return "", nil, err
		}
	}
	add := func(i int, name string) { parts = append(parts, name+"="+join(fields[i].values)) }
	switch n := len(fields[0].values) * len(fields[1].values) * len(fields[2].values); {
	case n <= maxPerDay:
		add(0, "BYHOUR")
		add(1, "BYMINUTE")
		add(2, "BYSECOND")
		return "DAILY", parts, nil
	case fields[2].all:
		freq = "SECONDLY"
	default:
		freq = "MINUTELY"
		add(2, "BYSECOND")
	}
	if !fields[0].all {
		add(0, "BYHOUR")
	}
	if !fields[1].all {
		add(1, "BYMINUTE")
	}
	if len(parts) == 0 { // every second: a rule without BY parts would count elapsed time
		add(0, "BYHOUR")
	}
	return freq, parts, nil
}

// maxPerDay is how many instants a day may have in a rule with FREQ=DAILY.
const maxPerDay = 300
