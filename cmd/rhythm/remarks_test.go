package rhythm

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// friday is Fri 20 Nov 2026 14:23:45 in Warsaw.
const friday = "2026-11-20T14:23:45+01:00"

// passes is how often the clocks of a zone show a reading.
func passes(wall time.Time, zone *time.Location) (n int) {
	seen := map[int]bool{}
	for hours := -30; hours <= 30; hours++ {
		_, offset := wall.Add(time.Duration(hours) * time.Hour).In(zone).Zone()
		at := wall.Add(-time.Duration(offset) * time.Second)
		if _, real := at.In(zone).Zone(); real == offset && !seen[offset] {
			seen[offset] = true
			n++
		}
	}
	return n
}

// told is the remarks about a text, one a line: the instant in its zone or "-", then the words.
func told(t *testing.T, text, tz, now string, n int, o when.Options) string {
	t.Helper()
	o.Zone = clocktest.Zone(t, tz)
	o.Now = clocktest.Instant(t, now)
	s, err := when.Parse(text, o)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	_, remarks := Of(s, o.Now, n)
	var lines []string
	for _, r := range remarks {
		at := "-"
		if !r.At.IsZero() {
			at = r.At.Format("2006-01-02T15:04:05Z07:00")
		}
		lines = append(lines, at+" "+r.Text)
	}
	return strings.Join(lines, "\n")
}

