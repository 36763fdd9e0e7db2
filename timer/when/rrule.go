package when

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// looksLikeRRule says whether text is worth parseRRule when nothing says that it is a rule.
func looksLikeRRule(text string) bool {
	text = strings.ToUpper(strings.TrimSpace(text))
	for _, prefix := range []string{"RRULE:", "FREQ=", "DTSTART:", "DTSTART;"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return strings.Contains(text, ";FREQ=")
}

const ruleHint = `write it as in "FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=10;BYMINUTE=30"`

// parseRRule reads an RFC 5545 recurrence rule, with or without "RRULE:", after an optional DTSTART line; without one,
// start is DTSTART, its fraction of a second dropped. Lower case, a last semicolon and pasted dashes do no harm. What the RFC forbids
// is refused, and so is a rule that never comes (CodeNever) or has too many instants in one period.
//
// FREQ=HOURLY, MINUTELY and SECONDLY without BY parts step in elapsed time; every other rule is evaluated on the wall
// clock and placed into the zone by RFC 5545 section 3.3.5.
func parseRRule(text string, start time.Time, zone *time.Location) (r rule, canonical string, notes []Note, err error) {
	r, _, canonical, notes, err = readRRule(text, start, zone, false)
	return r, canonical, notes, err
}

// readRRule is parseRRule; typed says that start is the moment the rule was typed, at which nobody wants it to run. Then
// what the rule leaves open of its minute and second is zero: both where BYHOUR is given, the second where FREQ is DAILY or
// coarser.
func readRRule(text string, start time.Time, zone *time.Location, typed bool) (r rule, begin time.Time, canonical string, notes []Note, err error) {
	refuse := func(code string, err error, hint string) (rule, time.Time, string, []Note, error) {
		return nil, time.Time{}, "", nil, &Error{
			Code:    code,
			Message: fmt.Sprintf("could not understand the recurrence rule %s: %v", quoted(strings.TrimSpace(text)), err),
			Hint:    hint,
		}
	}
	if len(text) > 2000 {
		return refuse(CodeLimit, fmt.Errorf("it is longer than 2000 characters"), "make it shorter")
	}
	clean, ok := plain(text, nil)
	if !ok {
		return refuse(CodeNotUnderstood, fmt.Errorf("it has a character that belongs to no rule"), ruleHint)
	}
	line, startLine, err := splitRule(string(clean))
	if err != nil {
		return refuse(CodeNotUnderstood, err, ruleHint)
	}
	if startLine != "" {
		at, in, err := readStart(startLine, zone)
		if err != nil {
			if e, ok := err.(*Error); ok {
				return nil, time.Time{}, "", nil, e
			}
			return refuse(CodeNotUnderstood, err, `write it as in "DTSTART;TZID=Europe/Warsaw:20270104T090000"`)
		}
		if in != zone && in.String() != zone.String() {
			notes = append(notes, Note{NoteClocks, "the rule runs on the clocks of " + in.String() + ", as its DTSTART has it"})
		}
		start, zone, typed = at, in, false
	}
	parts, err := readParts(line)
	if err != nil {
		return refuse(CodeNotUnderstood, err, ruleHint)
	}
	canonical = parts.String()
	if startLine != "" {
		canonical = startLine + " RRULE:" + canonical
	}

	start = time.Unix(start.Unix(), 0).In(zone)
	if typed {
		var note string
		if start, note = parts.typed(start, zone); note != "" {
			notes = append(notes, Note{NoteStart, note})
		}
	}
	last := time.Time{}
	if parts.until != "" {
		if last, err = readUntil(parts.until, zone); err != nil {
			return refuse(CodeNotUnderstood, err, `write it as in "UNTIL=20271231T235959Z"`)
		}
	}
	if year := start.Year(); year < 1 || year > lastYear {
		return refuse(CodeNotUnderstood, fmt.Errorf("it starts in the year %d", year), "start it between the years 1 and 9999")
	}
	if parts.freq >= hourly && parts.plain() {
		r, last, err = elapsedRule(parts, start, last)
	} else {
		r, err = wallRule(parts, start, zone)
	}
	var much tooMuch
	switch {
	case errors.As(err, &much):
		return refuse(CodeLimit, err, "give an UNTIL instead of the COUNT")
	case err != nil:
		return refuse(CodeNotUnderstood, err, ruleHint)
	}
	if !last.IsZero() {
		r = ending{r, last}
	}
	if _, ok := r.next(start.Add(-1)); !ok {
		return nil, time.Time{}, "", nil, &Error{
			Code:    CodeNever,
			Message: fmt.Sprintf("the recurrence rule %s never comes after its start, %s", quoted(canonical), Stamp(start)),
			Hint:    "check its parts against each other, and UNTIL against the start",
		}
	}
	return r, start, canonical, notes, nil
}

// tooMuch is the error of a COUNT that is not counted to.
type tooMuch string

func (e tooMuch) Error() string { return string(e) }

// splitRule finds the rule and the DTSTART line in text, both in capitals but for a zone's name. Lines may be parted by
// any white space; other properties are refused.
func splitRule(text string) (line, start string, err error) {
	for _, word := range strings.Fields(text) {
		upper := strings.ToUpper(word)
		switch {
		case strings.HasPrefix(upper, "DTSTART:"), strings.HasPrefix(upper, "DTSTART;"):
			if start != "" {
				return "", "", fmt.Errorf("DTSTART is given twice")
			}
			start = upper
			if i := strings.Index(upper, "TZID="); i >= 0 {
				i += len("TZID=")
				end := i + strings.IndexAny(upper[i:]+":", ":;")
				start = upper[:i] + word[i:end] + upper[end:]
			}
		case strings.HasPrefix(upper, "EXDATE"), strings.HasPrefix(upper, "RDATE"), strings.HasPrefix(upper, "EXRULE"):
			return "", "", fmt.Errorf("%s is not read; only one RRULE and its DTSTART are", upper[:strings.IndexAny(upper+":", ":;")])
		case line == "":
			line = strings.TrimPrefix(upper, "RRULE:")
		case strings.ContainsAny(line[len(line)-1:], ";,="):
			line += upper
		default:
			return "", "", fmt.Errorf("%q is left over", word)
		}
	}
	if line == "" {
		return "", "", fmt.Errorf("there is no rule in it")
	}
	return line, start, nil
}

// readStart reads a DTSTART line: its instant, and the zone whose clocks the rule follows.
func readStart(line string, zone *time.Location) (time.Time, *time.Location, error) {
	head, value, ok := strings.Cut(line, ":")
	if !ok {
		return time.Time{}, nil, fmt.Errorf("DTSTART has no value")
	}
	params := strings.Split(head, ";")[1:]
	date, zoned := false, false
	for _, param := range params {
		name, setting, _ := strings.Cut(param, "=")
		switch {
		case name == "TZID" && !zoned:
			var err error
			if zone, err = LoadZone(setting); err != nil {
				return time.Time{}, nil, err
			}
			zoned = true
		case param == "VALUE=DATE":
			date = true
		case param == "VALUE=DATE-TIME":
		default:
			return time.Time{}, nil, fmt.Errorf("DTSTART has %q", param)
		}
	}
	wall, kind, err := readDate(value)
	switch {
	case err != nil:
		return time.Time{}, nil, fmt.Errorf("DTSTART has %w", err)
	case date && kind != 'D':
		return time.Time{}, nil, fmt.Errorf("DTSTART has %q, not a date", value)
	case kind == 'Z' && zoned:
		return time.Time{}, nil, fmt.Errorf("DTSTART has both a TZID and a Z")
	case kind == 'Z':
		return wall, time.UTC, nil
	}
	return place(wall, zone), zone, nil
}

// withStart is a rule behind the DTSTART line of a reading, where the zone has a name for such a line.
func withStart(rule string, wall time.Time, zone *time.Location) string {
	switch name := zone.String(); {
	case zone == time.UTC:
		return "DTSTART:" + wall.Format("20060102T150405Z") + " RRULE:" + rule
	case strings.Contains(name, "/"):
		return "DTSTART;TZID=" + name + ":" + wall.Format("20060102T150405") + " RRULE:" + rule
	}
	return rule
}

// readUntil reads UNTIL, which is inclusive: an instant, a local time, or the whole of a day.
func readUntil(text string, zone *time.Location) (time.Time, error) {
	wall, kind, err := readDate(text)
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("UNTIL has %w", err)
	case kind == 'Z':
		return wall, nil
	case kind == 'D':
		return place(wall.AddDate(0, 0, 1), zone).Add(-1), nil
	}
	return place(wall, zone), nil
}

