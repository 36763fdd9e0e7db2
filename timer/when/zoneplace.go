package when

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// areas are the first parts of the names of zones that are called by a city or an island.
var areas = []string{"Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"}

// otherPlaces are words that do not mean the zone whose name they are. Those of several places are
// refused with the zones of all of them; those without any are no place beside "time".
var otherPlaces = map[string][]string{
	"eastern": {"America/New_York", "America/Toronto"}, "central": {"America/Chicago", "America/Winnipeg"},
	"mountain": {"America/Denver", "America/Edmonton"}, "pacific": {"America/Los_Angeles", "America/Vancouver"},
	"cordoba": {"Europe/Madrid", "America/Argentina/Cordoba"}, "norfolk": {"America/New_York", "Pacific/Norfolk"},
	"petersburg": {"Europe/Moscow", "America/Indiana/Petersburg"}, "samoa": {"Pacific/Apia", "Pacific/Pago_Pago"},
	"sanjuan": {"America/Puerto_Rico", "America/Argentina/San_Juan"}, "victoria": {"America/Vancouver", "Australia/Melbourne"},
	"act": nil, "center": nil, "christmas": nil, "easter": nil, "north": nil, "south": nil, "wake": nil, "west": nil,
}

// placeIndex maps what people call a place, in its letters alone, to the zones that it may mean. Of
// two names for the clocks of one city it has the first.
var placeIndex = sync.OnceValue(func() map[string][]string {
	index := make(map[string][]string, 500)
	for _, name := range strings.Fields(zoneNames) {
		area, _, far := strings.Cut(name, "/")
		city := ""
		switch {
		case far && slices.Contains(areas, area):
			city = name[strings.LastIndexByte(name, '/')+1:]
		case !far && len(area) > 3 && strings.Trim(area[1:], "abcdefghijklmnopqrstuvwxyz") == "": // Japan
			city = area
		default:
			continue
		}
		if key := foldPlace(city); index[key] == nil {
			index[key] = []string{name}
		}
	}
	for word, zones := range otherPlaces {
		index[word] = zones
	}
	return index
})

// foldPlace leaves the letters of a name: St. John's, St_Johns.
func foldPlace(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// longestPlace is the most tokens that the name of a place has: Port-au-Prince.
const longestPlace = 5

// placeName finds the longest name of a place in the tokens ahead, with the zones that it may mean;
// it has no tokens when there is none.
func (p *parser) placeName() (zones []string, tokens int) {
	if t := p.at(0); t.kind != tWord || t.entry != (entry{}) && t.role != wSuffix { // a word of the grammar is none, but for the St of St. John's
		return nil, 0
	}
	for n := 1; n <= longestPlace; n++ {
		switch t := p.at(n - 1); {
		case t.kind == tWord:
			if found := placeIndex()[foldPlace(p.low[p.at(0).off:t.end])]; found != nil {
				zones, tokens = found, n
			}
		case t.mark != '-' && t.mark != '_' && t.mark != '.':
			return zones, tokens
		}
	}
	return zones, tokens
}

// placeTime reads the time of a place by what people call it: "Warsaw time", "New York time". It
// reports done when the words are that. Behind a time of day (clocked) the time of a place that is
// not known is that, too: it is refused, with places of a name like it.
func (p *parser) placeTime(clocked bool) (loc *time.Location, ok, done bool) {
	zones, n := p.placeName()
	if n == 0 || p.at(n).role != wTime {
		zones, n = nil, 0
		for clocked && n < longestPlace && p.at(n).kind == tWord && p.at(n).entry == (entry{}) {
			n++
		}
		if n == 0 || p.at(n).role != wTime {
			return nil, false, false
		}
	}
	off, end := int(p.at(0).off), int(p.at(n).end)
	name := p.text[off:p.at(n-1).end]
	switch {
	case zones == nil && foldPlace(name) == "local":
		loc = p.opts.Zone
	case len(zones) == 1:
		var err error
		if loc, err = LoadZone(zones[0]); err != nil {
			return nil, p.noZone(err, off, end), true // the machine's own database has it not
		}
	case len(zones) > 1:
		return nil, p.unclear(quoted(p.text[off:end])+" may be that of several places", off, end, zones...), true
	default:
		near := slices.DeleteFunc(nearZones(name), func(zone string) bool { return !strings.Contains(zone, "/") })
		e := &Error{Code: CodeZone, Message: "no time zone is known by the place " + quoted(name)}
		if e.instead = p.understood(p.replaced(off, end, near...)...); e.instead != nil {
			e.Hint = say(e.instead)
		} else {
			e.Hint = fmt.Sprintf("name a place with the same clocks, as in %q, or give", p.replaced(off, end, "Europe/Warsaw")[0])
			e.Options = []string{"tz"}
		}
		if p.err == nil {
			p.err = e
		}
		return nil, false, true
	}
	p.i += n + 1
	return loc, true, true
}

// inPlace are the texts that say by its zones what this one says by a place where it is not
// understood: "9am in Warsaw".
func (p *parser) inPlace() []string {
	from := p.i
	defer func(i int) { p.i = i }(p.i)
	leads := func(i int) bool { return i >= 0 && slices.Contains([]word{wIn, wAt, wOn}, p.toks[i].role) }
	switch {
	case leads(p.i):
		p.i++
	case leads(p.i - 1):
		from--
	}
	zones, n := p.placeName()
	if len(zones) == 0 {
		return nil
	}
	return p.understood(p.replaced(int(p.toks[from].off), int(p.at(n-1).end), zones...)...)
}
