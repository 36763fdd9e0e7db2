package when

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// zoneText is a zone as a text names it.
type zoneText struct {
	loc     *time.Location
	fixed   bool          // an offset, which no change of rules moves; otherwise a place
	utc     bool          // UTC by its name
	signed  bool          // only an offset, which must follow a time of day
	colon   bool          // the offset has a colon, or only hours
	zulu    bool          // the letter Z
	bracket bool          // in brackets
	byPlace bool          // "in Warsaw", which needs a time of day beside it
	abbr    *abbreviation // set when an abbreviation names the zone
	// A zone named beside an offset. It must have that offset at the instant.
	also *time.Location
	// An abbreviation beside the name, which the clocks there must show.
	shown string
	off   int // where it stands in the text
	end   int
}

// abbreviation is what the abbreviation of a zone means. home is a place that changes its clocks:
// people say PST all year and mean the clocks of Los Angeles.
type abbreviation struct {
	minutes int
	home    string
	// Another place whose clocks have the same abbreviation. The abbreviation is then refused.
	other  string
	clocks bool // it means the clocks of home, whatever they show: ET
}

// abbreviations returns those in wide use. Others are refused, and so is one that several countries
// share.
var abbreviations = sync.OnceValue(func() map[string]abbreviation {
	return map[string]abbreviation{
		"est": {-300, "America/New_York", "", false}, "edt": {-240, "America/New_York", "", false},
		"cst": {-360, "America/Chicago", "Asia/Shanghai", false}, "cdt": {-300, "America/Chicago", "", false},
		"mst": {-420, "America/Denver", "", false}, "mdt": {-360, "America/Denver", "", false},
		"pst": {-480, "America/Los_Angeles", "", false}, "pdt": {-420, "America/Los_Angeles", "", false},
		"akst": {-540, "America/Anchorage", "", false}, "akdt": {-480, "America/Anchorage", "", false},
		"hst": {-600, "", "", false},
		"et":  {0, "America/New_York", "", true}, "ct": {0, "America/Chicago", "", true},
		"mt": {0, "America/Denver", "", true}, "pt": {0, "America/Los_Angeles", "", true},
		"wet": {0, "Europe/Lisbon", "", false}, "west": {60, "Europe/Lisbon", "", false},
		"cet": {60, "Europe/Berlin", "", false}, "cest": {120, "Europe/Berlin", "", false},
		"eet": {120, "Europe/Helsinki", "", false}, "eest": {180, "Europe/Helsinki", "", false},
		"bst": {60, "Europe/London", "Asia/Dhaka", false}, "ist": {330, "Asia/Kolkata", "Asia/Jerusalem", false},
		"msk": {180, "", "", false}, "jst": {540, "", "", false}, "kst": {540, "", "", false}, "hkt": {480, "", "", false}, "sgt": {480, "", "", false},
		"awst": {480, "", "", false}, "acst": {570, "Australia/Adelaide", "", false}, "acdt": {630, "Australia/Adelaide", "", false},
		"aest": {600, "Australia/Sydney", "", false}, "aedt": {660, "Australia/Sydney", "", false},
		"nzst": {720, "Pacific/Auckland", "", false}, "nzdt": {780, "Pacific/Auckland", "", false},
	}
})

// fixedZone returns a zone with one offset, named as people write it.
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

func (x *match) setZone(m *meaning, z zoneText) bool {
	z.off, z.end = x.off(), x.stop()
	m.has, m.zone = hasZone, &z
	return true
}

func utc(x *match, m *meaning) bool {
	return x.setZone(m, zoneText{loc: time.UTC, fixed: true, utc: true})
}
func zulu(x *match, m *meaning) bool {
	return x.begin > 0 && x.setZone(m, zoneText{loc: time.UTC, fixed: true, zulu: true})
}

// bracketed reads a zone in brackets. It may name the place where an instant in UTC is shown.
func bracketed(x *match, m *meaning) bool {
	*m = *x.of(0)
	z := *m.zone
	z.bracket = true
	m.zone = &z
	return true
}

// stampedZone reads "CET (Europe/Warsaw)", as Stamp writes it.
func stampedZone(x *match, m *meaning) bool {
	t, name := x.tok(0), x.tok(1)
	loc, err := civil.LoadZone(x.p.text[name.off:name.end])
	if err != nil {
		m.err = x.p.noZone(err, int(name.off), int(name.end))
	}
	return x.begin > 0 && x.setZone(m, zoneText{loc: loc, shown: x.p.text[t.off:t.end]})
}

