package recur

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// nextStamps walks a rule and writes each instant in its zone; "end" when it ends before n.
func nextStamps(t testing.TB, r Rule, from time.Time, zone *time.Location, n int) string {
	t.Helper()
	var words []string
	for range n {
		next, ok := r.Next(from)
		if !ok {
			words = append(words, "end")
			break
		}
		if !next.After(from) {
			t.Fatalf("next(%s) = %s", from, next)
		}
		words, from = append(words, next.In(zone).Format("01-02T15:04:05-07:00")), next
	}
	return strings.Join(words, " ")
}

// textOf is what notes say.
func textOf(notes []Note) (text string) {
	for _, n := range notes {
		text += n.Text + " "
	}
	return text
}

func TestCronClockChanges(t *testing.T) {
	for _, c := range []struct{ name, zone, line, from, want string }{
		{"fixed in the gap: once, at its end", "Europe/Warsaw", "30 2 * * *", "2026-03-28T12:00:00+01:00",
			"03-29T03:00:00+02:00 03-30T02:30:00+02:00"},
		{"many fixed in the gap: once", "Europe/Warsaw", "10,20,30 2 * * *", "2026-03-28T12:00:00+01:00",
			"03-29T03:00:00+02:00 03-30T02:10:00+02:00"},
		{"fixed in the gap and at its end: once", "Europe/Warsaw", "0 2,3 * * *", "2026-03-29T01:00:00+01:00",
			"03-29T03:00:00+02:00 03-30T02:00:00+02:00"},
		{"wildcard minute in the gap: not at all", "Europe/Warsaw", "*/20 2 * * *", "2026-03-29T00:00:00+01:00",
			"03-30T02:00:00+02:00 03-30T02:20:00+02:00"},
		{"wildcard hour crosses the gap", "Europe/Warsaw", "30 * * * *", "2026-03-29T00:45:00+01:00",
			"03-29T01:30:00+01:00 03-29T03:30:00+02:00"},
		{"asked inside the first hour after the gap", "Europe/Warsaw", "30 2 * * *", "2026-03-29T03:10:00+02:00",
			"03-30T02:30:00+02:00"},
		{"fixed, repeated: first pass", "Europe/Warsaw", "30 2 * * *", "2026-10-25T00:00:00+02:00",
			"10-25T02:30:00+02:00 10-26T02:30:00+01:00"},
		{"asked between the passes", "Europe/Warsaw", "30 2 * * *", "2026-10-25T02:10:00+01:00",
			"10-26T02:30:00+01:00"},
		{"wildcard, repeated: both", "Europe/Warsaw", "30 */2 * * *", "2026-10-25T01:00:00+02:00",
			"10-25T02:30:00+02:00 10-25T02:30:00+01:00 10-25T04:30:00+01:00"},
		{"wildcard for one day only, both passes", "America/New_York", "15,45 * 1 11 *", "2026-11-01T00:50:00-04:00",
			"11-01T01:15:00-04:00 11-01T01:45:00-04:00 11-01T01:15:00-05:00 11-01T01:45:00-05:00 11-01T02:15:00-05:00"},
		{"half an hour, gap", "Australia/Lord_Howe", "15 2 * * *", "2026-10-03T00:00:00Z",
			"10-04T02:30:00+11:00 10-05T02:15:00+11:00"},
		{"half an hour, fold", "Australia/Lord_Howe", "*/15 * * * *", "2026-04-05T01:40:00+11:00",
			"04-05T01:45:00+11:00 04-05T01:30:00+10:30 04-05T01:45:00+10:30 04-05T02:00:00+10:30"},
		{"midnight gap", "America/Sao_Paulo", "@daily", "2018-11-03T12:00:00-03:00",
			"11-04T01:00:00-02:00 11-05T00:00:00-02:00"},
		{"midnight fold", "America/Sao_Paulo", "45 23 * * *", "2018-02-17T12:00:00-02:00",
			"02-17T23:45:00-02:00 02-18T23:45:00-03:00"},
		{"the day that was skipped is not caught up", "Pacific/Apia", "0 9 * * *", "2011-12-29T00:00:00-10:00",
			"12-29T09:00:00-10:00 12-31T09:00:00+14:00"},
		{"the skipped day as a date", "Pacific/Apia", "0 9 30 12 *", "2011-12-01T00:00:00-10:00",
			"12-30T09:00:00+14:00"},
		{"two hours, fixed in the gap", "Antarctica/Troll", "0 2 * * *", "2026-03-28T12:00:00Z",
			"03-29T03:00:00+02:00 03-30T02:00:00+02:00"},
		{"two hours, fixed in the fold", "Antarctica/Troll", "30 1,2 * * *", "2026-10-25T00:00:00+02:00",
			"10-25T01:30:00+02:00 10-25T02:30:00+02:00 10-26T01:30:00+00:00"},
		{"three hours are still caught up", "Antarctica/Casey", "0 3 * * *", "2009-10-17T12:00:00Z",
			"10-18T05:00:00+11:00 10-19T03:00:00+11:00"},
		{"winter as the changed time", "Europe/Dublin", "30 1 * * *", "2026-03-28T12:00:00Z",
			"03-29T02:00:00+01:00 03-30T01:30:00+01:00"},
		{"seconds in a gap: once", "Europe/Warsaw", "*/10 30 2 * * * *", "2026-03-28T12:00:00+01:00",
			"03-29T03:00:00+02:00 03-30T02:30:00+02:00"},
		{"a fraction of a second", "UTC", "* * * * *", "2026-03-28T12:00:00.5Z", "03-28T12:01:00+00:00"},
		{"before the first year", "Europe/Warsaw", "0 9 * * *", "1812-06-24T00:00:00Z", "01-01T09:00:00+01:00"},
		{"the starred day field narrows", "UTC", "0 0 */10 * 1-5", "2026-03-01T00:00:00Z",
			"03-11T00:00:00+00:00 03-31T00:00:00+00:00 04-01T00:00:00+00:00"},
		{"both day fields starred", "UTC", "0 0 */10 * */2", "2026-03-01T00:00:00Z",
			"03-21T00:00:00+00:00 03-31T00:00:00+00:00 04-11T00:00:00+00:00"},
		{"leap day across 2100", "UTC", "0 0 29 2 *", "2096-03-01T00:00:00Z", "02-29T00:00:00+00:00 02-29T00:00:00+00:00"},
		{"fifth Monday of February", "UTC", "0 0 * 2 1#5", "2072-03-01T00:00:00Z", "02-29T00:00:00+00:00"},
		{"year 9999 is the last", "UTC", "0 0 1 1 *", "9998-12-31T00:00:00Z", "01-01T00:00:00+00:00 end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			zone := clocktest.Zone(t, c.zone)
			r, err := ReadCron(c.line, zone)
			if err != nil {
				t.Fatal(err)
			}
			got := nextStamps(t, r, clocktest.Instant(t, c.from), zone, len(strings.Fields(c.want)))
			if got != c.want {
				t.Errorf("%s from %s in %s:\n got %s\nwant %s", c.line, c.from, c.zone, got, c.want)
			}
		})
	}
}

