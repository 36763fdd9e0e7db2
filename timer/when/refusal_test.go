package when

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

func TestRefusals(t *testing.T) {
	for code, texts := range map[string][]string{
		fault.CodeNotUnderstood: {
			"", " ", "banana", "in 5 minutes banana", "25:99", "25:00", "13pm", "0am", "12:60", "10:00:60", "Feb 30", "June 31, 2027",
			"2027-02-29", "2027-13-01", "2027-366", "2027-W54-1", "2027-03-04T09:00+25:00", "Monday, November 24, 2026",
			"tomorrow friday", "friday the 14th", "monday 22 dec", "3pm 4pm", "today UTC UTC",
			"tomorrow at", "at", "in", "next", "now + 5", "now now", "5 minutes 5 minutes", "1,000 seconds", "2,5 hours",
			"3.s", "5.", "..5s", "1.1.3", "12.34.56", "$300", "May -1", "tomorrow;", "\"tomorrow\"", "tomorrow!", "later", "soon", "asap",
			"end of month", "in 2 hours at noon", "in 5 minutes UTC", "banana\x00",
			"second", "third", "1.1.30", "1.10.30", "1-2-3", "20-30-12", "2012-14", "2012-1400", "2200-25", "4 nights", "8 morning",
			"13 weekdays", "every day 9", "10 mondays", "12.53%", "am", ":30", "12:", "+-5m", "1e5s", "10ish",
			"2027-03-04T", "2027-03-04T24:00:01", "UTC", "Z", "06/31/2027", "13/31/2028", "10:00 +1500",
			"tonight at 9am", "3pm in the morning", "10 p", "the 32nd", "2027-W05", "2027-05", "2400", "999999999999h",
			"999999 years", "every", "every 5", "every 0 minutes", "every -5m", "every 1.5 days", "every day until friday until monday", "every banana",
			"every day at 25:00", "every day every week", "every 5m at 9am",
			"every monday and monday", "every day at 9:00 and 9:00", "\xff", "tomorrow at 9am\x1b[31m", "every 15 minutes between 5pm and 9am on weekdays",
			"every 10 seconds between 9am and 5pm", "every 1 month 1 day",
			"second at 9am", "twelfth", "2025 Feb 29", "2030 Feb 30", "2025 Jan 32", "12.30.45", "1.2.30", "1530 day", "1530 week friday", "2359 day after tomorrow at noon", "3pm at 4",
			"Wednesday 3/12/2027", "11/12 wednesday", "every 0", "every 00s", "twice a day", "once", "once tomorrow", "once a banana",
			"mon-fri-sun at 9am", "monday to banana", "every tuesday at 9am and thursday at 10am", "mondays at 9am, fridays at 10am",
			"every 7 hours on weekdays", "every day 15", "on day 32 of every month", "Dec 25, 26 minutes",
			"tonight at noon at 8", "this morning at 3pm", "11pm in the morning",
		},
		fault.CodePast: {
			"-5s", "5 minutes ago", "an hour earlier", "yesterday at 10am", "last friday", "last week", "today", "today at 6am",
			"this morning at 9", "2020-01-01", "@1", "Nov 12, 2011", "now - 1 hour", "monday of this week", "12/30/2025", "3rd Feb 82", "in -5 minutes", "1 year ago tomorrow",
			"thursday the 19th", "friday 20 nov at 9am", "thu 19 nov", "thursday november 19 9am", "sun 15/11", "two fridays ago", "3 mondays back at noon",
		},
		fault.CodeAmbiguous: {
			"this weekend", "this week", "by the weekend", "the first week of december",
			"7", "90", "at 7", "tomorrow at 10", "5 o'clock", "03/04/2027", "3/4", "30-12-27", "1h30", "9.15", "5M", "tonight", "tomorrow morning", "in 5", "in five", "before 9am", "every december",
			"9:00 CST", "9:00 BST", "December", "next january", "1800 hours", "midnight today", "25 Dec 20", "tomorrow night at 1", "friday 13", "tomorrow 15", "35.49", "9:00 CEST", "03042027",
			"every day at 9", "every third friday", "every morning", "every month on monday", "every second business day",
			"Dec 25-26", "July 25-28", "Jul 25-26 at 9am", "25 Dec-26", "Dec 25-26 9am", "Dec 25, 26", "Sep 10-12", "Sep 12-10",
			"2030 Dec 24", "2030 Dec 24 2031", "2030 Dec 24 at 7", "10:00-11:00", "10:00 - 11:00", "10am to 11am", "10 to 11", "in a few minutes", "1.5 months", "5m -5m", "24 hours a day",
			"next weeks", "every second friday", "every 2nd friday", "late tonight", "half eight tonight", "9am or 10am",
			"22:00-06:00", "10:00 -11:00", "tomorrow 10:00-11:00",
			"third monday", "first monday at 9am", "biweekly", "biweekly on monday and friday at 9am", "bimonthly", "every 9:30",
			"every 9 o'clock", "once a day at 9", "1-2", "9-5", "tomorrow 9-17", "mon 9-17", "biannually",
		},
		fault.CodeZone:  {"10:00 Europe/Londn", "every day at 9am Mars/Olympus"},
		fault.CodeLimit: {strings.Repeat("tomorrow ", 80), strings.Repeat("1 ", 200), "FREQ=DAILY;BYHOUR=9;COUNT=10001"},
		fault.CodeNever: {"0 0 30 2 *"},
	} {
		for _, text := range texts {
			for _, bare := range []bool{false, true} {
				if bare && (text == "7" || text == "90" || text == "9.15" || text == "35.49" || text == "2400" || text == "03042027" || text == "5.") {
					continue // numbers of seconds there
				}
				s, err := Parse(text, Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw"), BareSeconds: bare})
				if err == nil {
					t.Errorf("%q: %s %s, want %s", text, s.Kind, s.Canonical, code)
					continue
				}
				e := checkError(t, text, err)
				checkOffers(t, text, e)
				if e.Code != code {
					t.Errorf("%q: %s: %s, want %s", text, e.Code, e.Message, code)
				}
			}
		}
	}
}

// The words of the errors that other programs may look for, and what each hint offers.
func TestErrorTexts(t *testing.T) {
	for _, c := range []struct{ text, now, zone, message, hint string }{
		{"banana", friday, "Europe/Warsaw", `could not understand the time expression "banana"`, "tomorrow at 9:00"},
		{"2026-11-20T10:00Z", "2026-11-20T12:00:00Z", "UTC", "the specified time (Fri 20 Nov 2026 10:00:00 UTC) is in the past", "12:00:00"},
		{"in 5 minutes banana", friday, "Europe/Warsaw", `could not understand the time expression "in 5 minutes banana"`, `"banana" is not understood here; try "in 10m"`},
		{"in a bit", friday, "Europe/Warsaw", `could not understand the time expression "in a bit"`, `"a bit" is not understood here; try "in 10m"`},
		{"after lunch", friday, "Europe/Warsaw", `the time expression "after lunch" is ambiguous: it has no agreed hour`, "name the time of day"},
		{"three times a week on monday and friday at 7am", friday, "Europe/Warsaw", `could not understand the time expression "three times a week on monday and friday at 7am": it says 3 times and names 2`, "name as many times as it says"},
		{"twice a day", friday, "Europe/Warsaw", `could not understand the time expression "twice a day": it does not say when`, "name as many times as it says"},
		{"3 times a week", friday, "Europe/Warsaw", `could not understand the time expression "3 times a week": it does not say when`, `for example "3 times a week on monday, wednesday and friday"`},
		{"twice a month at noon", friday, "Europe/Warsaw", `could not understand the time expression "twice a month at noon": it does not say when`, `for example "twice a month at noon on the 1st and 15th"`},
		{"mondays at 9, fridays at 17", friday, "Europe/Warsaw", `could not understand the time expression "mondays at 9, fridays at 17": it has several days, each with a time`, `make two tasks: "mondays at 9:00" and "fridays at 17:00"`},
		{"mon at 9am, wed at noon, fri at 5pm", friday, "Europe/Warsaw", `could not understand the time expression "mon at 9am, wed at noon, fri at 5pm": it has several days, each with a time`, `make a task for each of them: "mon at 9am", "wed at noon", "fri at 5pm"`},
		{"mondays at 9am and fridays at 5pm until march", friday, "Europe/Warsaw", `could not understand the time expression "mondays at 9am and fridays at 5pm until march": it has several days, each with a time`, `make a task for each of them`},
		{"weekdays at 9, weekends at 11", friday, "Europe/Warsaw", `could not understand the time expression "weekdays at 9, weekends at 11": it has several days, each with a time`, `make a task for each of them`},
		{"every hour between 11pm and 1am on fridays", friday, "Europe/Warsaw", `could not understand the time expression "every hour between 11pm and 1am on fridays": what lies after midnight may belong to that day or to the next`, `make two tasks: "Fridays at 23:00" and "every 1h between 00:00 and 01:00 on Saturdays"`},
		{"every 20 minutes from 23:30 to 0:30 on weekends", friday, "Europe/Warsaw", `could not understand the time expression "every 20 minutes from 23:30 to 0:30 on weekends": what lies after midnight may belong to that day or to the next`, `make two tasks: "every 20m between 23:30 and 23:50 on Saturdays, Sundays" and "every 20m between 00:10 and 00:30 on Mondays, Sundays"`},
		{"every hour between 10pm and 2am in december", friday, "Europe/Warsaw", `could not understand the time expression "every hour between 10pm and 2am in december": what lies after midnight may belong to that day or to the next`, `make a task for each side of midnight`},
		{"wendesday 5pm", friday, "Europe/Warsaw", `could not understand the time expression "wendesday 5pm"`, `"wendesday" is not understood here; say "wednesday 5pm"`},
		{"daily 9", friday, "Europe/Warsaw", `could not understand the time expression "daily 9"`, `"9" is not understood here; say "daily at 9:00"`},
		{"in 5x", friday, "Europe/Warsaw", `could not understand the time expression "in 5x"`, `"5x" is not understood here; try "in 10m"`},
		{"Feb 30", friday, "Europe/Warsaw", `could not understand the time expression "Feb 30": February has no day 30`, "29"},
		{"13pm", friday, "Europe/Warsaw", `could not understand the time expression "13pm": there is no "13pm"`, "1 to 12"},
		{"in 1,5 hours", friday, "Europe/Warsaw", `could not understand the time expression "in 1,5 hours": a fraction has a point, and no comma`, "1.5 hours"},
		{"every 1,5h", friday, "Europe/Warsaw", `could not understand the time expression "every 1,5h": a fraction has a point, and no comma`, "1.5 hours"},
		{"tomorrow at 13pm", friday, "Europe/Warsaw", `could not understand the time expression "tomorrow at 13pm": there is no "13pm"`, "1 to 12"},
		{"at 25:00", friday, "Europe/Warsaw", `could not understand the time expression "at 25:00": there is no "25:00"`, "0 to 23"},
		{"2027-03-04T25:00", friday, "Europe/Warsaw", `could not understand the time expression "2027-03-04T25:00": there is no "25:00"`, "0 to 23"},
		{"2027-03-04T09:00:61", friday, "Europe/Warsaw", `could not understand the time expression "2027-03-04T09:00:61": there is no "09:00:61"`, "0 to 59"},
		{"10:00 Europe/Londn", friday, "Europe/Warsaw", `unknown time zone "Europe/Londn"`, `"Europe/London"`},
		{"at 7", friday, "Europe/Warsaw", `the time expression "at 7" is ambiguous: 7 in the morning or in the evening`, `say "at 7:00am" or "at 7:00pm"`},
		{"\x1b[31mred", friday, "Europe/Warsaw", `could not understand the time expression "\x1b[31mred": it has a character that no time expression has`, `leave '\x1b' out`},
	} {
		_, err := Parse(c.text, Options{Now: clocktest.Instant(t, c.now), Zone: clocktest.Zone(t, c.zone)})
		if e := checkError(t, c.text, err); e.Message != c.message || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%q: %s | %s", c.text, e.Message, e.Hint)
		}
	}
}

