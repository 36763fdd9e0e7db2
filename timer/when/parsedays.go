package when

import (
	"fmt"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// ParseDays reads days for Options.Except: weekdays ("weekends", "mon-wed"), dates ("24 Dec",
// "2027-01-06"), ranges of dates ("24 Dec 2026 to 2 Jan 2027"), days of every month ("the 13th",
// "the last friday of the month"), months, and lists of these with commas or "and". A date without
// a year is of every year, so the set does not depend on Now.
func ParseDays(text string, o Options) (*recur.Days, error) {
	p := parsers.Get().(*parser)
	defer p.close()
	o.Form = Any
	if err := p.open(text, &o); err != nil {
		return nil, err
	}
	refuse := func(code, why, hint string) (*recur.Days, error) {
		return nil, &fault.Error{Code: code, Message: "could not understand the days " + fault.Quoted(p.typed) + why, Hint: hint}
	}
	var days *recur.Days
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
		case refused != nil || days != nil && days.Same(read):
		case days != nil:
			return refuse(fault.CodeAmbiguous, ": the order of day and month is not known", `write the month as a word, as in "24 dec 2026", or the year first, as in "2026-12-24"`)
		default:
			days = read
		}
	}
	switch {
	case days != nil:
		return days, nil
	case why != nil && why.why != "":
		return refuse(fault.CodeNotUnderstood, ": "+why.why, why.hint)
	}
	return refuse(fault.CodeNotUnderstood, "", `name days, as in "weekends", "24 dec", "2027-01-06" or "24 dec to 2 jan"`)
}

// daysOf returns the days that a meaning names.
func daysOf(m *meaning) (*recur.Days, *refusal) {
	if m.recur.dates>>32 != 0 {
		return nil, &refusal{why: "of days counted from the end of a month only its last can be left out", hint: "give the dates"}
	}
	days := &recur.Days{Weekdays: m.recur.weekdays, Dates: uint32(m.recur.dates), Months: m.recur.months}
	for i := 0; i < len(m.days) && m.err == nil; i++ {
		switch d := m.days[i]; d.kind {
		case onNth:
			days.Numbered = append(days.Numbered, recur.Nth{N: int(d.nth), Weekday: (int(d.weekday) + 5) % 7})
			continue
		case onSpan:
		default:
			days.AddSpan(dateOf(d), dateOf(d))
			continue
		}
		if !days.AddSpan(dateOf(m.days[i+1]), dateOf(m.days[i+2])) {
			return nil, &refusal{why: "its last day lies before the first", hint: "change them round"}
		}
		i += 2
	}
	return days, m.err
}

// dateOf returns the date that a day names.
func dateOf(d day) recur.Day {
	if d.kind == onAnnual {
		d.year = 0
	}
	return recur.Day{Year: int(d.year), Month: int(d.month), Day: int(d.date)}
}

// maxDayLines is how many lines with days a file may have.
const maxDayLines = 1000

// ReadDays reads a file with days as for ParseDays, one text a line. Empty lines and what follows a
// # are left out. It returns the lines with days as well. An error names its line.
func ReadDays(content string, o Options) (all *recur.Days, lines []string, err error) {
	n := 0
	for line := range strings.Lines(content) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		days, err := ParseDays(line, o)
		if err != nil {
			e := *err.(*fault.Error)
			e.Message = fmt.Sprintf("line %d: %s", n, e.Message)
			return nil, nil, &e
		}
		if len(lines) == maxDayLines {
			return nil, nil, &fault.Error{Code: fault.CodeLimit, Message: fmt.Sprintf("line %d: there are more than %d lines with days", n, maxDayLines), Hint: "leave out days that have passed, or name ranges of days"}
		}
		all, lines = all.And(days), append(lines, line)
	}
	return all, lines, nil
}

// except leaves days out of a recurrence.
func (s *Schedule) except(days *recur.Days) {
	if !days.Empty() && s.rule != nil {
		s.rule = recur.Excluding{Rule: s.rule, Days: days, Zone: s.Zone}
	}
}

// Excluded looks at the next n instants after t that there would be without Options.Except. It
// returns how many of them fall on those days, and how many it looked at.
func (s *Schedule) Excluded(t time.Time, n int) (left, of int) {
	r, ok := s.rule.(recur.Excluding)
	if !ok {
		return 0, 0
	}
	all := *s
	for all.rule = r.Rule; of < n; of++ {
		if t, ok = all.Next(t); !ok {
			break
		}
		if r.Days.Has(t, r.Zone) {
			left++
		}
	}
	return left, of
}