func TestCronCanonical(t *testing.T) {
	for _, c := range []struct{ line, want, note string }{
		{"30 9 * * MON-fri", "30 9 * * 1-5", ""},
		{"  00 07\t01 Jan,JUL sun", "0 7 1 1,7 0", ""},
		{"0 9 * * 5-7", "0 9 * * 5-7", ""},
		{"0 9 ? * 7", "0 9 * * 7", ""},
		{"0 9 lw * *", "0 9 LW * *", ""},
		{"0 9 15w * friL", "0 9 15W * 5L", ""},
		{"0 9 * * 7#2", "0 9 * * 0#2", ""},
		{"@midnight", "0 0 * * *", ""},
		{"0\u00a09 * * 1\u20135", "0 9 * * 1-5", ""}, // as pasted from a page
		{"0 9 * * * 2027", "0 9 * * * 2027", "minute hour day month weekday year"},
		{"*/15 * * * * * *", "*/15 * * * * * *", ""},
	} {
		r, err := ReadCron(c.line, time.UTC)
		got, notes := r.Canonical, r.Notes
		if err != nil || got != c.want || !strings.Contains(textOf(notes), c.note) || (c.note == "") != (len(notes) == 0) {
			t.Errorf("%q: %q, %v, %v; want %q and a note with %q", c.line, got, notes, err, c.want, c.note)
		}
	}
}

func TestLooksLikeCron(t *testing.T) {
	for text, want := range map[string]bool{
		"0 9 * * 1-5": true, "@daily": true, "@Daily": true, "@every 5m": true, "*/5 * * * *": true, "* * * *": true,
		"5 4 1 jan mon": true, "0 30 9 * * * *": true, "0 9 1 1 0": true, "0 9 * * mon|tue": true,
		"@1700000000": false, "@": false, "tomorrow at 9": false, "every day at 6 pm": false, "in 5 minutes": false,
		"10:30 25 dec 2026 UTC": false, "mon tue wed thu fri": false, "FREQ=DAILY": false, "": false, "5": false,
		"2026-11-27 10:00": false, "now + 5 minutes from now": false,
	} {
		if got := LooksLikeCron(text); got != want {
			t.Errorf("looksLikeCron(%q) = %v", text, got)
		}
	}
}

// randomField writes a field and, apart from the reader, the values it stands for.
func randomField(rng *rand.Rand, low, high int) (text string, has map[int]bool) {
	has = map[int]bool{}
	add := func(from, to, step int) {
		for v := from; v <= to; v += step {
			has[v] = true
		}
	}
	switch a := low + rng.IntN(high-low+1); rng.IntN(6) {
	case 0, 1:
		add(low, high, 1)
		return "*", has
	case 2:
		step := 1 + rng.IntN((high-low)/2+1)
		add(low, high, step)
		return fmt.Sprintf("*/%d", step), has
	case 3:
		b := a + rng.IntN(high-a+1)
		step := 1 + rng.IntN(3)
		add(a, b, step)
		return fmt.Sprintf("%d-%d/%d", a, b, step), has
	case 4:
		b := low + rng.IntN(high-low+1)
		has[a], has[b] = true, true
		return fmt.Sprintf("%d,%d", a, b), has
	default:
		has[a] = true
		return fmt.Sprint(a), has
	}
}

