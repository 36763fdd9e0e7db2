package recur

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorhill/cronexpr"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// cronMacros are the names crontab(5) gives to common lines.
var cronMacros = map[string]string{
	"@hourly":   "0 * * * *",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@weekly":   "0 0 * * 0",
	"@monthly":  "0 0 1 * *",
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
}

const sixFields = `for seconds, write all seven fields: second minute hour day month weekday year, as in "0 30 9 * * * *"`

// LooksLikeCron reports whether a text is worth ReadCron when nothing says that it is cron: a
// macro, a field with a star, or five to seven fields of which the first two are numeric.
func LooksLikeCron(text string) bool {
	clean, _ := plain.ASCII(text, nil)
	text = strings.TrimSpace(string(clean))
	if len(text) > 1 && text[0] == '@' {
		return 'a' <= text[1]|0x20 && text[1]|0x20 <= 'z'
	}
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return false
	}
	numeric, starred := 0, false
	for i, field := range fields {
		if field == "*" || strings.HasPrefix(field, "*/") {
			starred = true
		}
		switch field {
		case "and", "at", "on", "to", "of":
			return false
		}
		if strings.Trim(field, "0123456789*/,-") == "" {
			numeric++
			continue
		}
		if i < 2 || strings.Trim(strings.ToLower(field), "0123456789*/,-#?abcdefghijlmnoprstuvwy") != "" {
			numeric = -len(fields)
		}
	}
	return starred || len(fields) >= 5 && len(fields) <= 7 && numeric >= 2
}

// ReadCron reads a cron line of five fields, of six (a year last) or of seven (seconds first, a
// year last), or a macro. The canonical line has plain numbers. A line that matches no date is
// refused with CodeNever.
func ReadCron(text string, zone *time.Location) (r Recurrence, err error) {
	refuse := func(code, message, hint string, instead ...string) (Recurrence, error) {
		return Recurrence{}, &fault.Error{Code: code, Message: message, Hint: hint, Instead: instead, SayInstead: true}
	}
	text = strings.TrimSpace(text)
	if len(text) > 1000 {
		return refuse(fault.CodeLimit, "the cron line is longer than 1000 characters", "split it into several")
	}
	clean, ok := plain.ASCII(text, nil)
	if !ok {
		return refuse(fault.CodeNotUnderstood, fmt.Sprintf("the cron line %s has a character that no cron line has", fault.Quoted(text)),
			`write it as in "30 9 * * 1-5"`)
	}
	text = strings.TrimSpace(string(clean))
	line := text
	first, _, _ := strings.Cut(text, " ")
	if name, value, ok := strings.Cut(first, "="); ok && (strings.EqualFold(name, "TZ") || strings.EqualFold(name, "CRON_TZ")) {
		return r, &fault.Error{Code: fault.CodeNotUnderstood, Message: fmt.Sprintf("the cron line %s begins with a time zone", fault.Quoted(text)),
			Hint: "leave it out and give " + value + " with", Options: []string{"tz"}}
	}
	if strings.HasPrefix(text, "@") {
		if line, err = expandMacro(text); err != nil {
			return r, err
		}
	}
	words := strings.Fields(line)
	layout := []*cronField{cronMinute, cronHour, cronDay, cronMonth, cronWeekday, cronYear}
	hint := `write "minute hour day month weekday", as in "30 9 * * 1-5"`
	if n := len(words); n > 5 && strings.Contains(words[n-1], "/") && civil.IsZone(words[n-1]) {
		return r, &fault.Error{Code: fault.CodeNotUnderstood, Message: fmt.Sprintf("the cron line %s ends with a time zone", fault.Quoted(text)),
			Hint: "leave it out and give " + words[n-1] + " with", Options: []string{"tz"}}
	}
	switch len(words) {
	case 5:
	case 6:
		r.Notes = []Note{{NoteReading, "six cron fields are read as minute hour day month weekday year; " + sixFields}}
		hint = "six fields are minute hour day month weekday year; " + sixFields
	case 7:
		layout = append([]*cronField{cronSecond}, layout...)
		hint = "seven fields are second minute hour day month weekday year"
	default:
		return refuse(fault.CodeNotUnderstood, fmt.Sprintf("the cron line %s has %s, not 5, 6 or 7", fault.Quoted(text), plain.Plural(len(words), "field")), hint)
	}
	sets := make(map[*cronField]*cronSet, len(layout))
	plain := make([]string, len(words))
	for i, f := range layout[:len(words)] {
		set, err := f.read(words[i])
		if err != nil {
			return refuse(fault.CodeNotUnderstood, fmt.Sprintf("could not understand the cron line %s: %v", fault.Quoted(text), err), hint, correctedCron(layout, words, zone)...)
		}
		sets[f], plain[i] = set, set.text
	}
	c, err := newCronRule(sets, zone)
	if err != nil {
		return refuse(fault.CodeNotUnderstood, fmt.Sprintf("could not understand the cron line %s: %v", fault.Quoted(text), err), hint)
	}
	ok = anyDate(sets[cronDay], sets[cronMonth], sets[cronWeekday])
	if ok {
		_, ok = c.nextWall(firstCron)
	}
	if !ok {
		return refuse(fault.CodeNever, fmt.Sprintf("the cron line %s never comes: there is no such date", fault.Quoted(text)),
			"check its day, month, weekday and year")
	}
	r.Rule, r.Canonical = c, strings.Join(plain, " ")
	return r, nil
}

