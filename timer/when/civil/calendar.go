package civil

import "time"

// LastYear is the last year that an instant may lie in. RFC 3339 has four digits for it.
const LastYear = 9999

// Midnight returns the beginning of the day of a wall time.
func Midnight(wall time.Time) time.Time { return Date(wall.Date()) }

// Date returns the beginning of a day, as a wall time. Months and days beyond their range carry
// over.
func Date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// AddMonthsDays moves a wall time by months, at most to the last day of the month, and then by
// days.
func AddMonthsDays(wall time.Time, months, days int64) time.Time {
	y, m, d := wall.Date()
	month := int64(m) - 1 + months
	y += int(month / 12)
	if month %= 12; month < 0 {
		month += 12
		y--
	}
	m = time.Month(month + 1)
	d = min(d, MonthDays(y, int(m)))
	return time.Date(y, m, d+int(days), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), time.UTC)
}

// MonthDays returns how many days a month has.
func MonthDays(year, month int) int {
	switch month {
	case 2:
		if Leap(year) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// Leap reports whether a year has a 29 February.
func Leap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// DayNumber returns the number of days since 1 January 1970. Months and days beyond their range
// carry over. Rules are searched with it, so it is arithmetic on a year that begins in March and a
// cycle of 400 years: several times faster than package time.
func DayNumber(year, month, day int) int64 {
	months := int64(year)*12 + int64(month) - 3
	y, m := FloorDiv(months, 12), FloorMod(months, 12)
	return y*365 + FloorDiv(y, 4) - FloorDiv(y, 100) + FloorDiv(y, 400) + (153*m+2)/5 + int64(day) - 719469
}

// DateOf returns the date of a day number.
func DateOf(day int64) (year, month, dom int) {
	y, m, d := time.Unix(day*86400, 0).UTC().Date()
	return y, int(m), d
}

// Weekday returns the weekday of a day number, with Monday as 0.
func Weekday(day int64) int { return int(FloorMod(day+3, 7)) }

// FloorMod returns what is left of a divided by b, from 0 to b-1 also for a negative a.
func FloorMod(a, b int64) int64 { return (a%b + b) % b }

// FloorDiv divides and rounds towards negative infinity.
func FloorDiv(a, b int64) int64 { return (a - FloorMod(a, b)) / b }

// YearLength returns how many days a year has.
func YearLength(year int) int {
	if Leap(year) {
		return 366
	}
	return 365
}
