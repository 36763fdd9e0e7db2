package recur

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	rrule "github.com/teambition/rrule-go"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

func TestRRuleTimetable(t *testing.T) {
	for _, c := range []struct{ name, zone, rule, start, from, want string }{
		{"gap moves forward by its length", "Europe/Warsaw", "FREQ=DAILY", "2026-03-27T02:30:00+01:00", "2026-03-28T12:00:00Z",
			"03-29T03:30:00+02:00 03-30T02:30:00+02:00"},
		{"two readings fall on one instant", "Europe/Warsaw", "FREQ=DAILY;BYHOUR=2,3", "2026-03-27T02:30:00+01:00",
			"2026-03-28T12:00:00Z", "03-29T03:30:00+02:00 03-30T02:30:00+02:00"},
		{"moved readings stay in order", "Europe/Warsaw", "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=10,50", "2026-03-27T02:10:00+01:00",
			"2026-03-29T00:00:00Z", "03-29T03:10:00+02:00 03-29T03:50:00+02:00 03-30T02:10:00+02:00"},
		{"a later reading may come first", "Europe/Warsaw", "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=50;BYSETPOS=1,2",
			"2026-03-29T00:00:00+01:00", "2026-03-29T00:00:00Z", "03-29T03:50:00+02:00 03-30T02:50:00+02:00"},
		{"between a reading of the gap and its place", "Europe/Warsaw", "FREQ=DAILY;BYHOUR=2;BYMINUTE=10,50",
			"2026-03-27T00:00:00+01:00", "2026-03-29T01:30:00Z", "03-29T03:50:00+02:00 03-30T02:10:00+02:00"},
		{"repeated: first pass", "Europe/Warsaw", "FREQ=DAILY", "2026-10-20T02:30:00+02:00", "2026-10-24T12:00:00Z",
			"10-25T02:30:00+02:00 10-26T02:30:00+01:00"},
		{"asked between the passes", "Europe/Warsaw", "FREQ=DAILY", "2026-10-20T02:30:00+02:00", "2026-10-25T00:45:00Z",
			"10-26T02:30:00+01:00"},
		{"half an hour", "Australia/Lord_Howe", "FREQ=DAILY", "2026-10-01T02:15:00+10:30", "2026-10-03T12:00:00Z",
			"10-04T02:45:00+11:00 10-05T02:15:00+11:00"},
		{"midnight", "America/Sao_Paulo", "FREQ=WEEKLY;BYDAY=SU;BYHOUR=0", "2017-10-01T00:00:00-03:00", "2017-10-14T00:00:00Z",
			"10-15T01:00:00-02:00 10-22T00:00:00-02:00"},
		{"skipped day falls on the next", "Pacific/Apia", "FREQ=DAILY", "2011-12-28T09:00:00-10:00", "2011-12-29T00:00:00-10:00",
			"12-29T09:00:00-10:00 12-31T09:00:00+14:00 01-01T09:00:00+14:00"},
		{"hours are elapsed", "Europe/Warsaw", "FREQ=HOURLY;INTERVAL=3", "2026-03-29T00:00:00+01:00", "2026-03-28T22:00:00Z",
			"03-29T00:00:00+01:00 03-29T04:00:00+02:00 03-29T07:00:00+02:00"},
		{"hours with BY parts are read off the wall", "Europe/Warsaw", "FREQ=HOURLY;INTERVAL=3;BYMINUTE=0", "2026-03-29T00:00:00+01:00",
			"2026-03-28T22:00:00Z", "03-29T00:00:00+01:00 03-29T03:00:00+02:00 03-29T06:00:00+02:00"},
		{"weekdays in office hours", "Europe/Warsaw", "FREQ=MINUTELY;INTERVAL=20;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9,10", "2026-11-20T09:00:00+01:00",
			"2026-11-20T10:30:00+01:00", "11-20T10:40:00+01:00 11-23T09:00:00+01:00 11-23T09:20:00+01:00"},
		{"hours that meet BYHOUR every other day", "UTC", "FREQ=HOURLY;INTERVAL=16;BYHOUR=8", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z",
			"01-02T08:00:00+00:00 01-04T08:00:00+00:00"},
		{"days of seconds", "UTC", "FREQ=SECONDLY;INTERVAL=86399;BYHOUR=23", "2026-01-01T23:59:58Z", "2026-01-01T23:59:58Z",
			"01-02T23:59:57+00:00 01-03T23:59:56+00:00"},
		{"steps of five days", "UTC", "FREQ=SECONDLY;INTERVAL=432000;BYMONTHDAY=1", "2026-01-01T09:00:00Z", "2026-01-01T09:00:00Z",
			"04-01T09:00:00+00:00 05-01T09:00:00+00:00"},
		{"each hour picks its last", "UTC", "FREQ=HOURLY;BYMINUTE=0,20,40;BYSETPOS=-1", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z",
			"01-01T00:40:00+00:00 01-01T01:40:00+00:00"},
		{"COUNT counts readings", "Europe/Warsaw", "FREQ=DAILY;COUNT=3", "2026-03-28T02:30:00+01:00", "2026-03-28T00:00:00Z",
			"03-28T02:30:00+01:00 03-29T03:30:00+02:00 03-30T02:30:00+02:00 end"},
		{"COUNT of elapsed hours", "UTC", "FREQ=HOURLY;INTERVAL=5;COUNT=2", "2026-01-01T00:00:00Z", "2025-01-01T00:00:00Z",
			"01-01T00:00:00+00:00 01-01T05:00:00+00:00 end"},
		{"UNTIL is inclusive", "UTC", "FREQ=DAILY;UNTIL=20260102T090000Z", "2026-01-01T09:00:00Z", "2026-01-01T09:00:00Z",
			"01-02T09:00:00+00:00 end"},
		{"UNTIL a day is the whole of it", "Europe/Warsaw", "FREQ=DAILY;UNTIL=20260102", "2026-01-01T23:30:00+01:00", "2026-01-01T23:30:00+01:00",
			"01-02T23:30:00+01:00 end"},
		{"UNTIL in local time", "America/New_York", "FREQ=DAILY;UNTIL=20260102T090000", "2026-01-01T09:00:00-05:00", "2026-01-01T15:00:00Z",
			"01-02T09:00:00-05:00 end"},
		{"a fraction of DTSTART is dropped", "UTC", "FREQ=DAILY", "2026-01-01T09:00:00.75Z", "2026-01-01T09:00:00.75Z", "01-02T09:00:00+00:00"},
		{"plain and numbered weekdays together", "UTC", "FREQ=MONTHLY;BYDAY=FR,1MO", "2026-01-01T09:00:00Z", "2026-01-01T09:00:00Z",
			"01-02T09:00:00+00:00 01-05T09:00:00+00:00 01-09T09:00:00+00:00"},
		{"the last weekday of the year", "UTC", "FREQ=YEARLY;BYDAY=-1FR", "2026-01-01T09:00:00Z", "2026-01-01T09:00:00Z",
			"12-25T09:00:00+00:00 12-31T09:00:00+00:00"},
		{"week 1 begins in the old year", "UTC", "FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO", "2024-01-01T09:00:00Z", "2024-02-01T09:00:00Z",
			"12-30T09:00:00+00:00 12-29T09:00:00+00:00 01-04T09:00:00+00:00"},
		{"week 53 ends in the new year", "UTC", "FREQ=YEARLY;BYWEEKNO=53;BYDAY=SU", "2020-01-01T09:00:00Z", "2020-02-01T09:00:00Z",
			"01-03T09:00:00+00:00 01-03T09:00:00+00:00"},
		{"the last week, also of the year before", "UTC", "FREQ=YEARLY;BYWEEKNO=-1;BYDAY=FR", "2020-06-01T09:00:00Z", "2020-06-01T09:00:00Z",
			"01-01T09:00:00+00:00 12-31T09:00:00+00:00 12-30T09:00:00+00:00"},
		{"a week has the weekday of DTSTART", "UTC", "FREQ=YEARLY;BYWEEKNO=20", "2026-01-07T09:00:00Z", "2026-01-07T09:00:00Z",
			"05-13T09:00:00+00:00 05-19T09:00:00+00:00"},
		{"WKST decides which weeks", "UTC", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU", "1997-08-05T09:00:00Z", "1997-08-05T09:00:00Z",
			"08-17T09:00:00+00:00 08-19T09:00:00+00:00 08-31T09:00:00+00:00"},
		{"second 60 is the 59th", "UTC", "FREQ=DAILY;BYSECOND=60", "2026-01-01T09:00:00Z", "2026-01-01T09:00:00Z", "01-01T09:00:59+00:00"},
		{"leap day on a Monday, across 2100", "UTC", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "2072-03-01T09:00:00Z", "2089-01-01T00:00:00Z",
			"02-29T09:00:00+00:00"},
		{"huge INTERVAL", "UTC", "FREQ=YEARLY;INTERVAL=2147483647", "2026-01-01T09:00:00Z", "2025-01-01T00:00:00Z", "01-01T09:00:00+00:00 end"},
		{"an old start", "UTC", "FREQ=DAILY;INTERVAL=7", "1600-01-01T09:00:00Z", "2026-11-20T00:00:00Z", "11-21T09:00:00+00:00"},
		{"DTSTART in its own zone", "Europe/Warsaw", "DTSTART;TZID=America/New_York:20260301T090000 RRULE:FREQ=WEEKLY", "2026-01-01T00:00:00Z",
			"2026-03-03T00:00:00Z", "03-08T14:00:00+01:00 03-15T14:00:00+01:00 03-22T14:00:00+01:00 03-29T15:00:00+02:00"},
		{"DTSTART in UTC stays there", "Europe/Warsaw", "DTSTART:20260301T090000Z\nRRULE:FREQ=MONTHLY", "2026-01-01T00:00:00Z",
			"2026-03-03T00:00:00Z", "04-01T11:00:00+02:00"},
		{"DTSTART a date", "Europe/Warsaw", "DTSTART;VALUE=DATE:20260301 FREQ=DAILY", "2026-01-01T00:00:00Z",
			"2026-01-03T00:00:00Z", "03-01T00:00:00+01:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			zone := clocktest.Zone(t, c.zone)
			r, _, _, err := parseRRule(c.rule, clocktest.Instant(t, c.start), zone)
			if err != nil {
				t.Fatalf("%v", err)
			}
			if got := nextStamps(t, r, clocktest.Instant(t, c.from), zone, len(strings.Fields(c.want))); got != c.want {
				t.Errorf("%s from %s:\n got %s\nwant %s", c.rule, c.from, got, c.want)
			}
		})
	}
}

