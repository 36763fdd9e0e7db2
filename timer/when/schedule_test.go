package when

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// recurring makes a Schedule as Parse does, of the kind that the text is.
func recurring(t testing.TB, text, tz string, o Options) (*Schedule, error) {
	t.Helper()
	s := &Schedule{Text: text, Zone: clocktest.Zone(t, tz)}
	start := o.Start
	if start.IsZero() {
		start = o.Now
	}
	var read recur.Recurrence
	var err error
	switch {
	case recur.LooksLikeCron(text):
		s.Kind = Cron
		read, err = recur.ReadCron(text, s.Zone)
	case recur.LooksLikeRRule(text):
		s.Kind = RRule
		read, err = recur.ReadRRule(text, start, s.Zone, false)
	default:
		s.Kind = Interval
		s.Every, err = time.ParseDuration(text)
		read.Rule = recur.NewInterval(s.Every, start)
	}
	s.rule, s.Canonical, s.Notes = read.Rule, read.Canonical, read.Notes
	if err != nil {
		t.Fatal(err)
	}
	return s, s.bound(o)
}

// TestUnforced: the text of an option in words that mean the same without it.
func TestUnforced(t *testing.T) {
	now := clocktest.Instant(t, "2026-11-23T10:00:30Z")
	for _, c := range []struct {
		form       Form
		text, want string
	}{
		{DelayForm, "5", "5s"},
		{DelayForm, "0", "0s"},
		{DelayForm, "90 minutes", "1h30m"},
		{DelayForm, "5d", "5d"},
		{DelayForm, "1 month 2 hours", "1 month 2 hours"},
		{EveryForm, "5 minutes", "every 5m"},
		{EveryForm, "5d", "every 5d"},
		{EveryForm, "weekday at 9am", "every weekday at 9am"},
		{EveryForm, "mondays at 9am", ""},
		{EveryForm, "every 2 days", ""},
		{UntilForm, "5pm", ""},
		{Any, "5d", ""},
	} {
		s, err := Parse(c.text, Options{Now: now, Zone: time.UTC, Form: c.form})
		if err != nil {
			t.Fatal(c.text, err)
		}
		got := s.Unforced(c.form)
		if got != c.want {
			t.Errorf("%s %q: %q, want %q", c.form, c.text, got, c.want)
		}
		if got == "" {
			continue
		}
		same, err := Parse(got, Options{Now: now, Zone: time.UTC})
		if err != nil || same.Kind != s.Kind || same.Canonical != s.Canonical || !same.At.Equal(s.At) {
			t.Errorf("%s %q is %+v, and %q is %+v (%v)", c.form, c.text, s, got, same, err)
		}
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		name, text, now, start, end string
		count                       int
		want                        string // the code of the refusal, or what Next says from long before
	}{
		{"an interval counts from now", "1h", "2026-01-01T10:00:00Z", "", "", 0, "2026-01-01T11:00:00Z 2026-01-01T12:00:00Z"},
		{"an interval's start is not an occurrence", "1h", "2026-01-01T10:00:00Z", "2026-01-01T09:30:00Z", "", 0,
			"2026-01-01T10:30:00Z 2026-01-01T11:30:00Z"},
		{"cron exactly now is past", "0 10 * * *", "2026-01-01T10:00:00Z", "", "", 0, "2026-01-02T10:00:00Z"},
		{"cron at its start", "0 10 * * *", "2026-01-01T00:00:00Z", "2026-01-05T10:00:00Z", "", 0, "2026-01-05T10:00:00Z"},
		{"a rule at its start", "FREQ=DAILY", "2026-01-01T00:00:00Z", "2026-01-05T10:00:00Z", "", 0, "2026-01-05T10:00:00Z 2026-01-06T10:00:00Z"},
		{"a rule from now", "FREQ=DAILY", "2026-01-01T10:00:00Z", "", "", 0, "2026-01-02T10:00:00Z"},
		{"the end is inclusive", "0 10 * * *", "2026-01-01T10:00:00Z", "", "2026-01-03T10:00:00Z", 0,
			"2026-01-02T10:00:00Z 2026-01-03T10:00:00Z end"},
		{"count of an interval", "90m", "2026-01-01T10:00:00Z", "", "", 2, "2026-01-01T11:30:00Z 2026-01-01T13:00:00Z end"},
		{"count of cron", "0 10 * * *", "2026-01-01T10:00:00Z", "", "", 2, "2026-01-02T10:00:00Z 2026-01-03T10:00:00Z end"},
		{"count of a rule from its start", "FREQ=DAILY", "2026-01-01T00:00:00Z", "2026-01-01T10:00:00Z", "", 2,
			"2026-01-01T10:00:00Z 2026-01-02T10:00:00Z end"},
		{"the smaller of two counts", "FREQ=DAILY;COUNT=2", "2026-01-01T00:00:00Z", "2026-01-01T10:00:00Z", "", 9,
			"2026-01-01T10:00:00Z 2026-01-02T10:00:00Z end"},
		{"the smaller of two counts, other way", "FREQ=DAILY;COUNT=9", "2026-01-01T00:00:00Z", "2026-01-01T10:00:00Z", "", 1,
			"2026-01-01T10:00:00Z end"},
		{"count and end, the end first", "0 10 * * *", "2026-01-01T10:00:00Z", "", "2026-01-02T12:00:00Z", 5, "2026-01-02T10:00:00Z end"},
		{"count of an elapsed rule with a count", "FREQ=HOURLY;COUNT=3", "2026-01-01T00:00:00Z", "2026-01-01T10:00:00Z", "", 2,
			"2026-01-01T10:00:00Z 2026-01-01T11:00:00Z end"},
		{"a large count of an interval is arithmetic", "1s", "2026-01-01T10:00:00Z", "", "", 1 << 30, "2026-01-01T10:00:01Z"},
		{"a count beyond all time", "87600h", "2026-01-01T00:00:00Z", "", "", 1 << 62, "2035-12-30T00:00:00Z"},
		{"a large count of cron", "* * * * *", "2026-01-01T10:00:00Z", "", "", 10001, fault.CodeLimit},
		{"a negative count", "* * * * *", "2026-01-01T10:00:00Z", "", "", -1, fault.CodeUsage},
		{"an end before the start", "* * * * *", "2026-01-01T10:00:00Z", "", "2026-01-01T09:00:00Z", 0, fault.CodeUsage},
		{"nothing in the bounds", "0 10 * * *", "2026-01-01T10:00:00Z", "", "2026-01-02T09:00:00Z", 0, fault.CodeNever},
		{"years that are past", "0 10 * * * 2020", "2026-01-01T10:00:00Z", "", "", 0, fault.CodeNever},
		{"an interval longer than its bounds", "1h", "2026-01-01T10:00:00Z", "", "2026-01-01T10:30:00Z", 0, fault.CodeNever},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Now: clocktest.Instant(t, c.now), Zone: time.UTC, Count: c.count}
			if c.start != "" {
				o.Start = clocktest.Instant(t, c.start)
			}
			if c.end != "" {
				o.End = clocktest.Instant(t, c.end)
			}
			s, err := recurring(t, c.text, "UTC", o)
			if err != nil {
				var e *fault.Error
				if !errors.As(err, &e) || e.Code != c.want || e.Hint == "" {
					t.Errorf("%#v, want %s", err, c.want)
				}
				return
			}
			at := clocktest.Instant(t, "2000-01-01T00:00:00Z")
			for _, want := range strings.Fields(c.want) {
				next, ok := s.Next(at)
				if want == "end" {
					if ok {
						t.Errorf("%s after the end", next)
					}
					return
				}
				if !ok || next.Format(time.RFC3339) != want {
					t.Fatalf("Next(%s) = %s, %v; want %s", at, next, ok, want)
				}
				at = next
			}
		})
	}
}