func TestRemarks(t *testing.T) {
	const autumn, winter = "2026-10-24T12:00:00+02:00", "2027-03-20T12:00:00+01:00"
	for _, c := range []struct{ name, text, zone, now, want string }{
		{"nothing to say", "every weekday at 9am", "Europe/Warsaw", autumn, ""},
		{"only Mondays", "30 2 * * 1", "Europe/Warsaw", autumn, ""},
		{"UTC has no changes", "30 2 * * *", "UTC", autumn, ""},

		{"cron in a gap and a fold", "30 2 * * *", "Europe/Warsaw", autumn, `
2026-10-25T02:30:00+02:00 02:30 comes twice on Sun 25 Oct 2026: it runs the first time (CEST), not the second (CET)
2027-03-28T03:00:00+02:00 no run at 02:30 on Sun 28 Mar 2027: that time does not exist, it runs at 03:00`},
		{"a rule moves by the gap", "every day at 2:30", "Europe/Warsaw", autumn, `
2026-10-25T02:30:00+02:00 02:30 comes twice on Sun 25 Oct 2026: it runs the first time (CEST), not the second (CET)
2027-03-28T03:30:00+02:00 no run at 02:30 on Sun 28 Mar 2027: that time does not exist, it runs at 03:30`},
		{"several in one gap run once", "10,30,50 2 * * *", "Europe/Warsaw", winter, `
2027-03-28T03:00:00+02:00 no run at 02:10, 02:30 and 02:50 on Sun 28 Mar 2027: those times do not exist, they run once, at 03:00
2027-10-31T02:10:00+02:00 02:10, 02:30 and 02:50 come twice on Sun 31 Oct 2027: they run the first time (CEST), not the second (CET)`},
		{"one with another run", "0 2,3 * 3 *", "Europe/Warsaw", winter, `
2027-03-28T03:00:00+02:00 no run at 02:00 on Sun 28 Mar 2027: that time does not exist, it is one with the run at 03:00`},
		{"a rule's runs, alone and not", "FREQ=MONTHLY;BYMONTHDAY=28;BYHOUR=2,3;BYMINUTE=0,45;BYSECOND=0;BYSETPOS=1,2,3", "Europe/Warsaw", winter, `
2027-03-28T03:45:00+02:00 no run at 02:45 on Sun 28 Mar 2027: that time does not exist, it runs at 03:45
2027-03-28T03:00:00+02:00 no run at 02:00 on Sun 28 Mar 2027: that time does not exist, it is one with the run at 03:00`},
		{"wild hours", "30 * * 10 *", "Europe/Warsaw", autumn, `
2026-10-25T02:30:00+02:00 02:30 comes twice on Sun 25 Oct 2026: it runs both times (CEST and CET)`},
		{"wild minutes", "*/15 2 * * *", "Europe/Warsaw", winter, `
2027-03-28T03:00:00+02:00 no run at the 4 times from 02:00 to 02:45 on Sun 28 Mar 2027: those times do not exist and are left out
2027-10-31T02:00:00+02:00 the 4 times from 02:00 to 02:45 come twice on Sun 31 Oct 2027: they run both times (CEST and CET)`},
		{"a rule's many", "FREQ=MINUTELY;BYHOUR=2", "Europe/Warsaw", "2027-03-20T12:00:10+01:00", `
2027-03-28T03:00:00+02:00 no run at the 60 times from 02:00 to 02:59 on Sun 28 Mar 2027: those times do not exist, they run 1 hour later
2027-10-31T02:00:00+02:00 the 60 times from 02:00 to 02:59 come twice on Sun 31 Oct 2027: they run the first time (CEST), not the second (CET)`},
		{"a rule's many, one with others", "FREQ=HOURLY;BYMINUTE=0,15,30,45;BYSECOND=0", "Europe/Warsaw", winter, `
2027-03-28T03:00:00+02:00 no run at the 4 times from 02:00 to 02:45 on Sun 28 Mar 2027: those times do not exist, they are one with the runs 1 hour later
2027-10-31T02:00:00+02:00 the 4 times from 02:00 to 02:45 come twice on Sun 31 Oct 2027: they run the first time (CEST), not the second (CET)`},
		{"more than are looked at", "* * 8-20 * * * *", "Pacific/Apia", "2011-12-25T12:00:00-10:00", `
2011-12-31T00:00:00+14:00 no run at 4000 or more times beginning at 08:00 on Fri 30 Dec 2011: those times do not exist and are left out`},
		{"New York in spring", "0 2 * * *", "America/New_York", "2026-03-01T12:00:00-05:00", `
2026-03-08T03:00:00-04:00 no run at 02:00 on Sun 8 Mar 2026: that time does not exist, it runs at 03:00`},
		{"New York in autumn", "30 1 * * 0", "America/New_York", "2026-10-20T12:00:00-04:00", `
2026-11-01T01:30:00-04:00 01:30 comes twice on Sun 1 Nov 2026: it runs the first time (EDT), not the second (EST)`},
		{"half an hour", "15 2 * * *", "Australia/Lord_Howe", "2026-04-01T12:00:00+11:00", `
2026-10-04T02:30:00+11:00 no run at 02:15 on Sun 4 Oct 2026: that time does not exist, it runs at 02:30`},
		{"half an hour, a rule", "every day at 2:15", "Australia/Lord_Howe", "2026-04-01T12:00:00+11:00", `
2026-10-04T02:45:00+11:00 no run at 02:15 on Sun 4 Oct 2026: that time does not exist, it runs at 02:45`},
		{"half an hour twice", "45 1 * * *", "Australia/Lord_Howe", "2026-04-01T12:00:00+11:00", `
2026-04-05T01:45:00+11:00 01:45 comes twice on Sun 5 Apr 2026: it runs the first time (UTC+11:00), not the second (UTC+10:30)`},
		{"midnight skipped", "@daily", "America/Sao_Paulo", "2017-10-10T12:00:00-03:00", `
2017-10-15T01:00:00-02:00 no run at 00:00 on Sun 15 Oct 2017: that time does not exist, it runs at 01:00`},
		{"a skipped day, cron", "0 9 * * *", "Pacific/Apia", "2011-12-25T12:00:00-10:00", `
2011-12-31T00:00:00+14:00 no run at 09:00 on Fri 30 Dec 2011: that time does not exist and is left out`},
		{"a skipped day, a rule", "every day at 9am", "Pacific/Apia", "2011-12-25T12:00:00-10:00", `
2011-12-31T09:00:00+14:00 no run at 09:00 on Fri 30 Dec 2011: that time does not exist, it is one with the run at 09:00 on Sat 31 Dec 2011`},
		{"a skipped day, once a year", "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=30;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "Pacific/Apia", "2011-12-25T12:00:00-10:00", `
2011-12-31T09:00:00+14:00 no run at 09:00 on Fri 30 Dec 2011: that time does not exist, it runs at 09:00 on Sat 31 Dec 2011`},

		{"between the two passes", "30 2 * * *", "Europe/Warsaw", "2026-10-25T01:10:00Z", `
2026-10-25T02:30:00+02:00 02:30 comes twice on Sun 25 Oct 2026: it runs the first time (CEST), not the second (CET)
2027-03-28T03:00:00+02:00 no run at 02:30 on Sun 28 Mar 2027: that time does not exist, it runs at 03:00`},
		{"after both passes", "30 2 * 10 *", "Europe/Warsaw", "2026-10-25T01:30:00Z", ""},
		{"after the gap, before the moved run", "DTSTART:20270101T023000 RRULE:FREQ=DAILY", "Europe/Warsaw", "2027-03-28T03:10:00+02:00", `
2027-03-28T03:30:00+02:00 no run at 02:30 on Sun 28 Mar 2027: that time does not exist, it runs at 03:30
2027-10-31T02:30:00+02:00 02:30 comes twice on Sun 31 Oct 2027: it runs the first time (CEST), not the second (CET)`},
		{"after the moved run", "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=28;BYHOUR=2;BYMINUTE=30", "Europe/Warsaw", "2027-03-28T03:31:00+02:00", ""},

		{"elapsed, a day", "every 24h", "Europe/Warsaw", autumn, `
2026-10-25T11:00:00+01:00 from Sun 25 Oct 2026 on it runs 1 hour earlier by the clock, at 11:00 instead of 12:00: elapsed time does not follow the clock change
2027-03-28T12:00:00+02:00 from Sun 28 Mar 2027 on it runs 1 hour later by the clock, at 12:00 instead of 11:00: elapsed time does not follow the clock change`},
		{"elapsed, two hours", "every 2h", "America/New_York", "2026-10-20T12:00:00-04:00", `
2026-11-01T01:00:00-05:00 from Sun 1 Nov 2026 on it runs 1 hour earlier by the clock: elapsed time does not follow the clock change
2027-03-14T04:00:00-04:00 from Sun 14 Mar 2027 on it runs 1 hour later by the clock: elapsed time does not follow the clock change`},
		{"elapsed, an hour through half an hour", "FREQ=HOURLY", "Australia/Lord_Howe", "2026-09-01T12:00:00+10:30", `
2026-10-04T02:30:00+11:00 from Sun 4 Oct 2026 on it runs 30 minutes later by the clock: elapsed time does not follow the clock change
2027-04-04T02:00:00+10:30 from Sun 4 Apr 2027 on it runs 30 minutes earlier by the clock: elapsed time does not follow the clock change`},
		{"elapsed, the same minutes", "every 5m", "Europe/Warsaw", autumn, ""},
		{"elapsed, the same hours", "every 1h", "Europe/Warsaw", autumn, ""},
		{"elapsed, all hours in turn", "every 7h", "Europe/Warsaw", autumn, ""},

		{"the clocks of another place", "DTSTART;TZID=America/New_York:20261101T023000 RRULE:FREQ=DAILY", "Europe/Warsaw", "2027-03-01T12:00:00+01:00", `
2027-03-14T08:30:00+01:00 no run at 02:30 on Sun 14 Mar 2027 in America/New_York: that time does not exist, it runs at 03:30
2027-03-14T08:30:00+01:00 from Sun 14 Mar 2027 on it runs 1 hour earlier by the clocks of Europe/Warsaw: it follows those of America/New_York
2027-03-28T08:30:00+02:00 from Sun 28 Mar 2027 on it runs 1 hour later by the clocks of Europe/Warsaw: it follows those of America/New_York
2027-10-31T07:30:00+01:00 from Sun 31 Oct 2027 on it runs 1 hour earlier by the clocks of Europe/Warsaw: it follows those of America/New_York
2027-11-07T08:30:00+01:00 from Sun 7 Nov 2027 on it runs 1 hour later by the clocks of Europe/Warsaw: it follows those of America/New_York`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := told(t, c.text, c.zone, c.now, 3, when.Options{}); got != strings.TrimSpace(c.want) {
				t.Errorf("%q in %s:\n got %s\nwant %s", c.text, c.zone, got, strings.TrimSpace(c.want))
			}
		})
	}
}

func TestRemarksOnDates(t *testing.T) {
	const now = "2026-11-20T14:23:45Z"
	for _, c := range []struct{ text, want string }{
		{"0 9 31 * *", "- skipped months: February, April, June, September and November have no 31st"},
		{"0 9 30 * *", "- skipped months: February has no 30th"},
		{"0 9 29 * *", "- skipped months: February has a 29th in leap years alone"},
		{"0 9 15,30 * *", "- left out: February has no 30th"},
		{"0 9 30,31 * *", "- skipped months: February has no 30th\n- left out: February, April, June, September and November have no 31st"},
		{"0 9 31 1,3 *", ""},
		{"0 9 31 1-4 *", "- skipped months: February and April have no 31st"},
		{"0 9 31 * 1", "- left out: February, April, June, September and November have no 31st"},
		{"0 9 31 * * 2027", "- skipped months: February, April, June, September and November have no 31st"},
		{"0 9 29 * * 2028", ""},
		{"0 9 28-31 * *", ""},
		{"0 9 */2 * *", ""},
		{"0 9 L * *", ""},
		{"0 0 9 31 * * *", "- skipped months: February, April, June, September and November have no 31st"},
		{"@monthly", ""},
		{"0 9 29 2 *", "- 29 February comes in leap years alone: next in 2028 and 2032"},
		{"0 9 * * 1#5", "- skipped months: those without a fifth Monday, next December 2026"},
		{"0 9 * * 1#1,1#5", "- left out: those without a fifth Monday, next December 2026"},
		{"every year on 29 feb at 8am", "- 29 February comes in leap years alone: next in 2028 and 2032"},
		{"every month on the 31st at 9am", "- skipped months: February, April, June, September and November have no 31st"},
		{"on the last day of every month at 17:00", ""},
		{"FREQ=MONTHLY;BYMONTHDAY=31", "- skipped months: February, April, June, September and November have no 31st"},
		{"FREQ=DAILY;BYMONTHDAY=31;BYHOUR=9", "- skipped months: February, April, June, September and November have no 31st"},
		{"FREQ=HOURLY;BYMONTHDAY=30;BYMINUTE=0", "- skipped months: February has no 30th"},
		{"DTSTART:20260131T090000Z RRULE:FREQ=MONTHLY;INTERVAL=2", "- skipped months: September and November have no 31st"},
		{"DTSTART:20261231T090000Z RRULE:FREQ=MONTHLY;COUNT=3", "- skipped months: February has no 31st"},
		{"FREQ=MONTHLY;BYMONTHDAY=31;UNTIL=20270331T235959Z", "- skipped months: February and November have no 31st"},
		{"FREQ=MONTHLY;BYMONTHDAY=-31", "- skipped months: February, April, June, September and November have fewer than 31 days"},
		{"FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1", "- February has no 30th: it runs on the last day"},
		{"FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1", ""},
		{"FREQ=MONTHLY;BYDAY=5FR", "- skipped months: those without a fifth Friday, next November 2026"},
		{"FREQ=MONTHLY;BYDAY=FR,5MO", "- left out: those without a fifth Monday, next December 2026"},
		{"FREQ=YEARLY;BYYEARDAY=366", "- only leap years have 366 days: next in 2028 and 2032"},
		{"FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO", "- only some years have 53 weeks: next in 2026 and 2032"},
		{"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1", "- February has a 29th in leap years alone: it runs on the last day"},
		{"every weekday at 9am", ""},
	} {
		if got := told(t, c.text, "UTC", now, 2, when.Options{}); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// Remarks keep to the bounds: what lies after the end is not told.
func TestRemarksWithinBounds(t *testing.T) {
	const now = "2027-03-20T12:00:00+01:00"
	gap := "2027-03-28T03:00:00+02:00 no run at 02:30 on Sun 28 Mar 2027: that time does not exist, it runs at 03:00"
	fold := "\n2027-10-31T02:30:00+02:00 02:30 comes twice on Sun 31 Oct 2027: it runs the first time (CEST), not the second (CET)"
	for _, c := range []struct {
		name, text, start, end string
		count                  int
		want                   string
	}{
		{"an end before", "30 2 * * *", "", "2027-03-28T01:59:00+01:00", 0, ""},
		{"an end after", "30 2 * * *", "", "2027-03-28T03:00:00+02:00", 0, gap},
		{"a count before", "30 2 * * *", "", "", 7, ""},
		{"a count after", "30 2 * * *", "", "", 8, gap},
		{"a start after", "30 2 * * *", "2027-03-28T04:00:00+02:00", "", 0, strings.TrimSpace(fold)},
		{"a start a year away", "30 2 * 3 *", "2028-03-01T00:00:00+01:00", "", 0,
			"2028-03-26T03:00:00+02:00 no run at 02:30 on Sun 26 Mar 2028: that time does not exist, it runs at 03:00"},
		{"dropped after the end", "*/30 2 * * *", "", "2027-03-28T01:59:00+01:00", 0, ""},
		{"the first pass is the last", "30 2 * 10 *", "", "2027-10-31T02:30:00+02:00", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := when.Options{Count: c.count}
			if c.start != "" {
				o.Start = clocktest.Instant(t, c.start)
			}
			if c.end != "" {
				o.End = clocktest.Instant(t, c.end)
			}
			if got := told(t, c.text, "Europe/Warsaw", now, 1, o); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// Every half hour of the day, by cron and by a rule: a remark where the zone skips or repeats it, and none elsewhere.
func TestRemarksWhereTheyBelong(t *testing.T) {
	clocktest.Alone(t)
	for _, c := range []struct{ zone, from string }{
		{"Europe/Warsaw", "2026-06-01T12:00:00Z"}, {"America/New_York", "2026-06-01T12:00:00Z"},
		{"Australia/Lord_Howe", "2026-03-01T12:00:00Z"}, {"America/Sao_Paulo", "2017-06-01T12:00:00Z"},
		{"Antarctica/Troll", "2026-06-01T12:00:00Z"}, {"Africa/Casablanca", "2026-01-15T12:00:00Z"},
	} {
		zone, now := clocktest.Zone(t, c.zone), clocktest.Instant(t, c.from)
		for half := range 48 {
			for _, text := range []string{fmt.Sprintf("%d %d * * *", half%2*30, half/2), fmt.Sprintf("every day at %02d:%02d", half/2, half%2*30)} {
				want := ""
				for day := range lookAhead / 86400 {
					wall := time.Date(now.Year(), now.Month(), now.Day()+day, half/2, half%2*30, 0, 0, time.UTC)
					switch passes(wall, zone) {
					case 0:
						want += wall.Format("no run at 15:04 on Mon 2 Jan 2006") + "\n"
					case 2:
						want += wall.Format("15:04 comes twice on Mon 2 Jan 2006") + "\n"
					}
				}
				got := ""
				for _, line := range strings.Split(told(t, text, c.zone, c.from, 1, when.Options{}), "\n") {
					_, line, _ = strings.Cut(line, " ")
					line, _, _ = strings.Cut(line, ":00:")
					if line != "" {
						got += line[:strings.LastIndex(line, ": ")] + "\n"
					}
				}
				if got != want {
					t.Errorf("%q in %s:\n got %s\nwant %s", text, c.zone, got, want)
				}
			}
		}
	}
}

// The list is that of Next, and a Once has no remarks.
func TestRhythmList(t *testing.T) {
	o := when.Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	s, err := when.Parse("tomorrow at 9:00", o)
	if err != nil {
		t.Fatal(err)
	}
	if next, remarks := Of(s, o.Now, 3); len(next) != 1 || !next[0].Equal(s.At) || remarks != nil {
		t.Errorf("%v, %v", next, remarks)
	}
	o.Count = 2
	if s, err = when.Parse("every 5m", o); err != nil {
		t.Fatal(err)
	}
	next, _ := Of(s, o.Now, 3)
	if len(next) != 2 || !next[1].Equal(o.Now.Add(10*time.Minute)) {
		t.Errorf("%v", next)
	}
}

// A list through centuries has no more remarks than can be read, and takes no time to speak of.
func TestManyRemarks(t *testing.T) {
	o := when.Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	s, err := when.Parse("30 2 29 3 *", o)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	_, remarks := Of(s, o.Now, 5000)
	if n := len(remarks); n < 100 || n > maxRemarks+1 {
		t.Errorf("%d remarks", n)
	}
	if last := remarks[len(remarks)-1].Text; !strings.HasPrefix(last, "clock changes from ") {
		t.Errorf("the last is %q", last)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}

// Whatever the corpus has: the list is that of Next, and every remark is a whole sentence about an instant still ahead, or
// about none; a first pass may lie behind.
func TestRhythmOfCorpus(t *testing.T) {
	file, err := os.Open("../../timer/when/testdata/cron.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cases := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c struct{ ID, Expr, TZ, From, Dtstart, Anchor string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		now := clocktest.Instant(t, c.From)
		o := when.Options{Now: now, Zone: clocktest.Zone(t, c.TZ)}
		for _, start := range []string{c.Dtstart, c.Anchor} {
			if at, err := time.Parse(time.RFC3339Nano, start); err == nil {
				o.Start = at
			}
		}
		s, err := when.Parse(c.Expr, o)
		if err != nil {
			continue
		}
		cases++
		next, remarks := Of(s, now, 4)
		at := now
		for i := range next {
			want, ok := s.Next(at)
			if !ok || !next[i].Equal(want) {
				t.Errorf("%s: instant %d is %s, Next says %s", c.ID, i, next[i], want)
			}
			at = want
		}
		for _, r := range remarks {
			if r.Text == "" || strings.Contains(r.Text, "%!") || !r.At.IsZero() && r.At.Before(now.Add(-2*time.Hour)) {
				t.Errorf("%s: %+v", c.ID, r)
			}
		}
	}
	if cases < 80 {
		t.Errorf("only %d cases", cases)
	}
}

// What falls on a day that is left out has no remark.
func TestRemarksOnDaysLeftOut(t *testing.T) {
	o := when.Options{Now: clocktest.Instant(t, "2027-03-20T12:00:00+01:00"), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	days, err := when.ParseDays("28 mar 2027", o)
	if err != nil {
		t.Fatal(err)
	}
	o.Except = days
	const fold = "2027-10-31T02:30:00+02:00 02:30 comes twice on Sun 31 Oct 2027: it runs the first time (CEST), not the second (CET)"
	for _, text := range []string{"30 2 * * *", "every day at 2:30", "FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0"} {
		if got := told(t, text, "Europe/Warsaw", "2027-03-20T12:00:00+01:00", 3, o); got != fold {
			t.Errorf("%q:\n got %s\nwant %s", text, got, fold)
		}
	}
}
