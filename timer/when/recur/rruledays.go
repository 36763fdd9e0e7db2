package recur

import (
	"math/bits"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// DayFilter has the days that a recurrence names. A part that is missing allows every day.
type DayFilter struct {
	Months    uint16 // bits 1 to 12
	MonthDays []int  // 1 to 31, -31 to -1
	YearDays  []int
	// Weeks of the year. A week begins on weekStart and belongs to the year of its fourth day.
	Weeks     []int
	Weekdays  []Nth
	InYear    bool // numbered weekdays are counted in the year, not in the month
	weekStart int  // Monday is 0
}

// Nth is a weekday, with Monday as 0: every one when N is 0, or the Nth from the beginning or, when
// negative, from the end.
type Nth struct{ N, Weekday int }

// month returns the days of a month that match, as bits 1 to 31.
func (f *DayFilter) month(year, month int) uint32 {
	if f.Months != 0 && f.Months>>month&1 == 0 {
		return 0
	}
	first := civil.DayNumber(year, month, 1)
	length := int(civil.DayNumber(year, month+1, 1) - first)
	set := uint32(uint64(1)<<(length+1) - 2)
	if len(f.MonthDays) > 0 {
		var some uint32
		for _, d := range f.MonthDays {
			if d < 0 {
				d += length + 1
			}
			if d > 0 && d <= length {
				some |= 1 << d
			}
		}
		set &= some
	}
	if len(f.Weekdays) > 0 && set != 0 {
		set &= f.monthWeekdays(year, first, length)
	}
	if len(f.YearDays) > 0 {
		before, days := int(first-civil.DayNumber(year, 1, 1)), civil.YearLength(year)
		set = filterDays(set, func(d int) bool { return containsNth(f.YearDays, before+d, days) })
	}
	if len(f.Weeks) > 0 {
		set = filterDays(set, func(d int) bool {
			week, weeks := f.week(first + int64(d) - 1)
			return containsNth(f.Weeks, week, weeks)
		})
	}
	return set
}

// filterDays returns the days of a set for which ok is true.
func filterDays(set uint32, ok func(day int) bool) uint32 {
	for rest := set; rest != 0; rest &= rest - 1 {
		if d := bits.TrailingZeros32(rest); !ok(d) {
			set &^= 1 << d
		}
	}
	return set
}

// containsNth reports whether a list has n. The list counts from 1, or from -1 at the end of total.
func containsNth(list []int, n, total int) bool {
	for _, v := range list {
		if v == n || v == n-total-1 {
			return true
		}
	}
	return false
}

// monthWeekdays returns the days of a month that BYDAY names.
func (f *DayFilter) monthWeekdays(year int, first int64, length int) (set uint32) {
	for _, w := range f.Weekdays {
		start := 1 + int(civil.FloorMod(int64(w.Weekday-civil.Weekday(first)), 7))
		var each uint32
		for d := start; d <= length; d += 7 {
			each |= 1 << d
		}
		switch {
		case w.N == 0:
		case f.InYear:
			before, days := int(first-civil.DayNumber(year, 1, 1)), civil.YearLength(year)
			each = filterDays(each, func(d int) bool {
				return w.N == (before+d-1)/7+1 || w.N == -((days-before-d)/7+1)
			})
		default:
			each = filterDays(each, func(d int) bool { return w.N == (d-1)/7+1 || w.N == -((length-d)/7+1) })
		}
		set |= each
	}
	return set
}

// week returns the number of the week that a day is in, and how many weeks the year of that week
// has. That year may not be the year of the day.
func (f *DayFilter) week(day int64) (week, weeks int) {
	start := day - civil.FloorMod(int64(civil.Weekday(day)-f.weekStart), 7)
	year, _, _ := civil.DateOf(start + 3)
	week1, next := f.firstWeek(year), f.firstWeek(year+1)
	return int(start-week1)/7 + 1, int(next-week1) / 7
}

// firstWeek returns the first day of week 1 of a year: the week of 4 January.
func (f *DayFilter) firstWeek(year int) int64 {
	day4 := civil.DayNumber(year, 1, 4)
	return day4 - civil.FloorMod(int64(civil.Weekday(day4)-f.weekStart), 7)
}