// tick says by brute force, minute by real minute, when a line runs: what Debian's cron(8) promises, written a second
// time. The clock changes of the zones used are of three hours at most and on whole minutes.
func tick(zone *time.Location, from, to time.Time, wild bool, match func(reading time.Time) bool) (runs []time.Time) {
	begin := from.Add(-30 * time.Hour) // from itself may lie in the second pass of an hour
	shown := civil.Wall(begin, zone)   // the highest reading seen
	for u := begin.Add(time.Minute); !u.After(to); u = u.Add(time.Minute) {
		now := civil.Wall(u, zone)
		run := false
		switch {
		case wild:
			run = match(now)
		case now.After(shown):
			for missed := shown.Add(time.Minute); !missed.After(now); missed = missed.Add(time.Minute) {
				run = run || match(missed)
			}
		}
		if now.After(shown) {
			shown = now
		}
		if run && u.After(from) {
			runs = append(runs, u)
		}
	}
	return runs
}

func TestCronAgainstBruteForce(t *testing.T) {
	clocktest.Alone(t)
	nights := []struct{ zone, from string }{
		{"Europe/Warsaw", "2026-03-28T20:00:00Z"},
		{"Europe/Warsaw", "2026-10-24T18:00:00Z"},
		{"America/New_York", "2026-03-08T02:00:00Z"},
		{"America/New_York", "2026-11-01T00:00:00Z"},
		{"Australia/Lord_Howe", "2026-10-03T10:00:00Z"},
		{"Australia/Lord_Howe", "2026-04-04T10:00:00Z"},
		{"America/Sao_Paulo", "2018-11-03T20:00:00Z"},
		{"America/Sao_Paulo", "2018-02-17T20:00:00Z"},
		{"Antarctica/Troll", "2026-03-28T22:00:00Z"},
		{"Antarctica/Troll", "2026-10-24T22:00:00Z"},
		{"Asia/Pyongyang", "2015-08-14T10:00:00Z"},
		{"Antarctica/Casey", "2010-03-04T10:00:00Z"},
		{"Asia/Kathmandu", "1985-12-31T10:00:00Z"},
		{"Europe/Warsaw", "2040-12-30T20:00:00Z"},
		{"Asia/Gaza", "2096-03-24T12:00:00Z"},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	lines := 800
	if testing.Short() {
		lines = 200
	}
	for range lines {
		night := nights[rng.IntN(len(nights))]
		zone, from := clocktest.Zone(t, night.zone), clocktest.Instant(t, night.from)
		minute, minutes := randomField(rng, 0, 59)
		hour, hours := randomField(rng, 0, 4)
		if rng.IntN(2) == 0 {
			hour, hours = randomField(rng, 0, 23)
		}
		if strings.HasPrefix(hour, "*") && rng.IntN(3) > 0 {
			hour, hours = "2", map[int]bool{2: true}
		}
		for h := range 24 { // a short range was drawn from: a star is the whole day
			hours[h] = hours[h] || hour == "*"
		}
		if n := 0; strings.HasPrefix(hour, "*/") {
			fmt.Sscanf(hour, "*/%d", &n)
			for h := 0; h < 24; h += n {
				hours[h] = true
			}
		}
		weekday, weekdays := "*", map[int]bool{}
		if rng.IntN(3) == 0 {
			weekday, weekdays = randomField(rng, 0, 6)
		}
		line := fmt.Sprintf("%s %s * * %s", minute, hour, weekday)
		r, err := ReadCron(line, zone)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		from = from.Add(time.Duration(rng.IntN(8*3600)) * time.Second).Truncate(time.Minute)
		want := tick(zone, from, from.Add(40*time.Hour), minute[0] == '*' || hour[0] == '*', func(at time.Time) bool {
			return minutes[at.Minute()] && hours[at.Hour()] && (weekday == "*" || weekdays[int(at.Weekday())])
		})
		at := from
		for _, w := range want {
			got, ok := r.Next(at)
			if !ok || !got.Equal(w) {
				t.Fatalf("%s in %s after %s: %s, want %s", line, night.zone, at.In(zone), got, w.In(zone))
			}
			at = got
		}
		if got, ok := r.Next(at); ok && !got.After(from.Add(40*time.Hour)) {
			t.Fatalf("%s in %s after %s: %s, want none by then", line, night.zone, at.In(zone), got)
		}
	}
}

func TestCronIsSafeToShare(t *testing.T) {
	zone := clocktest.Zone(t, "Europe/Warsaw")
	r, err := ReadCron("*/7 3-5 1,15,L * 1#2,5L", zone)
	if err != nil {
		t.Fatal(err)
	}
	from := clocktest.Instant(t, "2026-01-01T00:00:00Z")
	want := nextStamps(t, r, from, zone, 500)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := nextStamps(t, r, from, zone, 500); got != want {
				t.Error("answers differ between goroutines")
			}
		})
	}
	all.Wait()
}
