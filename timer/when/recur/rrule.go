package recur

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// LooksLikeRRule reports whether a text is worth ReadRRule when nothing says that it is a rule.
func LooksLikeRRule(text string) bool {
	text = strings.TrimSpace(text)
	for _, prefix := range []string{"RRULE:", "FREQ=", "DTSTART:", "DTSTART;"} {
		if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
			return true
		}
	}
	return strings.Contains(text, ";") && strings.Contains(strings.ToUpper(text), ";FREQ=")
}

const ruleHint = `write it as in "FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=10;BYMINUTE=30"`

// ReadRRule reads a recurrence rule of RFC 5545, with or without "RRULE:", after an optional
// DTSTART line. Without that line, start is DTSTART, and its fraction of a second is dropped. Lower
// case, a last semicolon and pasted dashes are accepted. A rule that cannot be built is refused.
//
// typed says that start is only the moment at which the rule was typed, when nobody wants it to
// run. What such a rule leaves open of its minute and second is then zero: both when it has BYHOUR,
// and the second when FREQ is DAILY or longer.
func ReadRRule(text string, start time.Time, zone *time.Location, typed bool) (r Recurrence, err error) {
	refuse := func(code string, err error, hint string) (Recurrence, error) {
		return Recurrence{}, notARule(code, text, err, hint)
	}
	if len(text) > 2000 {
		return refuse(fault.CodeLimit, fmt.Errorf("it is longer than 2000 characters"), "make it shorter")
	}
	clean, ok := plain.ASCII(text, nil)
	if !ok {
		return refuse(fault.CodeNotUnderstood, fmt.Errorf("it has a character that no rule has"), ruleHint)
	}
	line, head, err := splitRule(string(clean))
	if err != nil {
		return refuse(fault.CodeNotUnderstood, err, ruleHint)
	}
	if head != "" {
		at, in, err := readStart(head, zone)
		if err != nil {
			if e, ok := err.(*fault.Error); ok {
				return r, e
			}
			return refuse(fault.CodeNotUnderstood, err, `write it as in "DTSTART;TZID=Europe/Warsaw:20270104T090000"`)
		}
		if in != zone && in.String() != zone.String() {
			r.Notes = append(r.Notes, Note{NoteClocks, "the rule runs on the clocks of " + in.String() + ", as its DTSTART has it"})
		}
		start, zone, typed = at, in, false
	}
	parts, err := readParts(line)
	if err != nil {
		return refuse(fault.CodeNotUnderstood, err, ruleHint)
	}
	if parts.until != "" {
		if parts.last, err = readUntil(parts.until, zone); err != nil {
			return refuse(fault.CodeNotUnderstood, err, `write it as in "UNTIL=20271231T235959Z"`)
		}
	}
	now := start
	start = time.Unix(start.Unix(), 0).In(zone)
	r.Canonical = parts.After(head)
	if typed {
		var note string
		if start, note = parts.typed(start, zone); note != "" {
			r.Notes = append(r.Notes, Note{NoteStart, note})
		}
	}
	r.Begin = start
	if r.Rule, err = parts.Build(text, start, zone); err != nil {
		return r, err
	}
	if typed && parts.count > 0 {
		if at, ok := r.Next(start.Add(-1)); ok && !at.After(now) {
			r.Notes = append(r.Notes, Note{NoteStart, "COUNT counts the start, " + say.Stamp(at.In(zone)) + ", which has passed; name a start to have them all"})
		}
	}
	return r, nil
}

// notARule refuses a text that is no recurrence rule.
func notARule(code, text string, err error, hint string) *fault.Error {
	return &fault.Error{Code: code, Message: fmt.Sprintf("could not understand the recurrence rule %s: %v", fault.Quoted(strings.TrimSpace(text)), err), Hint: hint}
}

