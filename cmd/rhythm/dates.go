package rhythm

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// monthsSearched is how many months are searched for those without a day: forty years.
const monthsSearched = 480

// lastYear is the last year that an instant can have.
const lastYear = 9999

// omissions adds remarks about months and years that a rule leaves out.
type omissions struct{ *remarker }

// ended reports whether the recurrence ends before a day begins.
func (t omissions) ended(day time.Time) bool {
	return !t.p.End.IsZero() && civil.InstantOf(day, t.s.Zone).After(t.p.End)
}

// note adds a remark that is not about a single instant.
func (t omissions) note(kind recur.NoteKind, format string, a ...any) {
	t.remarks = append(t.remarks, Remark{Kind: kind, Text: fmt.Sprintf(format, a...)})
}

func (t omissions) dates(d *recur.DayPattern) {
	// Days in a row that begin on the 28th or before mean the end of the month, whatever its
	// length.
	for n := 29; n <= 31; n++ {
		if slices.Contains(d.MonthDays, n) && !d.RunTo(n) {
			t.monthDay(d, n)
		}
	}
	if n := len(d.MonthDays); d.Last && d.MonthDays[n-1] < 31 {
		t.monthDay(d, d.MonthDays[n-1])
	}
	for _, n := range d.MonthDays {
		if n <= -29 {
			t.monthDay(d, n)
		}
	}
	for _, w := range d.Weekdays {
		if (w.N == 5 || w.N == -5) && !d.InYear && !slices.Contains(d.Weekdays, recur.Nth{N: 4, Weekday: w.Weekday}) {
			t.fifth(d, w)
		}
	}
	if len(d.YearDays) == 1 && (d.YearDays[0] == 366 || d.YearDays[0] == -366) {
		t.note(recur.NoteMonths, "only leap years have 366 days%s", t.nextYears())
	}
	if len(d.Weeks) == 1 && (d.Weeks[0] == 53 || d.Weeks[0] == -53) {
		t.note(recur.NoteMonths, "only some years have 53 weeks%s", t.nextYears())
	}
}

// eachMonth calls look with the months of the rule from now on, until look returns false. It covers
// a whole cycle of INTERVAL, and at least four years, which nearly always have a leap year.
func (t omissions) eachMonth(d *recur.DayPattern, look func(year, month int) bool) {
	from := t.now
	for _, begin := range []time.Time{t.p.Start, d.Begin} {
		if begin.After(from) {
			from = begin
		}
	}
	wall := from.In(t.s.Zone)
	for i := range min(12*max(d.Period, 4), monthsSearched) {
		first := time.Date(wall.Year(), wall.Month()+time.Month(i), 1, 0, 0, 0, 0, time.UTC)
		if first.Year() > lastYear || t.ended(first) {
			return
		}
		if year, month := first.Year(), int(first.Month()); d.Has(year, month) && !look(year, month) {
			return
		}
	}
}

// monthDay adds a remark about the months without a day of the month. A negative day counts from
// the end.
func (t omissions) monthDay(d *recur.DayPattern, day int) {
	var short []time.Month
	skipped := true // the short months have no other day of the rule either
	t.eachMonth(d, func(year, month int) bool {
		length := time.Date(year, time.Month(month+1), 0, 0, 0, 0, 0, time.UTC).Day()
		if length >= max(day, -day) {
			return true
		}
		if !slices.Contains(short, time.Month(month)) {
			short = append(short, time.Month(month))
		}
		skipped = skipped && !d.Either && !d.Named(year, month)
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
	months := plain.List(names, "and")
	lack := fmt.Sprintf("%s %s no %s", months, have, nth(day))
	switch {
	case day < 0:
		lack = fmt.Sprintf("%s %s fewer than %d days", months, have, -day)
	case day == 29 && d.Months == 1<<2 && len(d.MonthDays) == 1 && !d.Either:
		t.note(recur.NoteLeap, "29 February comes in leap years alone%s", t.nextYears())
		return
	case day == 29:
		lack = "February has a 29th in leap years alone"
	}
	switch {
	case d.Last:
		t.note(recur.NoteMonths, "%s: it runs on the last day", lack)
	case skipped:
		t.note(recur.NoteMonths, "skipped months: %s", lack)
	default:
		t.note(recur.NoteMonths, "left out: %s", lack)
	}
}

// fifth adds a remark about the next month without a fifth Monday, or other weekday of the rule.
func (t omissions) fifth(d *recur.DayPattern, w recur.Nth) {
	name := time.Weekday((w.Weekday + 1) % 7).String()
	if w.N < 0 {
		name += " from the end"
	}
	t.eachMonth(d, func(year, month int) bool {
		if w.Fits(year, month) {
			return true
		}
		what := "left out"
		if !d.Named(year, month) && !d.Either {
			what = "skipped months"
		}
		t.note(recur.NoteMonths, "%s: those without a fifth %s, next %s %d", what, name, time.Month(month), year)
		return false
	})
}

// nextYears is ": next in 2028 and 2032", the years of the next instants.
func (t omissions) nextYears() string {
	var years []string
	for at, ok := t.s.Next(t.now); ok && len(years) < 2; at, ok = t.s.Next(at) {
		year := at.Year()
		years = append(years, strconv.Itoa(year))
		at = time.Date(year+1, 1, 1, 0, 0, 0, 0, t.s.Zone).Add(-1)
	}
	return ": next in " + plain.List(years, "and")
}

// nth writes a day of the month for people.
func nth(day int) string {
	if day == 31 {
		return "31st"
	}
	return strconv.Itoa(day) + "th"
}
