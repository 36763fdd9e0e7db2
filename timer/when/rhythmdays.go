package when

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ruleDays is what a rule says of days, for remarks on the months and years that do not have them.
type ruleDays struct {
	dayFilter
	start    time.Time              // DTSTART of an RRULE
	either   bool                   // a day of the month or a weekday is enough, as in crontab(5)
	last     bool                   // of several days of the month the last one that exists is taken
	every    int                    // in months: how far apart the rule's periods lie
	inPeriod func(day int64) bool   // the month of a day is one of the rule's by its INTERVAL
	over     func(first int64) bool // the rule has ended before the month that begins on that day
}

// noteMonths is how many months at most are looked at for those that lack a day: forty years.
const noteMonths = 480

// cronDates tells of the days that a cron line names and not every month or year has.
func (t *teller) cronDates() {
	words := strings.Fields(t.s.Canonical)
	if len(words) == 7 {
		words = words[1:]
	}
	if len(words) < 5 {
		return
	}
	d := ruleDays{every: 1, inPeriod: func(int64) bool { return true }, over: t.ended}
	if len(words) == 6 {
		years, err := cronYear.read(words[5])
		if err != nil {
			return
		}
		if !years.all {
			d.inPeriod = func(day int64) bool {
				year, _, _ := civil(day)
				return year < len(years.values) && years.values[year]
			}
			d.every = noteMonths / 12
		}
	}
	days, err := cronDay.read(words[2])
	if err != nil {
		return
	}
	months, err := cronMonth.read(words[3])
	if err != nil {
		return
	}
	weekdays, err := cronWeekday.read(words[4])
	if err != nil {
		return
	}
	for m := 1; m <= 12; m++ {
		if months.values[m] {
			d.months |= 1 << m
		}
	}
	for n := 1; n <= 31 && !days.star; n++ {
		if days.values[n] {
			d.monthDays = append(d.monthDays, n)
		}
	}
	for n := 0; n <= 6 && !weekdays.star; n++ {
		if weekdays.values[n] {
			d.weekdays = append(d.weekdays, nthDay{day: (n + 6) % 7})
		}
	}
	for _, special := range weekdays.special {
		if day, ok := strings.CutSuffix(special, "#5"); ok {
			n, _ := strconv.Atoi(day)
			d.weekdays = append(d.weekdays, nthDay{n: 5, day: (n + 6) % 7})
		} else {
			d.either = true
		}
	}
	d.either = d.either || !days.star && !weekdays.star || len(days.special) > 0
	t.dates(d)
}

// ruleDates tells of the days that an RRULE names and not every month or year has.
func (t *teller) ruleDates(r *placedRule) {
	d := ruleDays{every: 1, inPeriod: func(int64) bool { return true }}
	d.over = func(first int64) bool { return first*86400 > r.last || t.ended(first) }
	switch w := r.walls.(type) {
	case *clockWalls:
		d.dayFilter, d.start = w.days, time.Unix(placeUnix(w.start, r.zone), 0)
	case *dayWalls:
		d.dayFilter, d.start = w.days, time.Unix(placeUnix(w.start, r.zone), 0)
		if w.parts.freq == monthly || w.parts.freq == yearly {
			d.inPeriod = func(day int64) bool { return w.skip(day) == day }
			d.every = int(min(w.parts.interval, noteMonths))
			if w.parts.freq == yearly {
				d.every = min(12*d.every, noteMonths)
			}
			if positions := w.parts.lists["BYSETPOS"]; len(positions) > 0 {
				n := len(d.monthDays)
				d.last = slices.Equal(positions, []int{-1}) && len(d.weekdays) == 0 && n > 1 && d.runTo(d.monthDays[n-1])
				if !d.last {
					return // which of the days is taken is not told by the days alone
				}
			}
		}
	}
	t.dates(d)
}

// ended says whether the bounds end before a day begins.
func (t *teller) ended(day int64) bool {
	end := t.s.end
	if !t.last.IsZero() && (end.IsZero() || t.last.Before(end)) {
		end = t.last
	}
	return !end.IsZero() && placeUnix(day*86400, t.s.Zone) > end.Unix()
}

// note adds a remark that is about no one instant.
func (t *teller) note(format string, a ...any) {
	t.remarks = append(t.remarks, Remark{Text: fmt.Sprintf(format, a...)})
}

