package when

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// The time of a place, by the name that people have for it.
func TestPlaceTime(t *testing.T) {
	timetable{
		{"9am Warsaw time", "2026-11-21T09:00:00+01:00"}, {"9AM WARSAW TIME", "2026-11-21T09:00:00+01:00"},
		{"9am London time", "2026-11-21T09:00:00Z"}, {"at 9:30 London time tomorrow", "2026-11-21T09:30:00Z"},
		{"9am New York time", "2026-11-20T09:00:00-05:00"}, {"9am new-york time", "2026-11-20T09:00:00-05:00"},
		{"tomorrow at noon New York time", "2026-11-21T12:00:00-05:00"}, {"New York time 9am", "2026-11-20T09:00:00-05:00"},
		{"9am Tokyo time", "2026-11-21T09:00:00+09:00"}, {"friday 9am Tokyo time", "2026-11-27T09:00:00+09:00"},
		{"2027-03-04 09:00 Tokyo time", "2027-03-04T09:00:00+09:00"}, {"2027-03-04 Tokyo time", "2027-03-04T00:00:00+09:00"},
		{"9am St. John's time", "2026-11-21T09:00:00-03:30"}, {"9am St_Johns time", "2026-11-21T09:00:00-03:30"},
		{"9am Port-au-Prince time", "2026-11-20T09:00:00-05:00"}, {"9am Dar es Salaam time", "2026-11-21T09:00:00+03:00"},
		{"noon Hong Kong time", "2026-11-21T12:00:00+08:00"}, {"9am Buenos Aires time", "2026-11-21T09:00:00-03:00"},
		{"9am Japan time", "2026-11-21T09:00:00+09:00"}, {"quarter past 9 Singapore time", "2026-11-21T09:15:00+08:00"},
		{"9am Europe/Warsaw time", "2026-11-21T09:00:00+01:00"}, {"10:00 UTC time", "2026-11-21T10:00:00Z"}, {"5pm CET time", "2026-11-20T17:00:00+01:00"},
		{"18:00 local time", "2026-11-20T18:00:00+01:00"}, {"9am London time + 1 day", "2026-11-22T09:00:00Z"},
		{"9am in New York", "2026-11-20T09:00:00-05:00"}, {"8pm in London", "2026-11-20T20:00:00Z"}, {"in London at 8pm", "2026-11-20T20:00:00Z"},
		{"friday 27 nov 3pm in berlin", "2026-11-27T15:00:00+01:00"}, {"9am in Tokyo time", "2026-11-21T09:00:00+09:00"},
		{"noon Pacific Standard Time", "2026-11-20T12:00:00-08:00"}, {"10:00 greenwich mean time", "2026-11-21T10:00:00Z"},
		{"in three weeks time", "2026-12-11T14:23:45+01:00"}, // which is not a place
	}.check(t, friday, "Europe/Warsaw", nil)
	s, err := Parse("9am New York time", Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
	if err != nil || s.Zone.String() != "America/New_York" || s.Fixed {
		t.Errorf("on the clocks of %v, fixed %v, %v", s.Zone, s.Fixed, err)
	}
	for text, want := range map[string]string{
		"every day at 9am Tokyo time":              "DTSTART;TZID=Asia/Tokyo:20261120T000000 RRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0",
		"every day at 9am in Tokyo":                "DTSTART;TZID=Asia/Tokyo:20261120T000000 RRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0",
		"weekdays at 9am and 5pm New York time":    "DTSTART;TZID=America/New_York:20261120T000000 RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9,17;BYMINUTE=0;BYSECOND=0",
		"Tokyo time every day at 9am":              "DTSTART;TZID=Asia/Tokyo:20261120T000000 RRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0",
		"every day at 9am Asia/Tokyo time":         "DTSTART;TZID=Asia/Tokyo:20261120T000000 RRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0",
		"every hour between 9am and 5pm Rome time": "DTSTART;TZID=Europe/Rome:20261120T000000 RRULE:FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16,17;BYMINUTE=0;BYSECOND=0",
	} {
		s, err := Parse(text, Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
		if err != nil || s.Canonical != want {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
}

// What may be the time of several places, or of none that is known, is refused with the names to
// type instead.
func TestPlaceRefused(t *testing.T) {
	for _, c := range []struct{ text, code, hint string }{
		{"every day at 9am in Petersburg", fault.CodeAmbiguous, `say "every day at 9am Europe/Moscow" or "every day at 9am America/Indiana/Petersburg"`},
		{"9am Samoa time", fault.CodeAmbiguous, `say "9am Pacific/Apia" or "9am Pacific/Pago_Pago"`},
		{"9am Tokio time", fault.CodeZone, `say "9am Asia/Tokyo"`},
		{"every day at 9am Tokio time", fault.CodeZone, `say "every day at 9am Asia/Tokyo"`},
		{"9am Christmas time", fault.CodeZone, `say "9am Indian/Christmas"`},
		{"9am Xanadu time", fault.CodeZone, "name the area and the city"},
		{"9am New Yrok time", fault.CodeZone, `say "9am America/New_York"`},
		{"9am Warsw time", fault.CodeZone, `say "9am Europe/Warsaw"`},
		{"lunch time", fault.CodeNotUnderstood, "try"},
		{"tomorrow at lunch time", fault.CodeNotUnderstood, `"lunch" is not understood here`},
		{"9am time", fault.CodeNotUnderstood, ""},
		{"9am Warsaw time Tokyo time", fault.CodeNotUnderstood, "leave one of the two out"},
		{"9am Warsaw time UTC", fault.CodeNotUnderstood, "leave one of the two out"},
		{"every day at 9am Warsaw time UTC", fault.CodeNotUnderstood, "leave one of the two out"},
		{"in 2 hours Tokyo time", fault.CodeNotUnderstood, ""},
		{"every 5m Tokyo time", fault.CodeNotUnderstood, ""},
		{"9am Warsaw", fault.CodeNotUnderstood, `say "9am Europe/Warsaw" for the clocks there`},
		{"9am in Samoa", fault.CodeAmbiguous, `say "9am Pacific/Apia" or "9am Pacific/Pago_Pago"`},
		{"9am in Xanadu", fault.CodeNotUnderstood, `"Xanadu" is not understood here`},
		{"tomorrow in London", fault.CodeNotUnderstood, "add the time of day"},
		{"at 9am on friday at Tokyo", fault.CodeNotUnderstood, `say "at 9am on friday Asia/Tokyo" for the clocks there`},
		{"3pm Eastern", fault.CodeNotUnderstood, `say "3pm America/New_York" or "3pm America/Toronto" for the clocks there`},
		{"10:00 Europe/Londn", fault.CodeZone, `did you mean "Europe/London"?`},
		{"9:00 CST", fault.CodeAmbiguous, `say "9:00 America/Chicago" or "9:00 Asia/Shanghai"`},
	} {
		_, err := Parse(c.text, Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
		if err == nil {
			t.Errorf("%q is understood", c.text)
			continue
		}
		e := checkError(t, c.text, err)
		checkOffers(t, c.text, e)
		if e.Code != c.code || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%q: %s: %s | %s", c.text, e.Code, e.Message, e.Hint)
		}
	}
}

// A zone that a text names wrongly is offered in the whole text, with its instant.
func TestZoneCandidates(t *testing.T) {
	for text, want := range map[string][][2]string{
		"10:00 Europe/Londn":               {{"10:00 Europe/London", "2026-11-21T10:00:00Z"}},
		"at 10:00 europe/londn tomorrow":   {{"at 10:00 Europe/London tomorrow", "2026-11-21T10:00:00Z"}},
		"9:00 CST":                         {{"9:00 America/Chicago", "2026-11-20T09:00:00-06:00"}, {"9:00 Asia/Shanghai", "2026-11-21T09:00:00+08:00"}},
		"every day at 9am Europe/Warschau": nil,
		"every day at 9am Europe/Warsau":   {{"every day at 9am Europe/Warsaw", "2026-11-21T09:00:00+01:00"}},
	} {
		_, err := Parse(text, Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
		e := checkError(t, text, err)
		if len(e.Candidates) < len(want) || want == nil && e.Candidates != nil {
			t.Errorf("%q: %+v", text, e.Candidates)
			continue
		}
		for i, c := range want {
			if got := e.Candidates[i]; got.Text != c[0] || !got.At.Equal(clocktest.Instant(t, c[1])) {
				t.Errorf("%q: %+v, want %s", text, got, c)
			}
		}
	}
}

// A place is offered instead of another only when it may be that one, misspelt.
func TestPlacesNotGuessed(t *testing.T) {
	for _, text := range []string{"5pm Boston time", "5pm Mumbai time", "5pm Geneva time", "5pm server time", "noon Europe/Atlantis", "noon Asia/Mumbai", "noon America/Boston",
		"5pm Beijing time", "5pm UK time", "5pm Montreux time", "5pm Bari time", "5pm Oran time", "5pm Davos time", "5pm Atlantis time", "5pm San Francisco time", "every day at 9am Delhi time", "noon Mars/Olympus"} {
		_, err := Parse(text, Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
		if e := checkError(t, text, err); e.Code != fault.CodeZone || len(e.Candidates) > 0 || strings.Contains(e.Hint, `"`) {
			t.Errorf("%q: %s: %s | %+v", text, e.Code, e.Hint, e.Candidates)
		}
	}
}

// Every zone that is called by a place is understood by its name. Where two names of zones share
// one, their clocks agree from now on.
func TestPlaceIndex(t *testing.T) {
	o := Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	for _, name := range strings.Fields(civil.ZoneNames) {
		area, _, far := strings.Cut(name, "/")
		if !far || !slices.Contains(civil.Areas, area) {
			continue
		}
		city := name[strings.LastIndexByte(name, '/')+1:]
		if _, other := otherPlaces()[foldPlace(city)]; other || city == "Jan_Mayen" { // which begins with a month
			continue
		}
		text := "2027-03-04 09:00 " + strings.ReplaceAll(city, "_", " ") + " time"
		s, err := Parse(text, o)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		zone := clocktest.Zone(t, name)
		for at := o.Now; at.Before(o.Now.AddDate(3, 0, 0)); at = at.Add(7 * 24 * time.Hour) {
			if civil.Wall(at, zone) != civil.Wall(at, s.Zone) {
				t.Errorf("%q is read on the clocks of %v, which are not those of %s", text, s.Zone, name)
				break
			}
		}
	}
	for word, zones := range otherPlaces() {
		for _, name := range zones {
			clocktest.Zone(t, name)
		}
		if word != foldPlace(word) || len(zones) == 1 {
			t.Errorf("%q: %v", word, zones)
		}
	}
}

// The name of a zone may have any letter case in a text. The canonical form has it as typed.
func TestZoneCase(t *testing.T) {
	timetable{
		{"10:00 europe/london", "2024-07-22T10:00:00+01:00"}, {"10:00 EUROPE/LONDON", "2024-07-22T10:00:00+01:00"},
		{"tomorrow 10:00 america/new york", "2024-07-23T10:00:00-04:00"}, {"10:00 etc/gmt+5", "2024-07-22T10:00:00-05:00"},
	}.check(t, monday, "Europe/Warsaw", nil)
	o := Options{Now: clocktest.Instant(t, monday), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	const text = "every jan 1 and jul 1 at noon Europe/London"
	if s, err := Parse(text, o); err != nil || s.Canonical != text {
		t.Errorf("%q: %v, %v", text, s, err)
	}
}