// COUNT counts DTSTART. When that is the moment of typing it is past, and the note says that one is missing.
func TestCountNote(t *testing.T) {
	now := clocktest.Instant(t, "2026-01-01T10:00:00.5Z")
	for _, c := range []struct {
		rule  string
		start time.Time
		note  bool
	}{
		{"FREQ=DAILY;COUNT=3", time.Time{}, true},
		{"FREQ=DAILY;COUNT=3", now, false},
		{"FREQ=DAILY", time.Time{}, false},
		{"FREQ=DAILY;BYHOUR=18;COUNT=3", time.Time{}, false},
	} {
		s, err := Parse(c.rule, Options{Now: now, Zone: time.UTC, Start: c.start})
		if err != nil {
			t.Fatal(err)
		}
		if c.note != slices.ContainsFunc(s.Notes, func(n recur.Note) bool { return strings.Contains(n.Text, "COUNT counts the start") }) {
			t.Errorf("%s from %s: %v", c.rule, c.start, s.Notes)
		}
	}
}

func TestOnceNext(t *testing.T) {
	at := clocktest.Instant(t, "2026-01-01T10:00:00Z")
	s := &Schedule{Kind: Once, At: at, Zone: time.UTC}
	if next, ok := s.Next(at.Add(-1)); !ok || !next.Equal(at) {
		t.Errorf("before: %s, %v", next, ok)
	}
	if next, ok := s.Next(at); ok {
		t.Errorf("at its instant: %s", next)
	}
	if last, ok := s.Latest(at.Add(-time.Hour), at); !ok || !last.Equal(at) {
		t.Errorf("Latest: %s, %v", last, ok)
	}
	if n := s.Count(at.Add(-time.Hour), at, 9); n != 1 {
		t.Errorf("Count: %d", n)
	}
}

