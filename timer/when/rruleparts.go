package when

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The frequencies of an RRULE, longest period first.
const (
	yearly = iota
	monthly
	weekly
	daily
	hourly
	minutely
	secondly
)

var (
	frequencies  = []string{"YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"}
	weekdayCodes = []string{"MO", "TU", "WE", "TH", "FR", "SA", "SU"}
)

// ruleParts are the parts of an RRULE. Each list is sorted and has no duplicates; an empty one is
// not given.
type ruleParts struct {
	freq      int
	interval  int64     // 0 and 1 are the same
	count     int       // 0 for none
	until     string    // UNTIL as written; empty for none
	last      time.Time // what it means
	weekStart int
	weekdays  []Nth // BYDAY
	lists     [ruleListCount][]int
}

// The lists of numbers of an RRULE, in the order of the canonical form.
const (
	byMonth = iota
	byWeek
	byYearDay
	byMonthDay
	byHour
	byMinute
	bySecond
	bySetPos
	ruleListCount
)

// ruleLists are the names of the lists and the bounds of their numbers.
var ruleLists = [ruleListCount]struct {
	name     string
	min, max int
	negative bool
}{
	byMonth:    {"BYMONTH", 1, 12, false},
	byWeek:     {"BYWEEKNO", 1, 53, true},
	byYearDay:  {"BYYEARDAY", 1, 366, true},
	byMonthDay: {"BYMONTHDAY", 1, 31, true},
	byHour:     {"BYHOUR", 0, 23, false},
	byMinute:   {"BYMINUTE", 0, 59, false},
	bySecond:   {"BYSECOND", 0, 60, false},
	bySetPos:   {"BYSETPOS", 1, 366, true},
}

// set gives one of the lists its numbers, in any order.
func (p *ruleParts) set(list int, numbers []int) {
	numbers = slices.Clone(numbers)
	slices.Sort(numbers)
	p.lists[list] = slices.Compact(numbers)
}

// readParts reads "FREQ=…;…" in capitals.
func readParts(text string) (p ruleParts, err error) {
	p.freq = -1
	var seen []string
	for part := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || value == "" {
			return p, fmt.Errorf("%q is not NAME=VALUE", part)
		}
		if slices.Contains(seen, name) {
			return p, fmt.Errorf("%s is given twice", name)
		}
		seen = append(seen, name)
		if err := p.read(name, value); err != nil {
			return p, err
		}
	}
	if p.freq < 0 {
		return p, fmt.Errorf("FREQ is missing")
	}
	return p, nil
}

func (p *ruleParts) read(name, value string) (err error) {
	switch name {
	case "FREQ":
		if p.freq = slices.Index(frequencies, value); p.freq < 0 {
			return fmt.Errorf("FREQ=%s is none of %s", value, strings.Join(frequencies, ", "))
		}
	case "INTERVAL":
		n, err := ruleNumber(name, value, 1, math.MaxInt32)
		p.interval = int64(n)
		return err
	case "COUNT":
		p.count, err = ruleNumber(name, value, 1, math.MaxInt32)
	case "UNTIL":
		p.until = value
	case "WKST":
		if p.weekStart = slices.Index(weekdayCodes, value); p.weekStart < 0 {
			return fmt.Errorf("WKST=%s is none of %s", value, strings.Join(weekdayCodes, ", "))
		}
	case "BYDAY":
		return p.readDays(value)
	default:
		for i, list := range ruleLists {
			if list.name != name {
				continue
			}
			var numbers []int
			for item := range strings.SplitSeq(value, ",") {
				number := ruleNumber
				if list.negative {
					number = signedNumber
				}
				n, err := number(name, item, list.min, list.max)
				if err != nil {
					return err
				}
				numbers = append(numbers, n)
			}
			p.set(i, numbers)
			return nil
		}
		return fmt.Errorf("%s is not part of a rule", name)
	}
	return err
}