// What a hint says to type instead is of the form that is read.
func TestTryThese(t *testing.T) {
	for form, text := range map[Form]string{EveryForm: "5x", DelayForm: "5x", UntilForm: "5x", Any: "in banana"} {
		o := Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw"), Form: form}
		_, err := Parse(text, o)
		e := checkError(t, text, err)
		_, tries, _ := strings.Cut(e.Hint, "; try ")
		list := strings.Split(tries, `"`)
		if len(list) != 7 {
			t.Fatalf("%s: hint %s", form, e.Hint)
		}
		for i := 1; i < len(list); i += 2 {
			if _, err := Parse(list[i], o); err != nil {
				t.Errorf("%s: %q: %v", form, list[i], err)
			}
		}
	}
}

// Each reading of an ambiguous text is written out whole and means what is said beside it.
func TestCandidates(t *testing.T) {
	for text, want := range map[string][][2]string{
		"at 7":             {{"at 7:00am", "2026-11-21T07:00:00+01:00"}, {"at 7:00pm", "2026-11-20T19:00:00+01:00"}},
		"Tomorrow at 10":   {{"Tomorrow at 10:00am", "2026-11-21T10:00:00+01:00"}, {"Tomorrow at 10:00pm", "2026-11-21T22:00:00+01:00"}},
		"03/04/2027 15:00": {{"2027-04-03 15:00", "2027-04-03T15:00:00+02:00"}, {"2027-03-04 15:00", "2027-03-04T15:00:00+01:00"}},
		"11":               {{"11s", "2026-11-20T14:23:56+01:00"}, {"11:00", "2026-11-21T11:00:00+01:00"}, {"11pm", "2026-11-20T23:00:00+01:00"}},
		"90":               {{"90s", "2026-11-20T14:25:15+01:00"}, {"90m", "2026-11-20T15:53:45+01:00"}},
		"1h30":             {{"1h30m", "2026-11-20T15:53:45+01:00"}, {"1:30", "2026-11-21T01:30:00+01:00"}},
		"in 1:30":          {{"in 1h30m", "2026-11-20T15:53:45+01:00"}, {"at 1:30", "2026-11-21T01:30:00+01:00"}},
		"5M":               {{"5m", "2026-11-20T14:28:45+01:00"}, {"5 months", "2027-04-20T14:23:45+02:00"}},
		"today at 7":       {{"today at 7:00pm", "2026-11-20T19:00:00+01:00"}},
		"tonight":          {{"tonight at 8pm", "2026-11-20T20:00:00+01:00"}, {"tonight at 10pm", "2026-11-20T22:00:00+01:00"}},
		"9:00 CEST":        {{"9:00 UTC+02:00", "2026-11-21T08:00:00+01:00"}, {"9:00 Europe/Berlin", "2026-11-21T09:00:00+01:00"}},
		"every day at 9":   {{"every day at 9:00am", "2026-11-21T09:00:00+01:00"}, {"every day at 9:00pm", "2026-11-20T21:00:00+01:00"}},
	} {
		_, err := Parse(text, Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
		e := checkError(t, text, err)
		if e.Code != fault.CodeAmbiguous || len(e.Candidates) != len(want) {
			t.Errorf("%q: %+v", text, e)
			continue
		}
		for i, c := range e.Candidates {
			if c.Text != want[i][0] || !c.At.Equal(clocktest.Instant(t, want[i][1])) {
				t.Errorf("%q: %q at %v, want %q", text, c.Text, c.At, want[i])
			}
		}
	}
}

func TestForms(t *testing.T) {
	for _, c := range []struct {
		form       Form
		text, want string // an instant, a canonical recurrence, or a code
	}{
		{DelayForm, "30", "30s"}, {DelayForm, "2.5", "2.5s"}, {DelayForm, "0930", "15m30s"}, {DelayForm, "2 hours", "2h"},
		{DelayForm, "in 5 minutes", "5m"}, {DelayForm, "1 day", "2026-11-21T14:23:45+01:00"}, {DelayForm, "10pm", fault.CodeUsage},
		{DelayForm, "tomorrow", fault.CodeUsage}, {DelayForm, "every 5m", fault.CodeUsage}, {DelayForm, "-5", fault.CodePast},
		{DelayForm, "nan", fault.CodeNotUnderstood}, {DelayForm, "inf", fault.CodeNotUnderstood}, {DelayForm, "1 week at noon", fault.CodeUsage},
		{UntilForm, "tomorrow at 9am", "2026-11-21T09:00:00+01:00"}, {UntilForm, "0930", "2026-11-21T09:30:00+01:00"},
		{UntilForm, "in 5 minutes", "5m"}, {UntilForm, "5m", fault.CodeUsage}, {UntilForm, "every day", fault.CodeUsage},
		{UntilForm, "30", fault.CodeAmbiguous}, {UntilForm, "0 9 * * *", fault.CodeNotUnderstood},
		{EveryForm, "5m", "every 5m"}, {EveryForm, "every 5m", "every 5m"}, {EveryForm, "2 hours", "every 2h"}, {EveryForm, "48h", "every 48h"},
		{EveryForm, "day at 9am", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0"},
		{EveryForm, "monday and friday at 9am", "FREQ=WEEKLY;BYDAY=MO,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0"},
		{EveryForm, "daily at 9am", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0"},
		{EveryForm, "on friday", fault.CodeUsage}, {EveryForm, "the 15th", fault.CodeUsage}, {EveryForm, "at noon", fault.CodeUsage},
		{EveryForm, "5", fault.CodeUsage}, {EveryForm, "0", fault.CodeUsage}, {EveryForm, "0s", fault.CodeNotUnderstood}, {EveryForm, "-5m", fault.CodeNotUnderstood},
		{EveryForm, "--1m", fault.CodeNotUnderstood}, {EveryForm, "999999999999h", fault.CodeNotUnderstood}, {EveryForm, "tomorrow", fault.CodeNotUnderstood},
		{EveryForm, "*/5 * * * *", fault.CodeNotUnderstood}, {EveryForm, "", fault.CodeNotUnderstood},
		{CronForm, "0 9 * * 1-5", "0 9 * * 1-5"}, {CronForm, "tomorrow", fault.CodeNotUnderstood},
		{RRuleForm, "FREQ=DAILY;BYHOUR=18", "FREQ=DAILY;BYHOUR=18"}, {RRuleForm, "0 9 * * *", fault.CodeNotUnderstood},
		{Form("odd"), "5m", fault.CodeUsage},
	} {
		for _, bare := range []bool{false, true} {
			s, err := Parse(c.text, Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw"), Form: c.form, BareSeconds: bare})
			got := ""
			if err != nil {
				got = checkError(t, c.text, err).Code
			} else {
				got = s.Canonical
			}
			if got != c.want {
				t.Errorf("--%s %q: %s (%v), want %s", c.form, c.text, got, err, c.want)
			}
		}
	}
}

// A number alone is seconds only where it is alone; beside words it is what it always is.
func TestBareSeconds(t *testing.T) {
	timetable{
		{"30", "2026-11-20T14:24:15+01:00"}, {"0930", "2026-11-20T14:39:15+01:00"}, {"2.5", "2026-11-20T14:23:47.5+01:00"},
		{"at 0930", "2026-11-21T09:30:00+01:00"}, {"0930 tomorrow", "2026-11-21T09:30:00+01:00"},
		{"friday 5pm", "2026-11-20T17:00:00+01:00"}, {"5m", "2026-11-20T14:28:45+01:00"},
	}.check(t, friday, "Europe/Warsaw", func(o *Options) { o.BareSeconds = true })
}

func TestDefaultTime(t *testing.T) {
	timetable{
		{"tomorrow", "2026-11-21T09:30:00+01:00"}, {"friday", "2026-11-27T09:30:00+01:00"}, {"2027-03-04", "2027-03-04T09:30:00+01:00"},
		{"the 5th", "2026-12-05T09:30:00+01:00"}, {"tomorrow at noon", "2026-11-21T12:00:00+01:00"},
		{"in 2 days", "2026-11-22T14:23:45+01:00"}, {"today + 3 days", "2026-11-23T09:30:00+01:00"},
	}.check(t, friday, "Europe/Warsaw", func(o *Options) { o.DefaultTime = 9*time.Hour + 30*time.Minute })
}

func TestOnceOnly(t *testing.T) {
	for _, text := range []string{"every 5m", "weekdays at 9:00", "0 9 * * *", "@daily", "FREQ=DAILY", "hourly"} {
		_, err := Parse(text, Options{Now: clocktest.Instant(t, friday), Zone: time.UTC, OnceOnly: true})
		if e := checkError(t, text, err); e.Code != fault.CodeUsage || !strings.Contains(e.Message, "recurrence") {
			t.Errorf("%q: %+v", text, e)
		}
	}
}

// What a hint offers where one instant is asked for is one.
func TestOnceOffers(t *testing.T) {
	for _, text := range []string{"x", "", strings.Repeat("x", 600)} {
		o := Options{Now: clocktest.Instant(t, friday), Zone: time.UTC, OnceOnly: true}
		_, err := Parse(text, o)
		_, hint, _ := strings.Cut(checkError(t, text, err).Hint, "try ")
		offers := strings.Split(hint, `"`)
		if len(offers) < 3 {
			t.Errorf("%q: %+v", text, err)
		}
		for i := 1; i < len(offers); i += 2 {
			if _, err := Parse(offers[i], o); err != nil {
				t.Errorf("%q: it offers %q: %v", text, offers[i], err)
			}
		}
	}
}

// Several days where one instant is asked for are refused in terms of what was typed.
func TestSeveralDaysOnce(t *testing.T) {
	for text, want := range map[string]string{
		"24-26 dec": "name one of them", "tomorrow to sunday": "name one of them", "2026-12-24/2026-12-26": "name one of them", "dec 24-26": `say "dec 24 2026"`,
	} {
		_, err := Parse(text, Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw"), Form: UntilForm, OnceOnly: true})
		if e := checkError(t, text, err); e.Code != fault.CodeAmbiguous || !strings.Contains(e.Message, fault.Quoted(text)) || e.Hint != want {
			t.Errorf("%q: %s: %s | %s", text, e.Code, e.Message, e.Hint)
		}
	}
}

// Readings that have another one say so.
func TestNotes(t *testing.T) {
	for text, want := range map[string]string{
		"friday 5pm": `"2026-11-27 17:00"`, "half past nine": "09:30", "03.04.2027": "3 April 2027", "tomorrow at midnight": `"2026-11-22 00:00"`,
		"2230h": `"22:30"`, "2025 March 18": "20:25", "every day": `"at 9:00"`, "FREQ=DAILY;BYHOUR=18": "BYMINUTE and BYSECOND",
		"FREQ=DAILY;BYHOUR=18;BYMINUTE=5": "BYSECOND is not given", "FREQ=WEEKLY;BYDAY=MO": "14:23:00", "FREQ=DAILY;COUNT=3": "COUNT counts the start",
		"next week": "one week from now", "every 2 days": "14:23", "monthly on the 31st at 9am": "without a day 31",
		"every year on 29 february": "leap years",
	} {
		s, err := Parse(text, Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
		if err != nil || !strings.Contains(strings.Join(textsOf(s.Notes), "\n"), want) {
			t.Errorf("%q: %+v, %v, want a note with %s", text, s, err, want)
		}
	}
	tuesday := "2026-11-24T10:00:00+01:00"
	s, err := Parse("next friday", Options{Now: clocktest.Instant(t, tuesday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
	if err != nil || len(s.Notes) != 1 || !strings.Contains(s.Notes[0].Text, `"2026-12-04"`) {
		t.Errorf("next friday on a Tuesday: %+v, %v", s, err)
	}
	s, err = Parse("tomorrow at 9am", Options{Now: clocktest.Instant(t, tuesday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
	if err != nil || s.Notes != nil {
		t.Errorf("tomorrow at 9am: %+v, %v", s, err)
	}
}

func TestDurationFlag(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1d": 24 * time.Hour, "1w": 7 * 24 * time.Hour, "1.5d": 36 * time.Hour, "2 hours 30 min": 150 * time.Minute,
		"PT15M": 15 * time.Minute, "0s": 0, " 5m ": 5 * time.Minute, "an hour": time.Hour, "250ms": 250 * time.Millisecond,
	} {
		if got, err := Duration(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "30", "2.5", "-5s", "+5s", "1 month", "1y", "banana", "5m banana", "in 5m", "10pm", "999999999999h", "300000w", "5M", "0x5s"} {
		got, err := Duration(text)
		if err == nil {
			t.Errorf("%q: %v", text, got)
			continue
		}
		checkError(t, text, err)
	}
}

// What the library is asked is what arithmetic says, in every zone and on both sides of clock changes.
func TestNaturalDateIsRight(t *testing.T) {
	clocktest.Alone(t)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		now := time.Unix(random.Int64N(200*31556952)-50*31556952, random.Int64N(1e9)).In(clocktest.Zone(t, oddZones[i%len(oddZones)]))
		n := random.Int64N([]int64{3, 100, 10_000, mostNatural + 1}[i%4])
		u, length := uMinute, time.Minute
		if i%2 == 1 {
			u, length = uHour, time.Hour
		}
		got, ok := natural(n, u, now)
		if want := now.Add(time.Duration(n) * length); !ok || !got.Equal(want) {
			t.Fatalf("%d of unit %d after %v: %v, want %v", n, u, now, got, want)
		}
	}
	for _, c := range []struct {
		n int64
		u unit
	}{{-1, uMinute}, {mostNatural + 1, uMinute}, {1, uSecond}, {1, uDay}} {
		if got, ok := natural(c.n, c.u, time.Now()); ok {
			t.Errorf("%v was asked about: %v", c, got)
		}
	}
}

// Flags that hold an instant read past ones as well.
func TestInstantFlag(t *testing.T) {
	o := Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw"), BareSeconds: true}
	for text, want := range map[string]string{
		"2020-01-01T00:00:00Z": "2020-01-01T00:00:00Z", "2026-11-20": "2026-11-20T00:00:00+01:00",
		"yesterday at 10am": "2026-11-19T10:00:00+01:00", "2 hours ago": "2026-11-20T12:23:45+01:00",
		"last friday": "2026-11-13T00:00:00+01:00", "two fridays ago": "2026-11-06T00:00:00+01:00", "thu 19 nov 9am": "2026-11-19T09:00:00+01:00", "tomorrow at 9am": "2026-11-21T09:00:00+01:00", "today": "2026-11-20T00:00:00+01:00",
		"9am": "2026-11-21T09:00:00+01:00", "now": friday, "-2h": "2026-11-20T12:23:45+01:00",
	} {
		if got, err := Instant(text, o); err != nil || !got.Equal(clocktest.Instant(t, want)) {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "banana", "every day", "5m", "30", "03/04/2027", "Feb 30", "0 9 * * *"} {
		got, err := Instant(text, o)
		if err == nil {
			t.Errorf("%q: %v", text, got)
			continue
		}
		checkError(t, text, err)
	}
}