// Latest and Count against walking, over spans that begin and end on, just before and just after instants.
func TestLatestAndCount(t *testing.T) {
	clocktest.Alone(t)
	zone := "Europe/Warsaw"
	for _, text := range []string{"* * * * *", "*/10 * * * * * *", "30 2 * * *", "FREQ=HOURLY;BYMINUTE=7,30", "FREQ=DAILY;BYHOUR=2,3", "7m", "36h", "0 0 1 * *"} {
		from := clocktest.Instant(t, "2026-03-28T20:00:00Z")
		s, err := recurring(t, text, zone, Options{Now: from, Start: from})
		if err != nil {
			t.Fatal(err)
		}
		var all []time.Time
		for at := from.Add(-1); len(all) < 400; {
			next, ok := s.Next(at)
			if !ok {
				t.Fatalf("%s ends after %d", text, len(all))
			}
			at, all = next, append(all, next)
		}
		for _, i := range []int{0, 1, 2, 60, 200, 398} {
			for _, shift := range []time.Duration{-1, 0, 1} {
				after := all[i].Add(shift)
				for _, j := range []int{i, i + 1, min(i+100, 399), 399} {
					for _, tail := range []time.Duration{-1, 0, 1} {
						until, n := all[j].Add(tail), 0
						var want time.Time
						for _, at := range all {
							if at.After(after) && !at.After(until) {
								want, n = at, n+1
							}
						}
						last, ok := s.Latest(after, until)
						if ok != (n > 0) || ok && !last.Equal(want) {
							t.Fatalf("%s: Latest(%s, %s) = %s, %v; want %s", text, after, until, last, ok, want)
						}
						if got := s.Count(after, until, 1000); got != n {
							t.Fatalf("%s: Count(%s, %s) = %d, want %d", text, after, until, got, n)
						}
						if got := s.Count(after, until, 3); got != min(n, 3) {
							t.Fatalf("%s: Count(%s, %s) of at most 3 = %d", text, after, until, got)
						}
					}
				}
			}
		}
	}
}

func TestLatestOfAYearOfSeconds(t *testing.T) {
	from := clocktest.Instant(t, "2026-01-01T00:00:00Z")
	s, err := recurring(t, "* * * * * * *", "Europe/Warsaw", Options{Now: from})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	s.rule = counted{s.rule, &asked}
	until := from.Add(365*24*time.Hour + time.Nanosecond)
	if last, ok := s.Latest(from, until); !ok || !last.Equal(until.Add(-1)) {
		t.Errorf("%s, %v", last, ok)
	}
	if asked > 150 {
		t.Errorf("asked %d times", asked)
	}
}

// counted counts the questions that a rule is asked.
type counted struct {
	recur.Rule
	n *int
}

func (c counted) Next(t time.Time) (time.Time, bool) { *c.n++; return c.Rule.Next(t) }