// readDays reads BYDAY: MO, 2TU, +1FR, -1SU.
func (p *ruleParts) readDays(value string) error {
	for item := range strings.SplitSeq(value, ",") {
		if len(item) < 2 {
			return fmt.Errorf("BYDAY has %q, not a weekday such as MO or 2TU", item)
		}
		nth, code := item[:len(item)-2], item[len(item)-2:]
		day := Nth{Weekday: slices.Index(weekdayCodes, code)}
		if day.Weekday < 0 {
			return fmt.Errorf("BYDAY has %q, not a weekday such as MO or 2TU", item)
		}
		if nth != "" {
			n, err := signedNumber("BYDAY", nth, 1, 53)
			if err != nil {
				return err
			}
			day.N = n
		}
		if !slices.Contains(p.weekdays, day) {
			p.weekdays = append(p.weekdays, day)
		}
	}
	return nil
}

func ruleNumber(name, text string, low, high int) (int, error) {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%s has %q, not a number", name, text)
		}
	}
	n, err := strconv.Atoi(text)
	if text == "" || err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s has %q, not a number from %d to %d", name, text, low, high)
	}
	return n, nil
}

// signedNumber reads a number with or without a sign. The bounds are those of its absolute value.
func signedNumber(name, text string, low, high int) (int, error) {
	digits, negative := strings.CutPrefix(text, "-")
	if !negative {
		digits = strings.TrimPrefix(text, "+")
	}
	n, err := ruleNumber(name, digits, low, high)
	if negative {
		n = -n
	}
	return n, err
}

// check refuses parts that do not go together: everything for which RFC 5545 section 3.3.10 says
// MUST NOT.
func (p *ruleParts) check() error {
	nth := slices.ContainsFunc(p.weekdays, func(d Nth) bool { return d.N != 0 })
	given := func(list int) bool { return len(p.lists[list]) > 0 }
	others := *p
	others.lists[bySetPos] = nil
	switch {
	case p.count > 0 && p.until != "":
		return fmt.Errorf("COUNT and UNTIL exclude each other")
	case given(byWeek) && p.freq != yearly:
		return fmt.Errorf("BYWEEKNO goes with FREQ=YEARLY only")
	case given(byYearDay) && p.freq >= monthly && p.freq <= daily:
		return fmt.Errorf("BYYEARDAY does not go with FREQ=%s", frequencies[p.freq])
	case given(byMonthDay) && p.freq == weekly:
		return fmt.Errorf("BYMONTHDAY does not go with FREQ=WEEKLY")
	case nth && p.freq > monthly:
		return fmt.Errorf("a numbered weekday goes with FREQ=MONTHLY or YEARLY only")
	case nth && given(byWeek):
		return fmt.Errorf("a numbered weekday does not go with BYWEEKNO")
	case p.freq == monthly && slices.ContainsFunc(p.weekdays, beyondMonth),
		p.freq == yearly && given(byMonth) && slices.ContainsFunc(p.weekdays, beyondMonth):
		return fmt.Errorf("a month has five of a weekday at most")
	case given(bySetPos) && others.plain():
		return fmt.Errorf("BYSETPOS needs another BY part")
	}
	return nil
}

func beyondMonth(d Nth) bool { return d.N < -5 || d.N > 5 }

// plain reports whether the rule has no BY part.
func (p *ruleParts) plain() bool {
	given := func(list []int) bool { return len(list) > 0 }
	return !slices.ContainsFunc(p.lists[:], given) && len(p.weekdays) == 0
}

