package when

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// What is left of every day at noon, after Fri 20 Nov 2026 14:23:45 in Warsaw, when some days are left out.
func TestExcludedDays(t *testing.T) {
	o := Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	for text, want := range map[string]string{
		"weekends":                       "23 Nov 12:00:00, 24 Nov 12:00:00",
		"mon-wed":                        "21 Nov 12:00:00, 22 Nov 12:00:00, 26 Nov 12:00:00",
		"21-23 nov":                      "24 Nov 12:00:00",
		"nov 21 to 23, sundays":          "24 Nov 12:00:00",
		"21-23 nov 2026":                 "24 Nov 12:00:00",
		"22.11.2026":                     "21 Nov 12:00:00, 23 Nov 12:00:00",
		"11/22/2026":                     "21 Nov 12:00:00, 23 Nov 12:00:00",
		"11/21-11/23":                    "24 Nov 12:00:00",
		"from 21 nov to 23 nov":          "24 Nov 12:00:00",
		"every saturday":                 "22 Nov 12:00:00",
		"21 and 22 november":             "23 Nov 12:00:00",
		"mon..wed":                       "21 Nov 12:00:00, 22 Nov 12:00:00, 26 Nov 12:00:00",
		"2026-11-22":                     "21 Nov 12:00:00, 23 Nov 12:00:00",
		"22 nov":                         "21 Nov 12:00:00, 23 Nov 12:00:00",
		"21 nov to 25 nov":               "26 Nov 12:00:00",
		"2026-11-21..2026-11-23":         "24 Nov 12:00:00",
		"21 nov until 2 jan":             "3 Jan 12:00:00",
		"the 21st, saturdays and 23 nov": "22 Nov 12:00:00, 24 Nov 12:00:00",
		"november":                       "1 Dec 12:00:00",
		"christmas, 24 dec 2026":         "21 Nov 12:00:00",
		"the last day":                   "21 Nov 12:00:00",
		"21 nov to 23 nov 2026":          "24 Nov 12:00:00",
		"2026-11-21 to 22 nov":           "23 Nov 12:00:00",
	} {
		days, err := ParseDays(text, o)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		with := o
		with.Except = days
		checkFirings(t, "every day at noon", with, want)
	}
	for _, text := range []string{"", "banana", "5pm", "every day", "2027-02-30", "5 minutes", "2026-11-23 to 2026-11-21", "26-24 dec", "31-32 dec", "03/04/2027", "03/04/2027-05/04/2027",
		"tomorrow", "feb 30", "easter"} {
		if _, err := ParseDays(text, o); err == nil {
			t.Errorf("%q is read", text)
		} else {
			checkError(t, text, err)
		}
	}
	file := "# holidays\n2026-11-21\n\n24 dec # every year\n2026-11-22\n"
	days, lines, err := ReadDays(file, o)
	if err != nil || len(lines) != 3 {
		t.Fatal(lines, err)
	}
	o.Except = days
	checkFirings(t, "0 12 * * *", o, "23 Nov 12:00:00, 24 Nov 12:00:00")
	checkFirings(t, "every 24h", o, "23 Nov 14:23:45, 24 Nov 14:23:45")
	if _, _, err := ReadDays("2026-11-21\nbanana\n", o); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"every day at noon":        "0 of 0",
		"weekdays at noon":         "20 of 100",
		"0 12 * * *":               "14 of 100",
		"FREQ=DAILY;BYHOUR=12":     "14 of 100",
		"Mon..Fri *-*-* 12:00:00":  "20 of 100",
		"every 24h":                "14 of 100",
		"FREQ=DAILY;COUNT=14":      "2 of 13",
		"every day except mondays": "0 of 100",
	} {
		if o.Except, err = ParseDays("mondays", o); err != nil {
			t.Fatal(err)
		}
		if text == "every day at noon" {
			o.Except = nil
		}
		s, err := Parse(text, o)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if left, of := s.Excluded(o.Now, 100); fmt.Sprintf("%d of %d", left, of) != want {
			t.Errorf("%q: %d of %d are left out, want %s", text, left, of, want)
		}
	}
	if o.Except, err = ParseDays("mon-sun", o); err != nil {
		t.Fatal(err)
	}
	for text, code := range map[string]string{"every day at noon": fault.CodeNever, "weekdays": fault.CodeNever, "tomorrow at noon": fault.CodeUsage, "in 5 minutes": fault.CodeUsage} {
		if _, err := Parse(text, o); err == nil || err.(*fault.Error).Code != code || !strings.Contains(err.Error(), "left out") {
			t.Errorf("%q with all days left out: %v", text, err)
		}
	}
}

