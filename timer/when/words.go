package when

import "sync"

// word is the role of a word in the grammar. A word may also name a month, a weekday, a unit or a number; its entry
// has all of them, and the place where it stands decides.
type word uint8

const (
	wNone word = iota
	wA
	wAdverb
	wAfter
	wAgo
	wAM
	wAnd
	wAt
	wBack
	wBefore
	wBetween
	wClock
	wComing
	wCouple
	wDays // monday to friday
	wEnd
	wEvery
	wFew
	wFor
	wFrom
	wHalf
	wHundred
	wIn
	wLast
	wLater
	wMidnight
	wNext
	wNoon
	wNow
	wNumber
	wOf
	wOn
	wOrdinal
	wOther
	wPart
	wPast
	wPM
	wQuarter
	wQuarters
	wRight
	wSuffix
	wT
	wTeatime
	wThe
	wThis
	wThrough
	wTime
	wTimes // once a day, twice a day
	wTo
	wToday
	wTomorrow
	wTonight
	wUTC
	wWeekend
	wYesterday
	wZ
	wZone
)

// unit is a unit of time; the order is by length.
type unit uint8

const (
	uNone unit = iota
	uNanosecond
	uMicrosecond
	uMillisecond
	uSecond
	uMinute
	uHour
	uDay
	uWeek
	uFortnight
	uMonth
	uQuarter
	uYear
	uDecade
)

// The parts of a day, in entry.part.
const (
	morning = 1 + iota
	afternoon
	evening
	night
)

// entry is what the grammar knows of a word.
type entry struct {
	role  word
	unit  unit
	month uint8 // 1 to 12
	day   uint8 // weekday, Sunday is 1
	num   uint8 // of wNumber, or the ordinal of wOrdinal
	part  uint8
	many  bool // a plural weekday, "mondays": a recurrence
}