func TestRRuleCanonical(t *testing.T) {
	start := clocktest.Instant(t, "2026-01-01T09:00:00Z")
	for _, c := range []struct{ text, want string }{
		{"freq=daily", "FREQ=DAILY"},
		{"RRULE:BYDAY=mo,+2TU,-1fr,MO;FREQ=MONTHLY;INTERVAL=01", "FREQ=MONTHLY;BYDAY=MO,2TU,-1FR"},
		{"rrule: freq=weekly; byday=mo, th; wkst=su", "FREQ=WEEKLY;WKST=SU;BYDAY=MO,TH"},
		{"FREQ=YEARLY;BYMONTH=3,1,3;BYMONTHDAY=-1,15", "FREQ=YEARLY;BYMONTH=1,3;BYMONTHDAY=-1,15"},
		{"dtstart;tzid=Europe/Warsaw:20260104t090000\nrrule:freq=daily;until=20270101t000000z",
			"DTSTART;TZID=Europe/Warsaw:20260104T090000 RRULE:FREQ=DAILY;UNTIL=20270101T000000Z"},
	} {
		_, got, _, err := parseRRule(c.text, start, time.UTC)
		if err != nil || got != c.want {
			t.Errorf("%q: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

func TestRRuleRefused(t *testing.T) {
	start := clocktest.Instant(t, "2026-01-01T09:00:00Z")
	list := func(n int) string {
		var all []string
		for v := range n {
			all = append(all, fmt.Sprint(v))
		}
		return strings.Join(all, ",")
	}
	for _, c := range []struct{ text, code, message string }{
		{"", fault.CodeNotUnderstood, "no rule"},
		{"RRULE:", fault.CodeNotUnderstood, "no rule"},
		{"DAILY", fault.CodeNotUnderstood, "NAME=VALUE"},
		{"INTERVAL=2", fault.CodeNotUnderstood, "FREQ is missing"},
		{"FREQ=FORTNIGHTLY", fault.CodeNotUnderstood, "FREQ=FORTNIGHTLY"},
		{"FREQ=DAILY;;COUNT=1", fault.CodeNotUnderstood, "NAME=VALUE"},
		{"FREQ=DAILY;", fault.CodeNotUnderstood, "NAME=VALUE"},
		{"FREQ=DAILY;BANANA=1", fault.CodeNotUnderstood, "BANANA"},
		{"FREQ=DAILY banana", fault.CodeNotUnderstood, "left over"},
		{"FREQ=DAILY\nFREQ=DAILY", fault.CodeNotUnderstood, "left over"},
		{"FREQ=DAILY;INTERVAL=0", fault.CodeNotUnderstood, "INTERVAL"},
		{"FREQ=DAILY;INTERVAL=-1", fault.CodeNotUnderstood, "INTERVAL"},
		{"FREQ=DAILY;INTERVAL=99999999999999999999", fault.CodeNotUnderstood, "INTERVAL"},
		{"FREQ=HOURLY;INTERVAL=2147483647", fault.CodeNotUnderstood, "292 years"},
		{"FREQ=DAILY;COUNT=0", fault.CodeNotUnderstood, "COUNT"},
		{"FREQ=DAILY;COUNT=-1", fault.CodeNotUnderstood, "COUNT"},
		{"FREQ=DAILY;COUNT=10001", fault.CodeLimit, "COUNT"},
		{"FREQ=YEARLY;COUNT=2000", fault.CodeLimit, "COUNT"},
		{"FREQ=HOURLY;BYMINUTE=0;COUNT=1001", fault.CodeLimit, "COUNT"},
		{"FREQ=DAILY;COUNT=2;UNTIL=20270101T000000Z", fault.CodeNotUnderstood, "exclude each other"},
		{"FREQ=DAILY;BYHOUR=9;BYHOUR=10", fault.CodeNotUnderstood, "twice"},
		{"FREQ=DAILY;BYHOUR=24", fault.CodeNotUnderstood, "BYHOUR"},
		{"FREQ=DAILY;BYHOUR=-1", fault.CodeNotUnderstood, "BYHOUR"},
		{"FREQ=DAILY;BYMINUTE=60", fault.CodeNotUnderstood, "BYMINUTE"},
		{"FREQ=DAILY;BYSECOND=61", fault.CodeNotUnderstood, "BYSECOND"},
		{"FREQ=DAILY;BYHOUR=", fault.CodeNotUnderstood, "NAME=VALUE"},
		{"FREQ=DAILY;BYHOUR=1,,2", fault.CodeNotUnderstood, "BYHOUR"},
		{"FREQ=YEARLY;BYMONTHDAY=0", fault.CodeNotUnderstood, "BYMONTHDAY"},
		{"FREQ=YEARLY;BYMONTHDAY=+-1", fault.CodeNotUnderstood, "BYMONTHDAY"},
		{"FREQ=YEARLY;BYWEEKNO=54", fault.CodeNotUnderstood, "BYWEEKNO"},
		{"FREQ=YEARLY;BYYEARDAY=367", fault.CodeNotUnderstood, "BYYEARDAY"},
		{"FREQ=MONTHLY;BYDAY=6MO", fault.CodeNotUnderstood, "five"},
		{"FREQ=YEARLY;BYMONTH=1;BYDAY=-53MO", fault.CodeNotUnderstood, "five"},
		{"FREQ=YEARLY;BYDAY=54MO", fault.CodeNotUnderstood, "BYDAY"},
		{"FREQ=YEARLY;BYDAY=0MO", fault.CodeNotUnderstood, "BYDAY"},
		{"FREQ=YEARLY;BYDAY=XX", fault.CodeNotUnderstood, "BYDAY"},
		{"FREQ=WEEKLY;WKST=MONDAY", fault.CodeNotUnderstood, "WKST"},
		{"FREQ=MONTHLY;BYWEEKNO=5", fault.CodeNotUnderstood, "BYWEEKNO"},
		{"FREQ=DAILY;BYYEARDAY=5", fault.CodeNotUnderstood, "BYYEARDAY"},
		{"FREQ=WEEKLY;BYMONTHDAY=5", fault.CodeNotUnderstood, "BYMONTHDAY"},
		{"FREQ=WEEKLY;BYDAY=1MO", fault.CodeNotUnderstood, "numbered"},
		{"FREQ=HOURLY;BYDAY=1MO", fault.CodeNotUnderstood, "numbered"},
		{"FREQ=YEARLY;BYWEEKNO=3;BYDAY=1MO", fault.CodeNotUnderstood, "numbered"},
		{"FREQ=DAILY;BYSETPOS=1", fault.CodeNotUnderstood, "BYSETPOS"},
		{"FREQ=DAILY;UNTIL=tomorrow", fault.CodeNotUnderstood, "UNTIL"},
		{"FREQ=DAILY;UNTIL=20260230", fault.CodeNotUnderstood, "UNTIL"},
		{"FREQ=DAILY;UNTIL=20251231T000000Z", fault.CodeNever, "never comes"},
		{"FREQ=MONTHLY;BYMONTH=4;BYMONTHDAY=31", fault.CodeNever, "never comes"},
		{"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", fault.CodeNever, "never comes"},
		{"FREQ=HOURLY;INTERVAL=2;BYHOUR=2", fault.CodeNever, "never comes"},
		{"FREQ=MINUTELY;INTERVAL=60;BYMINUTE=30", fault.CodeNever, "never comes"},
		{"FREQ=SECONDLY;INTERVAL=7200;BYHOUR=0;BYMINUTE=0;BYSECOND=0", fault.CodeNever, "never comes"},
		{"FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30", fault.CodeNever, "never comes"},
		{"FREQ=SECONDLY;INTERVAL=86400;BYHOUR=1", fault.CodeNever, "never comes"},
		{"FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6", fault.CodeNever, "never comes"},
		{"FREQ=YEARLY;BYYEARDAY=366;BYSETPOS=2", fault.CodeNever, "never comes"},
		{"FREQ=WEEKLY;INTERVAL=2000000000;BYMONTH=2;BYDAY=MO", fault.CodeNever, "never comes"},
		{"FREQ=YEARLY;BYMONTHDAY=1;BYMINUTE=" + list(60) + ";BYSECOND=" + list(60), fault.CodeNotUnderstood, "instants in one period"},
		{"FREQ=DAILY;BYHOUR=" + strings.Repeat("1,", 1000) + "1", fault.CodeLimit, "longer than"},
		{"DTSTART:20260101 DTSTART:20260101 FREQ=DAILY", fault.CodeNotUnderstood, "twice"},
		{"DTSTART;TZID=CET-1CEST:20260101T090000 FREQ=DAILY", fault.CodeZone, "CET-1CEST"},
		{"DTSTART;TZID=Europe/Warsaw:20260101T090000Z FREQ=DAILY", fault.CodeNotUnderstood, "both"},
		{"DTSTART;VALUE=DATE:20260101T090000 FREQ=DAILY", fault.CodeNotUnderstood, "not a date"},
		{"DTSTART;X=1:20260101T090000 FREQ=DAILY", fault.CodeNotUnderstood, "X=1"},
		{"DTSTART;TZID=\xaa", fault.CodeNotUnderstood, "that no rule has"}, // capitals are longer: found by the fuzzer
		{"DTSTART;VALUE=DATE-TIME:20260101 FREQ=DAILY;UNTIL=20251231T235959", fault.CodeNever, "never comes"},
		{"DTSTART;TZID=UTC;TZID=UTC:20260101T090000 FREQ=DAILY", fault.CodeNotUnderstood, "TZID=UTC"},
		{"DTSTART:2026-01-01 FREQ=DAILY", fault.CodeNotUnderstood, "DTSTART has"},
		{"DTSTART FREQ=DAILY", fault.CodeNotUnderstood, ""},
		{"FREQ=DAILY\nEXDATE:20260101T090000Z", fault.CodeNotUnderstood, "EXDATE is not read"},
	} {
		_, _, _, err := parseRRule(c.text, start, time.UTC)
		e, ok := err.(*fault.Error)
		if !ok || e.Code != c.code || !strings.Contains(e.Message, c.message) || e.Hint == "" {
			t.Errorf("%.60q: %#v; want %s with %q", c.text, err, c.code, c.message)
		}
	}
}

func TestLooksLikeRRule(t *testing.T) {
	for text, want := range map[string]bool{
		"FREQ=DAILY": true, " rrule:freq=daily": true, "INTERVAL=2;FREQ=DAILY": true, "DTSTART:20260101T000000Z\nRRULE:FREQ=DAILY": true,
		"daily": false, "0 9 * * *": false, "every day": false, "": false,
	} {
		if got := LooksLikeRRule(text); got != want {
			t.Errorf("looksLikeRRule(%q) = %v", text, got)
		}
	}
}

// randomRule writes a rule of the kinds that rrule-go gets right: DAILY and coarser, no weeks of the year, plain or
// numbered weekdays but not both.
func randomRule(rng *rand.Rand) string {
	freq := frequencies[rng.IntN(4)]
	text := "FREQ=" + freq
	if rng.IntN(2) == 0 {
		text += fmt.Sprintf(";INTERVAL=%d", 1+rng.IntN(5))
	}
	list := func(name string, low, high int, negative bool) {
		if rng.IntN(3) > 0 {
			return
		}
		var words []string
		for range 1 + rng.IntN(3) {
			v := low + rng.IntN(high-low+1)
			if negative && rng.IntN(3) == 0 {
				v = -v
			}
			if w := fmt.Sprint(v); !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
		text += ";" + name + "=" + strings.Join(words, ",")
	}
	list("BYMONTH", 1, 12, false)
	if freq == "YEARLY" {
		list("BYYEARDAY", 1, 366, true)
	}
	if freq != "WEEKLY" {
		list("BYMONTHDAY", 1, 31, true)
	}
	if rng.IntN(3) == 0 {
		var words []string
		numbered := (freq == "YEARLY" || freq == "MONTHLY") && rng.IntN(2) == 0
		for range 1 + rng.IntN(3) {
			w := weekdayCodes[rng.IntN(7)]
			if numbered {
				w = []string{"1", "2", "3", "4", "5", "-1", "-2", "-5"}[rng.IntN(8)] + w
			}
			if !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
		text += ";BYDAY=" + strings.Join(words, ",")
	}
	list("BYHOUR", 0, 23, false)
	list("BYMINUTE", 0, 59, false)
	// The library takes the first week from DTSTART on, not from its begin, so BYSETPOS differs there.
	if strings.Contains(text, "BY") && freq != "WEEKLY" && rng.IntN(4) == 0 {
		list("BYSETPOS", 1, 4, true)
	}
	if rng.IntN(4) == 0 {
		text += ";WKST=" + weekdayCodes[rng.IntN(7)]
	}
	return text
}

// The library, walked from DTSTART, and the periods it is asked for here agree.
func TestRRuleAgainstTheLibrary(t *testing.T) {
	clocktest.Alone(t)
	rng := rand.New(rand.NewPCG(3, 4))
	tested := 0
	for range 1500 {
		text := randomRule(rng)
		start := time.Date(1997+rng.IntN(40), time.Month(1+rng.IntN(12)), 1+rng.IntN(31), rng.IntN(24), rng.IntN(60), rng.IntN(60), 0, time.UTC)
		r, _, _, err := parseRRule(text, start, time.UTC)
		if err != nil {
			if err.(*fault.Error).Code != fault.CodeNever {
				t.Fatalf("%s: %v", text, err)
			}
			continue // the library would look until the year 9999
		}
		option, err := rrule.StrToROption(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		option.Dtstart = start
		library, err := rrule.NewRRule(*option)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		tested++
		walk, at := library.Iterator(), start.Add(-1)
		for i := range 25 {
			next, ok := r.Next(at)
			if !ok || next.Year() > 2250 {
				break // the library ends some 290 years after DTSTART
			}
			if want, _ := walk(); !next.Equal(want) {
				t.Fatalf("%s from %s: number %d is %s, want %s", text, start, i, next, want)
			}
			at = next
		}
	}
	if tested < 700 {
		t.Errorf("only %d rules", tested)
	}
}

// Sub-daily rules against every second or minute of the wall clock.
func TestSubDailyAgainstBruteForce(t *testing.T) {
	clocktest.Alone(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for range 250 {
		freq := Hourly + Frequency(rng.IntN(3))
		unit := []int64{3600, 60, 1}[freq-Hourly]
		interval := []int64{1, 2, 7, 16, 24, 36, 45, 60, 90, 1440, 3601, 86399, 90000}[rng.IntN(13)]
		text := fmt.Sprintf("FREQ=%s;INTERVAL=%d", frequencies[freq], interval)
		pick := func(name string, n, most int) []int {
			if rng.IntN(2) == 0 {
				return nil
			}
			set := map[int]bool{}
			for range 1 + rng.IntN(most) {
				set[rng.IntN(n)] = true
			}
			var all []int
			var words []string
			for v := range n {
				if set[v] {
					all, words = append(all, v), append(words, fmt.Sprint(v))
				}
			}
			text += ";" + name + "=" + strings.Join(words, ",")
			return all
		}
		hours, minutes, seconds := pick("BYHOUR", 24, 4), pick("BYMINUTE", 60, 6), pick("BYSECOND", 60, 4)
		var days []int
		if rng.IntN(2) == 0 {
			days = pick("BYMONTHDAY", 28, 5)
			if len(days) > 0 && days[0] == 0 {
				continue
			}
		}
		if hours == nil && minutes == nil && seconds == nil && days == nil {
			continue
		}
		start := time.Date(2026, 1, 1+rng.IntN(5), rng.IntN(24), rng.IntN(60), rng.IntN(60), 0, time.UTC)
		r, _, _, err := parseRRule(text, start, time.UTC)
		if err != nil && err.(*fault.Error).Code != fault.CodeNever {
			t.Fatalf("%s: %v", text, err)
		}
		// What the rule does not say is that of DTSTART.
		if freq < Minutely && minutes == nil {
			minutes = []int{start.Minute()}
		}
		if freq < Secondly && seconds == nil {
			seconds = []int{start.Second()}
		}
		allowed := func(list []int, v int) bool { return list == nil || slices.Contains(list, v) }
		at, found := start.Add(-time.Second), 0
		for u := start.Unix(); u < start.Unix()+3*86400 && found < 200; u++ {
			s := u % 86400
			if (u/unit-start.Unix()/unit)%interval != 0 || !allowed(seconds, int(s%60)) || !allowed(minutes, int(s/60%60)) ||
				!allowed(hours, int(s/3600)) || !allowed(days, time.Unix(u, 0).UTC().Day()) {
				continue
			}
			found++
			if err != nil {
				t.Fatalf("%s from %s is refused, but comes at %s", text, start, time.Unix(u, 0).UTC())
			}
			next, ok := r.Next(at)
			if !ok || next.Unix() != u {
				t.Fatalf("%s from %s after %s: %s, want %s", text, start, at, next, time.Unix(u, 0).UTC())
			}
			at = next
		}
		if err == nil && found < 200 {
			if next, ok := r.Next(at); ok && next.Unix() < start.Unix()+3*86400 {
				t.Fatalf("%s from %s after %s: %s, want none by then", text, start, at, next)
			}
		}
	}
}

// Around clock changes a rule gives its readings, each placed by itself, in order and without doubles.
func TestPlacedInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 300 {
		night := []struct{ zone, from string }{
			{"Europe/Warsaw", "2026-03-28 00:00"}, {"Europe/Warsaw", "2026-10-24 00:00"}, {"Australia/Lord_Howe", "2026-10-03 00:00"},
			{"Australia/Lord_Howe", "2026-04-04 00:00"}, {"America/Sao_Paulo", "2018-11-03 00:00"}, {"America/Sao_Paulo", "2018-02-17 00:00"},
			{"Antarctica/Troll", "2026-03-28 00:00"}, {"Antarctica/Troll", "2026-10-24 00:00"}, {"Pacific/Apia", "2011-12-29 00:00"},
		}[rng.IntN(9)]
		zone, wall := clocktest.Zone(t, night.zone), clocktest.Wall(t, night.from).Add(time.Duration(rng.IntN(1440))*time.Minute)
		text := []string{"FREQ=DAILY;BYHOUR=0,1,2,3,23", "FREQ=HOURLY;BYMINUTE=5,35", "FREQ=MINUTELY;BYHOUR=1,2;INTERVAL=7",
			"FREQ=SECONDLY;BYHOUR=0,2,3;INTERVAL=601"}[rng.IntN(4)]
		if rng.IntN(2) == 0 && !strings.HasPrefix(text, "FREQ=H") {
			text += fmt.Sprintf(";BYMINUTE=%d,%d", rng.IntN(60), rng.IntN(60))
		}
		r, _, _, err := parseRRule(text, civil.InstantOf(wall, zone), zone)
		bare, _, _, err2 := parseRRule(text, civil.Wall(civil.InstantOf(wall, zone), zone), time.UTC)
		if err != nil || err2 != nil {
			if e, ok := err.(*fault.Error); ok && e.Code == fault.CodeNever {
				continue
			}
			t.Fatalf("%s: %v, %v", text, err, err2)
		}
		begin := civil.Wall(civil.InstantOf(wall, zone), zone)
		var want []time.Time
		for at := begin.Add(-1); ; {
			next, ok := bare.Next(at)
			if !ok || next.Sub(begin) > 72*time.Hour {
				break
			}
			at = next
			want = append(want, civil.InstantOf(next, zone))
		}
		slices.SortFunc(want, time.Time.Compare)
		want = slices.CompactFunc(want, time.Time.Equal)
		at := civil.InstantOf(wall, zone).Add(-48 * time.Hour)
		for i, w := range want[:max(0, len(want)-20)] {
			next, ok := r.Next(at)
			if !ok || !next.Equal(w) {
				t.Fatalf("%s from %s in %s: number %d is %s, %v; want %s", text, wall, night.zone, i, next, ok, w)
			}
			if again, ok := r.Next(next.Add(-1)); !ok || !again.Equal(w) {
				t.Fatalf("%s from %s in %s: just before %s comes %s, %v", text, wall, night.zone, w, again, ok)
			}
			at = next
		}
	}
}

// Weeks of the year against those of package time, which begin on Mondays.
func TestWeekNumbers(t *testing.T) {
	f := &DayFilter{}
	for day := civil.DayNumber(1990, 1, 1); day < civil.DayNumber(2060, 1, 1); day++ {
		year, month, dom := civil.DateOf(day)
		isoYear, want := time.Date(year, time.Month(month), dom, 0, 0, 0, 0, time.UTC).ISOWeek()
		_, weeks := time.Date(isoYear, 12, 28, 0, 0, 0, 0, time.UTC).ISOWeek()
		if got, total := f.week(day); got != want || total != weeks {
			t.Fatalf("%d-%d-%d: week %d of %d, want %d of %d", year, month, dom, got, total, want, weeks)
		}
	}
}

// parseRRule reads a rule that somebody gave a start.
func parseRRule(text string, start time.Time, zone *time.Location) (r Rule, canonical string, notes []Note, err error) {
	read, err := ReadRRule(text, start, zone, false)
	return read.Rule, read.Canonical, read.Notes, err
}