// Bounds and exceptions in words.
func TestBoundsInWords(t *testing.T) {
	o := Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	for text, want := range map[string]string{
		"every day at 9am until monday":                     "21 Nov 09:00:00, 22 Nov 09:00:00, 23 Nov 09:00:00, end",
		"every day at 9am until monday at 8am":              "21 Nov 09:00:00, 22 Nov 09:00:00, end",
		"mondays at 9am until december":                     "23 Nov 09:00:00, 30 Nov 09:00:00, end",
		"every friday at 9am until the end of november":     "27 Nov 09:00:00, end",
		"every hour until 5pm":                              "20 Nov 15:23:45, 20 Nov 16:23:45, end",
		"every 20 minutes for an hour":                      "20 Nov 14:43:45, 20 Nov 15:03:45, 20 Nov 15:23:45, end",
		"every day at 9am, 2 times":                         "21 Nov 09:00:00, 22 Nov 09:00:00, end",
		"every 2 days at 9am starting monday":               "23 Nov 09:00:00, 25 Nov 09:00:00",
		"every 6 hours starting at 6pm":                     "20 Nov 18:00:00, 21 Nov 00:00:00",
		"every day at noon from dec 1st until dec 2nd":      "1 Dec 12:00:00, 2 Dec 12:00:00, end",
		"weekdays except wednesday at 9am":                  "23 Nov 09:00:00, 24 Nov 09:00:00, 26 Nov 09:00:00",
		"every day but sunday at noon":                      "21 Nov 12:00:00, 23 Nov 12:00:00",
		"every 30th except in november":                     "30 Dec 00:00:00, 30 Jan 00:00:00",
		"every weekday at 9am except 2026-11-23 and 25 nov": "24 Nov 09:00:00, 26 Nov 09:00:00",
		"every hour between 10pm and 1am":                   "20 Nov 22:00:00, 20 Nov 23:00:00, 21 Nov 00:00:00, 21 Nov 01:00:00, 21 Nov 22:00:00",
		"every 30 minutes between 9 and 10:30 on weekdays":  "23 Nov 09:00:00, 23 Nov 09:30:00, 23 Nov 10:00:00, 23 Nov 10:30:00, 24 Nov 09:00:00",
		"the last weekday of every month at 9am and 5:30pm": "30 Nov 09:00:00, 30 Nov 17:30:00, 31 Dec 09:00:00",
		"every day from dec 1 to dec 2 at noon":             "1 Dec 12:00:00, 2 Dec 12:00:00, end",
		"weekdays between dec 1 and dec 2 at noon":          "1 Dec 12:00:00, 2 Dec 12:00:00, end",
		"every day from december 1st at 9am":                "1 Dec 09:00:00, 2 Dec 09:00:00",
		"every 2 days starting monday at 9am":               "23 Nov 09:00:00, 25 Nov 09:00:00",
		"every dec 24 and jan 1 at 9am and 5pm":             "24 Dec 09:00:00, 24 Dec 17:00:00, 1 Jan 09:00:00",
		"every year on jan 1 and jul 1":                     "1 Jan 00:00:00, 1 Jul 00:00:00, 1 Jan 00:00:00",
		"the 1st of every january and july at noon":         "1 Jan 12:00:00, 1 Jul 12:00:00, 1 Jan 12:00:00",
		"every other night at 11pm":                         "20 Nov 23:00:00, 22 Nov 23:00:00",
		"every hour and 30 minutes":                         "20 Nov 15:53:45, 20 Nov 17:23:45",
		"every mon wed fri at 9am":                          "23 Nov 09:00:00, 25 Nov 09:00:00, 27 Nov 09:00:00",
		"every minute between 14:20 and 21:00":              "20 Nov 14:24:00, 20 Nov 14:25:00",
	} {
		rest, ends := strings.CutSuffix(want, ", end")
		checkFirings(t, text, o, rest)
		s, err := Parse(text, o)
		if err != nil {
			continue
		}
		if n := s.Count(o.Now, o.Now.AddDate(1, 0, 0), 1000); ends != (n == strings.Count(rest, ",")+1) {
			t.Errorf("%q: %d instants", text, n)
		}
	}
}
