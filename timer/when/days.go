package when

import (
	"fmt"
	"strings"
	"time"
)

// Days is a set of days on which nothing of a recurrence is scheduled. It is immutable once it is read.
type Days struct {
	weekdays uint8  // bit 0 is Sunday
	dates    uint32 // of the month; bit 0 is the last
	months   uint16
	annual   map[[2]int8]bool // month and date
	spans    [][2]int64       // first and last day, as day numbers
}

// ParseDays reads days for Options.Except: weekdays ("weekends", "mon-wed"), dates ("24 Dec", "2027-01-06"), ranges of dates
// ("24 Dec 2026 to 2 Jan 2027"), days of every month ("the 13th"), months, and lists of these with commas or "and".
func ParseDays(text string, o Options) (*Days, error) {
	days := &Days{}
	p := parsers.Get().(*parser)
	defer p.close()
	o.Form = Any
	if err := p.open(text, &o); err != nil {
		return nil, err
	}
	for r := p.derive(p.g.names["DAYSET"], 0); r >= 0; r = p.res[r].next {
		m := &p.res[r].m
		if int(p.res[r].end) != p.n {
			continue
		}
		if m.err != nil {
			return nil, p.tell(m.err).offering(o, false)
		}
		days.weekdays, days.dates, days.months = m.cad.weekdays, m.cad.dates, m.cad.months
		for i := 0; i < len(m.days); i++ {
			if m.days[i].kind != onSpan {
				days.add(m.days[i])
				continue
			}
			first, last := p.dayOf(m.days[i+1]), p.dayOf(m.days[i+2])
			if m.days[i+2].kind == onAnnual && last < first {
				m.days[i+2].kind, m.days[i+2].year = onDate, int16(yearOf(first)+1)
				last = p.dayOf(m.days[i+2])
			}
			if last < first {
				return nil, p.refuse("its last day lies before the first", "change them round").offering(o, false)
			}
			days.spans = append(days.spans, [2]int64{first, last})
			i += 2
		}
		return days, nil
	}
	e := p.refuse("", `name days, as in "weekends", "24 dec", "2027-01-06" or "24 dec to 2 jan"`)
	e.Message = "could not understand the days " + quoted(p.typed)
	return nil, e
}

// ReadDays reads the lines of a file of days, as ParseDays has them: one a line, empty lines and what stands behind a # left
// out. An error names its line.
func ReadDays(content string, o Options) (*Days, error) {
	all := &Days{}
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
			return nil, &e
		}
		all = all.And(days)
	}
	return all, nil
}

// And is the days of both sets.
func (d *Days) And(other *Days) *Days {
	switch {
	case d == nil:
		return other
	case other == nil:
		return d
	}
	sum := &Days{weekdays: d.weekdays | other.weekdays, dates: d.dates | other.dates, months: d.months | other.months, annual: map[[2]int8]bool{}}
	for _, set := range []*Days{d, other} {
		for key := range set.annual {
			sum.annual[key] = true
		}
		sum.spans = append(sum.spans, set.spans...)
	}
	return sum
}

// Has says whether the day that the clocks of a zone show at an instant is one of the set.
func (d *Days) Has(t time.Time, zone *time.Location) bool {
	if d == nil {
		return false
	}
	wall := reading(t, zone)
	year, month, date := wall.Date()
	number := dayNumber(year, int(month), date)
	if d.weekdays>>wall.Weekday()&1 == 1 || d.dates>>date&1 == 1 || d.months>>month&1 == 1 ||
		d.dates&1 == 1 && date == monthDays(year, int(month)) || d.annual[[2]int8{int8(month), int8(date)}] {
		return true
	}
	for _, s := range d.spans {
		if number >= s[0] && number <= s[1] {
			return true
		}
	}
	return false
}

func (d *Days) empty() bool {
	return d == nil || d.weekdays == 0 && d.dates == 0 && d.months == 0 && len(d.annual) == 0 && len(d.spans) == 0
}

// add adds a date, of one year or of every year.
func (d *Days) add(of day) {
	switch of.kind {
	case onAnnual:
		if d.annual == nil {
			d.annual = map[[2]int8]bool{}
		}
		d.annual[[2]int8{of.month, of.date}] = true
	case onDate:
		n := dayNumber(int(of.year), int(of.month), int(of.date))
		d.spans = append(d.spans, [2]int64{n, n})
	}
}

// dayOf is the number of a date; without a year, of the next such date.
func (p *parser) dayOf(d day) int64 {
	if d.kind == onDate {
		return dayNumber(int(d.year), int(d.month), int(d.date))
	}
	y, mo, date := reading(p.opts.Now, p.opts.Zone).Date()
	n := dayNumber(y, int(d.month), int(d.date))
	if n < dayNumber(y, int(mo), date) {
		n = dayNumber(y+1, int(d.month), int(d.date))
	}
	return n
}

func yearOf(day int64) int {
	year, _, _ := civil(day)
	return year
}

// except leaves days out of a recurrence.
func (s *Schedule) except(days *Days) {
	if !days.empty() && s.rule != nil {
		s.rule = excluding{s.rule, days, s.Zone}
	}
}

// excluding is a rule without the instants of some days.
type excluding struct {
	rule
	days *Days
	zone *time.Location
}

// maxExcluded is how many excluded days in a row are passed over before the answer is never.
const maxExcluded = 1500

func (r excluding) next(t time.Time) (time.Time, bool) {
	for range maxExcluded {
		next, ok := r.rule.next(t)
		if !ok || !r.days.Has(next, r.zone) {
			return next, ok
		}
		y, m, d := reading(next, r.zone).Date()
		if t = place(time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC), r.zone).Add(-1); !t.After(next) {
			t = next
		}
	}
	return time.Time{}, false
}