func (t *teller) dates(d ruleDays) {
	// A run of days that begins at the 28th or before is the end of the month, whatever its length.
	for n := 29; n <= 31; n++ {
		if slices.Contains(d.monthDays, n) && !d.runTo(n) {
			t.monthDay(d, n)
		}
	}
	if n := len(d.monthDays); d.last && d.monthDays[n-1] < 31 {
		t.monthDay(d, d.monthDays[n-1])
	}
	for _, n := range d.monthDays {
		if n <= -29 {
			t.monthDay(d, n)
		}
	}
	for _, w := range d.weekdays {
		if (w.n == 5 || w.n == -5) && !d.inYear && !slices.Contains(d.weekdays, nthDay{4, w.day}) {
			t.fifth(d, w)
		}
	}
	if len(d.yearDays) == 1 && (d.yearDays[0] == 366 || d.yearDays[0] == -366) {
		t.note("only leap years have 366 days%s", t.nextYears())
	}
	if len(d.weeks) == 1 && (d.weeks[0] == 53 || d.weeks[0] == -53) {
		t.note("only some years have 53 weeks%s", t.nextYears())
	}
}

// runTo says that a named day is the end of a run of days that begins at the 28th or before.
func (d ruleDays) runTo(day int) bool {
	for ; day > 28; day-- {
		if !slices.Contains(d.monthDays, day) {
			return false
		}
	}
	return slices.Contains(d.monthDays, 28)
}

// eachMonth walks the months of the rule from now on: those of a whole turn of its INTERVAL, and at least four years,
// of which one is a leap year as a rule.
func (t *teller) eachMonth(d ruleDays, look func(year, month int) bool) {
	from := t.now
	for _, begin := range []time.Time{t.s.start, d.start} {
		if begin.After(from) {
			from = begin
		}
	}
	wall := reading(from, t.s.Zone)
	for i := range min(12*max(d.every, 4), noteMonths) {
		first := dayNumber(wall.Year(), int(wall.Month())+i, 1)
		year, month, _ := civil(first)
		if year > lastYear || d.over(first) {
			return
		}
		if d.inPeriod(first) && (d.months == 0 || d.months>>month&1 == 1) && !look(year, month) {
			return
		}
	}
}

// monthDay names the months that lack a day of the month; below zero it is counted from the end.
func (t *teller) monthDay(d ruleDays, day int) {
	var short []time.Month
	leap, whole := false, true // leap: February has it at times; whole: those months have no other day either
	t.eachMonth(d, func(year, month int) bool {
		length := int(dayNumber(year, month+1, 1) - dayNumber(year, month, 1))
		if length >= max(day, -day) {
			leap = leap || month == 2
			return true
		}
		if !slices.Contains(short, time.Month(month)) {
			short = append(short, time.Month(month))
		}
		whole = whole && !d.either && d.month(year, month) == 0
		return true
	})
	if len(short) == 0 {
		return
	}
	slices.Sort(short)
	names := make([]string, len(short))
	for i, m := range short {
		names[i] = m.String()
	}
	have := "has"
	if len(names) > 1 {
		have = "have"
	}
	lack := fmt.Sprintf("%s %s no %s", enumerate(names), have, nth(day))
	switch {
	case day < 0:
		lack = fmt.Sprintf("%s %s fewer than %d days", enumerate(names), have, -day)
	case day == 29 && d.months == 1<<2 && len(d.monthDays) == 1 && !d.either:
		t.note("29 February comes in leap years alone%s", t.nextYears())
		return
	case day == 29:
		lack = "February has a 29th in leap years alone"
	}
	switch {
	case d.last:
		t.note("%s: it runs on the last day", lack)
	case whole:
		t.note("skipped months: %s", lack)
	default:
		t.note("left out: %s", lack)
	}
}

// fifth names the next month without a fifth Monday, or whichever weekday the rule has.
func (t *teller) fifth(d ruleDays, w nthDay) {
	name := time.Weekday((w.day + 1) % 7).String()
	if w.n < 0 {
		name += " from the end"
	}
	alone := dayFilter{weekdays: []nthDay{w}}
	t.eachMonth(d, func(year, month int) bool {
		if alone.month(year, month) != 0 {
			return true
		}
		what := "left out"
		if d.month(year, month) == 0 && !d.either {
			what = "skipped months"
		}
		t.note("%s: those without a fifth %s, next %s %d", what, name, time.Month(month), year)
		return false
	})
}

// nextYears is ": next in 2028 and 2032", the years of the next instants.
func (t *teller) nextYears() string {
	var years []string
	for at, ok := t.s.Next(t.now); ok && len(years) < 2; at, ok = t.s.Next(at) {
		year := at.Year()
		years = append(years, strconv.Itoa(year))
		at = time.Date(year+1, 1, 1, 0, 0, 0, 0, t.s.Zone).Add(-1)
	}
	return ": next in " + enumerate(years)
}

// nth is a day of the month as people write it.
func nth(day int) string {
	if day == 31 {
		return "31st"
	}
	return strconv.Itoa(day) + "th"
}
