package recur

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// Frequency is the FREQ of an RRULE.
type Frequency int

// The frequencies, longest period first.
const (
	Yearly Frequency = iota
	Monthly
	Weekly
	Daily
	Hourly
	Minutely
	Secondly
)

var (
	frequencies  = []string{"YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"}
	weekdayCodes = []string{"MO", "TU", "WE", "TH", "FR", "SA", "SU"}
)

// Parts are the parts of an RRULE. Each list is sorted and has no duplicates; an empty one is
// not given.
type Parts struct {
	Freq      Frequency
	Interval  int64     // 0 and 1 are the same
	count     int       // 0 for none
	until     string    // UNTIL as written; empty for none
	last      time.Time // what it means
	weekStart int
	Weekdays  []Nth // BYDAY
	Lists     [ruleListCount][]int
}

// List is a part of an RRULE that is a list of numbers.
type List int

// The lists, in the order of the canonical form.
const (
	ByMonth List = iota
	ByWeek
	ByYearDay
	ByMonthDay
	ByHour
	ByMinute
	BySecond
	BySetPos
	ruleListCount
)

// ruleLists are the names of the lists and the bounds of their numbers.
var ruleLists = [ruleListCount]struct {
	name     string
	min, max int
	negative bool
}{
	ByMonth:    {"BYMONTH", 1, 12, false},
	ByWeek:     {"BYWEEKNO", 1, 53, true},
	ByYearDay:  {"BYYEARDAY", 1, 366, true},
	ByMonthDay: {"BYMONTHDAY", 1, 31, true},
	ByHour:     {"BYHOUR", 0, 23, false},
	ByMinute:   {"BYMINUTE", 0, 59, false},
	BySecond:   {"BYSECOND", 0, 60, false},
	BySetPos:   {"BYSETPOS", 1, 366, true},
}

// Set gives one of the lists its numbers, in any order.
func (p *Parts) Set(list List, numbers []int) {
	numbers = slices.Clone(numbers)
	slices.Sort(numbers)
	p.Lists[list] = slices.Compact(numbers)
}

// readParts reads "FREQ=…;…" in capitals.
func readParts(text string) (p Parts, err error) {
	p.Freq = -1
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
	if p.Freq < 0 {
		return p, fmt.Errorf("FREQ is missing")
	}
	return p, nil
}

func (p *Parts) read(name, value string) (err error) {
	switch name {
	case "FREQ":
		if p.Freq = Frequency(slices.Index(frequencies, value)); p.Freq < 0 {
			return fmt.Errorf("FREQ=%s is none of %s", value, strings.Join(frequencies, ", "))
		}
	case "INTERVAL":
		n, err := ruleNumber(name, value, 1, math.MaxInt32)
		p.Interval = int64(n)
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
			p.Set(List(i), numbers)
			return nil
		}
		return fmt.Errorf("%s is not part of a rule", name)
	}
	return err
}

