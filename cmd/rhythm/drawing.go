package rhythm

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// drawing shows the rhythm of a recurrence in plain text. Runs are marks or numbers, other times
// are dots, and times that are past or do not exist are blank.
type drawing struct {
	sched *when.Schedule
	now   time.Time
	first time.Time // the first instant after now
	last  time.Time // the last instant that is examined
	width int

	none, one, many, times string // the signs for no run, one run, several runs, and that of "2×"
}

// Draw draws the instants after now: hours if there are several a day, the days of two months if
// they are about weekly, and months or years if they are rarer. No line is wider than width. It
// returns no lines if nothing fits, or if fewer than two instants are to come. ascii limits it to
// ASCII.
func Draw(sched *when.Schedule, now time.Time, width int, ascii bool) []string {
	const sample, day = 8, 24 * time.Hour
	var some []time.Time
	days := 0
	for t, ok := sched.Next(now); ok && len(some) < sample; t, ok = sched.Next(t) {
		if len(some) == 0 || dayOf(t) != dayOf(some[len(some)-1]) {
			days++
		}
		some = append(some, t)
	}
	if len(some) < 2 {
		return nil
	}
	d := drawing{sched: sched, now: now.In(sched.Zone), first: some[0], last: some[len(some)-1], width: width,
		none: "·", one: "▪", many: "█", times: "×"}
	if ascii {
		d.none, d.one, d.many, d.times = ".", "o", "#", "x"
	}
	gap := d.last.Sub(d.first) / time.Duration(len(some)-1)
	switch {
	case 2*len(some) >= 3*days:
		return d.hours()
	case gap <= 16*day:
		return d.months()
	case gap <= 370*day:
		return d.year()
	}
	return d.years()
}

// hours draws each day as a row of cells of half an hour, or of an hour if that is too wide. It
// draws three days if the days are alike, and else a week.
func (d drawing) hours() []string {
	const label = len("Mon 23 Nov ")
	cell, cells, length := 30*time.Minute, 48, "in 30 minutes"
	if d.width < label+cells {
		cell, cells, length = time.Hour, 24, "an hour"
	}
	if d.width < label+cells {
		return nil
	}
	scale := strings.Repeat(" ", label)
	for h := 0; h < 24; h += 3 {
		scale += cli.Pad(fmt.Sprintf("%02d", h), int(3*time.Hour/cell))
	}
	lines := []string{strings.TrimRight(scale, " ")}
	var rest []string // the rows after the first day, part of which may be past
	alike := true
	for n := range 7 {
		day, end := d.midnight(n), d.midnight(n+1)
		if !day.Before(end) {
			continue // a day that does not exist on the clocks
		}
		row := d.cells(day, end, cell, cells)
		if n > 0 {
			rest = append(rest, row)
			alike = alike && row == rest[0]
		}
		lines = append(lines, strings.TrimRight(cli.Pad(day.Format("Mon 2 Jan"), label)+row, " "))
	}
	if alike {
		lines = lines[:4]
	}
	if strings.Contains(strings.Join(lines, ""), d.many) {
		lines = append(lines, strings.Repeat(" ", label)+fmt.Sprintf("%s one %s, %s more", d.one, length, d.many))
	}
	return lines
}

// midnight is the start of the n-th day after that of the first instant.
func (d drawing) midnight(n int) time.Time {
	day := dayOf(d.first).AddDate(0, 0, n)
	at := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, d.first.Location())
	if dayOf(at).Before(day) { // the clocks skip that midnight, and time.Date went back
		if _, end := at.ZoneBounds(); !end.IsZero() {
			return end
		}
	}
	return at
}

// cells draws a day with one character for each cell of the wall clock.
func (d drawing) cells(day, end time.Time, cell time.Duration, cells int) string {
	index := func(t time.Time) int { return (t.Hour()*60 + t.Minute()) / int(cell/time.Minute) }
	toCome := make([]bool, cells) // whether the cell exists on that day, and is not past
	for t := day; t.Before(end); t = t.Add(15 * time.Minute) {
		toCome[index(t)] = toCome[index(t)] || t.Add(15*time.Minute).After(d.now)
	}
	runs := make([]int, cells)
	after := day.Add(-1)
	if after.Before(d.now) {
		after = d.now
	}
	for t, ok := d.sched.Next(after); ok && t.Before(end); t, ok = d.sched.Next(after) {
		i := index(t)
		runs[i]++
		after = t
		if runs[i] > 1 { // go on with the next cell, because more runs do not change this one
			into := time.Duration(t.Minute())*time.Minute%cell + time.Duration(t.Second())*time.Second +
				time.Duration(t.Nanosecond())
			next := t.Add(cell - into)
			if _, end := t.ZoneBounds(); end.After(t) && end.Before(next) {
				next = end
			}
			after = next.Add(-1)
		}
	}
	var row strings.Builder
	for i, n := range runs {
		switch {
		case n > 1:
			row.WriteString(d.many)
		case n == 1:
			row.WriteString(d.one)
		case toCome[i]:
			row.WriteString(d.none)
		default:
			row.WriteString(" ")
		}
	}
	return row.String()
}

