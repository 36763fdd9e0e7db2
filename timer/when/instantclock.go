package when

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// unclearClock refuses a time of day that only the words around it could make one, when they do
// not.
func (r *resolver) unclearClock() *refusal {
	m, c, p := r.m, &r.m.clock, r.p
	alone := m.has&(hasDay|hasDayPart|hasSpan) == 0
	off, end := int(c.off), int(c.end)
	switch {
	case c.how&clockLone != 0 && alone:
		switch {
		case m.has == hasClock:
			return p.bareNumber()
		case m.has == hasClock|hasZone && m.zone.off > end: // 21 UTC
			return nil
		}
		return &refusal{}
	case c.how&clockThreeDigits != 0 && m.dayPart == 0 && (c.how&clockAfterAt != 0 || m.has&hasDay != 0):
		text := fmt.Sprintf("%d:%02d", c.hour, c.minute)
		return either(text+" in the morning or in the evening", off, end, text+"am", text+"pm")
	case c.how&clockThreeDigits != 0 && m.dayPart == 0 && p.n == 1:
		return p.bareNumber()
	case c.how&clockThreeDigits != 0 && m.dayPart == 0:
		return &refusal{}
	case c.how&clockLone != 0 && m.dayPart == 0 && (c.hour > 12 || c.hour == 0): // friday 13
		readings := []string{fmt.Sprintf("at %d:00", c.hour)}
		if m.day.kind == onWeekday {
			suffix := "th"
			if n := c.hour % 10; c.hour > 20 && n >= 1 && n <= 3 {
				suffix = [...]string{"st", "nd", "rd"}[n-1]
			}
			readings = append(readings, fmt.Sprintf("the %d%s", c.hour, suffix))
		}
		return either("a number alone is not a time of day", off, end, readings...)
	case c.how&clockDotted != 0 && alone && m.zone == nil && c.how&clockAfterAt == 0:
		readings := []string{p.text + "s", fmt.Sprintf("at %d:%02d", c.hour, c.minute)}
		if isDate(2000, int(c.minute), int(c.hour)) {
			readings = append(readings, fmt.Sprintf("%d %s", c.hour, time.Month(c.minute)))
		}
		if off != 0 || end != len(p.text) {
			readings = nil
		}
		return either("it may be a count of seconds or a time of day", 0, len(p.text), readings...)
	case c.how&clockLength != 0 && alone && m.zone == nil && c.how&clockAfterAt == 0:
		t := &p.toks[0]
		switch {
		case t.is(cHHMM) && p.low[0] == '0':
			return nil
		case t.is(cHHMM) || p.n < 3:
			return &refusal{}
		}
		return either("it may be a length or a time of day", off, end, fmt.Sprintf("%dh%dm", c.hour, c.minute), fmt.Sprintf("%d:%02d", c.hour, c.minute))
	}
	return nil
}

// twoDays refuses "friday night at 1". It offers what may be typed instead of the text.
func (p *parser) twoDays(readings ...string) *refusal {
	why := either("a time after midnight belongs to one night and to two days", 0, len(p.text), readings...)
	why.hint = `name the day of the time itself, and leave "night" out`
	return why
}

// oneNight refuses a time after midnight, with that time of the day named and of the day after its
// night, which may still be that of today.
func (r *resolver) oneNight() *refusal {
	day := *r.m
	day.has, day.dayPart = day.has&^hasDayPart, 0
	day.clock = clock{hour: int8(r.tod / time.Hour), minute: day.clock.minute, how: clockColon}
	first, why := r.p.resolve(&day)
	day.clock = clock{hour: 23, how: clockColon}
	night, _ := r.p.resolve(&day)
	if why != nil || r.m.zone != nil {
		return r.p.twoDays()
	}
	next := civil.Midnight(civil.Wall(night.at, night.zone)).AddDate(0, 0, 1).Add(r.tod)
	return r.p.twoDays(civil.Wall(first.at, first.zone).Format("2006-01-02 15:04"), next.Format("2006-01-02 15:04"))
}

