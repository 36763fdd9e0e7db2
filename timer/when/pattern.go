package when

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Pattern is how the instants of a recurrence come about, for whoever explains it: it counts elapsed time, or is read off the clocks of a
// zone. A reading is what those clocks show, in Unix seconds as if they were UTC's.
type Pattern struct {
	Start, End time.Time // its bounds, its own COUNT and UNTIL among them; zero: none

	Every  time.Duration // between two instants, of what counts elapsed time; else 0
	Anchor time.Time     // from where that is counted

	Zone        *time.Location              // whose clocks it is read off
	NextReading func(w int64) (int64, bool) // the first one after w, whatever the clocks skip or repeat
	Cron        bool                        // a reading that the clocks skip is made up for after it, as cron does, and not moved by as much
	wild        bool

	Days *DayPattern // the days that it names; nil: none, or which is taken they alone do not tell
	rule rule
}

// DayPattern are days that a recurrence names, and that not every month or year has.
type DayPattern struct {
	Months    uint16 // bits 1 to 12; 0: all
	MonthDays []int  // 1 to 31, -31 to -1
	YearDays  []int
	Weeks     []int // of the year
	Weekdays  []Nth
	InYear    bool // numbered weekdays are counted in the year, not in the month

	Begin  time.Time // DTSTART of a rule; zero: none
	Period int       // in months: how far apart its periods lie
	Either bool      // a day of the month or a weekday is enough, as in crontab(5)
	Last   bool      // of several days of the month the last one that exists is taken

	filter   dayFilter
	inPeriod func(first int64) bool
}

// Nth is a weekday (Monday is 0): each, when N is 0, or the Nth from the begin or from the end.
type Nth struct{ N, Weekday int }

// Pattern is the recurrence's; nil for a Once, and for what has no plain one.
func (s *Schedule) Pattern() *Pattern {
	p := &Pattern{Start: s.start, End: s.end, rule: s.rule}
	r := s.rule
	var left []excluding
	for e, ok := r.(excluding); ok; e, ok = r.(excluding) {
		left, r = append(left, e), e.rule
	}
	if e, ok := r.(ending); ok {
		r = e.rule
		p.endBy(e.last)
	}
	switch r := r.(type) {
	case interval:
		p.Every, p.Anchor = r.every, r.anchor
		if s.Kind == RRule {
			p.Anchor = p.Anchor.Add(r.every) // DTSTART, itself an instant
		}
		return p
	case *cronRule:
		p.Zone, p.Cron, p.wild, p.NextReading, p.Days = r.zone, true, r.wild, r.lockedReading, cronDays(s.Canonical)
	case *placedRule:
		p.Zone, p.NextReading, p.Days = r.zone, r.nextWall, ruleDaysOf(r)
		if r.last < math.MaxInt64 {
			p.endBy(time.Unix(placeUnix(r.last, r.zone), 0))
		}
	default:
		return nil
	}
	for _, e := range left {
		p.NextReading = e.nextWall(p.NextReading)
	}
	return p
}

func (p *Pattern) endBy(last time.Time) {
	if p.End.IsZero() || last.Before(p.End) {
		p.End = last
	}
}

// Runs reports whether it has an instant there, whatever its bounds.
func (p *Pattern) Runs(at time.Time) bool {
	next, ok := p.rule.next(at.Add(-1))
	return ok && next.Equal(at)
}

// MakesUp reports whether what a change of the clocks skips is made up for.
func (p *Pattern) MakesUp(c ClockChange) bool {
	return !p.Cron || !p.wild && c.After-c.Before <= correction
}

// lockedReading is nextWall for callers without the lock.
func (c *cronRule) lockedReading(w int64) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nextWall(max(w, firstCron))
}

// ClockChange is an instant, in Unix seconds, at which a zone goes from one offset (seconds east) to another.
type ClockChange struct{ At, Before, After int64 }

// ClockChanges are those of a zone after from and not after until, in Unix seconds; look returns false to end.
func ClockChanges(from, until int64, zone *time.Location, look func(ClockChange) bool) {
	for s := stretchAt(max(from, farPast+1), zone); s.end != farFuture && s.end <= until; {
		n := stretchAt(s.end, zone)
		if n.offset != s.offset && !look(ClockChange{s.end, s.offset, n.offset}) {
			return
		}
		s = n
	}
}

