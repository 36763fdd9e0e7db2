package when

import (
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// monday is Mon 22 Jul 2024 09:00 in Warsaw.
const monday = "2024-07-22T09:00:00+02:00"

// A part of the day and the time in it, in either order, with "at" or without.
func TestPartOfDayAndTime(t *testing.T) {
	timetable{
		{"tonight at 8", "2024-07-22T20:00:00+02:00"}, {"tonight at 20:00", "2024-07-22T20:00:00+02:00"},
		{"tonight, at 8pm", "2024-07-22T20:00:00+02:00"}, {"tonight at eight", "2024-07-22T20:00:00+02:00"},
		{"tonight at quarter to nine", "2024-07-22T20:45:00+02:00"}, {"tonight at 11:59:30pm", "2024-07-22T23:59:30+02:00"},
		{"this morning at 10am", "2024-07-22T10:00:00+02:00"}, {"this afternoon at 3", "2024-07-22T15:00:00+02:00"},
		{"this afternoon at 3:30", "2024-07-22T15:30:00+02:00"}, {"this evening at half past seven", "2024-07-22T19:30:00+02:00"},
		{"tomorrow morning at nine", "2024-07-23T09:00:00+02:00"}, {"tomorrow night at 11", "2024-07-23T23:00:00+02:00"},
		{"friday night at 9pm", "2024-07-26T21:00:00+02:00"}, {"monday morning at 8:30", "2024-07-29T08:30:00+02:00"},
		{"next monday morning at 9am", "2024-07-29T09:00:00+02:00"}, {"on saturday night at 11pm", "2024-07-27T23:00:00+02:00"},
		{"in the morning at 9", "2024-07-23T09:00:00+02:00"}, {"in the evening at 7", "2024-07-22T19:00:00+02:00"},
		{"11 at night", "2024-07-22T23:00:00+02:00"}, {"8:30 at night", "2024-07-22T20:30:00+02:00"},
		{"11pm at night tomorrow", "2024-07-23T23:00:00+02:00"}, {"11 o'clock at night", "2024-07-22T23:00:00+02:00"},
		{"10 at night on friday", "2024-07-26T22:00:00+02:00"}, {"Dec 25, 10 at night", "2024-12-25T22:00:00+01:00"},
		{"Dec 25, 10 in the evening", "2024-12-25T22:00:00+01:00"}, {"25 Dec 12 noon", "2024-12-25T12:00:00+01:00"},
	}.check(t, monday, "Europe/Warsaw", nil)
}

// Four digits before a month are at(1)'s time of day, unless they are a year near by; before a singular unit they are no
// count; behind "at" they are a time.
func TestFourDigits(t *testing.T) {
	timetable{
		{"1745 Nov 24", "2024-11-24T17:45:00+01:00"}, {"1745 Nov 24 2025", "2025-11-24T17:45:00+01:00"},
		{"1200 Jul 4 + 3 days", "2025-07-07T12:00:00+02:00"}, {"0000 Dec 25", "2024-12-25T00:00:00+01:00"},
		{"0800 Dec 24 2026", "2026-12-24T08:00:00+01:00"}, {"2100 Dec 24", "2024-12-24T21:00:00+01:00"},
		{"2100 dec 24 2024", "2024-12-24T21:00:00+01:00"}, {"2359 Dec 31", "2024-12-31T23:59:00+01:00"},
		{"1459 Oct. 3rd, 2025", "2025-10-03T14:59:00+02:00"}, {"1259 Nov. 4th", "2024-11-04T12:59:00+01:00"},
		{"2028 March 18", "2028-03-18T00:00:00+01:00"}, {"2027 March 18 at 9am", "2027-03-18T09:00:00+01:00"},
		{"2030 Dec 24 9am", "2030-12-24T09:00:00+01:00"}, {"9am 2030 Dec 24", "2030-12-24T09:00:00+01:00"},
		{"2020 Dec 24", "2024-12-24T20:20:00+01:00"}, {"2065 Dec 24", "2065-12-24T00:00:00+01:00"},
		{"at 2030 Dec 24", "2024-12-24T20:30:00+01:00"}, {"Aug 2 at 2030", "2024-08-02T20:30:00+02:00"},
		{"on april 9th at 2230", "2025-04-09T22:30:00+02:00"}, {"Aug 2 2030", "2030-08-02T00:00:00+02:00"},
		{"1530 day after tomorrow", "2024-07-24T15:30:00+02:00"}, {"0930 day after tomorrow", "2024-07-24T09:30:00+02:00"},
		{"1530 week from tomorrow", "2024-07-30T15:30:00+02:00"}, {"noon a week from friday", "2024-08-02T12:00:00+02:00"},
		{"0930h", "2024-07-22T09:30:00+02:00"}, {"tomorrow at 2230h", "2024-07-23T22:30:00+02:00"}, {"friday 2230h", "2024-07-26T22:30:00+02:00"},
		{"1530 days", "2028-09-29T09:00:00+02:00"},
	}.check(t, monday, "Europe/Warsaw", nil)
	for text, want := range map[string][]string{
		"2030 Dec 24":      {"24 December 2030", "20:30 Dec 24"},
		"2030 Dec 24 at 7": {"2030 Dec 24 at 7:00am", "2030 Dec 24 at 7:00pm"},
		"2030 Dec 24 2031": {"2030-12-24T20:31:00+01:00", "20:30 Dec 24 2031"},
		"Dec 25-26":        {"Dec 25 2026", "every day from Dec 25 to Dec 26"},
		"25 Dec-26":        {"25 Dec 2026", "25 Dec"},
		"Jul 25-26 at 9am": {"Jul 25 2026 at 9am", "every day from Jul 25 to Jul 26 at 9am"},
		"Sep 10-12":        {"every day from Sep 10 to Sep 12"},
		"Dec 25, 26":       {"Dec 25 2026", "Dec 25"},
		"10:00-11:00":      {"10:00", "10:00 UTC-11:00"},
		"every 9:30":       {"every day at 9:30", "every 9h30m"},
		"biweekly":         {"every 2 weeks"},
		"third monday":     {"third monday of next month", "third monday of every month"},
	} {
		_, err := Parse(text, Options{Now: clocktest.Instant(t, monday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
		e := checkError(t, text, err)
		var got []string
		for _, c := range e.Candidates {
			got = append(got, c.Text)
		}
		if e.Code != fault.CodeAmbiguous || strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q: %s %q, want %q", text, e.Message, got, want)
		}
	}
}

// A minus and hours after a time are an offset where they can be no range.
func TestNegativeOffsets(t *testing.T) {
	timetable{
		{"2024-12-25 09:00 -05:00", "2024-12-25T09:00:00-05:00"}, {"2024-12-25T09:00:00 -05:00", "2024-12-25T09:00:00-05:00"},
		{"2024-12-25 09:00 -05", "2024-12-25T09:00:00-05:00"}, {"tomorrow 17:00 -04:00", "2024-07-23T17:00:00-04:00"},
		{"tomorrow 05:00 -06:00", "2024-07-23T05:00:00-06:00"}, {"17:00 -04:00", "2024-07-22T17:00:00-04:00"},
		{"09:00-05:00", "2024-07-22T09:00:00-05:00"}, {"9am -05:00", "2024-07-22T09:00:00-05:00"},
		{"10:00:00-11:00", "2024-07-22T10:00:00-11:00"}, {"Dec 25 2024 09:00 -05:00", "2024-12-25T09:00:00-05:00"},
		{"Wed, 25 Dec 2024 09:00:00 -05:00", "2024-12-25T09:00:00-05:00"},
	}.check(t, monday, "Europe/Warsaw", nil)
}

// A weekday beside a date settles the order of its numbers.
func TestWeekdaySettlesOrder(t *testing.T) {
	timetable{
		{"Tuesday 11/3/2015", "2015-11-03T00:00:00-08:00"}, {"Tuesday 3/11/2015", "2015-11-03T00:00:00-08:00"},
		{"3/11/2015, Tue", "2015-11-03T00:00:00-08:00"}, {"Tuesday 11/3/2015 at 9am", "2015-11-03T09:00:00-08:00"},
		{"Saturday 3/11", "2012-11-03T00:00:00-07:00"},
	}.check(t, "2012-08-10T12:14:00-07:00", "America/Los_Angeles", nil)
}

// A word and a number, or a number and a word, may stand without space; two words may not.
func TestGlued(t *testing.T) {
	timetable{
		{"friday5pm", "2024-07-26T17:00:00+02:00"}, {"tomorrow9am", "2024-07-23T09:00:00+02:00"}, {"in5minutes", "2024-07-22T09:05:00+02:00"},
		{"at9pm", "2024-07-22T21:00:00+02:00"}, {"july25", "2024-07-25T00:00:00+02:00"}, {"next2days", "2024-07-24T09:00:00+02:00"},
	}.check(t, monday, "Europe/Warsaw", nil)
	for _, text := range []string{"5pmfriday", "fridaynoon", "tomorrowmorning at 9", "in5minutesfromnow"} {
		if s, err := Parse(text, Options{Now: clocktest.Instant(t, monday), Zone: time.UTC}); err == nil {
			t.Errorf("%q is read as %s", text, s.Canonical)
		}
	}
}

// The reading that was not taken can be pasted, and its note has its text.
func TestOthers(t *testing.T) {
	for text, want := range map[string][2]string{
		"next friday at noon":          {"2024-08-02 12:00", "2024-08-02T12:00:00+02:00"},
		"next friday":                  {"2024-08-02", "2024-08-02T00:00:00+02:00"},
		"next friday at noon UTC":      {"2024-08-02 12:00 UTC", "2024-08-02T12:00:00Z"},
		"noon next friday + 1 day":     {"noon 2024-08-02 + 1 day", "2024-08-03T12:00:00+02:00"},
		"next friday at 7:15:30pm":     {"2024-08-02 19:15:30", "2024-08-02T19:15:30+02:00"},
		"monday at 5pm":                {"2024-07-29 17:00", "2024-07-29T17:00:00+02:00"},
		"tomorrow at half past nine":   {"", ""},
		"half past nine":               {"9:30pm", "2024-07-22T21:30:00+02:00"},
		"friday at midnight":           {"2024-07-27 00:00", "2024-07-27T00:00:00+02:00"},
		"03.04.2027 10:00":             {"2027-03-04 10:00", "2027-03-04T10:00:00+01:00"},
		"2230h":                        {"22:30", "2024-07-22T22:30:00+02:00"},
		"tomorrow at 9am":              {"", ""},
		"next monday at 9am":           {"", ""},
		"2027-03-04T10:00:00Z":         {"", ""},
		"friday of next week at 10:00": {"", ""},
	} {
		s, err := Parse(text, Options{Now: clocktest.Instant(t, monday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
		switch {
		case err != nil:
			t.Errorf("%q: %v", text, err)
		case want[0] == "" && len(s.Others) > 0, want[0] != "" && len(s.Others) != 1:
			t.Errorf("%q: %+v, want %q", text, s.Others, want[0])
		case want[0] == "":
		case s.Others[0].Text != want[0] || !s.Others[0].At.Equal(clocktest.Instant(t, want[1])):
			t.Errorf("%q: %+v, want %q", text, s.Others, want)
		case !strings.Contains(strings.Join(textsOf(s.Notes), "\n"), `"`+want[0]+`"`):
			t.Errorf("%q: no note of %q has %q", text, textsOf(s.Notes), want[0])
		}
	}
}

// What a hint says to type is understood, word for word.
func TestHintsWork(t *testing.T) {
	for text, want := range map[string][]string{
		"every tuesday at 9am and thursday at 10am": {"every tuesday at 9am", "every thursday at 10am"},
		"mondays at 9am, fridays at 10am":           {"mondays at 9am", "fridays at 10am"},
		"mon, wed and fri at 9am":                   {"every mon, wed and fri at 9am"},
		"mon-fri":                                   {"every mon-fri"},
		"tommorow at 9am":                           {"tomorrow at 9am"},
		"every thrusday at 9am":                     {"every thursday at 9am"},
		"third":                                     {"the third"},
		"12.30.45":                                  {"12:30:45"},
	} {
		o := Options{Now: clocktest.Instant(t, monday), Zone: clocktest.Zone(t, "Europe/Warsaw")}
		_, err := Parse(text, o)
		e := checkError(t, text, err)
		for _, w := range want {
			if !strings.Contains(e.Hint, `"`+w+`"`) {
				t.Errorf("%q: hint %s, want %q in it", text, e.Hint, w)
			}
			if _, err := Parse(w, o); err != nil {
				t.Errorf("%q: hint %q: %v", text, w, err)
			}
		}
	}
	for text, stranger := range map[string]string{"in 5 mintues": "mintues", "every day at 9am banana": "banana", "tomorrow banana at 9am": "banana",
		"1530 day": "day"} {
		_, err := Parse(text, Options{Now: clocktest.Instant(t, monday), Zone: time.UTC})
		if e := checkError(t, text, err); !strings.HasPrefix(e.Hint, `"`+stranger+`" is not understood here; `) {
			t.Errorf("%q: hint %s", text, e.Hint)
		}
	}
}

// A bare zero is not an interval, and no hint says so.
func TestZeroInterval(t *testing.T) {
	for _, text := range []string{"0", "00", "0.0", "every 0", "0s"} {
		_, err := Parse(text, Options{Now: clocktest.Instant(t, monday), Zone: time.UTC, Form: EveryForm})
		if e := checkError(t, text, err); strings.Contains(e.Hint, `"0`) || strings.Contains(e.Hint, "every 0") {
			t.Errorf("--every %q: hint %s", text, e.Hint)
		}
	}
}

// An instant has no bounds; whoever asks for them is told.
func TestBoundsOfAnInstant(t *testing.T) {
	at := clocktest.Instant(t, "2024-08-01T00:00:00Z")
	for _, o := range []Options{{Start: at}, {End: at}, {Count: 2}} {
		o.Now, o.Zone, o.BareSeconds = clocktest.Instant(t, monday), time.UTC, true
		for _, text := range []string{"tomorrow", "90s", "30", "now"} {
			_, err := Parse(text, o)
			if e := checkError(t, text, err); e.Code != fault.CodeUsage || !strings.Contains(e.Message, "comes once") {
				t.Errorf("%q: %+v", text, e)
			}
		}
		if _, err := Parse("every day at 9am", o); err != nil {
			t.Error(err)
		}
		if _, err := Instant("tomorrow", o); err != nil {
			t.Error(err)
		}
	}
}

// Outer spaces do not count against the length of a text.
func TestLongTexts(t *testing.T) {
	o := Options{Now: clocktest.Instant(t, monday), Zone: time.UTC}
	if _, err := Parse(strings.Repeat(" ", 1000)+"tomorrow"+strings.Repeat("\n", 1000), o); err != nil {
		t.Error(err)
	}
	if _, err := Parse("tomorrow"+strings.Repeat(" ", maxText-10)+"9am", o); err == nil || err.(*fault.Error).Code != fault.CodeLimit {
		t.Error(err)
	}
}

// Errors show times to the second, whatever fraction now has.
func TestErrorsToTheSecond(t *testing.T) {
	o := Options{Now: clocktest.Instant(t, "2024-07-22T09:00:00.123456789+02:00"), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	for _, text := range []string{"yesterday at 9am", "5 minutes ago"} {
		_, err := Parse(text, o)
		if e := checkError(t, text, err); e.Code != fault.CodePast || strings.Contains(e.Message+e.Hint, ".") {
			t.Errorf("%q: %s | %s", text, e.Message, e.Hint)
		}
	}
	o.End = o.Now.Add(-time.Hour)
	_, err := Parse("every day at 9am", o)
	if e := checkError(t, "every day at 9am", err); strings.Contains(e.Message, ".1") {
		t.Error(e.Message)
	}
}

// A rule that begins when it is typed does not keep the second of that moment, nor its minute beside BYHOUR. An explicit
// start, in a flag or in the rule, keeps both.
func TestRuleFromNow(t *testing.T) {
	o := Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	for text, want := range map[string]string{
		"FREQ=DAILY;BYHOUR=18":                     "20 Nov 18:00:00, 21 Nov 18:00:00",
		"FREQ=DAILY;BYHOUR=14":                     "21 Nov 14:00:00, 22 Nov 14:00:00",
		"FREQ=DAILY;BYHOUR=18;BYMINUTE=5":          "20 Nov 18:05:00, 21 Nov 18:05:00",
		"FREQ=DAILY;BYHOUR=18;BYSECOND=30":         "20 Nov 18:00:30, 21 Nov 18:00:30",
		"FREQ=DAILY":                               "21 Nov 14:23:00, 22 Nov 14:23:00",
		"FREQ=DAILY;BYMINUTE=30":                   "20 Nov 14:30:00, 21 Nov 14:30:00",
		"FREQ=WEEKLY;BYDAY=MO":                     "23 Nov 14:23:00, 30 Nov 14:23:00",
		"FREQ=HOURLY;BYHOUR=9,10":                  "21 Nov 09:00:00, 21 Nov 10:00:00, 22 Nov 09:00:00",
		"FREQ=MINUTELY;BYHOUR=16":                  "20 Nov 16:00:00, 20 Nov 16:01:00",
		"FREQ=HOURLY":                              "20 Nov 15:23:45, 20 Nov 16:23:45",
		"DTSTART:20261119T142345 RRULE:FREQ=DAILY": "21 Nov 14:23:45, 22 Nov 14:23:45",
	} {
		checkFirings(t, text, o, want)
	}
	o.Start = o.Now
	checkFirings(t, "FREQ=DAILY;BYHOUR=18", o, "20 Nov 18:23:45, 21 Nov 18:23:45")
}

// An interval comes first one length after a start that is to come, and the note names the words
// that begin at it. A start that has passed is its phase alone.
func TestNoteOnAStart(t *testing.T) {
	now := clocktest.Instant(t, monday)
	for start, want := range map[time.Duration]string{2 * time.Hour: "comes first 1h30m after its start", -2 * time.Hour: ""} {
		s, err := Parse("90m", Options{Now: now, Zone: time.UTC, Form: EveryForm, Start: now.Add(start)})
		if err != nil || len(s.Notes) > 1 || !strings.Contains(strings.Join(textsOf(s.Notes), ""), want) || want == "" && s.Notes != nil {
			t.Fatalf("%s: %+v %v", start, s, err)
		}
		if want == "" {
			continue
		}
		_, text, _ := strings.Cut(s.Notes[0].Text, `"`)
		text, _, _ = strings.Cut(text, `"`)
		words, err := Parse(text, Options{Now: now, Zone: time.UTC})
		if err != nil {
			t.Fatal(text, err)
		}
		first, _ := words.Next(now)
		second, _ := s.Next(now)
		if !first.Equal(now.Add(start)) || !second.Equal(first.Add(s.Every)) {
			t.Errorf("%q comes at %s, and the option at %s", text, first, second)
		}
	}
}

// The note on a phrase that runs at the time it starts from names another time than that.
func TestNoteNamesAnotherTime(t *testing.T) {
	for now, want := range map[string]string{"2024-07-22T09:00:30+02:00": `"at 18:00"`, "2024-07-22T18:00:00+02:00": `"at 9:00"`} {
		s, err := Parse("every day", Options{Now: clocktest.Instant(t, now), Zone: clocktest.Zone(t, "Europe/Warsaw")})
		if err != nil || len(s.Notes) != 1 || !strings.Contains(s.Notes[0].Text, want) {
			t.Errorf("%s: %+v, %v", now, s, err)
		}
	}
}

// What other programs print, filler words and lengths in words.
func TestPrintedAndSaid(t *testing.T) {
	o := Options{Now: clocktest.Instant(t, "2026-11-24T10:07:30+01:00"), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	for text, want := range map[string]string{
		"2026-12-24 17:00:00 +0000 UTC":         "2026-12-24T18:00:00+01:00",
		"Thu, 24 Dec 2026 17:00:00 +0000 (UTC)": "2026-12-24T18:00:00+01:00",
		"2026-12-24T17:00:00Z[Europe/Warsaw]":   "2026-12-24T18:00:00+01:00",
		"2026-12-24T17:00:00+00:00[UTC]":        "2026-12-24T18:00:00+01:00",
		"1800 zulu":                             "2026-11-24T19:00:00+01:00",
		"5:30pm sharp tomorrow":                 "2026-11-25T17:30:00+01:00",
		"tomorrow exactly at 5pm":               "2026-11-25T17:00:00+01:00",
		"in two and three quarter hours":        "2026-11-24T12:52:30+01:00",
		"monday at 9am next week":               "2026-11-30T09:00:00+01:00",
		"on thursday at noon this week":         "2026-11-26T12:00:00+01:00",
		"jan 5 at noon next year":               "2027-01-05T12:00:00+01:00",
		"in 2 ½ hours":                          "2026-11-24T12:37:30+01:00",
		"the first monday of 2027":              "2027-01-04T00:00:00+01:00",
		"last friday of the year at noon":       "2026-12-25T12:00:00+01:00",
	} {
		s, err := Parse(text, o)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if !s.At.Equal(clocktest.Instant(t, want)) {
			t.Errorf("%q: %v, want %s", text, s.At, want)
		}
	}
	for text, code := range map[string]string{
		"17:00+01:00 UTC": fault.CodeNotUnderstood, "5pm UTC UTC": fault.CodeNotUnderstood, "53rd monday of 2027": fault.CodeNotUnderstood,
		"every day every monday": fault.CodeNotUnderstood, "every monday friday": fault.CodeNotUnderstood, "every jan 1 and jul 1 2027": fault.CodeNotUnderstood, "every jan 1 and feb 30": fault.CodeNotUnderstood,
		"in 5-10 minutes": fault.CodeAmbiguous, "every month on the 15th or 16th": fault.CodeAmbiguous, "every day at 9am or 5pm": fault.CodeAmbiguous, "18.30 h": fault.CodeAmbiguous,
		"4 nights": fault.CodeNotUnderstood, "in ~10 minutes": fault.CodeNotUnderstood, "every 5-10 minutes": fault.CodeAmbiguous,
	} {
		if _, err := Parse(text, o); err == nil || err.(*fault.Error).Code != code {
			t.Errorf("%q: %v, want %s", text, err, code)
		}
	}
}
