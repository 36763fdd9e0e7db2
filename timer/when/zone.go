package when

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // a bare container has no zone database
)

// offsetRange is a range of instants, [start, end) in Unix seconds, in which a zone keeps one
// offset (seconds east).
type offsetRange struct {
	start, end int64
	offset     int64
}

const (
	farPast   = math.MinInt64
	farFuture = math.MaxInt64
)

// offsetRangeAt returns the range around an instant. Go divides a range at New Year after the last
// change in the table of a zone, so it may come in two pieces, and these may overlap.
func offsetRangeAt(unix int64, zone *time.Location) offsetRange {
	if zone == time.UTC {
		return offsetRange{farPast, farFuture, 0}
	}
	t := time.Unix(unix, 0).In(zone)
	_, offset := t.Zone()
	s := offsetRange{farPast, farFuture, int64(offset)}
	from, to := t.ZoneBounds()
	if !from.IsZero() {
		s.start = from.Unix()
	}
	if !to.IsZero() {
		s.end = to.Unix()
	}
	if s.start <= unix && unix < s.end {
		return s
	}
	// https://go.dev/issue/81583: on 31 December of leap years after the last change in the table,
	// the end that Go returns is the start of the day, which is not after t. The offset itself is
	// right, and no zone changes by rule within those days. So this asks for the offset hour by
	// hour until the bounds are right again.
	for probe := unix + 3600; probe < unix+72*3600; probe += 3600 {
		p := time.Unix(probe, 0).In(zone)
		_, o := p.Zone()
		if int64(o) != s.offset {
			return offsetRange{min(s.start, unix), probe, s.offset}
		}
		if from, to := p.ZoneBounds(); to.IsZero() || to.Unix() > probe {
			end := int64(farFuture)
			if !to.IsZero() {
				end = to.Unix()
			}
			return offsetRange{min(s.start, unix, from.Unix()), end, s.offset}
		}
	}
	return offsetRange{min(s.start, unix), unix + 3600, s.offset}
}

// maxOffset is how far a wall time, taken as UTC, can lie from its instant. The largest offset in
// the history of any zone is just below 16 hours.
const maxOffset = 16 * 3600

// instantsOfUnix finds the instants at which the clocks of a zone show wall, both in Unix seconds.
// When n is 0, wall lies in a gap that ends at the instant first, and shift is the length of that
// gap.
func instantsOfUnix(wall int64, zone *time.Location) (first, second int64, n int, shift int64) {
	at := wall - maxOffset
	s := offsetRangeAt(at, zone)
	if s.start == farPast && s.end == farFuture || s.end > wall+maxOffset {
		return wall - s.offset, 0, 1, 0
	}
	for {
		if u := wall - s.offset; s.start <= u && u < s.end {
			switch n++; n {
			case 1:
				first = u
			case 2:
				second = u
			}
		}
		if s.end > wall+maxOffset {
			break
		}
		next := offsetRangeAt(s.end, zone)
		next.start = s.end // ranges may overlap where Go divides them
		if n == 0 && s.end+s.offset <= wall && wall < s.end+next.offset {
			first, shift = s.end, next.offset-s.offset
		}
		s = next
	}
	return first, second, min(n, 2), shift
}

// instantsOf finds the instants at which the clocks of a zone show wall. n is 0 when the clocks
// skip it, 1, or 2 when they repeat it; first is then the earlier one.
func instantsOf(wall time.Time, zone *time.Location) (first, second time.Time, n int) {
	a, b, n, _ := instantsOfUnix(wall.Unix(), zone)
	ns := int64(wall.Nanosecond())
	if n > 0 {
		first = time.Unix(a, ns).In(zone)
	}
	if n > 1 {
		second = time.Unix(b, ns).In(zone)
	}
	return first, second, n
}

// InstantOf returns the instant at which the clocks of a zone show wall, a wall time labelled UTC.
// By RFC 5545 section 3.3.5, a wall time that a clock change skips moves forward by the length of
// the gap, and of one that comes twice the first instant counts.
func InstantOf(wall time.Time, zone *time.Location) time.Time {
	return time.Unix(instantOfUnix(wall.Unix(), zone), int64(wall.Nanosecond())).In(zone)
}

func instantOfUnix(wall int64, zone *time.Location) int64 {
	first, _, n, shift := instantsOfUnix(wall, zone)
	if n > 0 {
		return first
	}
	// The offset before the gap is the one after it less the length of the gap.
	_, after := time.Unix(first, 0).In(zone).Zone()
	return wall - (int64(after) - shift)
}

// wallTime returns what the clocks of a zone show at t, labelled UTC.
func wallTime(t time.Time, zone *time.Location) time.Time {
	_, offset := t.In(zone).Zone()
	return time.Unix(t.Unix()+int64(offset), int64(t.Nanosecond())).UTC()
}

// midnight returns the beginning of the day of a wall time, and civilDate the beginning of a day.
// Months and days beyond their range carry over.
func midnight(wall time.Time) time.Time { return civilDate(wall.Date()) }

func civilDate(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

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

// zones are the zones that were read, by name. Only existing names get there, so their number is
// bounded.
var zones sync.Map

// readZone is LoadZone for a zone that was not read before.
func readZone(name string) (*time.Location, error) {
	refuse := func(message, hint string, instead ...string) (*time.Location, error) {
		return nil, &Error{Code: CodeZone, Message: message, Hint: hint, instead: instead}
	}
	if name == "" {
		return refuse("the time zone is empty", "give a name of the IANA database: an area and a city, with a slash between them")
	}
	if len(name) > 64 {
		return refuse("the time zone is too long to be a name", "give a name of the IANA database: an area and a city, with a slash between them")
	}
	if isZone(name) {
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
	near := nearZones(name)
	return refuse(unknown, zoneHint(near), near...)
}

// zoneHint returns the hint for a name that is not a zone. It offers similar names.
func zoneHint(near []string) string {
	if len(near) == 0 {
		return "give a name of the IANA database: an area and a city, with a slash between them"
	}
	return "did you mean " + quotedOr(near) + "?"
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

// isZone reports whether a zone has exactly this name. Most names are, and then the index is not
// needed.
func isZone(name string) bool {
	for known := range strings.FieldsSeq(zoneNames) {
		if known == name {
			return true
		}
	}
	return false
}

// zoneIndex maps names to the right ones, regardless of case, spaces and underscores.
var zoneIndex = sync.OnceValue(func() map[string]string {
	names := strings.Fields(zoneNames)
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

// nearZones returns at most three zones whose name or city is the one given, but for a slip. An
// area that is named must be right: Europe/Atlantis is not Canada/Atlantic. Beside it, a long city
// may have two slips. A short city without one may have none.
func nearZones(name string) []string {
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
		case area == strings.ToLower(rightArea), area == "" && len(wantCity) >= 5 && wantCity[0] == rightCity[0] && slices.Contains(areas, rightArea) && rightArea != "Antarctica":
			most = 1
		}
		switch far := typos(wantCity, rightCity); {
		case far <= most:
			found = append(found, near{right, far})
		case area != "" && typos(want, folded) == 1: // Europ/Warsaw
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

// slips returns the edit distance of two words, or limit+1 when it is above limit.
func slips(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	var short [48]int // enough for any word
	row := append(short[:0], make([]int, len(b)+1)...)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, best := row[0], limit+1
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
			best = min(best, cost)
		}
		if best > limit {
			return limit + 1
		}
	}
	return min(row[len(b)], limit+1)
}
