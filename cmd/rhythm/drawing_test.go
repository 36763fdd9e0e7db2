package rhythm

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// drawn is the drawing of a text read at an instant.
func drawn(t *testing.T, text, tz, now string, count, width int, ascii bool) string {
	t.Helper()
	zone, err := civil.LoadZone(tz)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, now)
	if err != nil {
		t.Fatal(err)
	}
	sched, err := when.Parse(text, when.Options{Now: at, Zone: zone, Count: count})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(Draw(sched, at, width, ascii), "\n")
}

func TestDrawing(t *testing.T) {
	const now = "2026-11-20T14:23:45+01:00"
	for _, c := range []struct {
		text, tz, now string
		width         int
		ascii         bool
		want          string
	}{
		{"every 5m", "Europe/Warsaw", now, 80, false, `
           00    03    06    09    12    15    18    21
Fri 20 Nov                             ▪███████████████████
Sat 21 Nov ████████████████████████████████████████████████
Sun 22 Nov ████████████████████████████████████████████████
           ▪ one in 30 minutes, █ more`},
		{"every 90m", "Europe/Warsaw", now, 59, true, `
           00    03    06    09    12    15    18    21
Fri 20 Nov                             ...o..o..o..o..o..o.
Sat 21 Nov .o..o..o..o..o..o..o..o..o..o..o..o..o..o..o..o.
Sun 22 Nov .o..o..o..o..o..o..o..o..o..o..o..o..o..o..o..o.`},
		{"every 15 minutes between 9am and 5pm on weekdays", "Europe/Warsaw", now, 40, false, `
           00 03 06 09 12 15 18 21
Fri 20 Nov               ███▪······
Sat 21 Nov ························
Sun 22 Nov ························
Mon 23 Nov ·········████████▪······
Tue 24 Nov ·········████████▪······
Wed 25 Nov ·········████████▪······
Thu 26 Nov ·········████████▪······
           ▪ one an hour, █ more`},
		{"30 * * * *", "Europe/Warsaw", "2027-03-27T20:00:00+01:00", 58, false, `
           00 03 06 09 12 15 18 21
Sat 27 Mar                     ▪▪▪▪
Sun 28 Mar ▪▪ ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪
Mon 29 Mar ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪
Tue 30 Mar ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪
Wed 31 Mar ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪
Thu 1 Apr  ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪
Fri 2 Apr  ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪`},
		{"30 */2 * * *", "Europe/Warsaw", "2026-10-24T20:00:00+02:00", 58, false, `
           00 03 06 09 12 15 18 21
Sat 24 Oct                     ▪·▪·
Sun 25 Oct ▪·█·▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·
Mon 26 Oct ▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·
Tue 27 Oct ▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·
Wed 28 Oct ▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·
Thu 29 Oct ▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·
Fri 30 Oct ▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·▪·
           ▪ one an hour, █ more`},
		{"0 6,18 * * *", "Pacific/Apia", "2011-12-29T12:00:00-10:00", 40, false, `
           00 03 06 09 12 15 18 21
Thu 29 Dec             ······▪·····
Sat 31 Dec ······▪···········▪·····
Sun 1 Jan  ······▪···········▪·····`},
		{"0 * * * *", "America/Sao_Paulo", "2017-10-13T20:10:00-03:00", 40, false, `
           00 03 06 09 12 15 18 21
Fri 13 Oct                     ·▪▪▪
Sat 14 Oct ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪
Sun 15 Oct  ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪
Mon 16 Oct ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪
Tue 17 Oct ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪
Wed 18 Oct ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪
Thu 19 Oct ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪`},
		{"every weekday at 9am", "Europe/Warsaw", now, 44, false, `
November 2026           December 2026
Mo Tu We Th Fr Sa Su    Mo Tu We Th Fr Sa Su
             ·  ·  ·        1  2  3  4  ·  ·
23 24 25 26 27  ·  ·     7  8  9 10 11  ·  ·
30                      14 15 16 17 18  ·  ·
                        21 22 23 24 25  ·  ·
                        28 29 30 31`},
		{"every other friday", "Europe/Warsaw", now, 43, true, `
November 2026
Mo Tu We Th Fr Sa Su
             .  .  .
 .  .  .  . 27  .  .
 .

December 2026
Mo Tu We Th Fr Sa Su
    .  .  .  .  .  .
 .  .  .  . 11  .  .
 .  .  .  .  .  .  .
 .  .  .  . 25  .  .
 .  .  .  .`},
		{"0 0 31 * *", "Europe/Warsaw", now, 52, false, `
     Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec
2026                                           ·  31
2027  31   ·  31   ·  31   ·  31  31   ·  31   ·  31`},
		{"0 0 1,2 */2 *", "Europe/Warsaw", now, 40, true, `
      J  F  M  A  M  J  J  A  S  O  N  D
2027 2x  . 2x  . 2x  . 2x  . 2x  . 2x  .
2028 2x  . 2x  . 2x  . 2x  . 2x  . 2x  .`},
		{"every year on 24 december at 8am", "Europe/Warsaw", now, 51, false, `
      J  F  M  A  M  J  J  A  S  O  N  D
2026                                · 24
2027  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  · 24
2028  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  · 24
2029  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  · 24
2030  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  · 24`},
		{"0 0 29 2 *", "Europe/Warsaw", now, 40, false, `
2026  2027  2028  2029  2030  2031  2032
  ·     ·     ▪     ·     ·     ·     ▪`},
	} {
		if got := drawn(t, c.text, c.tz, c.now, 0, c.width, c.ascii); "\n"+got != c.want {
			t.Errorf("%q at %d columns:\n%s\nwant%s", c.text, c.width, got, c.want)
		}
	}
}

// One instant has no rhythm, and a narrow terminal gets no drawing that would wrap.
func TestDrawingFits(t *testing.T) {
	clocktest.Alone(t)
	const now = "2026-11-20T14:23:45+01:00"
	if got := drawn(t, "every 5m", "Europe/Warsaw", now, 1, 80, false); got != "" {
		t.Errorf("one instant:\n%s", got)
	}
	for _, text := range []string{"* * * * * * *", "every 1ns", "every 5m", "every 7h", "every day at 9am", "every friday", "0 0 31 * *", "every 3 months",
		"every year on 24 december", "0 0 29 2 *", "0 0 29 2 1", "DTSTART:20400101T090000 RRULE:FREQ=DAILY"} {
		for width := range 130 {
			got := drawn(t, text, "Europe/Warsaw", now, 0, width, width%2 == 0)
			if width >= 40 && got == "" && text != "0 0 29 2 1" {
				t.Errorf("%q at %d columns: nothing", text, width)
			}
			for _, line := range strings.Split(got, "\n") {
				if utf8.RuneCountInString(line) > width || strings.HasSuffix(line, " ") {
					t.Errorf("%q at %d columns: %q", text, width, line)
				}
			}
		}
	}
}