func localZone(x *match, m *meaning) bool { return x.setZone(m, zoneText{loc: x.p.opts.Zone}) }

// minutes reads the hours and minutes of an offset.
func (x *match) minutes(sign int, m *meaning) (int, bool) {
	hours, minutes := 0, 0
	var digits []*token
	for i := x.begin; i < x.end; i++ {
		if t := &x.p.toks[i]; t.is(cNum) {
			digits = append(digits, t)
		}
	}
	switch h := digits[0]; {
	case len(digits) == 2:
		hours, minutes = int(h.n), int(digits[1].n)
	case h.digits <= 2:
		hours = int(h.n)
	case h.digits == 4:
		hours, minutes = int(h.n)/100, int(h.n)%100
	default:
		return 0, false
	}
	if minutes > 59 || hours*60+minutes > 14*60 {
		m.err = &refusal{why: fmt.Sprintf("there is no offset %c%02d:%02d", x.p.toks[sign].mark(), hours, minutes), hint: "offsets lie between -14:00 and +14:00"}
	}
	if minutes += hours * 60; x.p.toks[sign].mark() == '-' {
		minutes = -minutes
	}
	return minutes, !x.p.toks[x.end].is(cUnit) && !x.hourFollows()
}

func utcOffset(x *match, m *meaning) bool {
	minutes, ok := x.minutes(x.begin+1, m)
	return ok && x.setZone(m, zoneText{loc: fixedZone(minutes), fixed: true})
}

// signedOffset reads +0200, -05:00 and +02 after a time of day.
func signedOffset(x *match, m *meaning) bool {
	minutes, ok := x.minutes(x.begin, m)
	if m.err != nil && x.p.toks[x.begin].mark() == '-' && x.tok(0).digits == 2 { // 9:00-17:00
		return false
	}
	return ok && x.begin > 0 && x.setZone(m, zoneText{loc: fixedZone(minutes), fixed: true, signed: true, colon: x.tok(0).digits == 2})
}

func namedZone(x *match, m *meaning) bool {
	t := x.tok(0)
	if next := &x.p.toks[x.end]; next.is(cNew) && !next.is(cEnd) { // America/New York
		if _, err := civil.LoadZoneAnyCase(x.p.text[t.off:t.end] + "_" + x.p.text[next.off:next.end]); err == nil {
			return false
		}
	}
	loc, err := civil.LoadZoneAnyCase(x.p.text[t.off:t.end])
	if err != nil {
		m.err = x.p.noZone(err, int(t.off), int(t.end))
	}
	return x.setZone(m, zoneText{loc: loc})
}

// spacedZone reads "America/New York".
func spacedZone(x *match, m *meaning) bool {
	name := strings.ReplaceAll(x.p.text[x.off():x.p.toks[x.begin+1].end], " ", "_")
	loc, err := civil.LoadZoneAnyCase(name)
	return err == nil && x.setZone(m, zoneText{loc: loc})
}

// longZone returns the action that reads an abbreviation written out. The words say which country
// it belongs to.
func longZone(name string) func(x *match, m *meaning) bool {
	return func(x *match, m *meaning) bool { return x.abbreviated(m, abbreviations()[name]) }
}

func (x *match) abbreviated(m *meaning, a abbreviation) bool {
	if !a.clocks {
		return x.setZone(m, zoneText{loc: fixedZone(a.minutes), fixed: true, abbr: &a})
	}
	loc, err := civil.LoadZone(a.home)
	if err != nil {
		m.err = x.p.noZone(err, x.off(), x.stop())
	}
	return x.setZone(m, zoneText{loc: loc})
}

func abbrZone(x *match, m *meaning) bool {
	t := x.tok(0)
	a := abbreviations()[x.p.low[t.off:t.end]]
	if a.other != "" {
		m.err = &refusal{code: fault.CodeAmbiguous, why: fmt.Sprintf("%s is the time of several countries", x.p.text[t.off:t.end]),
			hint: "name the place or the offset",
			off:  int(t.off), end: int(t.end), readings: []string{a.home, a.other}}
	}
	return x.abbreviated(m, a)
}

