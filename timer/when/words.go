package when

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// class is a set of kinds of words. A word may be of several kinds: "second" is a unit and an
// ordinal.
type class uint64

// The classes. classNames has their names in the grammar.
const (
	cNum class = 1 << iota // digits
	cH12                   // 1 to 12, in at most two digits
	cH24                   // 0 to 24
	cM60                   // 00 to 59, in two digits
	cD31                   // 1 to 31
	cN1                    // one or two digits
	cN2                    // two digits
	cN3                    // three
	cN4                    // four
	cN6                    // six, and so on
	cN8
	cNLong  // twelve or fourteen digits
	cYear   // a year in four digits, from 1900 on
	cHHMM   // four digits that are a time of day
	cHMM    // three or four digits that are one before am and pm
	cLow    // one to nineteen, in words
	cOnes   // one to nine
	cTens   // twenty to ninety
	cOrd    // first, second
	cOrd1   // first to ninth
	cSuffix // the "st" of 1st
	cUnit
	cUnits // a unit in the plural
	cLong  // a unit of more than one letter
	cDay   // a weekday
	cDays  // mondays
	cMonth
	cDayPart  // morning
	cDayParts // mornings
	cMer      // am, pm
	cLetter
	cAdverb   // daily
	cAbbr     // a zone's abbreviation
	cUTC      // utc, gmt
	cZoneName // Europe/Warsaw
	cISO      // PT15M
	cAgain    // "every": a word that occurs only in recurrences
	cTime     // the word "time"
	cNew      // no word of the grammar
	cEnd      // the end of the text

	classCount = iota
)

var classNames = map[string]class{
	"NUM": cNum, "H12": cH12, "H24": cH24, "M60": cM60, "D31": cD31, "N1": cN1, "N2": cN2, "N3": cN3, "N4": cN4, "N6": cN6, "N8": cN8,
	"NLONG": cNLong, "YEAR": cYear, "HHMM": cHHMM, "HMM": cHMM, "LOW": cLow, "ONES": cOnes, "TENS": cTens, "ORDWORD": cOrd,
	"ORD1": cOrd1, "SUFFIX": cSuffix, "UNIT": cUnit, "UNITS": cUnits, "LONGUNIT": cLong, "WEEKDAY": cDay, "WEEKDAYS": cDays, "MONTH": cMonth, "DAYPART": cDayPart, "DAYPARTS": cDayParts,
	"MER": cMer, "LETTER": cLetter, "ADVERB": cAdverb, "ABBR": cAbbr, "UTC": cUTC, "ZONENAME": cZoneName, "ISO": cISO, "NEW": cNew,
}

// unit is a unit of time. The constants are in order of length.
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

// The parts of a day.
const (
	morning = 1 + iota
	afternoon
	evening
	night
)

// entry is what is known about a word.
type entry struct {
	set class
	// the number of the word, when a pattern names it; the byte of a punctuation mark
	lit     uint16
	unit    unit
	month   uint8 // 1 to 12
	day     uint8 // weekday, Sunday is 1
	num     uint8 // the value of a number or an ordinal in words
	dayPart uint8
}

var unitWords = [...]string{
	uNanosecond:  "ns nsec nsecs nanosecond nanoseconds",
	uMicrosecond: "us usec usecs microsecond microseconds",
	uMillisecond: "ms msec msecs milli millis millisecond milliseconds",
	uSecond:      "s sec secs second seconds second's",
	uMinute:      "m min mins minute minutes minute's",
	uHour:        "h hr hrs hour hours hour's",
	uDay:         "d day days day's dy dys",
	uWeek:        "w wk wks week weeks week's",
	uFortnight:   "fortnight fortnights fortnight's",
	uMonth:       "mo mos mth mths month months month's mon's",
	uQuarter:     "quarter quarters",
	uYear:        "y yr yrs year years year's",
	uDecade:      "decade decades",
}

var monthWords = [12]string{"january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
	"september sep sept", "october oct", "november nov", "december dec"}

var weekdayWords = [7]string{"sunday sun", "monday mon", "tuesday tue tues", "wednesday wed weds wednes", "thursday thu thur thurs",
	"friday fri", "saturday sat"}

var dayPartWords = [...]string{morning: "morning", afternoon: "afternoon", evening: "evening", night: "night"}