// readDate reads 20270104T090000Z (kind 'Z'), 20270104T090000 ('L') or 20270104 ('D') as a reading.
func readDate(text string) (wall time.Time, kind byte, err error) {
	for layout, kind := range map[string]byte{"20060102T150405Z": 'Z', "20060102T150405": 'L', "20060102": 'D'} {
		if len(text) != len(layout) {
			continue
		}
		if wall, err := time.Parse(layout, text); err == nil && wall.Year() > 0 {
			return wall, kind, nil
		}
	}
	return time.Time{}, 0, fmt.Errorf("%q, not a date such as 20271231 or 20271231T180000Z", text)
}

// elapsedRule is a sub-daily rule without BY parts: start, and every period after it.
func elapsedRule(p *ruleParts, start, until time.Time) (rule, time.Time, error) {
	unit := map[int]time.Duration{hourly: time.Hour, minutely: time.Minute, secondly: time.Second}[p.freq]
	if p.interval > int64(math.MaxInt64/unit) {
		return nil, until, fmt.Errorf("INTERVAL=%d is longer than 292 years", p.interval)
	}
	every := time.Duration(p.interval) * unit
	r := interval{start.Add(-every), every}
	if p.count > 0 {
		if last, ok := r.after(start, p.count-1); ok {
			return r, last, nil
		}
	}
	return r, until, nil
}

