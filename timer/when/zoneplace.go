package when

import (
	"slices"
	"strings"
	"sync"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// otherPlaces returns words that do not mean the zone of that name. A word with several zones is
// refused with all of them. A word with none is not a place before "time".
func otherPlaces() map[string][]string {
	return map[string][]string{
		"eastern": {"America/New_York", "America/Toronto"}, "central": {"America/Chicago", "America/Winnipeg"},
		"mountain": {"America/Denver", "America/Edmonton"}, "pacific": {"America/Los_Angeles", "America/Vancouver"},
		"cordoba": {"Europe/Madrid", "America/Argentina/Cordoba"}, "norfolk": {"America/New_York", "Pacific/Norfolk"},
		"petersburg": {"Europe/Moscow", "America/Indiana/Petersburg"}, "samoa": {"Pacific/Apia", "Pacific/Pago_Pago"},
		"sanjuan": {"America/Puerto_Rico", "America/Argentina/San_Juan"}, "victoria": {"America/Vancouver", "Australia/Melbourne"},
		"act": nil, "center": nil, "christmas": nil, "easter": nil, "north": nil, "south": nil, "wake": nil, "west": nil,
	}
}

// placeIndex maps the name of a place, only its letters, to the zones that it may mean. When two
// names have the clocks of one city, it has the first.
var placeIndex = sync.OnceValue(func() map[string][]string {
	index := make(map[string][]string, 500)
	for _, name := range strings.Fields(civil.ZoneNames) {
		area, _, far := strings.Cut(name, "/")
		city := ""
		switch {
		case far && slices.Contains(civil.Areas, area):
			city = name[strings.LastIndexByte(name, '/')+1:]
		// Japan
		case !far && len(area) > 3 && strings.Trim(area[1:], "abcdefghijklmnopqrstuvwxyz") == "":
			city = area
		default:
			continue
		}
		if key := foldPlace(city); index[key] == nil {
			index[key] = []string{name}
		}
	}
	for word, zones := range otherPlaces() {
		index[word] = zones
	}
	return index
})

// foldPlace returns only the letters of a name, in lower case: St. John's and St_Johns are the
// same.
func foldPlace(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// longestPlace is how many tokens the name of a place may have: Port-au-Prince has five.
const longestPlace = 5

// placeName finds the longest name of a place at token pos, and the zones that it may mean. tokens
// is 0 when there is none.
func (p *parser) placeName(pos int) (zones []string, tokens int) {
	// A word of the grammar is not a place, except for the St of St. John's.
	if t := &p.toks[pos]; t.set&^(cNew|cSuffix) != 0 || t.mark() != 0 {
		return nil, 0
	}
	for n := 1; n <= longestPlace && pos+n <= p.n; n++ {
		switch t := &p.toks[pos+n-1]; {
		case !t.is(cNum) && t.mark() == 0:
			if found := placeIndex()[foldPlace(p.low[p.toks[pos].off:t.end])]; found != nil {
				zones, tokens = found, n
			}
		case t.mark() != '-' && t.mark() != '_' && t.mark() != '.':
			return zones, tokens
		}
	}
	return zones, tokens
}

// readPlace reads the time of a place by its common name: "Warsaw time", "in New York". After a
// time of day (clocked), an unknown place before "time" is read as well: it is refused with similar
// names.
func (p *parser) readPlace(pos int, clocked bool) (end int, m meaning, ok bool) {
	if p.word(pos, "in") {
		zones, n := p.placeName(pos + 1)
		end = pos + 1 + n
		if p.word(end, "time") {
			end++
		}
		if n > 0 {
			m = p.zoneOfPlace(pos, end, zones)
			m.zone.byPlace = true
		}
		return end, m, n > 0
	}
	if !p.timed || !p.toks[pos].is(cNew|cSuffix) && p.toks[pos].set != 0 {
		return 0, m, false
	}
	zones, n := p.placeName(pos)
	if n == 0 || !p.word(pos+n, "time") {
		zones, n = nil, 0
		for clocked && n < longestPlace && p.toks[pos+n].set&^cNew == 0 && p.toks[pos+n].lit >= 128 && p.word(pos+n, "christmas", "new", "st") || clocked && p.toks[pos+n].is(cNew) {
			n++
		}
		if n == 0 || !p.word(pos+n, "time") || p.word(pos, "local", "at", "in", "on", "the", "same", "this") {
			return 0, m, false
		}
	}
	if m = p.zoneOfPlace(pos, pos+n+1, zones); len(zones) == 0 {
		name, off, end := p.text[p.toks[pos].off:p.toks[pos+n-1].end], m.zone.off, m.zone.end
		near := slices.DeleteFunc(civil.NearZones(name), func(zone string) bool { return !strings.Contains(zone, "/") })
		m.err = &refusal{code: fault.CodeZone, message: "no time zone is known by the place " + fault.Quoted(name), off: off, end: end, readings: near,
			hint: "name the area and the city that its clocks have in the IANA database, or give them with", option: "tz"}
	}
	return pos + n + 1, m, true
}

// zoneOfPlace returns the meaning of the tokens that name a place, given its zones.
func (p *parser) zoneOfPlace(begin, end int, zones []string) (m meaning) {
	x := match{p: p, begin: begin, end: end}
	z := zoneText{}
	switch {
	case len(zones) == 1:
		loc, err := civil.LoadZone(zones[0])
		if z.loc = loc; err != nil {
			m.err = p.noZone(err, x.off(), x.stop()) // the database of the machine does not have it
		}
	case len(zones) > 1:
		m.err = either(fault.Quoted(x.text())+" may be that of several places", x.off(), x.stop(), zones...)
	}
	x.setZone(&m, z)
	return m
}

// withZones returns the text with the zone names of a place instead of the place: "9am in Warsaw"
// where that is not understood.
func (p *parser) withZones(pos int) []string {
	from := pos
	switch {
	case p.word(pos, "in", "at", "on"):
		pos++
	case pos > 0 && p.word(pos-1, "in", "at", "on"):
		from--
	}
	zones, n := p.placeName(pos)
	var texts []string
	for _, zone := range zones {
		texts = append(texts, p.text[:p.toks[from].off]+zone+p.text[p.toks[pos+n-1].end:])
	}
	return p.understood(texts...)
}