// dayOf is the day of an instant, as midnight in UTC.
func dayOf(t time.Time) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// monthOf is the first day of a month.
func monthOf(year int, month time.Month) time.Time {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}

// days returns the days before end on which something runs.
func (d drawing) days(end time.Time) map[time.Time]bool {
	runs := map[time.Time]bool{}
	for t, ok := d.sched.Next(d.now); ok && dayOf(t).Before(end); {
		today := dayOf(t)
		runs[today] = true
		next := time.Date(today.Year(), today.Month(), today.Day()+1, 0, 0, 0, 0, t.Location()).Add(-1)
		if next.Before(t) {
			next = t
		}
		t, ok = d.sched.Next(next)
	}
	return runs
}

// months draws the days of two months, in weeks from Monday, beside each other if there is room.
// Only days with a run show their number.
func (d drawing) months() []string {
	const wide, between = 20, 4
	if d.width < wide {
		return nil
	}
	month := monthOf(d.first.Year(), d.first.Month())
	runs := d.days(month.AddDate(0, 2, 0))
	left, right := d.month(month, runs), d.month(month.AddDate(0, 1, 0), runs)
	if d.width < 2*wide+between {
		return append(append(left, ""), right...)
	}
	var lines []string
	for i := range max(len(left), len(right)) {
		var l, r string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		lines = append(lines, strings.TrimRight(cli.Pad(l, wide+between)+r, " "))
	}
	return lines
}

// month draws a month, without the weeks that are over.
func (d drawing) month(first time.Time, runs map[time.Time]bool) []string {
	lines := []string{fmt.Sprintf("%s %d", first.Month(), first.Year()), "Mo Tu We Th Fr Sa Su"}
	for week := first.AddDate(0, 0, -int(first.Weekday()+6)%7); week.Before(first.AddDate(0, 1, 0)); week = week.AddDate(0, 0, 7) {
		var line strings.Builder
		for n := range 7 {
			day := week.AddDate(0, 0, n)
			text := d.none
			switch {
			case day.Month() != first.Month() || day.Before(dayOf(d.now)):
				text = ""
			case runs[day]:
				text = strconv.Itoa(day.Day())
			}
			line.WriteString(padLeft(text, 2) + " ")
		}
		if text := strings.TrimRight(line.String(), " "); text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

// year draws years as rows of months, each with the day of its run, or the number of days with a
// run if there are several.
func (d drawing) year() []string {
	cell := 4
	if d.width < 4+12*cell {
		cell = 3
	}
	if d.width < 4+12*cell {
		return nil
	}
	from, to := d.first.Year(), min(max(d.last.Year(), d.first.Year()+1), d.first.Year()+4)
	runs := d.days(monthOf(to+1, time.January))
	head := "    "
	for m := time.January; m <= time.December; m++ {
		head += padLeft(m.String()[:2*cell-5], cell) // Jan, or J
	}
	lines := []string{head}
	for year := from; year <= to; year++ {
		line := strconv.Itoa(year)
		for m := time.January; m <= time.December; m++ {
			month, n, text := monthOf(year, m), 0, d.none
			for day := month; day.Month() == m; day = day.AddDate(0, 0, 1) {
				if runs[day] {
					n++
					text = strconv.Itoa(day.Day())
				}
			}
			switch {
			case n > 1:
				text = strconv.Itoa(n) + d.times
			case !dayOf(d.now).Before(month.AddDate(0, 1, 0)):
				text = ""
			}
			line += padLeft(text, cell)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// years draws a line of years. It begins with this year, or with that of the first run if that is
// far away.
func (d drawing) years() []string {
	const cell = 6
	n := min((d.width+2)/cell, 12)
	from := d.now.Year()
	if d.first.Year() >= from+n/2 {
		from = d.first.Year()
	}
	runs := map[int]bool{}
	for day := range d.days(monthOf(from+n, time.January)) {
		runs[day.Year()] = true
	}
	if len(runs) < 2 {
		return nil
	}
	var head, line strings.Builder
	for year := from; year < from+n; year++ {
		mark := d.none
		if runs[year] {
			mark = d.one
		}
		fmt.Fprintf(&head, "%-6d", year)
		line.WriteString(cli.Pad("  "+mark, cell))
	}
	return []string{strings.TrimRight(head.String(), " "), strings.TrimRight(line.String(), " ")}
}

// padLeft adds spaces before text up to the width.
func padLeft(text string, width int) string {
	return strings.Repeat(" ", max(0, width-len([]rune(text)))) + text
}
