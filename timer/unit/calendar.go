package unit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Event is a calendar event (systemd.time(7)), as a second reading beside that of a grammar of
// times: it shares nothing with it.
type Event struct {
	weekdays                                     []bool // by time.Weekday; nil: all
	years, months, days, hours, minutes, seconds []part
	fromEnd                                      bool // days count from the end of the month
	zone                                         *time.Location
}

// part is a number, or numbers from low to high by a step.
type part struct{ low, high, step int }

// shorthands are events in a word.
var shorthands = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"minutely": "*-*-* *:*:00", "hourly": "*-*-* *:00:00", "daily": "*-*-* 00:00:00", "weekly": "Mon *-*-* 00:00:00", "monthly": "*-*-01 00:00:00",
		"quarterly": "*-01,04,07,10-01 00:00:00", "semiannually": "*-01,07-01 00:00:00", "semi-annually": "*-01,07-01 00:00:00", "yearly": "*-01-01 00:00:00",
		"annually": "*-01-01 00:00:00", "anually": "*-01-01 00:00:00", "biannually": "*-01,07-01 00:00:00", "bi-annually": "*-01,07-01 00:00:00",
	}
})

// ParseEvent reads a calendar event, whose time is meant in zone when it names none. Parts of a
// second are refused.
func ParseEvent(text string, zone *time.Location) (e Event, err error) {
	wrong := fmt.Errorf("%q is not a calendar event that is read here", text)
	e.zone = zone
	words := strings.Fields(text)
	if n := len(words); n > 1 && strings.ContainsFunc(words[n-1], isLetter) && !isWeekdays(words[n-1]) {
		if e.zone, err = time.LoadLocation(words[n-1]); err != nil {
			return e, wrong
		}
		words = words[:n-1]
	}
	if len(words) == 1 && shorthands()[strings.ToLower(words[0])] != "" {
		words = strings.Fields(shorthands()[strings.ToLower(words[0])])
	}
	date, clock := "*-*-*", "00:00:00"
	for i, word := range words {
		switch {
		case i == 0 && isWeekdays(word):
			if e.weekdays, err = weekdays(word); err != nil {
				return e, wrong
			}
		case strings.Contains(word, ":"):
			clock = word
		case strings.ContainsAny(word, "-~"):
			date = word
		default:
			return e, wrong
		}
	}
	if len(words) == 0 {
		return e, wrong
	}
	if at := strings.LastIndexByte(date, '~'); at >= 0 {
		e.fromEnd = true
		date = date[:at] + "-" + date[at+1:]
	}
	fields := strings.Split(date, "-")
	if len(fields) == 2 {
		fields = append([]string{"*"}, fields...)
	}
	times := strings.Split(clock, ":")
	if len(times) == 2 {
		times = append(times, "00")
	}
	if len(fields) != 3 || len(times) != 3 {
		return e, wrong
	}
	for _, f := range []struct {
		to        *[]part
		text      string
		low, high int
	}{{&e.years, fields[0], 1970, 2199}, {&e.months, fields[1], 1, 12}, {&e.days, fields[2], 1, 31}, {&e.hours, times[0], 0, 23}, {&e.minutes, times[1], 0, 59}, {&e.seconds, times[2], 0, 59}} {
		if *f.to, err = parts(f.text, f.low, f.high, e.fromEnd && f.to == &e.days); err != nil {
			return e, wrong
		}
	}
	return e, nil
}