func TestIntervalKeepsItsPhase(t *testing.T) {
	for _, c := range []struct{ every, anchor, from, want string }{
		{"1h", "2024-03-31T00:10:00+01:00", "2024-03-31T01:30:00+01:00", "2024-03-31T03:10:00+02:00"},
		{"1ns", "0001-01-01T00:00:00Z", "2026-01-01T00:00:00.000000001Z", "2026-01-01T00:00:00.000000002Z"},
		{"7ns", "1000-01-01T00:00:00Z", "1000-01-01T00:00:00.00000002Z", "1000-01-01T00:00:00.000000021Z"},
		{"24h", "1000-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
		{"1h", "2026-01-01T00:00:00.9Z", "2026-01-01T01:00:00.8Z", "2026-01-01T01:00:00.9Z"},
		{"1h", "2026-01-01T00:00:00Z", "0500-01-01T00:00:00Z", "2026-01-01T01:00:00Z"},
		{"2562047h", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2318-04-12T23:00:00Z"},
		{"2562047h", "9990-01-01T00:00:00Z", "9990-01-01T00:00:00Z", "never"},
		{"0s", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "never"},
	} {
		every, err := time.ParseDuration(c.every)
		if err != nil {
			t.Fatal(err)
		}
		next, ok := recur.NewInterval(every, clocktest.Instant(t, c.anchor)).Next(clocktest.Instant(t, c.from))
		if !ok && c.want == "never" {
			continue
		}
		if !ok || !next.Equal(clocktest.Instant(t, c.want)) {
			t.Errorf("%s from %s after %s: %s, %v; want %s", c.every, c.anchor, c.from, next, ok, c.want)
		}
	}
}

func TestSay(t *testing.T) {
	for _, c := range []struct{ zone, from, to, want string }{
		{"Europe/Warsaw", "2026-11-21T13:00:00+01:00", "2026-11-27T12:00:00+01:00", "Fri 27 Nov 2026 12:00:00 CET (Europe/Warsaw), in 5 days 23 hours"},
		{"UTC", "2026-11-21T13:00:00Z", "2026-11-21T13:01:30Z", "Sat 21 Nov 2026 13:01:30 UTC, in 1 minute 30 seconds"},
		{"UTC", "2026-11-21T13:00:00Z", "2026-11-21T13:59:59Z", "Sat 21 Nov 2026 13:59:59 UTC, in 59 minutes 59 seconds"},
		{"UTC", "2026-11-21T13:00:00Z", "2026-11-21T15:00:00Z", "Sat 21 Nov 2026 15:00:00 UTC, in 2 hours"},
		{"UTC", "2026-11-21T13:00:00.3Z", "2026-11-21T15:00:00Z", "Sat 21 Nov 2026 15:00:00 UTC, in 2 hours"},
		{"UTC", "2026-11-21T13:00:00Z", "2026-11-21T13:00:01Z", "Sat 21 Nov 2026 13:00:01 UTC, in 1 second"},
		{"UTC", "2026-11-21T13:00:00Z", "2026-11-21T13:00:01.5Z", "Sat 21 Nov 2026 13:00:01.5 UTC, in 1.5 seconds"},
		{"UTC", "2026-11-21T13:00:00Z", "2026-11-21T13:00:00Z", "Sat 21 Nov 2026 13:00:00 UTC, now"},
		{"UTC", "2026-11-21T13:00:00Z", "2026-11-21T12:58:00Z", "Sat 21 Nov 2026 12:58:00 UTC, 2 minutes ago"},
		{"UTC", "2026-11-21T13:00:00Z", "2026-11-21T13:59:59.7Z", "Sat 21 Nov 2026 13:59:59.7 UTC, in 1 hour"},
		{"UTC", "2026-01-31T13:00:00Z", "2026-02-28T13:00:00Z", "Sat 28 Feb 2026 13:00:00 UTC, in 1 month"},
		{"UTC", "2024-02-29T12:00:00Z", "2027-03-02T12:00:00Z", "Tue 2 Mar 2027 12:00:00 UTC, in 3 years"},
		{"UTC", "2026-11-21T13:00:00Z", "2028-02-22T13:00:00Z", "Tue 22 Feb 2028 13:00:00 UTC, in 1 year 3 months"},
		{"UTC", "2026-11-21T13:00:00Z", "9999-12-31T23:59:59Z", "Fri 31 Dec 9999 23:59:59 UTC, in 7973 years 1 month"},
		{"America/Sao_Paulo", "2026-11-21T13:00:00Z", "2026-11-22T13:00:00Z", "Sun 22 Nov 2026 10:00:00 -03 (America/Sao_Paulo), in 1 day"},
		{"Etc/UTC", "2026-11-21T13:00:00Z", "2026-11-22T13:00:00Z", "Sun 22 Nov 2026 13:00:00 UTC, in 1 day"},
		{"EST", "2026-11-21T13:00:00Z", "2026-11-22T13:00:00Z", "Sun 22 Nov 2026 08:00:00 EST, in 1 day"},
		{"UTC", "2026-11-21T13:00:00.123456Z", "2026-11-21T13:00:05Z", "Sat 21 Nov 2026 13:00:05 UTC, in 4.877 seconds"},
		{"UTC", "2026-11-21T13:00:00.768Z", "2026-11-21T13:00:30Z", "Sat 21 Nov 2026 13:00:30 UTC, in 29 seconds"},
		// across clock changes: a day is a day on the clock, hours are elapsed
		{"Europe/Warsaw", "2026-03-28T12:00:00+01:00", "2026-03-29T12:00:00+02:00",
			"Sun 29 Mar 2026 12:00:00 CEST (Europe/Warsaw), in 1 day, a clock change lies between: 23 hours"},
		{"Europe/Warsaw", "2026-03-28T20:00:00+01:00", "2026-03-29T10:00:00+02:00",
			"Sun 29 Mar 2026 10:00:00 CEST (Europe/Warsaw), in 13 hours, a clock change lies between"},
		{"Europe/Warsaw", "2026-10-24T12:00:00+02:00", "2026-10-25T11:30:00+01:00",
			"Sun 25 Oct 2026 11:30:00 CET (Europe/Warsaw), in 24 hours 30 minutes, a clock change lies between"},
		{"Europe/Warsaw", "2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00",
			"Sun 25 Oct 2026 02:30:00 CET (Europe/Warsaw), in 1 hour, a clock change lies between"},
		{"Pacific/Apia", "2011-12-29T09:00:00-10:00", "2011-12-31T09:00:00+14:00",
			"Sat 31 Dec 2011 09:00:00 +14 (Pacific/Apia), in 2 days, a clock change lies between: 24 hours"},
	} {
		if got := say.Echo(clocktest.Instant(t, c.to).In(clocktest.Zone(t, c.zone)), clocktest.Instant(t, c.from)); got != c.want {
			t.Errorf("\n got %s\nwant %s", got, c.want)
		}
	}
	fixed := clocktest.Instant(t, "2026-11-22T13:00:00+05:30")
	if got := say.Stamp(fixed.In(time.FixedZone("", 5*3600+1800))); got != "Sun 22 Nov 2026 13:00:00 +05:30" {
		t.Error(got)
	}
	if got := say.Stamp(fixed.In(time.FixedZone("+05:30", 5*3600+1800))); got != "Sun 22 Nov 2026 13:00:00 +05:30" {
		t.Error(got)
	}
}

// A text is only a time of day when it says nothing about the date. edit keeps the date of a task then.
func TestTimeOnly(t *testing.T) {
	zone := clocktest.Zone(t, "Europe/Warsaw")
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"15:00", true}, {"3pm", true}, {"at 3pm", true}, {"1530", true}, {"15:00:30", true}, {"noon", true}, {"midnight", true}, {"0:00", true},
		{"23:59:59", true}, {"half past nine", true}, {"quarter to 5pm", true}, {"9 in the evening", true}, {"teatime", true}, {"T10:30", true},
		{"15:00 Asia/Tokyo", true}, {"10:00 UTC", true}, {"5 minutes after noon", true}, {"an hour before noon", true}, {"noon + 2 hours", true},
		{"tomorrow", false}, {"tomorrow 00:00", false}, {"tomorrow at midnight", false}, {"midnight tomorrow", false}, {"tonight at midnight", false},
		{"noon + 1 day", false}, {"at :30", false}, {"this time tomorrow", false}, {"in 3 days at noon", false},
		{"today 15:00", false}, {"tomorrow 15:00", false}, {"tonight at 8", false}, {"friday", false}, {"friday 15:00", false}, {"next friday at noon", false},
		{"2027-03-04 15:00", false}, {"the 5th at noon", false}, {"1h", false}, {"24h", false}, {"1 day", false}, {"in 2 hours", false}, {"now", false},
		{"now + 1h", false}, {"every day at 15:00", false}, {"0 9 * * *", false}, {"@1800000000", false}, {"7", false}, {"banana", false}, {"", false},
	} {
		o := Options{Now: time.Date(2026, 11, 21, 14, 0, 0, 0, zone), Zone: zone}
		if s, err := Parse(tt.text, o); (err == nil && s.TimeOnly) != tt.want {
			t.Errorf("%q: only a time of day: %v", tt.text, !tt.want)
		}
	}
}