// Build makes the rule that begins at an instant, whose fraction of a second is dropped. text is
// the rule as its refusals name it. A rule that the RFC forbids is refused. So is one that never
// comes (CodeNever), or that has too many instants in one period.
//
// FREQ=HOURLY, MINUTELY and SECONDLY without BY parts count elapsed time. Every other rule is
// worked out as wall times, which become instants as RFC 5545 section 3.3.5 says.
func (p Parts) Build(text string, start time.Time, zone *time.Location) (r Rule, err error) {
	if err := p.check(); err != nil {
		return nil, notARule(fault.CodeNotUnderstood, text, err, ruleHint)
	}
	if year := start.Year(); year < 1 || year > civil.LastYear {
		return nil, notARule(fault.CodeNotUnderstood, text, fmt.Errorf("it starts in the year %d", year), "start it between the years 1 and 9999")
	}
	p.Interval, start = max(p.Interval, 1), time.Unix(start.Unix(), 0).In(zone)
	last := p.last
	if p.Freq >= Hourly && p.plain() {
		r, last, err = elapsedRule(&p, start, last)
	} else {
		r, err = newZonedRule(&p, start, zone)
	}
	var much tooMuch
	switch {
	case errors.As(err, &much):
		return nil, notARule(fault.CodeLimit, text, err, "give an UNTIL instead of the COUNT")
	case err != nil:
		return nil, notARule(fault.CodeNotUnderstood, text, err, ruleHint)
	}
	if !last.IsZero() {
		r = Ending{r, last}
	}
	if _, ok := r.Next(start.Add(-1)); !ok {
		return nil, &fault.Error{
			Code:    fault.CodeNever,
			Message: fmt.Sprintf("the recurrence rule %s never comes after its start, %s", fault.Quoted(strings.TrimSpace(text)), say.Stamp(start)),
			Hint:    "check its parts against each other, and UNTIL against the start",
		}
	}
	return r, nil
}

// tooMuch is the error of a COUNT that is too large to be counted to.
type tooMuch string

func (e tooMuch) Error() string { return string(e) }

// splitRule finds the rule and the DTSTART line in a text. Both are returned in capitals, except
// for the name of a zone. Lines may be separated by any white space. Other properties are refused.
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
			if zone, err = civil.LoadZone(setting); err != nil {
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
	return civil.InstantOf(wall, zone), zone, nil
}

// StartLine is the DTSTART line for a wall time. It is empty when the zone has no name that can
// stand there.
func StartLine(wall time.Time, zone *time.Location) string {
	if zone == time.UTC {
		return "DTSTART:" + wall.Format("20060102T150405Z")
	}
	name := zone.String()
	if _, err := civil.LoadZone(name); err != nil {
		return ""
	}
	return "DTSTART;TZID=" + name + ":" + wall.Format("20060102T150405")
}

// After is the canonical form after a DTSTART line, if there is one.
func (p *Parts) After(startLine string) string {
	if startLine == "" {
		return p.String()
	}
	return startLine + " RRULE:" + p.String()
}

// readUntil reads UNTIL, which is inclusive: an instant, a local time, or a whole day.
func readUntil(text string, zone *time.Location) (time.Time, error) {
	wall, kind, err := readDate(text)
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("UNTIL has %w", err)
	case kind == 'Z':
		return wall, nil
	case kind == 'D':
		return civil.InstantOf(wall.AddDate(0, 0, 1), zone).Add(-1), nil
	}
	return civil.InstantOf(wall, zone), nil
}

// readDate reads the wall time of 20270104T090000Z (kind 'Z'), 20270104T090000 ('L') or 20270104
// ('D').
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

// elapsedRule makes a rule below DAILY without BY parts: its start, and every period after it.
func elapsedRule(p *Parts, start, until time.Time) (Rule, time.Time, error) {
	unit := map[Frequency]time.Duration{Hourly: time.Hour, Minutely: time.Minute, Secondly: time.Second}[p.Freq]
	if p.Interval > int64(math.MaxInt64/unit) {
		return nil, until, fmt.Errorf("INTERVAL=%d is longer than 292 years", p.Interval)
	}
	every := time.Duration(p.Interval) * unit
	r := Interval{start.Add(-every), every}
	if p.count > 0 {
		if last, ok := r.After(start, p.count-1); ok {
			return r, last, nil
		}
	}
	return r, until, nil
}

