package when

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Days is a set of days on which a recurrence has no instants. It is immutable.
type Days struct {
	weekdays uint8  // bit 0 is Sunday
	dates    uint32 // days of the month; bit 0 is the last
	months   uint16
	yearly   [][2]annualDay // in every year; a range may cross its end
	spans    [][2]int64     // first and last day, as day numbers
	numbered []Nth          // weekdays of the month
}

// annualDay is a day of every year: 100 × month + day of the month.
type annualDay int

func annualDayOf(month, date int) annualDay { return annualDay(100*month + date) }

// ParseDays reads days for Options.Except: weekdays ("weekends", "mon-wed"), dates ("24 Dec",
// "2027-01-06"), ranges of dates ("24 Dec 2026 to 2 Jan 2027"), days of every month ("the 13th",
// "the last friday of the month"), months, and lists of these with commas or "and". A date without
// a year is of every year, so the set does not depend on Now.
func ParseDays(text string, o Options) (*Days, error) {
	p := parsers.Get().(*parser)
	defer p.close()
	o.Form = Any
	if err := p.open(text, &o); err != nil {
		return nil, err
	}
	refuse := func(code, why, hint string) (*Days, error) {
		return nil, &Error{Code: code, Message: "could not understand the days " + quoted(p.typed) + why, Hint: hint}
	}
	var days *Days
	var why *refusal
	for r := p.derive(p.g.names["DAYSET"], 0); r >= 0; r = p.res[r].next {
		m := &p.res[r].m
		if int(p.res[r].end) != p.n {
			continue
		}
		read, refused := daysOf(m)
		switch {
		case refused != nil && why == nil:
			why = refused
		case refused != nil || days != nil && days.same(read):
		case days != nil:
			return refuse(CodeAmbiguous, ": the order of day and month is not known", `write the month as a word, as in "24 dec 2026", or the year first, as in "2026-12-24"`)
		default:
			days = read
		}
	}
	switch {
	case days != nil:
		return days, nil
	case why != nil && why.why != "":
		return refuse(CodeNotUnderstood, ": "+why.why, why.hint)
	}
	return refuse(CodeNotUnderstood, "", `name days, as in "weekends", "24 dec", "2027-01-06" or "24 dec to 2 jan"`)
}

// daysOf returns the days that a meaning names.
func daysOf(m *meaning) (*Days, *refusal) {
	days := &Days{weekdays: m.recur.weekdays, dates: m.recur.dates, months: m.recur.months}
	for i := 0; i < len(m.days) && m.err == nil; i++ {
		switch d := m.days[i]; d.kind {
		case onNth:
			days.numbered = append(days.numbered, Nth{int(d.nth), (int(d.weekday) + 5) % 7})
			continue
		case onSpan:
		default:
			days.add(d)
			continue
		}
		if !days.addSpan(m.days[i+1], m.days[i+2]) {
			return nil, &refusal{why: "its last day lies before the first", hint: "change them round"}
		}
		i += 2
	}
	return days, m.err
}

// same reports whether two meanings of a text are the same days.
func (d *Days) same(other *Days) bool {
	return d.weekdays == other.weekdays && d.dates == other.dates && d.months == other.months && slices.Equal(d.yearly, other.yearly) && slices.Equal(d.spans, other.spans) &&
		slices.Equal(d.numbered, other.numbered)
}

// maxDayLines is how many lines with days a file may have.
const maxDayLines = 1000

// ReadDays reads a file with days as for ParseDays, one text a line. Empty lines and what follows a
// # are left out. It returns the lines with days as well. An error names its line.
func ReadDays(content string, o Options) (all *Days, lines []string, err error) {
	n := 0
	for line := range strings.Lines(content) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		days, err := ParseDays(line, o)
		if err != nil {
			e := *err.(*Error)
			e.Message = fmt.Sprintf("line %d: %s", n, e.Message)
			return nil, nil, &e
		}
		if len(lines) == maxDayLines {
			return nil, nil, &Error{Code: CodeLimit, Message: fmt.Sprintf("line %d: there are more than %d lines with days", n, maxDayLines), Hint: "leave out days that have passed, or name ranges of days"}
		}
		all, lines = all.And(days), append(lines, line)
	}
	return all, lines, nil
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
		weekdays: d.weekdays | other.weekdays, dates: d.dates | other.dates, months: d.months | other.months,
		yearly: slices.Concat(d.yearly, other.yearly), spans: slices.Concat(d.spans, other.spans), numbered: slices.Concat(d.numbered, other.numbered),
	}
}