// adverbs are words for a period of n units, and perhaps a part of the day.
var adverbs = [...]struct {
	word    string
	n       uint8
	unit    unit
	dayPart uint8
}{
	{"minutely", 1, uMinute, 0}, {"hourly", 1, uHour, 0}, {"daily", 1, uDay, 0}, {"everyday", 1, uDay, 0}, {"nightly", 1, uDay, night},
	{"weekly", 1, uWeek, 0}, {"fortnightly", 1, uFortnight, 0}, {"monthly", 1, uMonth, 0}, {"quarterly", 1, uQuarter, 0}, {"semiannually", 6, uMonth, 0},
	{"yearly", 1, uYear, 0}, {"annually", 1, uYear, 0},
}

const (
	lowWords  = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
	tensWords = "twenty thirty forty fifty sixty seventy eighty ninety"
	ordWords  = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth " +
		"sixteenth seventeenth eighteenth nineteenth twentieth"
)

// vocabulary returns every known word, those of the patterns included. It is made at its first use,
// so that a program that reads no words does not pay for it.
var vocabulary = sync.OnceValue(func() map[string]entry {
	v := make(map[string]entry, 600)
	add := func(words string, set class, change func(e *entry, i int)) {
		for i, w := range strings.Fields(words) {
			e := v[w]
			e.set |= set
			if change != nil {
				change(&e, i)
			}
			v[w] = e
		}
	}
	for u, words := range unitWords {
		for _, w := range strings.Fields(words) {
			set := cUnit
			if len(w) > 1 {
				set |= cLong
			}
			if single, ok := strings.CutSuffix(w, "s"); ok && slices.Contains(strings.Fields(words), single) {
				set |= cUnits
			}
			add(w, set, func(e *entry, _ int) { e.unit = unit(u) })
		}
	}
	for i, words := range monthWords {
		add(words, cMonth, func(e *entry, _ int) { e.month = uint8(i + 1) })
	}
	for i, words := range weekdayWords {
		add(words, cDay, func(e *entry, _ int) { e.day = uint8(i + 1) })
		long, _, _ := strings.Cut(words, " ")
		add(long+"s", cDays, func(e *entry, _ int) { e.day = uint8(i + 1) })
	}
	for i, words := range dayPartWords {
		add(words, cDayPart, func(e *entry, _ int) { e.dayPart = uint8(i) })
		if words != "" {
			add(words+"s", cDayParts, func(e *entry, _ int) { e.dayPart = uint8(i) })
		}
	}
	for _, a := range adverbs {
		add(a.word, cAdverb, func(e *entry, _ int) { e.num, e.unit, e.dayPart = a.n, a.unit, a.dayPart })
	}
	add(lowWords, cLow, func(e *entry, i int) {
		if e.num = uint8(i + 1); i < 9 {
			e.set |= cOnes
		}
	})
	add(tensWords, cTens, func(e *entry, i int) { e.num = uint8(20 + 10*i) })
	add(ordWords, cOrd, func(e *entry, i int) {
		if e.num = uint8(i + 1); i < 9 {
			e.set |= cOrd1
		}
	})
	add("thirtieth", cOrd, func(e *entry, _ int) { e.num = 30 })
	add("st nd rd th", cSuffix, nil)
	add("am pm", cMer, nil)
	add("a p", cLetter, nil)
	add("utc gmt ut", cUTC, nil)
	add("every each ev weekdays workdays weekends biweekly bimonthly biannually bi semi once twice thrice times days", cAgain, nil)
	add("time", cTime, nil)
	for name := range abbreviations() {
		add(name, cAbbr, nil)
	}
	for w, lit := range grammar().words {
		e := v[w]
		e.lit = lit
		v[w] = e
	}
	return v
})

// measures are what one unit is: months, days or elapsed time. Only one of them is not zero.
var measures = [...]struct {
	months, days int64
	elapsed      time.Duration
}{
	uNanosecond:  {elapsed: 1},
	uMicrosecond: {elapsed: time.Microsecond},
	uMillisecond: {elapsed: time.Millisecond},
	uSecond:      {elapsed: time.Second},
	uMinute:      {elapsed: time.Minute},
	uHour:        {elapsed: time.Hour},
	uDay:         {days: 1},
	uWeek:        {days: 7},
	uFortnight:   {days: 14},
	uMonth:       {months: 1},
	uQuarter:     {months: 3},
	uYear:        {months: 12},
	uDecade:      {months: 120},
}

// measure returns what one unit is.
func (u unit) measure() (months, days int64, elapsed time.Duration) {
	m := measures[u]
	return m.months, m.days, m.elapsed
}
