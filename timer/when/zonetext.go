package when

import (
	"fmt"
	"strings"
	"time"
)

// zoneText is the zone that a text names.
type zoneText struct {
	loc    *time.Location
	fixed  bool           // an offset, which no rule change moves; else a place
	sealed bool           // no offset may follow
	abbr   *abbreviation  // when an abbreviation named it
	short  string         // the abbreviation
	also   *time.Location // named beside an offset, which it must have at that instant
	off    int            // where it stands in the text
	end    int
}

// abbreviation is what a zone abbreviation means. Where a place of the zone changes its clocks, home is one: people say
// PST all the year and mean the clocks of Los Angeles.
type abbreviation struct {
	minutes int
	home    string
	other   string // another place whose clocks have the same abbreviation: refused
}

// abbreviations are those in wide use. The others are refused, as is one that several countries share.
var abbreviations = map[string]abbreviation{
	"est": {-300, "America/New_York", ""}, "edt": {-240, "America/New_York", ""},
	"cst": {-360, "America/Chicago", "Asia/Shanghai"}, "cdt": {-300, "America/Chicago", ""},
	"mst": {-420, "America/Denver", ""}, "mdt": {-360, "America/Denver", ""},
	"pst": {-480, "America/Los_Angeles", ""}, "pdt": {-420, "America/Los_Angeles", ""},
	"akst": {-540, "America/Anchorage", ""}, "akdt": {-480, "America/Anchorage", ""},
	"hst": {-600, "", ""},
	"wet": {0, "Europe/Lisbon", ""}, "west": {60, "Europe/Lisbon", ""},
	"cet": {60, "Europe/Berlin", ""}, "cest": {120, "Europe/Berlin", ""},
	"eet": {120, "Europe/Helsinki", ""}, "eest": {180, "Europe/Helsinki", ""},
	"bst": {60, "Europe/London", "Asia/Dhaka"}, "ist": {330, "Asia/Kolkata", "Asia/Jerusalem"},
	"msk": {180, "", ""}, "jst": {540, "", ""}, "kst": {540, "", ""}, "hkt": {480, "", ""}, "sgt": {480, "", ""},
	"awst": {480, "", ""}, "acst": {570, "Australia/Adelaide", ""}, "acdt": {630, "Australia/Adelaide", ""},
	"aest": {600, "Australia/Sydney", ""}, "aedt": {660, "Australia/Sydney", ""},
	"nzst": {720, "Pacific/Auckland", ""}, "nzdt": {780, "Pacific/Auckland", ""},
}

// fixedZone is a zone of one offset, named as people write it.
func fixedZone(minutes int) *time.Location {
	if minutes == 0 {
		return time.UTC
	}
	sign, m := '+', minutes
	if m < 0 {
		sign, m = '-', -m
	}
	return time.FixedZone(fmt.Sprintf("UTC%c%02d:%02d", sign, m/60, m%60), minutes*60)
}

// setZone claims the zone of the text; tokens is how many it has.
func (p *parser) setZone(m *moment, z zoneText, tokens int) bool {
	if m.zone.loc != nil {
		return p.fail("it names two time zones", "leave one of the two out")
	}
	z.off, z.end = int(p.toks[p.i-tokens].off), int(p.toks[p.i-1].end)
	m.zone = z
	return true
}

// place reads a zone by its IANA name.
func (p *parser) place(m *moment) bool {
	loc, ok := p.load()
	return ok && p.setZone(m, zoneText{loc: loc, sealed: true}, 1) && p.ofZone()
}

// ofZone passes over the word in "CET time".
func (p *parser) ofZone() bool {
	if p.at(0).role == wTime {
		p.i++
	}
	return true
}

func (p *parser) load() (*time.Location, bool) {
	t := p.at(0)
	loc, err := LoadZone(p.text[t.off:t.end])
	if err != nil {
		return nil, p.noZone(err, int(t.off), int(t.end))
	}
	p.i++
	return loc, true
}

// noZone notes that the part of the text from off to end names no zone, and reports false.
func (p *parser) noZone(err error, off, end int) bool {
	if p.err == nil {
		p.err = asError(err)
		p.err.instead = p.replaced(off, end, p.err.instead...)
	}
	return false
}

// replaced are texts in which a part of this one is another.
func (p *parser) replaced(off, end int, parts ...string) []string {
	var texts []string
	for _, part := range parts {
		texts = append(texts, p.text[:off]+part+p.text[end:])
	}
	return texts
}

// zoneWord reads UTC, GMT, Z, either of them with an offset, and abbreviations.
func (p *parser) zoneWord(m *moment) bool {
	from := p.i
	t := p.at(0)
	p.i++
	switch t.role {
	case wZ:
		return m.clock.set && p.setZone(m, zoneText{loc: time.UTC, fixed: true, sealed: true}, 1)
	case wUTC:
		if minutes, ok := p.utcOffset(false); ok {
			return p.setZone(m, zoneText{loc: fixedZone(minutes), fixed: true, sealed: true}, p.i-from)
		}
		return p.err == nil && p.setZone(m, zoneText{loc: time.UTC, fixed: true, sealed: true}, 1) && p.ofZone()
	}
	short := p.low[t.off:t.end]
	a := abbreviations[short]
	if a.other != "" {
		return p.fail(fmt.Sprintf("%s is the time of several countries", p.text[t.off:t.end]),
			fmt.Sprintf("name the place, as in %q or %q, or the offset", a.home, a.other), p.replaced(int(t.off), int(t.end), a.home, a.other)...)
	}
	return p.setZone(m, zoneText{loc: fixedZone(a.minutes), fixed: true, sealed: true, abbr: &a, short: short}, 1) && p.ofZone()
}