// Has reports whether the day that the clocks of a zone show at an instant is in the set.
func (d *Days) Has(t time.Time, zone *time.Location) bool {
	if d == nil {
		return false
	}
	wall := wallTime(t, zone)
	year, month, date := wall.Date()
	number := dayNumber(year, int(month), date)
	if d.weekdays>>wall.Weekday()&1 == 1 || d.dates>>date&1 == 1 || d.months>>month&1 == 1 ||
		d.dates&1 == 1 && date == monthDays(year, int(month)) {
		return true
	}
	for at, s := annualDayOf(int(month), date), 0; s < len(d.yearly); s++ {
		first, last := d.yearly[s][0], d.yearly[s][1]
		if first <= at && at <= last || last < first && (first <= at || at <= last) {
			return true
		}
	}
	if len(d.numbered) > 0 {
		of := DayFilter{Weekdays: d.numbered}
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

func (d *Days) empty() bool {
	return d == nil || d.weekdays == 0 && d.dates == 0 && d.months == 0 && len(d.yearly) == 0 && len(d.spans) == 0 && len(d.numbered) == 0
}

// add adds a date, of one year or of every year.
func (d *Days) add(of day) { d.addSpan(of, of) }

// addSpan adds the days from one date to another. They are of every year when neither date names a
// year. It reports false when the last day lies before the first.
func (d *Days) addSpan(first, last day) (ok bool) {
	if first.kind == onAnnual && last.kind == onAnnual {
		d.yearly = append(d.yearly, [2]annualDay{annualDayOf(int(first.month), int(first.date)), annualDayOf(int(last.month), int(last.date))})
		return true
	}
	number := func(of, other day) int64 {
		if of.kind == onAnnual {
			of.year = other.year
		}
		return dayNumber(int(of.year), int(of.month), int(of.date))
	}
	from, to := number(first, last), number(last, first)
	if to < from && first.kind == onAnnual { // 24 dec to 2 jan 2027
		from = dayNumber(int(last.year)-1, int(first.month), int(first.date))
	} else if to < from && last.kind == onAnnual {
		to = dayNumber(int(first.year)+1, int(last.month), int(last.date))
	}
	d.spans = append(d.spans, [2]int64{from, to})
	return from <= to
}

// except leaves days out of a recurrence.
func (s *Schedule) except(days *Days) {
	if !days.empty() && s.rule != nil {
		s.rule = excluding{s.rule, days, s.Zone}
	}
}

// excluding is a rule without the instants that fall on some days.
type excluding struct {
	rule
	days *Days
	zone *time.Location
}

// nextWall returns a function that finds the next wall time that is on none of the days.
func (r excluding) nextWall(next func(w int64) (int64, bool)) func(w int64) (int64, bool) {
	return func(w int64) (int64, bool) {
		for range maxExcluded {
			wall, ok := next(w)
			if !ok || !r.days.Has(time.Unix(wall, 0), time.UTC) {
				return wall, ok
			}
			w = wall
		}
		return 0, false
	}
}

// Excluded looks at the next n instants after t that there would be without Options.Except. It
// returns how many of them fall on those days, and how many it looked at.
func (s *Schedule) Excluded(t time.Time, n int) (left, of int) {
	r, ok := s.rule.(excluding)
	if !ok {
		return 0, 0
	}
	all := *s
	for all.rule = r.rule; of < n; of++ {
		if t, ok = all.Next(t); !ok {
			break
		}
		if r.days.Has(t, r.zone) {
			left++
		}
	}
	return left, of
}

// maxExcluded is how many excluded days in a row are skipped before the schedule counts as one that
// never comes.
const maxExcluded = 1500

func (r excluding) next(t time.Time) (time.Time, bool) {
	for range maxExcluded {
		next, ok := r.rule.next(t)
		if !ok || !r.days.Has(next, r.zone) {
			return next, ok
		}
		y, m, d := wallTime(next, r.zone).Date()
		if t = InstantOf(civilDate(y, m, d+1), r.zone).Add(-1); !t.After(next) {
			t = next
		}
	}
	return time.Time{}, false
}
