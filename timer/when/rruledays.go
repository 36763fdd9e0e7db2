package when

import (
	"math/bits"
	"time"
)

// dayFilter is the day parts of an RRULE; a part that is absent lets every day through.
type dayFilter struct {
	months    uint16 // bit 1 to 12
	monthDays []int  // 1 to 31, -31 to -1
	yearDays  []int
	weeks     []int // of the year, with weeks that begin on weekStart and belong to the year of their fourth day
	weekdays  []nthDay
	inYear    bool // nth weekdays are counted in the year, not in the month
	weekStart int  // Monday is 0
}

// nthDay is a weekday (Monday is 0), every one of them when n is 0, or the nth from the start or from the end.
type nthDay struct{ n, day int }

// dayNumber counts days from 1 January 1970. Months and days beyond their range carry over. It is arithmetic on a year
// that begins in March and a cycle of 400 years, several times faster than package time: rules are searched with it.
func dayNumber(year, month, day int) int64 {
	months := int64(year)*12 + int64(month) - 3
	y, m := floorDiv(months, 12), floorMod(months, 12)
	return y*365 + floorDiv(y, 4) - floorDiv(y, 100) + floorDiv(y, 400) + (153*m+2)/5 + int64(day) - 719469
}

// civil is the date of a day number.
func civil(day int64) (year, month, dom int) {
	y, m, d := time.Unix(day*86400, 0).UTC().Date()
	return y, int(m), d
}

func weekday(day int64) int { return int(floorMod(day+3, 7)) }

func floorMod(a, b int64) int64 { return (a%b + b) % b }

func floorDiv(a, b int64) int64 { return (a - floorMod(a, b)) / b }

func yearLength(year int) int {
	if leap(year) {
		return 366
	}
	return 365
}

// month is the set of days that match in a month, bit 1 to 31.
func (f *dayFilter) month(year, month int) uint32 {
	if f.months != 0 && f.months>>month&1 == 0 {
		return 0
	}
	first := dayNumber(year, month, 1)
	length := int(dayNumber(year, month+1, 1) - first)
	set := uint32(uint64(1)<<(length+1) - 2)
	if len(f.monthDays) > 0 {
		var some uint32
		for _, d := range f.monthDays {
			if d < 0 {
				d += length + 1
			}
			if d > 0 && d <= length {
				some |= 1 << d
			}
		}
		set &= some
	}
	if len(f.weekdays) > 0 && set != 0 {
		set &= f.monthWeekdays(year, first, length)
	}
	if len(f.yearDays) > 0 {
		before, days := int(first-dayNumber(year, 1, 1)), yearLength(year)
		set = keep(set, func(d int) bool { return either(f.yearDays, before+d, days) })
	}
	if len(f.weeks) > 0 {
		set = keep(set, func(d int) bool {
			week, weeks := f.week(first + int64(d) - 1)
			return either(f.weeks, week, weeks)
		})
	}
	return set
}

// keep filters a set of days.
func keep(set uint32, ok func(day int) bool) uint32 {
	for rest := set; rest != 0; rest &= rest - 1 {
		if d := bits.TrailingZeros32(rest); !ok(d) {
			set &^= 1 << d
		}
	}
	return set
}

// either finds n, counted from 1 or as -1 from the end of total, in a list.
func either(list []int, n, total int) bool {
	for _, v := range list {
		if v == n || v == n-total-1 {
			return true
		}
	}
	return false
}

// monthWeekdays is the set of days of a month that BYDAY names.
func (f *dayFilter) monthWeekdays(year int, first int64, length int) (set uint32) {
	for _, w := range f.weekdays {
		start := 1 + int(floorMod(int64(w.day-weekday(first)), 7))
		var each uint32
		for d := start; d <= length; d += 7 {
			each |= 1 << d
		}
		switch {
		case w.n == 0:
		case f.inYear:
			before, days := int(first-dayNumber(year, 1, 1)), yearLength(year)
			each = keep(each, func(d int) bool {
				return w.n == (before+d-1)/7+1 || w.n == -((days-before-d)/7+1)
			})
		default:
			each = keep(each, func(d int) bool { return w.n == (d-1)/7+1 || w.n == -((length-d)/7+1) })
		}
		set |= each
	}
	return set
}

// week is the number of the week a day is in, and how many weeks that week's year has. The day may lie in another year.
func (f *dayFilter) week(day int64) (week, weeks int) {
	start := day - floorMod(int64(weekday(day)-f.weekStart), 7)
	year, _, _ := civil(start + 3)
	week1, next := f.firstWeek(year), f.firstWeek(year+1)
	return int(start-week1)/7 + 1, int(next-week1) / 7
}

// firstWeek is the first day of week 1 of a year, the week that holds 4 January.
func (f *dayFilter) firstWeek(year int) int64 {
	day4 := dayNumber(year, 1, 4)
	return day4 - floorMod(int64(weekday(day4)-f.weekStart), 7)
}
