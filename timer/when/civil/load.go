package civil

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// LoadZone loads a zone by its exact IANA name, or "UTC". A name that Go would silently take for
// UTC or for the zone of the machine is refused, and so is every name that is not a zone. The error
// has CodeZone and similar names to type instead.
//
// Each process reads a zone once, and keeps its rules as they were then.
func LoadZone(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	zone, err := readZone(name)
	if err == nil {
		zones.Store(name, zone)
	}
	return zone, err
}

// LoadZoneAnyCase is LoadZone for a name whose letter case does not matter.
func LoadZoneAnyCase(name string) (*time.Location, error) {
	zone, err := LoadZone(name)
	if err != nil {
		if right := zoneIndex()[foldZone(name)]; strings.EqualFold(right, name) {
			return LoadZone(right)
		}
	}
	return zone, err
}

// zones are the zones that were read, by name. Only existing names get there, so their number is
// bounded.
var zones sync.Map

// readZone is LoadZone for a zone that was not read before.
func readZone(name string) (*time.Location, error) {
	refuse := func(message, hint string, instead ...string) (*time.Location, error) {
		return nil, &fault.Error{Code: fault.CodeZone, Message: message, Hint: hint, Instead: instead}
	}
	if name == "" {
		return refuse("the time zone is empty", "give a name of the IANA database: an area and a city, with a slash between them")
	}
	if len(name) > 64 {
		return refuse("the time zone is too long to be a name", "give a name of the IANA database: an area and a city, with a slash between them")
	}
	if IsZone(name) {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	unknown := fmt.Sprintf("unknown time zone %q", name)
	index := zoneIndex()
	if right, ok := index[foldZone(name)]; ok && right != name {
		return refuse(unknown, fmt.Sprintf("did you mean %q?", right), right)
	}
	for _, prefix := range []string{":", "posix/", "right/", "/usr/share/zoneinfo/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if right, ok := index[foldZone(rest)]; ok {
				return refuse(unknown, fmt.Sprintf("type the bare name, %q", right), right)
			}
		}
	}
	if index[foldZone(name)] != name {
		if hint := offsetHint(name); hint != "" {
			return refuse(unknown, hint)
		}
		if strings.ContainsAny(name, ",<>") || isPOSIX(name) {
			return refuse(unknown+": rules written out are not read",
				"name the place instead, by its area and city in the IANA database")
		}
	}
	if plainZoneName(name) { // a name of a newer database
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	near := NearZones(name)
	return refuse(unknown, zoneHint(near), near...)
}

// zoneHint returns the hint for a name that is not a zone. It offers similar names.
func zoneHint(near []string) string {
	if len(near) == 0 {
		return "give a name of the IANA database: an area and a city, with a slash between them"
	}
	return "did you mean " + fault.QuotedOr(near) + "?"
}

// plainZoneName reports whether a name may be given to time.LoadLocation. It keeps away paths,
// hidden files and the other files of a zone folder.
func plainZoneName(name string) bool {
	switch name {
	case "Local", "localtime", "posixrules", "Factory":
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "posix" || part == "right" || part[0] < 'A' || part[0] > 'Z' {
			return false
		}
		for _, c := range []byte(part) {
			switch {
			case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '+':
			default:
				return false
			}
		}
	}
	return true
}

// isPOSIX reports whether a name is a TZ value such as CET-1CEST: three or more letters, then an
// offset.
func isPOSIX(name string) bool {
	letters := strings.TrimLeft(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz")
	if len(name)-len(letters) < 3 || letters == "" {
		return false
	}
	return strings.ContainsRune("+-0123456789", rune(letters[0])) && !strings.Contains(name, "/")
}

// offsetHint returns a hint for "UTC+2", "GMT-5" and "+02:00". In Etc names the sign is reversed,
// as in POSIX.
func offsetHint(name string) string {
	rest := strings.ToUpper(name)
	for _, prefix := range []string{"UTC", "GMT"} {
		rest = strings.TrimPrefix(rest, prefix)
	}
	if len(rest) < 2 || rest[0] != '+' && rest[0] != '-' {
		return ""
	}
	hours := 0
	digits := strings.TrimSuffix(strings.TrimSuffix(rest[1:], "00"), ":")
	if digits == "" || len(digits) > 2 {
		return "name the place instead, by its area and city in the IANA database"
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return ""
		}
		hours = hours*10 + int(c-'0')
	}
	sign := "-"
	if rest[0] == '-' {
		sign = "+"
	}
	if right := fmt.Sprintf("Etc/GMT%s%d", sign, hours); zoneIndex()[foldZone(right)] == right {
		return fmt.Sprintf("%d hours %s of UTC is %q (the sign is reversed in these names), or name the place", hours,
			map[string]string{"-": "east", "+": "west"}[sign], right)
	}
	return ""
}

// IsZone reports whether a zone has exactly this name. Most names are, and then the index is not
// needed.
func IsZone(name string) bool {
	for known := range strings.FieldsSeq(ZoneNames) {
		if known == name {
			return true
		}
	}
	return false
}

// zoneIndex maps names to the right ones, regardless of case, spaces and underscores.
var zoneIndex = sync.OnceValue(func() map[string]string {
	names := strings.Fields(ZoneNames)
	index := make(map[string]string, len(names))
	for _, name := range names {
		index[foldZone(name)] = name
	}
	return index
})

func foldZone(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' {
			return '_'
		}
		return r
	}, strings.ToLower(name))
}

// NearZones returns at most three zones whose name or city is the one given, but for a slip. An
// area that is named must be right: Europe/Atlantis is not Canada/Atlantic. Beside it, a long city
// may have two slips. A short city without one may have none.
func NearZones(name string) []string {
	type near struct {
		name string
		far  int
	}
	want := foldZone(strings.Trim(name, "/. "))
	area, city, far := strings.Cut(want, "/")
	if !far {
		area, city = "", want
	}
	wantCity := city[strings.LastIndexByte(city, '/')+1:]
	if len(wantCity) < 3 {
		return nil
	}
	var found []near
	for folded, right := range zoneIndex() {
		rightArea, _, _ := strings.Cut(right, "/")
		rightCity := folded[strings.LastIndexByte(folded, '/')+1:]
		most := 0
		switch {
		case area == strings.ToLower(rightArea) && len(wantCity) >= 8 && wantCity[0] == rightCity[0]:
			most = 2
		case area == strings.ToLower(rightArea), area == "" && len(wantCity) >= 5 && wantCity[0] == rightCity[0] && slices.Contains(Areas, rightArea) && rightArea != "Antarctica":
			most = 1
		}
		switch far := plain.Distance(wantCity, rightCity, 2); {
		case far <= most:
			found = append(found, near{right, far})
		case area != "" && plain.Distance(want, folded, 1) == 1: // Europ/Warsaw
			found = append(found, near{right, 1})
		}
	}
	sort.Slice(found, func(i, j int) bool {
		if found[i].far != found[j].far {
			return found[i].far < found[j].far
		}
		return found[i].name < found[j].name
	})
	var names []string
	for _, f := range found[:min(3, len(found))] {
		names = append(names, f.name)
	}
	return names
}

// Areas are the first parts of the zone names that end in a city or an island.
var Areas = []string{"Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"}