// expandMacro returns the line that a macro such as @daily stands for.
func expandMacro(text string) (string, error) {
	if line, ok := cronMacros[text]; ok {
		return line, nil
	}
	if text == "@reboot" {
		return "", &fault.Error{Code: fault.CodeNever, Message: "@reboot has no next time",
			Hint: `give a time, such as "@daily" or "every 1h"`}
	}
	e := &fault.Error{Code: fault.CodeNotUnderstood, Message: "could not understand the cron line " + fault.Quoted(text),
		Hint:       "the macros are @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually",
		SayInstead: true}
	if strings.HasPrefix(text, "@every ") {
		e.Hint, e.Instead = `an interval is written as in "every 5m"`, []string{text[1:]}
	} else if low := strings.ToLower(text); cronMacros[low] != "" {
		e.Instead = []string{low}
	}
	return "", e
}

// correctedCron returns the line that was probably meant by one that cannot be read: with ranges
// that run backwards written forwards, or with a year added after six fields that begin with a
// second. It returns nil when neither can be read.
func correctedCron(layout []*cronField, words []string, zone *time.Location) []string {
	forwards := make([]string, len(words))
	for i, f := range layout[:len(words)] {
		forwards[i] = f.turned(words[i])
	}
	lines := []string{strings.Join(forwards, " ")}
	if len(words) == 6 {
		lines = append(lines, strings.Join(words, " ")+" *")
	}
	for _, line := range lines {
		if slices.Equal(strings.Fields(line), words) {
			continue
		}
		if _, err := ReadCron(line, zone); err == nil {
			return []string{line}
		}
	}
	return nil
}

const (
	firstCron   = -1   // 31 December 1969 23:59:59: the years of the library begin after it
	lastLibrary = 2099 // the last year of the library
	// a larger clock change is a correction, and cron(8) makes up for nothing then
	correction = 3 * 3600
)

// anyDate reports whether some year may have a date of a cron line. Without this check a search
// would look at every year.
func anyDate(days, months, weekdays *cronSet) bool {
	if !weekdays.star || len(days.special) > 0 {
		return true
	}
	for month := 1; month <= 12; month++ {
		for day := 1; months.values[month] && day <= civil.MonthDays(2000, month); day++ {
			if days.values[day] {
				return true
			}
		}
	}
	return false
}

// cronRule evaluates a line with gorhill/cronexpr, and around clock changes as Debian's cron and
// cronie do.
type cronRule struct {
	zone *time.Location
	// The minute or the hour begins with a star. Such a line runs by real time: at both instants of
	// a repeated wall time, and not at all for a skipped one.
	wild bool
	ever bool // no year is given
	days *DayPattern

	mu    sync.Mutex // the library writes to an Expression while it searches
	lines []*cronexpr.Expression
	ahead []time.Time // the last wall time of a single line, and those after it that are known
	here  civil.Range // the last range that was used
}

func newCronRule(sets map[*cronField]*cronSet, zone *time.Location) (*cronRule, error) {
	c := &cronRule{
		zone: zone,
		wild: sets[cronMinute].star || sets[cronHour].star,
		ever: sets[cronYear] == nil || sets[cronYear].all,
		days: cronDays(sets),
	}
	field := func(f *cronField, otherwise string) string {
		if set := sets[f]; set != nil {
			return set.library(f)
		}
		return otherwise
	}
	days, weekdays := sets[cronDay], sets[cronWeekday]
	pairs := [][2]string{{days.library(cronDay), weekdays.library(cronWeekday)}}
	if (days.star || weekdays.star) && !days.all && !weekdays.all {
		// A field of days that begins with a star and has a step narrows the other field, by
		// crontab(5). In the library one match of the two is enough, so each is asked for alone.
		pairs = [][2]string{{pairs[0][0], "*"}, {"*", pairs[0][1]}}
	}
	for _, pair := range pairs {
		line := strings.Join([]string{field(cronSecond, "0"), field(cronMinute, ""), field(cronHour, ""), pair[0],
			field(cronMonth, ""), pair[1], field(cronYear, "*")}, " ")
		parsed, err := cronexpr.Parse(line)
		if err != nil {
			return nil, err
		}
		c.lines = append(c.lines, parsed)
	}
	return c, nil
}

