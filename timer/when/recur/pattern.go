package recur

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
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
	rule Rule
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

// PatternOf returns how the instants of a recurrence come about that begins at start and ends at
// end, if that is not zero. began says that an interval has an instant at what it is counted from,
// as an RRULE at its DTSTART. It is nil for what is several rules.
func PatternOf(recurrence Rule, start, end time.Time, began bool) *Pattern {
	p := &Pattern{Start: start, End: end, rule: recurrence}
	r := recurrence
	var left []Excluding
	for e, ok := r.(Excluding); ok; e, ok = r.(Excluding) {
		left, r = append(left, e), e.Rule
	}
	if e, ok := r.(Ending); ok {
		r = e.Rule
		p.endBy(e.last)
	}
	switch r := r.(type) {
	case Interval:
		p.Every, p.Anchor = r.every, r.anchor
		if began {
			p.Anchor = p.Anchor.Add(r.every)
		}
		return p
	case *cronRule:
		p.Zone, p.Cron, p.wild, p.NextWall, p.Days = r.zone, true, r.wild, r.lockedNextWall, r.days
	case *zonedRule:
		p.Zone, p.NextWall, p.Days = r.zone, r.nextWall, ruleDaysOf(r)
		if r.last < math.MaxInt64 {
			p.endBy(time.Unix(civil.InstantOfUnix(r.last, r.zone), 0))
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
	next, ok := p.rule.Next(at.Add(-1))
	return ok && next.Equal(at)
}

// CatchesUp reports whether the recurrence makes up for what a change of the clocks skips.
func (p *Pattern) CatchesUp(c civil.ClockChange) bool {
	return !p.Cron || !p.wild && c.After-c.Before <= correction
}

// lockedNextWall is nextWall for callers that do not hold the lock.
func (c *cronRule) lockedNextWall(w int64) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nextWall(max(w, firstCron))
}

// patternMonths is the longest period that is looked at: forty years.
const patternMonths = 480

// Has reports whether a month is one of the months and in one of the periods of the recurrence.
func (d *DayPattern) Has(year, month int) bool {
	return (d.Months == 0 || d.Months>>month&1 == 1) && (d.inPeriod == nil || d.inPeriod(civil.DayNumber(year, month, 1)))
}

// Named reports whether a month has any of the days.
func (d *DayPattern) Named(year, month int) bool { return d.month(year, month) != 0 }

// Fits reports whether a month has a numbered weekday.
func (n Nth) Fits(year, month int) bool {
	f := DayFilter{Weekdays: []Nth{n}}
	return f.month(year, month) != 0
}

// cronDays returns the days of a cron line.
func cronDays(sets map[*cronField]*cronSet) *DayPattern {
	days, months, weekdays, years := sets[cronDay], sets[cronMonth], sets[cronWeekday], sets[cronYear]
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
	if years != nil && !years.all {
		d.Period = patternMonths / 12
		d.inPeriod = func(first int64) bool {
			year, _, _ := civil.DateOf(first)
			return year < len(years.values) && years.values[year]
		}
	}
	return d
}

// ruleDaysOf returns the days of an RRULE.
func ruleDaysOf(r *zonedRule) *DayPattern {
	d := &DayPattern{Period: 1}
	switch w := r.sequence.(type) {
	case *subdaySequence:
		d.DayFilter, d.Begin = w.days, time.Unix(civil.InstantOfUnix(w.start, r.zone), 0)
	case *daySequence:
		d.DayFilter, d.Begin = w.days, time.Unix(civil.InstantOfUnix(w.start, r.zone), 0)
		if w.parts.Freq != Monthly && w.parts.Freq != Yearly {
			return d
		}
		d.inPeriod = func(first int64) bool { return w.skip(first) == first }
		d.Period = int(min(w.parts.Interval, patternMonths))
		if w.parts.Freq == Yearly {
			d.Period = min(12*d.Period, patternMonths)
		}
		if positions := w.parts.Lists[BySetPos]; len(positions) > 0 {
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