// vagueDayPart refuses "tonight" and "tomorrow morning" and offers times in that part of the day.
func (p *parser) vagueDayPart(part uint8) *refusal {
	times := [...][]string{
		morning: {" at 8am", " at 10am"}, afternoon: {" at 2pm", " at 4pm"}, evening: {" at 6pm", " at 8pm"},
		night: {" at 8pm", " at 10pm"},
	}[part]
	n := len(p.text)
	return either("a part of the day is not an exact time", n, n, times...)
}

// bareNumber refuses a number alone and offers what it may be.
func (p *parser) bareNumber() *refusal {
	readings := []string{p.text + "s", p.text + "m"}
	if t := &p.toks[0]; p.n == 1 && t.is(cNum) && t.digits <= 2 && t.n < 24 {
		readings[1] = fmt.Sprintf("%d:00", t.n)
		if t.n > 0 && t.n < 12 {
			readings = append(readings, fmt.Sprintf("%dpm", t.n))
		}
	}
	if p.opts.Form == UntilForm {
		readings[0] = "in " + readings[0]
	}
	if p.n == 3 && p.toks[1].mark() == '.' && p.toks[0].is(cD31) && p.toks[2].is(cN1) && isDate(2000, int(p.toks[2].n), int(p.toks[0].n)) {
		readings = append(readings, fmt.Sprintf("%d %s", p.toks[0].n, time.Month(p.toks[2].n)))
	}
	if t := &p.toks[0]; p.toks[p.n-1].is(cNum) && (t.digits == 9 || t.digits == 10) {
		readings[1] = "@" + p.text
	}
	switch { // no seconds are not a time ahead
	case !p.toks[0].is(cNum) && p.toks[0].mark() == 0:
		readings = []string{"at " + p.text + " o'clock am", "at " + p.text + " o'clock pm"}
	case strings.Trim(p.text, "0.") != "":
	case p.n > 1:
		readings = nil
	default:
		readings = readings[1:]
	}
	return either("a number needs a unit", 0, len(p.text), readings...)
}

// timeOfDay returns how long after 00:00 a clock means, given the part of the day beside it. next
// is set when that is after the midnight that ends the day named.
func (p *parser) timeOfDay(c *clock, part uint8) (tod time.Duration, next bool, why *refusal) {
	hour := c.hour24()
	wrong := &refusal{why: "the time is not in that part of the day", hint: "leave one of the two out"}
	switch {
	case c.mer != 0:
	case c.name == 0 && part != 0 && hour <= 12:
		if c.how&clockSpoken != 0 && hour == 0 {
			hour = 12 // ten to one in the afternoon
		}
		var ok bool
		if hour, ok = inDayPart(hour, int(c.minute), part); !ok {
			return 0, false, wrong
		}
	case c.how&clockBare != 0 && hour <= 12 && hour > 0:
		minutes := fmt.Sprintf("%d:%02d", c.hour, c.minute)
		return 0, false, either(strconv.Itoa(hour)+" in the morning or in the evening", int(c.off), int(c.end), minutes+"am", minutes+"pm")
	}
	next = part == night && hour < 6
	switch {
	case part == morning && hour >= 12,
		part == afternoon && (hour < 12 || hour > 18),
		part == evening && (hour < 16 || hour == 24),
		part == night && hour >= 6 && hour < 17:
		return 0, false, wrong
	}
	return time.Duration(hour)*time.Hour + time.Duration(c.minute)*time.Minute +
		time.Duration(c.second)*time.Second + time.Duration(c.nano), next, nil
}

// inDayPart returns the hour of the day that a time of the 12-hour clock has in a part of the day.
// It reports false when that part does not have the time.
func inDayPart(hour, minute int, part uint8) (int, bool) {
	switch part {
	case morning:
		return hour, hour < 12
	case afternoon:
		return hour%12 + 12, hour == 12 || hour >= 1 && hour <= 6
	case evening:
		return hour + 12, hour >= 4 && hour <= 11
	default:
		switch {
		case hour == 12 || hour == 0:
			return 0, true
		case hour <= 4:
			return hour, true
		}
		return hour + 12, hour >= 6 || minute > 0 // quarter to six tonight
	}
}