// newZonedRule makes a rule that follows the clocks of a zone.
func newZonedRule(p *Parts, start time.Time, zone *time.Location) (Rule, error) {
	wall := civil.Wall(start, zone)
	p.fill(wall)
	r := &zonedRule{zone: zone, last: math.MaxInt64}
	if p.Freq < Hourly {
		days, err := newDaySequence(p, wall)
		if err != nil {
			return nil, err
		}
		r.sequence = days
		if p.count > 0 {
			r.last, err = days.nth(p.count)
		}
		return r, err
	}
	clock := newSubdaySequence(p, wall)
	r.sequence = clock
	most := maxSubdayCount
	if clock.interval >= clock.daily {
		most /= 10 // such instants are far apart: finding one may mean looking at a year of days
	}
	if p.count > most {
		return nil, tooMuch(fmt.Sprintf("COUNT=%d is more than %d", p.count, most))
	}
	for n, w := 0, wall.Unix()-1; n < p.count; n++ {
		var ok bool
		if w, ok = r.sequence.nextWall(w); !ok {
			break
		}
		if n == p.count-1 {
			r.last = w
		}
	}
	return r, nil
}

// maxSubdayCount is the largest COUNT of a rule below DAILY with BY parts. Its instants are walked
// to find the last.
const maxSubdayCount = 1000

// wallSequence finds the first wall time of a rule after w, in Unix seconds of a clock that never
// changes.
type wallSequence interface {
	nextWall(w int64) (int64, bool)
}

// zonedRule has the instants at which the clocks of a zone show the wall times of a rule, as in RFC
// 5545 section 3.3.5. A wall time that the clocks skip moves forward by the length of the gap. It
// may then come after, or fall on, a later one: each instant is given once, in order.
type zonedRule struct {
	zone     *time.Location
	sequence wallSequence
	last     int64 // the last wall time, by COUNT
}

func (r *zonedRule) nextWall(w int64) (int64, bool) {
	next, ok := r.sequence.nextWall(w)
	return next, ok && next <= r.last
}

func (r *zonedRule) Next(t time.Time) (time.Time, bool) {
	if t.Year() > civil.LastYear {
		return time.Time{}, false
	}
	u := t.Unix()
	here := civil.RangeAt(u, r.zone)
	now := u + here.Offset
	best, found := int64(math.MaxInt64), false
	offer := func(unix int64) { best, found = min(best, unix), true }
	if here.Start != civil.FarPast && u < here.Start+2*86400 {
		before := civil.RangeAt(here.Start-1, r.zone).Offset
		switch jump := here.Offset - before; {
		// The wall times of a repeated span have run in its first pass.
		case jump < 0:
			now = max(now, here.Start-1+before)
		// The skipped wall times of the gap that just ended are still to come.
		case u < here.Start+jump:
			if w, ok := r.nextWall(now - jump); ok && w < here.Start+here.Offset {
				offer(w - before)
			}
		}
	}
	if w, ok := r.nextWall(now); ok {
		offer(civil.InstantOfUnix(w, r.zone))
		if end, _, passes, _ := civil.InstantsOfUnix(w, r.zone); passes == 0 {
			_, offset := time.Unix(end, 0).In(r.zone).Zone()
			if w, ok := r.nextWall(end + int64(offset) - 1); ok {
				offer(civil.InstantOfUnix(w, r.zone))
			}
		}
	}
	at := time.Unix(best, 0).In(r.zone)
	if !found || at.Year() > civil.LastYear {
		return time.Time{}, false
	}
	return at, true
}