// patternMonths bounds a period: forty years.
const patternMonths = 480

// dayPattern are the days of a filter.
func dayPattern(f dayFilter) *DayPattern {
	d := &DayPattern{Months: f.months, MonthDays: f.monthDays, YearDays: f.yearDays, Weeks: f.weeks, InYear: f.inYear, Period: 1, filter: f}
	for _, w := range f.weekdays {
		d.Weekdays = append(d.Weekdays, Nth{w.n, w.day})
	}
	return d
}

// Has reports whether a month is one of the months and of the periods of the recurrence.
func (d *DayPattern) Has(year, month int) bool {
	return (d.Months == 0 || d.Months>>month&1 == 1) && (d.inPeriod == nil || d.inPeriod(dayNumber(year, month, 1)))
}

// Named reports whether the days leave any day of a month.
func (d *DayPattern) Named(year, month int) bool { return d.filter.month(year, month) != 0 }

// Fits reports whether a month has one numbered weekday.
func (n Nth) Fits(year, month int) bool {
	f := dayFilter{weekdays: []nthDay{{n.N, n.Weekday}}}
	return f.month(year, month) != 0
}

// cronDays are the days of a cron line.
func cronDays(line string) *DayPattern {
	words := strings.Fields(line)
	if len(words) == 7 {
		words = words[1:]
	}
	if len(words) < 5 {
		return nil
	}
	read := func(f *cronField, word string) *cronSet {
		set, _ := f.read(word) // it was read before
		return set
	}
	days, months, weekdays := read(cronDay, words[2]), read(cronMonth, words[3]), read(cronWeekday, words[4])
	var f dayFilter
	for m := 1; m <= 12; m++ {
		if months.values[m] {
			f.months |= 1 << m
		}
	}
	for n := 1; n <= 31 && !days.star; n++ {
		if days.values[n] {
			f.monthDays = append(f.monthDays, n)
		}
	}
	for n := 0; n <= 6 && !weekdays.star; n++ {
		if weekdays.values[n] {
			f.weekdays = append(f.weekdays, nthDay{day: (n + 6) % 7})
		}
	}
	either := !days.star && !weekdays.star || len(days.special) > 0
	for _, special := range weekdays.special {
		if day, ok := strings.CutSuffix(special, "#5"); ok {
			n, _ := strconv.Atoi(day)
			f.weekdays = append(f.weekdays, nthDay{n: 5, day: (n + 6) % 7})
		} else {
			either = true
		}
	}
	d := dayPattern(f)
	d.Either = either
	if len(words) == 6 {
		if years := read(cronYear, words[5]); !years.all {
			d.Period = patternMonths / 12
			d.inPeriod = func(first int64) bool {
				year, _, _ := civil(first)
				return year < len(years.values) && years.values[year]
			}
		}
	}
	return d
}

// ruleDaysOf are the days of an RRULE.
func ruleDaysOf(r *placedRule) *DayPattern {
	var d *DayPattern
	switch w := r.walls.(type) {
	case *clockWalls:
		d = dayPattern(w.days)
		d.Begin = time.Unix(placeUnix(w.start, r.zone), 0)
	case *dayWalls:
		d = dayPattern(w.days)
		d.Begin = time.Unix(placeUnix(w.start, r.zone), 0)
		if w.parts.freq != monthly && w.parts.freq != yearly {
			return d
		}
		d.inPeriod = func(first int64) bool { return w.skip(first) == first }
		d.Period = int(min(w.parts.interval, patternMonths))
		if w.parts.freq == yearly {
			d.Period = min(12*d.Period, patternMonths)
		}
		if positions := w.parts.lists["BYSETPOS"]; len(positions) > 0 {
			n := len(d.MonthDays)
			d.Last = slices.Equal(positions, []int{-1}) && len(d.Weekdays) == 0 && n > 1 && d.RunTo(d.MonthDays[n-1])
			if !d.Last {
				return nil
			}
		}
	}
	return d
}

// RunTo reports whether a day of the month is the end of a run of days that begins at the 28th or before, and so of the end of the
// month, whatever its length.
func (d *DayPattern) RunTo(day int) bool {
	for ; day > 28; day-- {
		if !slices.Contains(d.MonthDays, day) {
			return false
		}
	}
	return slices.Contains(d.MonthDays, 28)
}
