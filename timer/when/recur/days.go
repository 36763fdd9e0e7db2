package recur

import (
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// Days is a set of days on which a recurrence has no instants. It is made by setting its fields and
// by AddSpan, and does not change afterwards.
type Days struct {
	Weekdays uint8  // bit 0 is Sunday
	Dates    uint32 // days of the month; bit 0 is the last
	Months   uint16
	yearly   [][2]annualDay // in every year; a range may cross its end
	spans    [][2]int64     // first and last day, as day numbers
	Numbered []Nth          // weekdays of the month
}

// annualDay is a day of every year: 100 × month + day of the month.
type annualDay int

func annualDayOf(month, date int) annualDay { return annualDay(100*month + date) }

// Same reports whether two meanings of a text are the same days.
func (d *Days) Same(other *Days) bool {
	return d.Weekdays == other.Weekdays && d.Dates == other.Dates && d.Months == other.Months && slices.Equal(d.yearly, other.yearly) && slices.Equal(d.spans, other.spans) &&
		slices.Equal(d.Numbered, other.Numbered)
}

// And returns the days of both sets.
func (d *Days) And(other *Days) *Days {
	switch {
	case d == nil:
		return other
	case other == nil:
		return d
	}
	return &Days{
		Weekdays: d.Weekdays | other.Weekdays, Dates: d.Dates | other.Dates, Months: d.Months | other.Months,
		yearly: slices.Concat(d.yearly, other.yearly), spans: slices.Concat(d.spans, other.spans), Numbered: slices.Concat(d.Numbered, other.Numbered),
	}
}

// Has reports whether the day that the clocks of a zone show at an instant is in the set.
func (d *Days) Has(t time.Time, zone *time.Location) bool {
	if d == nil {
		return false
	}
	wall := civil.Wall(t, zone)
	year, month, date := wall.Date()
	number := civil.DayNumber(year, int(month), date)
	if d.Weekdays>>wall.Weekday()&1 == 1 || d.Dates>>date&1 == 1 || d.Months>>month&1 == 1 ||
		d.Dates&1 == 1 && date == civil.MonthDays(year, int(month)) {
		return true
	}
	for at, s := annualDayOf(int(month), date), 0; s < len(d.yearly); s++ {
		first, last := d.yearly[s][0], d.yearly[s][1]
		if first <= at && at <= last || last < first && (first <= at || at <= last) {
			return true
		}
	}
	if len(d.Numbered) > 0 {
		of := DayFilter{Weekdays: d.Numbered}
		if of.month(year, int(month))>>date&1 == 1 {
			return true
		}
	}
	for _, s := range d.spans {
		if number >= s[0] && number <= s[1] {
			return true
		}
	}
	return false
}

// Empty reports whether there is no day in the set.
func (d *Days) Empty() bool {
	return d == nil || d.Weekdays == 0 && d.Dates == 0 && d.Months == 0 && len(d.yearly) == 0 && len(d.spans) == 0 && len(d.Numbered) == 0
}

// Day is a day of one year, or of every year when Year is 0.
type Day struct{ Year, Month, Day int }

// AddSpan adds the days from one date to another. They are of every year when neither date names a
// year. It reports false when the last day lies before the first.
func (d *Days) AddSpan(first, last Day) (ok bool) {
	if first.Year == 0 && last.Year == 0 {
		d.yearly = append(d.yearly, [2]annualDay{annualDayOf(first.Month, first.Day), annualDayOf(last.Month, last.Day)})
		return true
	}
	number := func(of, other Day) int64 {
		if of.Year == 0 {
			of.Year = other.Year
		}
		return civil.DayNumber(of.Year, of.Month, of.Day)
	}
	from, to := number(first, last), number(last, first)
	if to < from && first.Year == 0 { // 24 dec to 2 jan 2027
		from = civil.DayNumber(last.Year-1, first.Month, first.Day)
	} else if to < from && last.Year == 0 {
		to = civil.DayNumber(first.Year+1, last.Month, last.Day)
	}
	d.spans = append(d.spans, [2]int64{from, to})
	return from <= to
}

// Excluding is a rule without the instants that fall on some days.
type Excluding struct {
	Rule
	Days *Days
	Zone *time.Location
}

// nextWall returns a function that finds the next wall time that is on none of the days.
func (r Excluding) nextWall(next func(w int64) (int64, bool)) func(w int64) (int64, bool) {
	return func(w int64) (int64, bool) {
		for range maxExcluded {
			wall, ok := next(w)
			if !ok || !r.Days.Has(time.Unix(wall, 0), time.UTC) {
				return wall, ok
			}
			w = wall
		}
		return 0, false
	}
}

// maxExcluded is how many excluded days in a row are skipped before the schedule counts as one that
// never comes.
const maxExcluded = 1500

func (r Excluding) Next(t time.Time) (time.Time, bool) {
	for range maxExcluded {
		next, ok := r.Rule.Next(t)
		if !ok || !r.Days.Has(next, r.Zone) {
			return next, ok
		}
		y, m, d := civil.Wall(next, r.Zone).Date()
		if t = civil.InstantOf(civil.Date(y, m, d+1), r.Zone).Add(-1); !t.After(next) {
			t = next
		}
	}
	return time.Time{}, false
}