// readDays reads BYDAY: MO, 2TU, +1FR, -1SU.
func (p *Parts) readDays(value string) error {
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
		if !slices.Contains(p.Weekdays, day) {
			p.Weekdays = append(p.Weekdays, day)
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
func (p *Parts) check() error {
	nth := slices.ContainsFunc(p.Weekdays, func(d Nth) bool { return d.N != 0 })
	given := func(list List) bool { return len(p.Lists[list]) > 0 }
	others := *p
	others.Lists[BySetPos] = nil
	switch {
	case p.count > 0 && p.until != "":
		return fmt.Errorf("COUNT and UNTIL exclude each other")
	case given(ByWeek) && p.Freq != Yearly:
		return fmt.Errorf("BYWEEKNO goes with FREQ=YEARLY only")
	case given(ByYearDay) && p.Freq >= Monthly && p.Freq <= Daily:
		return fmt.Errorf("BYYEARDAY does not go with FREQ=%s", frequencies[p.Freq])
	case given(ByMonthDay) && p.Freq == Weekly:
		return fmt.Errorf("BYMONTHDAY does not go with FREQ=WEEKLY")
	case nth && p.Freq > Monthly:
		return fmt.Errorf("a numbered weekday goes with FREQ=MONTHLY or YEARLY only")
	case nth && given(ByWeek):
		return fmt.Errorf("a numbered weekday does not go with BYWEEKNO")
	case p.Freq == Monthly && slices.ContainsFunc(p.Weekdays, beyondMonth),
		p.Freq == Yearly && given(ByMonth) && slices.ContainsFunc(p.Weekdays, beyondMonth):
		return fmt.Errorf("a month has five of a weekday at most")
	case given(BySetPos) && others.plain():
		return fmt.Errorf("BYSETPOS needs another BY part")
	}
	return nil
}

func beyondMonth(d Nth) bool { return d.N < -5 || d.N > 5 }

// plain reports whether the rule has no BY part.
func (p *Parts) plain() bool {
	given := func(list []int) bool { return len(list) > 0 }
	return !slices.ContainsFunc(p.Lists[:], given) && len(p.Weekdays) == 0
}

// String returns the canonical form.
func (p *Parts) String() string {
	out := []byte("FREQ=" + frequencies[p.Freq])
	text := func(name, value string) { out = append(append(append(append(out, ';'), name...), '='), value...) }
	number := func(name string, n int64) {
		text(name, "")
		out = strconv.AppendInt(out, n, 10)
	}
	if p.Interval > 1 {
		number("INTERVAL", p.Interval)
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
		if List(i) == ByMonthDay && len(p.Weekdays) > 0 {
			var days []string
			for _, d := range p.Weekdays {
				code := weekdayCodes[d.Weekday]
				if d.N != 0 {
					code = strconv.Itoa(d.N) + code
				}
				days = append(days, code)
			}
			text("BYDAY", strings.Join(days, ","))
		}
		for k, n := range p.Lists[i] {
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
func (p *Parts) typed(start time.Time, zone *time.Location) (time.Time, string) {
	if p.Freq < Hourly {
		start = civil.InstantOf(civil.Wall(start, zone).Truncate(time.Minute), zone)
	}
	var zero []string
	if len(p.Lists[ByHour]) > 0 {
		for _, part := range []struct {
			list List
			open bool
		}{{ByMinute, p.Freq < Minutely}, {BySecond, p.Freq < Secondly}} {
			if part.open && len(p.Lists[part.list]) == 0 {
				p.Set(part.list, []int{0})
				zero = append(zero, ruleLists[part.list].name)
			}
		}
	}
	switch {
	case len(zero) == 1:
		return start, zero[0] + " is not given and is 0"
	case len(zero) == 2:
		return start, "BYMINUTE and BYSECOND are not given and are 0"
	case p.Freq < Hourly && len(p.Lists[ByHour]) == 0:
		return start, fmt.Sprintf("the time of day is that of the start, %s; BYHOUR and BYMINUTE name another", start.Format("15:04:05"))
	}
	return start, ""
}

// fill takes what the rule leaves open from DTSTART: the month, day, weekday and time, as in RFC
// 5545 section 3.3.10. It also makes second 60 the 59th.
func (p *Parts) fill(start time.Time) {
	set := func(list List, value int) {
		if len(p.Lists[list]) == 0 {
			p.Set(list, []int{value})
		}
	}
	byDay := len(p.Weekdays) > 0 || len(p.Lists[ByMonthDay]) > 0 || len(p.Lists[ByYearDay]) > 0
	switch {
	case byDay:
	case p.Freq == Weekly || p.Freq == Yearly && len(p.Lists[ByWeek]) > 0:
		p.Weekdays = []Nth{{Weekday: civil.Weekday(civil.FloorDiv(start.Unix(), 86400))}}
	case p.Freq == Yearly:
		set(ByMonth, int(start.Month()))
		set(ByMonthDay, start.Day())
	case p.Freq == Monthly:
		set(ByMonthDay, start.Day())
	}
	if p.Freq < Hourly {
		set(ByHour, start.Hour())
	}
	if p.Freq < Minutely {
		set(ByMinute, start.Minute())
	}
	if p.Freq < Secondly {
		set(BySecond, start.Second())
	}
	if seconds := p.Lists[BySecond]; len(seconds) > 0 && seconds[len(seconds)-1] == 60 {
		p.Set(BySecond, append(slices.Clone(seconds[:len(seconds)-1]), 59))
	}
}

func (p *Parts) filter() DayFilter {
	f := DayFilter{
		MonthDays: p.Lists[ByMonthDay],
		YearDays:  p.Lists[ByYearDay],
		Weeks:     p.Lists[ByWeek],
		Weekdays:  p.Weekdays,
		InYear:    p.Freq == Yearly && len(p.Lists[ByMonth]) == 0,
		weekStart: p.weekStart,
	}
	for _, m := range p.Lists[ByMonth] {
		f.Months |= 1 << m
	}
	return f
}

// NthWeekdays are the n-th of some weekdays, Monday first; every one when n is 0.
func NthWeekdays(set uint8, n int) []Nth {
	var days []Nth
	for i := range weekdayCodes {
		if set>>((i+1)%7)&1 == 1 {
			days = append(days, Nth{Weekday: i, N: n})
		}
	}
	return days
}