// vocabulary is made on first use: a program that parses no words pays nothing for it.
var vocabulary = sync.OnceValue(func() map[string]entry {
	v := make(map[string]entry, 320)
	roles := func(role word, words ...string) {
		for _, w := range words {
			e := v[w]
			e.role = role
			v[w] = e
		}
	}
	roles(wA, "a", "an")
	roles(wAfter, "after")
	roles(wAgo, "ago", "earlier")
	roles(wAM, "am")
	roles(wAnd, "and")
	roles(wAt, "at")
	roles(wBack, "back")
	roles(wBefore, "before")
	roles(wBetween, "between")
	roles(wClock, "o'clock", "oclock")
	roles(wComing, "coming", "upcoming", "following")
	roles(wCouple, "couple")
	roles(wDays, "weekday", "workday")
	roles(wEnd, "end")
	roles(wEvery, "every", "each")
	roles(wFew, "few", "several", "some", "many")
	roles(wFor, "for", "within")
	roles(wFrom, "from")
	roles(wHalf, "half")
	roles(wHundred, "hundred")
	roles(wIn, "in")
	roles(wLast, "last", "previous")
	roles(wLater, "later", "hence")
	roles(wMidnight, "midnight")
	roles(wNext, "next")
	roles(wThrough, "through", "thru")
	roles(wNoon, "noon", "midday", "noontime")
	roles(wNow, "now")
	roles(wOf, "of")
	roles(wOn, "on")
	roles(wOther, "other", "alternate")
	roles(wPast, "past")
	roles(wPM, "pm")
	roles(wQuarter, "quarter")
	roles(wQuarters, "quarters")
	roles(wRight, "right")
	roles(wSuffix, "st", "nd", "rd", "th")
	roles(wT, "t")
	roles(wTeatime, "teatime")
	roles(wThe, "the")
	roles(wThis, "this")
	roles(wTime, "time")
	roles(wTo, "to", "til", "till")
	roles(wToday, "today")
	roles(wTomorrow, "tomorrow", "tmr", "tmrw")
	roles(wTonight, "tonight", "tonite")
	roles(wUTC, "utc", "gmt")
	roles(wWeekend, "weekend")
	roles(wYesterday, "yesterday")
	roles(wZ, "z")
	for name := range abbreviations {
		roles(wZone, name)
	}

	units := func(u unit, words ...string) {
		for _, w := range words {
			e := v[w]
			e.unit = u
			v[w] = e
		}
	}
	units(uNanosecond, "ns", "nsec", "nsecs", "nanosecond", "nanoseconds")
	units(uMicrosecond, "us", "usec", "usecs", "microsecond", "microseconds")
	units(uMillisecond, "ms", "msec", "msecs", "milli", "millis", "millisecond", "milliseconds")
	units(uSecond, "s", "sec", "secs", "second", "seconds", "second's", "seconds'")
	units(uMinute, "m", "min", "mins", "minute", "minutes", "minute's")
	units(uHour, "h", "hr", "hrs", "hour", "hours", "hour's")
	units(uDay, "d", "day", "days", "day's", "dy", "dys")
	units(uWeek, "w", "wk", "wks", "week", "weeks", "week's")
	units(uFortnight, "fortnight", "fortnights", "fortnight's")
	units(uMonth, "mo", "mos", "mth", "mths", "month", "months", "month's")
	units(uQuarter, "quarter", "quarters")
	units(uYear, "y", "yr", "yrs", "year", "years", "year's")
	units(uDecade, "decade", "decades")

	for i, names := range [...][]string{
		{"january", "jan"}, {"february", "feb"}, {"march", "mar"}, {"april", "apr"}, {"may"}, {"june", "jun"},
		{"july", "jul"}, {"august", "aug"}, {"september", "sep", "sept"}, {"october", "oct"},
		{"november", "nov"}, {"december", "dec"},
	} {
		for _, name := range names {
			e := v[name]
			e.month = uint8(i + 1)
			v[name] = e
		}
	}
	for i, names := range [...][]string{
		{"sunday", "sun"}, {"monday", "mon"}, {"tuesday", "tue", "tues"}, {"wednesday", "wed", "weds", "wednes"},
		{"thursday", "thu", "thur", "thurs"}, {"friday", "fri"}, {"saturday", "sat"},
	} {
		for _, name := range names {
			v[name] = entry{day: uint8(i + 1)}
		}
		v[names[0]+"s"] = entry{day: uint8(i + 1), many: true}
	}
	v["weekdays"] = entry{role: wDays, many: true}
	v["workdays"] = v["weekdays"]
	v["weekends"] = entry{role: wWeekend, many: true}

	for i, w := range [...]string{
		"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
		"fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
	} {
		v[w] = entry{role: wNumber, num: uint8(i + 1)}
	}
	for i, w := range [...]string{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"} {
		v[w] = entry{role: wNumber, num: uint8(20 + 10*i)}
	}
	for i, w := range [...]string{
		"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
		"twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
		"twentieth",
	} {
		e := v[w]
		e.role, e.num = wOrdinal, uint8(i+1)
		v[w] = e
	}
	v["thirtieth"] = entry{role: wOrdinal, num: 30}

	v["morning"] = entry{role: wPart, part: morning}
	v["afternoon"] = entry{role: wPart, part: afternoon}
	v["evening"] = entry{role: wPart, part: evening}
	v["night"] = entry{role: wPart, part: night}
	for w, u := range map[string]unit{
		"hourly": uHour, "daily": uDay, "nightly": uDay, "weekly": uWeek, "fortnightly": uFortnight,
		"monthly": uMonth, "quarterly": uQuarter, "yearly": uYear, "annually": uYear,
		"everyday": uDay, "biweekly": uWeek, "bimonthly": uMonth,
	} {
		v[w] = entry{role: wAdverb, unit: u, many: true}
	}
	v["once"] = entry{role: wTimes, num: 1, many: true}
	v["twice"] = entry{role: wTimes, num: 2, many: true}
	v["thrice"] = entry{role: wTimes, num: 3, many: true}
	return v
})