// String returns the canonical form.
func (p *ruleParts) String() string {
	out := []byte("FREQ=" + frequencies[p.freq])
	text := func(name, value string) { out = append(append(append(append(out, ';'), name...), '='), value...) }
	number := func(name string, n int64) {
		text(name, "")
		out = strconv.AppendInt(out, n, 10)
	}
	if p.interval > 1 {
		number("INTERVAL", p.interval)
	}
	if p.count > 0 {
		number("COUNT", int64(p.count))
	}
	if p.until != "" {
		text("UNTIL", p.until)
	}
	if p.weekStart != 0 {
		text("WKST", weekdayCodes[p.weekStart])
	}
	for i, list := range ruleLists {
		if i == byMonthDay && len(p.weekdays) > 0 {
			var days []string
			for _, d := range p.weekdays {
				code := weekdayCodes[d.Weekday]
				if d.N != 0 {
					code = strconv.Itoa(d.N) + code
				}
				days = append(days, code)
			}
			text("BYDAY", strings.Join(days, ","))
		}
		for k, n := range p.lists[i] {
			if k == 0 {
				number(list.name, int64(n))
			} else {
				out = strconv.AppendInt(append(out, ','), int64(n), 10)
			}
		}
	}
	return string(out)
}

// typed sets the minute and second that the rule leaves open to zero, for a rule that begins when
// it is typed. It returns the start of the rule, and a note that says so.
func (p *ruleParts) typed(start time.Time, zone *time.Location) (time.Time, string) {
	if p.freq < hourly {
		start = InstantOf(wallTime(start, zone).Truncate(time.Minute), zone)
	}
	var zero []string
	if len(p.lists[byHour]) > 0 {
		for _, part := range []struct {
			list int
			open bool
		}{{byMinute, p.freq < minutely}, {bySecond, p.freq < secondly}} {
			if part.open && len(p.lists[part.list]) == 0 {
				p.set(part.list, []int{0})
				zero = append(zero, ruleLists[part.list].name)
			}
		}
	}
	switch {
	case len(zero) == 1:
		return start, zero[0] + " is not given and is 0"
	case len(zero) == 2:
		return start, "BYMINUTE and BYSECOND are not given and are 0"
	case p.freq < hourly && len(p.lists[byHour]) == 0:
		return start, fmt.Sprintf("the time of day is that of the start, %s; BYHOUR and BYMINUTE name another", start.Format("15:04:05"))
	}
	return start, ""
}

// fill takes what the rule leaves open from DTSTART: the month, day, weekday and time, as in RFC
// 5545 section 3.3.10. It also makes second 60 the 59th.
func (p *ruleParts) fill(start time.Time) {
	set := func(list, value int) {
		if len(p.lists[list]) == 0 {
			p.set(list, []int{value})
		}
	}
	byDay := len(p.weekdays) > 0 || len(p.lists[byMonthDay]) > 0 || len(p.lists[byYearDay]) > 0
	switch {
	case byDay:
	case p.freq == weekly || p.freq == yearly && len(p.lists[byWeek]) > 0:
		p.weekdays = []Nth{{Weekday: weekday(floorDiv(start.Unix(), 86400))}}
	case p.freq == yearly:
		set(byMonth, int(start.Month()))
		set(byMonthDay, start.Day())
	case p.freq == monthly:
		set(byMonthDay, start.Day())
	}
	if p.freq < hourly {
		set(byHour, start.Hour())
	}
	if p.freq < minutely {
		set(byMinute, start.Minute())
	}
	if p.freq < secondly {
		set(bySecond, start.Second())
	}
	if seconds := p.lists[bySecond]; len(seconds) > 0 && seconds[len(seconds)-1] == 60 {
		p.set(bySecond, append(slices.Clone(seconds[:len(seconds)-1]), 59))
	}
}

func (p *ruleParts) filter() DayFilter {
	f := DayFilter{
		MonthDays: p.lists[byMonthDay],
		YearDays:  p.lists[byYearDay],
		Weeks:     p.lists[byWeek],
		Weekdays:  p.weekdays,
		InYear:    p.freq == yearly && len(p.lists[byMonth]) == 0,
		weekStart: p.weekStart,
	}
	for _, m := range p.lists[byMonth] {
		f.Months |= 1 << m
	}
	return f
}