// noZone returns the refusal of a part of the text that is not the name of a zone.
func (p *parser) noZone(err error, off, end int) *refusal {
	e := asError(err)
	return &refusal{code: e.Code, message: e.Message, hint: e.Hint, say: "-", off: off, end: end, readings: e.Instead}
}

// with joins an offset and a second name of the zone after it: "+0100 CET",
// "+01:00[Europe/Warsaw]". The two must agree at the instant. It reports false when they do not go
// together.
func (z *zoneText) with(other *zoneText) (*zoneText, bool) {
	both := *z
	if z.zulu && !other.utc && other.abbr == nil && other.bracket { // Z[Europe/Warsaw]: RFC 9557
		return &both, z.also == nil
	}
	both.also = other.loc
	// GMT+0100 (CET)
	offset := z.signed || z.zulu || z.fixed && !z.utc && z.abbr == nil && (other.abbr != nil || other.utc)
	return &both, z.also == nil && offset && (!other.signed || z.signed) && !other.zulu
}

// allowsOffset reports whether an offset may follow what was read so far. When a negative offset
// may also be the time at which something ends, the text is ambiguous.
func (m *meaning) allowsOffset(x *meaning, p *parser, begin int) bool {
	c := &m.clock
	if m.has&hasClock == 0 || c.how&clockCompact != 0 && p.toks[begin].mark() == '-' && (!m.day.iso || p.toks[begin+1].digits == 2) {
		return false
	}
	gap := p.toks[begin].gap
	_, offset := time.Time{}.In(x.zone.loc).Zone()
	if !x.zone.colon || offset >= 0 || !m.rangeLike(-offset/60, gap) {
		return true
	}
	clock := strings.TrimSpace(p.text[c.off:c.end])
	if m.err == nil {
		m.err = either("it may be a range or an offset from UTC", int(c.off), x.zone.end, clock, clock+" UTC"+p.text[x.zone.off:x.zone.end])
	}
	return true
}

// rangeLike reports whether a negative offset after a time of day may be the time at which
// something ends. It cannot be one after seconds or a date of ISO 8601. With space before the sign,
// the range must run forwards and no day may be named. Without space, it must last twelve hours at
// most.
func (m *meaning) rangeLike(end int, gap bool) bool {
	c := &m.clock
	begin := c.hour24()%24*60 + int(c.minute)
	switch {
	case c.how&clockExact != 0 || m.day.iso && !gap:
		return false
	case gap:
		return end > begin && m.has&(hasDay|hasSpan) == 0
	}
	lasts := (end - begin + 24*60) % (24 * 60)
	return lasts <= 12*60
}

// check refuses a zone that does not fit the instant: another offset than the zone beside it has,
// or an abbreviation that the clocks do not show then.
func (z *zoneText) check(t time.Time, p *parser) *refusal {
	if z.also != nil {
		_, a := t.In(z.loc).Zone()
		if _, b := t.In(z.also).Zone(); a != b {
			return &refusal{why: "the offset is not that of the zone beside it", hint: "leave one of the two out"}
		}
	}
	if z.shown != "" && !strings.EqualFold(z.shown, t.In(z.loc).Format("MST")) {
		return &refusal{why: "the clocks there do not show " + z.shown + " then", hint: "leave one of the two out"}
	}
	if a := z.abbr; a != nil && a.home != "" {
		home, err := civil.LoadZone(a.home)
		if err != nil {
			return &refusal{why: "the zone is not in the database", hint: "give the offset from UTC"}
		}
		if _, offset := t.In(home).Zone(); offset != a.minutes*60 {
			return either(fmt.Sprintf("clocks do not show %s then", p.text[z.off:z.end]), z.off, z.end, z.loc.String(), a.home)
		}
	}
	return nil
}

// longName returns how many tokens a name such as "(Central European Summer Time)" has, or 0.
// JavaScript writes it after an offset, which decides when the name is not known.
func (p *parser) longName(pos int) int {
	n := pos + 1
	for n < p.n && p.toks[n].mark() == 0 && !p.toks[n].is(cNum) {
		n++
	}
	if p.toks[pos].mark() != '(' || n-pos < 4 || p.toks[n].mark() != ')' || !p.word(n-1, "time") || !p.word(n-2, "standard", "summer", "daylight") {
		return 0
	}
	return n + 1 - pos
}
