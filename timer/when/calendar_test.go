package when

import (
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// Calendar events as systemd.time(7) has them, after Fri 20 Nov 2026 14:23:45 in Warsaw.
func TestCalendarEvents(t *testing.T) {
	o := Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	for text, want := range map[string]string{
		"Mon..Fri *-*-* 09:00:00":      "23 Nov 09:00:00, 24 Nov 09:00:00",
		"Sat,Sun 20:00":                "21 Nov 20:00:00, 22 Nov 20:00:00, 28 Nov 20:00:00",
		"*-*-1..7 18:00":               "1 Dec 18:00:00, 2 Dec 18:00:00",
		"Mon *-*~07/1 10:00":           "30 Nov 10:00:00, 28 Dec 10:00:00, 25 Jan 10:00:00",
		"*-*~03":                       "28 Nov 00:00:00, 29 Dec 00:00:00, 29 Jan 00:00:00, 26 Feb 00:00:00",
		"*-12-24 18:00":                "24 Dec 18:00:00, 24 Dec 18:00:00",
		"*:0/20":                       "20 Nov 14:40:00, 20 Nov 15:00:00",
		"*-*-* 4..8/2:30":              "21 Nov 04:30:00, 21 Nov 06:30:00, 21 Nov 08:30:00, 22 Nov 04:30:00",
		"2027-*-* 12:00":               "1 Jan 12:00:00, 2 Jan 12:00:00",
		"*-*-* 09:00:00 Europe/London": "21 Nov 10:00:00, 22 Nov 10:00:00",
		"*:*:*":                        "20 Nov 14:23:46, 20 Nov 14:23:47",
	} {
		checkFirings(t, text, o, want)
	}
	for text, want := range map[string]string{
		"Mon..Fri 22:30 Europe/London": "20 Nov 23:30:00, 23 Nov 23:30:00",
		"Sat,Thu,Mon..Wed,Sat..Sun":    "21 Nov 00:00:00, 22 Nov 00:00:00, 23 Nov 00:00:00",
		"Wed..Sat,Tue 27-10-15 1:2:3":  "15 Oct 01:02:03",
		"Sat,Sun 12-05 08:05:40":       "5 Dec 08:05:40, 5 Dec 08:05:40",
		"12,14,13,12:20,10,30":         "20 Nov 14:30:00, 21 Nov 12:10:00, 21 Nov 12:20:00",
		"2026..2027-12-24":             "24 Dec 00:00:00, 24 Dec 00:00:00",
		"2026/2-12-24":                 "24 Dec 00:00:00, 24 Dec 00:00:00",
		"2027-01..06-01 10:00":         "1 Jan 10:00:00, 1 Feb 10:00:00",
		"0/4:00":                       "20 Nov 16:00:00, 20 Nov 20:00:00, 21 Nov 00:00:00",
		"00/12:00":                     "21 Nov 00:00:00, 21 Nov 12:00:00",
		"2027,2029-*-* 12:00":          "1 Jan 12:00:00, 2 Jan 12:00:00",
	} {
		checkFirings(t, text, o, want)
	}
	o.Form = CalendarForm
	for text, want := range map[string]string{
		"weekly": "23 Nov 00:00:00, 30 Nov 00:00:00", "quarterly": "1 Jan 00:00:00, 1 Apr 00:00:00", "semiannually": "1 Jan 00:00:00, 1 Jul 00:00:00",
		"daily": "21 Nov 00:00:00", "minutely": "20 Nov 14:24:00, 20 Nov 14:25:00", "Fri 15:00": "20 Nov 15:00:00, 27 Nov 15:00:00", "12-24": "24 Dec 00:00:00",
		"10-15": "15 Oct 00:00:00", "03-05 08:05:40": "5 Mar 08:05:40", "6,18:00": "20 Nov 18:00:00, 21 Nov 06:00:00", "biannually": "1 Jan 00:00:00, 1 Jul 00:00:00",
		"Semi-Annually": "1 Jan 00:00:00", "weekly Pacific/Auckland": "22 Nov 12:00:00, 29 Nov 12:00:00", "05:40": "21 Nov 05:40:00",
	} {
		checkFirings(t, text, o, want)
	}
	o.Form = Any
	for _, text := range []string{"*-13-01", "Foo *-*-* 00:00", "*-*-* 25:00", "*-*-7..1", "*-*-1/0", "*:50/10", "*-*~3/3", "2027,2029,2030-*-* 12:00", "2027/2-*-* *:*:00", "9:00..17:00", "*-*-* 09:00 Mars/Olympus", "*-*-* 09:00 10:00", "*-*~9/x", "*-*-* 1:2:3:4"} {
		if s, err := Parse(text, o); err == nil {
			t.Errorf("%q: %s", text, s.Canonical)
		} else {
			checkError(t, text, err)
		}
	}
}

// One that is over is named as it was typed, and not as the rule that it became.
func TestCalendarIsOver(t *testing.T) {
	_, err := Parse("2003-*-05 10:00", Options{Now: clocktest.Instant(t, "2026-11-20T13:23:45Z"), Zone: time.UTC})
	const want = `the calendar event "2003-*-05 10:00" never comes after Fri 20 Nov 2026 13:23:45 UTC`
	if e, ok := err.(*fault.Error); !ok || e.Code != fault.CodeNever || e.Message != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