// wallRule is a rule on the wall clock.
func wallRule(p *ruleParts, start time.Time, zone *time.Location) (rule, error) {
	wall := reading(start, zone)
	p.fill(wall)
	r := &placedRule{zone: zone, last: math.MaxInt64}
	if p.freq < hourly {
		days, err := newDayWalls(p, wall)
		if err != nil {
			return nil, err
		}
		r.walls = days
		if p.count > 0 {
			r.last, err = days.nth(p.count)
		}
		return r, err
	}
	clock := newClockWalls(p, wall)
	r.walls = clock
	most := maxClockCount
	if clock.interval >= clock.daily {
		most /= 10 // those are far apart, and a year of days may be looked at for each
	}
	if p.count > most {
		return nil, tooMuch(fmt.Sprintf("COUNT=%d is more than %d", p.count, most))
	}
	for n, w := 0, wall.Unix()-1; n < p.count; n++ {
		var ok bool
		if w, ok = r.walls.nextWall(w); !ok {
			break
		}
		if n == p.count-1 {
			r.last = w
		}
	}
	return r, nil
}

// maxClockCount is the largest COUNT of a rule below DAILY with BY parts, whose instants are walked to find the last.
const maxClockCount = 1000

// walls finds the first reading of a rule strictly after w, in Unix seconds of a clock that never changes.
type walls interface {
	nextWall(w int64) (int64, bool)
}

// placedRule puts readings into a zone by RFC 5545 section 3.3.5. Readings in a gap move forward by its length and so
// may come after, or fall on, later ones: each instant is given once, in order.
type placedRule struct {
	zone  *time.Location
	walls walls
	last  int64 // the last reading, by COUNT
}

func (r *placedRule) nextWall(w int64) (int64, bool) {
	next, ok := r.walls.nextWall(w)
	return next, ok && next <= r.last
}

func (r *placedRule) next(t time.Time) (time.Time, bool) {
	if t.Year() > lastYear {
		return time.Time{}, false
	}
	u := t.Unix()
	here := stretchAt(u, r.zone)
	now := u + here.offset
	best, found := int64(math.MaxInt64), false
	offer := func(unix int64) { best, found = min(best, unix), true }
	if here.start != farPast && u < here.start+2*86400 {
		before := stretchAt(here.start-1, r.zone).offset
		switch jump := here.offset - before; {
		case jump < 0: // a repeated span: its readings had their turn in the first pass
			now = max(now, here.start-1+before)
		case u < here.start+jump: // readings of the gap that ended a moment ago are still to come
			if w, ok := r.nextWall(now - jump); ok && w < here.start+here.offset {
				offer(w - before)
			}
		}
	}
	if w, ok := r.nextWall(now); ok {
		offer(placeUnix(w, r.zone))
		if end, _, passes, _ := passesUnix(w, r.zone); passes == 0 {
			_, offset := time.Unix(end, 0).In(r.zone).Zone()
			if w, ok := r.nextWall(end + int64(offset) - 1); ok {
				offer(placeUnix(w, r.zone))
			}
		}
	}
	at := time.Unix(best, 0).In(r.zone)
	if !found || at.Year() > lastYear {
		return time.Time{}, false
	}
	return at, true
}
