package when

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Pattern is how the instants of a recurrence come about, for code that explains it. A recurrence
// counts elapsed time, or it follows the clocks of a zone. A wall time is what those clocks show,
// in Unix seconds as if they were UTC.
type Pattern struct {
	// Its bounds, those of its own COUNT and UNTIL included; zero for none.
	Start, End time.Time

	Every  time.Duration // the period, when it counts elapsed time; otherwise 0
	Anchor time.Time     // the instant that this is counted from

	Zone *time.Location // the zone whose clocks it follows
	// NextWall returns the first wall time after w, whether the clocks skip or repeat it.
	NextWall func(w int64) (int64, bool)
	// Cron says that a wall time that the clocks skip is made up for after the change, as cron
	// does. Otherwise it is moved by as much as the clocks are.
	Cron bool
	wild bool

	// The days that it names; nil when it names none, or when they alone do not decide.
	Days *DayPattern
	rule rule
}

// DayPattern has the days that a recurrence names and that some months or years do not have.
type DayPattern struct {
	DayFilter
	Begin  time.Time // DTSTART of a rule; zero: none
	Period int       // how many months apart its periods lie
	Either bool      // a day of the month or a weekday is enough, as in crontab(5)
	Last   bool      // of several days of the month only the last that exists counts

	inPeriod func(first int64) bool
}

// Pattern returns how the instants come about. It is nil for a Once, and for a recurrence that is
// several rules.
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
			p.Anchor = p.Anchor.Add(r.every) // DTSTART, which is itself an instant
		}
		return p
	case *cronRule:
		p.Zone, p.Cron, p.wild, p.NextWall, p.Days = r.zone, true, r.wild, r.lockedNextWall, cronDays(s.Canonical)
	case *zonedRule:
		p.Zone, p.NextWall, p.Days = r.zone, r.nextWall, ruleDaysOf(r)
		if r.last < math.MaxInt64 {
			p.endBy(time.Unix(instantOfUnix(r.last, r.zone), 0))
		}
	default:
		return nil
	}
	for _, e := range left {
		p.NextWall = e.nextWall(p.NextWall)
	}
	return p
}

func (p *Pattern) endBy(last time.Time) {
	if p.End.IsZero() || last.Before(p.End) {
		p.End = last
	}
}

// Runs reports whether the recurrence has an instant at a time, regardless of its bounds.
func (p *Pattern) Runs(at time.Time) bool {
	next, ok := p.rule.next(at.Add(-1))
	return ok && next.Equal(at)
}

// CatchesUp reports whether the recurrence makes up for what a change of the clocks skips.
func (p *Pattern) CatchesUp(c ClockChange) bool {
	return !p.Cron || !p.wild && c.After-c.Before <= correction
}

// lockedNextWall is nextWall for callers that do not hold the lock.
func (c *cronRule) lockedNextWall(w int64) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nextWall(max(w, firstCron))
}

// ClockChange is an instant, in Unix seconds, at which a zone changes its offset (seconds east).
type ClockChange struct{ At, Before, After int64 }

// ClockChanges gives the changes of a zone after from and not after until, in Unix seconds, until
// look returns false.
func ClockChanges(from, until int64, zone *time.Location, look func(ClockChange) bool) {
	for s := offsetRangeAt(max(from, farPast+1), zone); s.end != farFuture && s.end <= until; {
		n := offsetRangeAt(s.end, zone)
		if n.offset != s.offset && !look(ClockChange{s.end, s.offset, n.offset}) {
			return
		}
		s = n
	}
}

// patternMonths is the longest period that is looked at: forty years.
const patternMonths = 480

// Has reports whether a month is one of the months and in one of the periods of the recurrence.
func (d *DayPattern) Has(year, month int) bool {
	return (d.Months == 0 || d.Months>>month&1 == 1) && (d.inPeriod == nil || d.inPeriod(dayNumber(year, month, 1)))
}

// Named reports whether a month has any of the days.
func (d *DayPattern) Named(year, month int) bool { return d.month(year, month) != 0 }

// Fits reports whether a month has a numbered weekday.
func (n Nth) Fits(year, month int) bool {
	f := DayFilter{Weekdays: []Nth{n}}
	return f.month(year, month) != 0
}

// cronDays returns the days of a cron line.
func cronDays(line string) *DayPattern {
	words := strings.Fields(line)
	if len(words) == 7 {
		words = words[1:]
	}
	if len(words) < 5 {
		return nil
	}
	read := func(f *cronField, word string) *cronSet {
		set, _ := f.read(word) // parseCron has read it before
		return set
	}
	days, months, weekdays := read(cronDay, words[2]), read(cronMonth, words[3]), read(cronWeekday, words[4])
	f := DayFilter{}
	for m := 1; m <= 12; m++ {
		if months.values[m] {
			f.Months |= 1 << m
		}
	}
	for n := 1; n <= 31 && !days.star; n++ {
		if days.values[n] {
			f.MonthDays = append(f.MonthDays, n)
		}
	}
	for n := 0; n <= 6 && !weekdays.star; n++ {
		if weekdays.values[n] {
			f.Weekdays = append(f.Weekdays, Nth{Weekday: (n + 6) % 7})
		}
	}
	either := !days.star && !weekdays.star || len(days.special) > 0
	for _, special := range weekdays.special {
		if day, ok := strings.CutSuffix(special, "#5"); ok {
			n, _ := strconv.Atoi(day)
			f.Weekdays = append(f.Weekdays, Nth{5, (n + 6) % 7})
		} else {
			either = true
		}
	}
	d := &DayPattern{DayFilter: f, Period: 1, Either: either}
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

// ruleDaysOf returns the days of an RRULE.
func ruleDaysOf(r *zonedRule) *DayPattern {
	d := &DayPattern{Period: 1}
	switch w := r.sequence.(type) {
	case *subdaySequence:
		d.DayFilter, d.Begin = w.days, time.Unix(instantOfUnix(w.start, r.zone), 0)
	case *daySequence:
		d.DayFilter, d.Begin = w.days, time.Unix(instantOfUnix(w.start, r.zone), 0)
		if w.parts.freq != monthly && w.parts.freq != yearly {
			return d
		}
		d.inPeriod = func(first int64) bool { return w.skip(first) == first }
		d.Period = int(min(w.parts.interval, patternMonths))
		if w.parts.freq == yearly {
			d.Period = min(12*d.Period, patternMonths)
		}
		if positions := w.parts.lists[bySetPos]; len(positions) > 0 {
			n := len(d.MonthDays)
			d.Last = slices.Equal(positions, []int{-1}) && len(d.Weekdays) == 0 && n > 1 && d.RunTo(d.MonthDays[n-1])
			if !d.Last {
				return nil
			}
		}
	}
	return d
}

// RunTo reports whether a day of the month ends a run of days that begins on the 28th or before.
// Such a run reaches the end of every month.
func (d *DayPattern) RunTo(day int) bool {
	for ; day > 28; day-- {
		if !slices.Contains(d.MonthDays, day) {
			return false
		}
	}
	return slices.Contains(d.MonthDays, 28)
}