func (c *cronRule) Next(t time.Time) (time.Time, bool) {
	if t.Year() > civil.LastYear {
		return time.Time{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	unix, ok := c.nextUnix(max(t.Unix(), firstCron-civil.MaxOffset))
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(unix, 0).In(c.zone), true
}

// nextUnix returns the first instant after u. It looks for a wall time and then finds its instant
// in the zone.
func (c *cronRule) nextUnix(u int64) (int64, bool) {
	s := c.rangeAt(u)
	from := u + s.Offset
	if !c.wild && s.Start != civil.FarPast && u < s.Start+correction {
		// After the clocks went back, everything up to the end of the repeated hour has run once.
		if before := civil.RangeAt(s.Start-1, c.zone); before.Offset-s.Offset <= correction {
			from = max(from, s.Start-1+before.Offset)
		}
	}
	w, ok := c.nextWall(from)
	if !ok || s.End == civil.FarFuture || w < s.End+s.Offset {
		return w - s.Offset, ok
	}

	// The clocks change at the end of this range: skipped wall times may be made up for, and
	// repeated ones may match again.
	n := c.rangeAt(s.End)
	resume := s.End + n.Offset - 1
	if small := s.Offset-n.Offset <= correction; resume < from && (c.wild || !small) {
		if w, ok = c.nextWall(resume); ok && (n.End == civil.FarFuture || w < n.End+n.Offset) {
			return w - n.Offset, true
		}
	}
	for ok {
		first, _, passes, gap := civil.InstantsOfUnix(w, c.zone)
		if passes > 0 {
			return first, true
		}
		if !c.wild && gap <= correction {
			return first, true
		}
		w, ok = c.nextWall(first + c.rangeAt(first).Offset - 1)
	}
	return 0, false
}

// rangeAt keeps the last range, because schedules are walked forwards.
func (c *cronRule) rangeAt(u int64) civil.Range {
	if u < c.here.Start || u >= c.here.End {
		c.here = civil.RangeAt(u, c.zone)
	}
	return c.here
}

// nextWall returns the first matching wall time after w, both in Unix seconds of a clock that never
// changes.
func (c *cronRule) nextWall(w int64) (int64, bool) {
	from := time.Unix(w, 0).UTC()
	year := from.Year()
	if year <= lastLibrary {
		if next := c.library(from); !next.IsZero() {
			return next.Unix(), true
		}
		year = lastLibrary + 1
	}
	// A year after those of the library is looked up in an earlier year with the same weekdays. No
	// line waits longer than forty years: that is a leap day on one weekday across 2100.
	for end := min(year+100, civil.LastYear); c.ever && year <= end; year++ {
		day1 := civil.Date(year, 1, 1)
		proxy := proxyYear(day1)
		shift := day1.Unix() - civil.Date(proxy, 1, 1).Unix()
		next := c.library(time.Unix(max(w, day1.Unix()-1)-shift, 0).UTC())
		if next.Year() == proxy && !next.IsZero() {
			return next.Unix() + shift, true
		}
	}
	return 0, false
}

// proxyYear returns the last year of the library that has the same days and weekdays as the year
// that begins on day1.
func proxyYear(day1 time.Time) int {
	for year := lastLibrary; ; year-- {
		other := civil.Date(year, 1, 1)
		if other.Weekday() == day1.Weekday() && civil.Leap(year) == civil.Leap(day1.Year()) {
			return year
		}
	}
}

// walk returns the next wall time of a single line. It asks for several at once when it is asked
// for one after the other, because each question costs a list of the days of a month.
func (c *cronRule) walk(from time.Time) time.Time {
	many := uint(1)
	if len(c.ahead) > 0 && c.ahead[0].Equal(from) {
		c.ahead, many = c.ahead[1:], 20
	} else {
		c.ahead = nil
	}
	if len(c.ahead) == 0 {
		c.ahead = c.lines[0].NextN(from, many)
	}
	if len(c.ahead) == 0 {
		return time.Time{}
	}
	return c.ahead[0]
}

// library returns the next wall time that gorhill/cronexpr finds, labelled UTC. With two lines, it
// is on the first day that both match.
func (c *cronRule) library(from time.Time) time.Time {
	if len(c.lines) == 1 {
		return c.walk(from)
	}
	for {
		next := c.lines[0].Next(from)
		if next.IsZero() {
			return next
		}
		day := civil.Midnight(next)
		other := c.lines[1].Next(day.Add(-time.Second))
		if other.IsZero() {
			return other
		}
		if other.Before(day.AddDate(0, 0, 1)) {
			return next
		}
		from = civil.Midnight(other).Add(-time.Second)
	}
}