func isLetter(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

var weekdayNames = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// isWeekdays reports whether a word begins like days of the week.
func isWeekdays(word string) bool {
	end := strings.IndexFunc(word, func(c rune) bool { return !isLetter(c) })
	if end < 0 {
		end = len(word)
	}
	return weekday(word[:end]) >= 0
}

func weekday(name string) int {
	return slices.IndexFunc(weekdayNames, func(day string) bool { return strings.EqualFold(name, day) || strings.EqualFold(name, day[:3]) })
}

func weekdays(text string) (list []bool, err error) {
	list = make([]bool, 7)
	for _, item := range strings.Split(strings.TrimSuffix(text, ","), ",") {
		from, to, ranged := strings.Cut(item, "..")
		if !ranged {
			from, to, ranged = strings.Cut(item, "-")
		}
		if !ranged {
			to = from
		}
		low, high := weekday(from), weekday(to)
		// the week begins on Monday, and nothing runs backwards
		if low < 0 || high < 0 || (low+6)%7 > (high+6)%7 {
			return nil, strconv.ErrSyntax
		}
		for list[low] = true; low != high; list[low] = true {
			low = (low + 1) % 7
		}
	}
	return list, nil
}

// parts reads the numbers of a field. Those of days from the end of a month run backwards.
func parts(text string, low, high int, backwards bool) (list []part, err error) {
	for _, item := range strings.Split(text, ",") {
		p := part{low, high, 1}
		span, step, stepped := strings.Cut(item, "/")
		if stepped {
			if p.step, err = strconv.Atoi(step); err != nil || p.step < 1 {
				return nil, strconv.ErrSyntax
			}
		}
		if span != "*" {
			from, to, ranged := strings.Cut(span, "..")
			if p.low, err = strconv.Atoi(from); err != nil {
				return nil, err
			}
			if low == 1970 && p.low < 100 {
				p.low += map[bool]int{true: 2000, false: 1900}[p.low < 70]
			}
			switch {
			case ranged:
				if p.high, err = strconv.Atoi(to); err != nil {
					return nil, err
				}
			case !stepped:
				p.high = p.low
			case backwards:
				p.high = 1
			}
		}
		if backwards {
			p.low, p.high = p.high, p.low
			// steps count from the greatest number down: not read here
			if p.step > 1 && p.low != p.high {
				return nil, strconv.ErrSyntax
			}
		}
		if p.low < low || p.high > high || p.low > p.high {
			return nil, strconv.ErrRange
		}
		list = append(list, p)
	}
	return list, nil
}

func in(list []part, n int) bool {
	return slices.ContainsFunc(list, func(p part) bool { return n >= p.low && n <= p.high && (n-p.low)%p.step == 0 })
}

// Instants are those of the event after one instant and up to another, at most so many. As systemd
// has it, a time in a gap of the clock is left out, and one that is repeated is its first pass.
func (e Event) Instants(after, to time.Time, most int) (list []time.Time) {
	clocks := make([][]int, 3)
	for i, f := range [][]part{e.hours, e.minutes, e.seconds} {
		for n := range 60 {
			if in(f, n) {
				clocks[i] = append(clocks[i], n)
			}
		}
	}
	day := after.In(e.zone)
	for day = time.Date(day.Year(), day.Month(), day.Day()-1, 0, 0, 0, 0, time.UTC); len(list) < most && day.Before(to.AddDate(0, 0, 2)); day = day.AddDate(0, 0, 1) {
		n := day.Day()
		if e.fromEnd {
			n = time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day() - n + 1
		}
		if e.weekdays != nil && !e.weekdays[day.Weekday()] || !in(e.years, day.Year()) || !in(e.months, int(day.Month())) || !in(e.days, n) {
			continue
		}
		for _, h := range clocks[0] {
			for _, m := range clocks[1] {
				for _, s := range clocks[2] {
					at, ok := first(day, h, m, s, e.zone)
					if ok && at.After(after) && !at.After(to) && len(list) < most {
						list = append(list, at)
					}
				}
			}
		}
	}
	return list
}

// first is the first instant at which the clock of a zone shows a time of a day; false when it
// never does.
func first(day time.Time, h, m, s int, zone *time.Location) (time.Time, bool) {
	shown := time.Date(day.Year(), day.Month(), day.Day(), h, m, s, 0, time.UTC)
	near := time.Unix(shown.Unix(), 0).In(zone)
	// the offset before a change of the clock, and after it
	for _, around := range []time.Time{near.Add(-36 * time.Hour), near.Add(36 * time.Hour)} {
		_, offset := around.Zone()
		at := time.Unix(shown.Unix()-int64(offset), 0).In(zone)
		if at.Day() == shown.Day() && at.Hour() == h && at.Minute() == m && at.Second() == s {
			return at, true
		}
	}
	return time.Time{}, false
}