// offset reads +0200, -05:00 and +02 after a time of day. Where it reports false it has moved nothing, or noted an error.
func (p *parser) offset(m *moment) bool {
	if !m.clock.set || m.zone.loc != nil || m.clock.compact && !m.iso { // 2012-1400
		return false
	}
	from := p.i
	gap := p.at(0).gap
	minutes, ok := p.utcOffset(true)
	if !ok {
		return false
	}
	if colon := p.i-from == 4; (colon || p.toks[p.i-1].digits <= 2) && minutes < 0 && p.rangeLike(m, -minutes, gap) {
		first, second := m.clock.off, int(p.toks[p.i-1].end)
		sign := int(p.toks[from].off)
		clock := strings.TrimSpace(p.text[first:sign])
		return p.unclear("it may be a range or an offset from UTC", first, second, clock, clock+" UTC"+p.text[sign:second])
	}
	return p.setZone(m, zoneText{loc: fixedZone(minutes), fixed: true, sealed: true}, p.i-from)
}

// rangeLike reports whether a negative offset after a time of day may be meant as the time that something ends. It is not
// behind seconds or an ISO 8601 date; with space before the sign (and none behind it, which utcOffset wants), only where
// the range would run forwards and no day is named; without space, where it would last no more than twelve hours.
func (p *parser) rangeLike(m *moment, end int, gap bool) bool {
	c := &m.clock
	begin := c.hour%24*60 + c.minute
	switch c.mer {
	case wAM:
		begin = c.hour%12*60 + c.minute
	case wPM:
		begin = (c.hour%12+12)*60 + c.minute
	}
	switch {
	case c.exact || m.iso && !gap:
		return false
	case gap:
		return end > begin && m.day == noDay && !m.isSpan
	}
	lasts := (end - begin + 24*60) % (24 * 60)
	return lasts <= 12*60
}

// utcOffset reads a signed offset from UTC in minutes; whole wants two or four digits, as after a time of day.
func (p *parser) utcOffset(whole bool) (int, bool) {
	sign, t := p.at(0), p.at(1)
	if sign.mark != '+' && sign.mark != '-' || t.kind != tNum || t.gap || p.at(2).unit != uNone && p.at(2).kind == tWord {
		return 0, false
	}
	hours, minutes, used := int(t.n), 0, 2
	switch {
	case t.digits <= 2:
		if whole && t.digits != 2 {
			return 0, false
		}
		if more := p.at(3); p.isMark(2, ':') && p.joined(2) {
			if more.kind != tNum || more.gap || more.digits != 2 {
				return 0, false
			}
			minutes, used = int(more.n), 4
		}
	case t.digits == 4:
		hours, minutes = hours/100, hours%100
	default:
		return 0, false
	}
	if minutes > 59 || hours*60+minutes > 14*60 {
		p.fail(fmt.Sprintf("there is no offset %c%02d:%02d", sign.mark, hours, minutes),
			"offsets lie between -14:00 and +14:00")
		return 0, false
	}
	p.i += used
	minutes += hours * 60
	if sign.mark == '-' {
		minutes = -minutes
	}
	return minutes, true
}

// bracketed reads "(CEST)" as mail has it and "[Europe/Warsaw]" as RFC 9557 has it. Beside an offset it must agree.
func (p *parser) bracketed(m *moment) bool {
	closing := byte(')')
	if p.isMark(0, '[') {
		closing = ']'
	}
	p.i++
	var named moment
	named.clock.set = true
	t := p.at(0)
	switch {
	case t.kind == tPlace:
		if !p.place(&named) {
			return false
		}
	case t.role == wZone && m.zone.fixed && m.zone.abbr == nil:
		short := p.low[t.off:t.end]
		named.zone.loc = fixedZone(abbreviations[short].minutes)
		p.i++
	case t.kind == tWord && (t.role == wZone || t.role == wUTC):
		if !p.zoneWord(&named) {
			return false
		}
	case t.kind == tWord && closing == ')' && m.zone.fixed:
		return p.longName()
	default:
		return false
	}
	if !p.isMark(0, closing) {
		return false
	}
	p.i++
	if m.zone.loc == nil {
		m.zone = named.zone
		return true
	}
	if m.zone.also != nil || !m.zone.fixed || m.zone.abbr != nil {
		return p.fail("it names two time zones", "leave one of the two out")
	}
	m.zone.also = named.zone.loc
	return true
}

// longName reads "Central European Summer Time)", which JavaScript writes behind the offset that decides.
func (p *parser) longName() bool {
	from := p.i
	for p.at(0).kind == tWord {
		p.i++
	}
	if p.i-from < 3 || !p.isMark(0, ')') || !p.is(-1, "time") {
		return false
	}
	if !p.is(-2, "standard") && !p.is(-2, "summer") && !p.is(-2, "daylight") {
		return false
	}
	p.i++
	return true
}

// agree checks what was said about the zone once the instant is known.
func (p *parser) agree(m *moment, t time.Time) bool {
	if m.zone.also != nil {
		_, a := t.In(m.zone.loc).Zone()
		if _, b := t.In(m.zone.also).Zone(); a != b {
			return p.fail("the offset is not that of the zone beside it", "leave one of the two out")
		}
	}
	if a := m.zone.abbr; a != nil && a.home != "" {
		home, err := LoadZone(a.home)
		if err != nil {
			return p.fail("the zone is not in the database", "give the offset from UTC")
		}
		if _, offset := t.In(home).Zone(); offset != a.minutes*60 {
			why := fmt.Sprintf("clocks do not show %s then", p.text[m.zone.off:m.zone.end])
			return p.unclear(why, m.zone.off, m.zone.end, m.zone.loc.String(), a.home)
		}
	}
	return true
}
