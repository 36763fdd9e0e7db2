package when

import (
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// The first instants of recurrences in words, after Fri 20 Nov 2026 14:23:45 in Warsaw unless a row says otherwise.
func TestSpokenRecurrences(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // "day month hour:minute[:second]" each, commas between
	}{
		{"every 5m", "20 Nov 14:28:45, 20 Nov 14:33:45"},
		{"every 24h", "21 Nov 14:23:45, 22 Nov 14:23:45"},
		{"every day", "21 Nov 14:23:00, 22 Nov 14:23:00"},
		{"every 2 days", "22 Nov 14:23:00, 24 Nov 14:23:00"},
		{"every 2 days at 9am", "21 Nov 09:00:00, 23 Nov 09:00:00"},
		{"every other day at 18:00", "20 Nov 18:00:00, 22 Nov 18:00:00"},
		{"every day at 18:00", "20 Nov 18:00:00, 21 Nov 18:00:00"},
		{"every weekday at 9am", "23 Nov 09:00:00, 24 Nov 09:00:00, 25 Nov 09:00:00, 26 Nov 09:00:00, 27 Nov 09:00:00, 30 Nov 09:00:00"},
		{"every weekend", "21 Nov 00:00:00, 22 Nov 00:00:00, 28 Nov 00:00:00"},
		{"every monday and thursday at 10:30", "23 Nov 10:30:00, 26 Nov 10:30:00, 30 Nov 10:30:00"},
		{"every other friday", "27 Nov 00:00:00, 11 Dec 00:00:00"},
		{"every 2 weeks on friday at 17:00", "20 Nov 17:00:00, 4 Dec 17:00:00, 18 Dec 17:00:00"},
		{"every 2 weeks on tuesday and friday at 9am", "24 Nov 09:00:00, 27 Nov 09:00:00, 8 Dec 09:00:00"},
		{"every 2 weeks", "4 Dec 14:23:00, 18 Dec 14:23:00"},
		{"monthly on the 1st at 08:00", "1 Dec 08:00:00, 1 Jan 08:00:00"},
		{"on the last day of every month at 17:00", "30 Nov 17:00:00, 31 Dec 17:00:00, 31 Jan 17:00:00, 28 Feb 17:00:00"},
		{"every month on the 15th and 30th", "30 Nov 00:00:00, 15 Dec 00:00:00, 30 Dec 00:00:00, 15 Jan 00:00:00, 30 Jan 00:00:00, 15 Feb 00:00:00, 15 Mar 00:00:00"},
		{"the first monday of every month at 9am", "7 Dec 09:00:00, 4 Jan 09:00:00, 1 Feb 09:00:00"},
		{"every last friday of the month at 4pm", "27 Nov 16:00:00, 25 Dec 16:00:00"},
		{"every month on the last weekday at 17:00", "30 Nov 17:00:00, 31 Dec 17:00:00, 29 Jan 17:00:00"},
		{"every 3 months", "20 Feb 14:23:00, 20 May 14:23:00"},
		{"every year on 24 December at 8am", "24 Dec 08:00:00, 24 Dec 08:00:00"},
		{"every hour at :15", "20 Nov 15:15:00, 20 Nov 16:15:00"},
		{"every hour on the half hour", "20 Nov 14:30:00, 20 Nov 15:30:00"},
		{"every hour at :15 and :45", "20 Nov 14:45:00, 20 Nov 15:15:00"},
		{"every day at 9am and 5:30pm", "20 Nov 17:30:00, 21 Nov 09:00:00, 21 Nov 17:30:00, 22 Nov 09:00:00"},
		{"mondays at 9am and 5:30pm", "23 Nov 09:00:00, 23 Nov 17:30:00, 30 Nov 09:00:00"},
		{"monthly on the 1st at 9:00, 10:15 and noon", "1 Dec 09:00:00, 1 Dec 10:15:00, 1 Dec 12:00:00, 1 Jan 09:00:00"},
		{"every hour between 9:30 and 12:00", "21 Nov 09:30:00, 21 Nov 10:30:00, 21 Nov 11:30:00, 22 Nov 09:30:00"},
		{"every 20 minutes between 2pm and 3pm on weekdays", "20 Nov 14:40:00, 20 Nov 15:00:00, 23 Nov 14:00:00"},
		{"every night at 11", "20 Nov 23:00:00, 21 Nov 23:00:00"},
		{"every monday to wednesday at 9:00", "23 Nov 09:00:00, 24 Nov 09:00:00, 25 Nov 09:00:00, 30 Nov 09:00:00"},
		{"every day at 9am America/New_York", "20 Nov 15:00:00, 21 Nov 15:00:00"},
		{"everyday at 9:30", "21 Nov 09:30:00, 22 Nov 09:30:00"},
		{"every tuesday through friday at 9am", "24 Nov 09:00:00, 25 Nov 09:00:00, 26 Nov 09:00:00, 27 Nov 09:00:00, 1 Dec 09:00:00"},
		{"mon-fri at 9:30", "23 Nov 09:30:00, 24 Nov 09:30:00, 25 Nov 09:30:00"},
		{"monday to friday at 9:30", "23 Nov 09:30:00, 24 Nov 09:30:00"},
		{"from monday to friday at 9:30", "23 Nov 09:30:00, 24 Nov 09:30:00"},
		{"sat-sun at noon", "21 Nov 12:00:00, 22 Nov 12:00:00, 28 Nov 12:00:00"},
		{"biweekly on friday at 17:00", "20 Nov 17:00:00, 4 Dec 17:00:00"},
		{"bimonthly on the 1st at 9am", "1 Dec 09:00:00, 1 Feb 09:00:00"},
		{"fortnightly", "4 Dec 14:23:00, 18 Dec 14:23:00"},
		{"every 9am", "21 Nov 09:00:00, 22 Nov 09:00:00"},
		{"every 9am and 5pm", "20 Nov 17:00:00, 21 Nov 09:00:00, 21 Nov 17:00:00"},
		{"on day 15 of every month", "15 Dec 00:00:00, 15 Jan 00:00:00"},
		{"day 15 of every month at 9am", "15 Dec 09:00:00, 15 Jan 09:00:00"},
		{"once a day at 9am", "21 Nov 09:00:00, 22 Nov 09:00:00"},
		{"once a week on monday at 9am", "23 Nov 09:00:00, 30 Nov 09:00:00"},
		{"once per month on the 15th at noon", "15 Dec 12:00:00, 15 Jan 12:00:00"},
		{"once every 2 weeks on friday at 5pm", "20 Nov 17:00:00, 4 Dec 17:00:00"},
		{"every hour at :00 on weekdays", "20 Nov 15:00:00, 20 Nov 16:00:00"},
		{"every hour at :15 on mondays", "23 Nov 00:15:00, 23 Nov 01:15:00"},
		{"every hour from 9:00 to 17:00", "20 Nov 15:00:00, 20 Nov 16:00:00, 20 Nov 17:00:00, 21 Nov 09:00:00"},
		{"quarterly", "20 Feb 14:23:00, 20 May 14:23:00"},
		{"fortnightly on monday at noon", "23 Nov 12:00:00, 7 Dec 12:00:00"},
	} {
		checkFirings(t, c.text, Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")}, c.want)
	}
}

func checkFirings(t *testing.T, text string, o Options, want string) {
	t.Helper()
	s, err := Parse(text, o)
	if err != nil {
		t.Errorf("%q: %v", text, err)
		return
	}
	var got []string
	at := o.Now
	for range strings.Count(want, ",") + 1 {
		next, ok := s.Next(at)
		if !ok {
			break
		}
		got = append(got, next.In(o.Zone).Format("2 Jan 15:04:05"))
		at = next
	}
	if strings.Join(got, ", ") != want {
		t.Errorf("%q (%s):\n got %s\nwant %s", text, s.Canonical, strings.Join(got, ", "), want)
	}
}

// A period with nothing but its length keeps to the day it starts from, in short months to their last.
func TestMonthEnds(t *testing.T) {
	o := Options{Now: clocktest.Instant(t, "2027-01-31T10:00:30+01:00"), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	checkFirings(t, "every month", o, "28 Feb 10:00:00, 31 Mar 10:00:00, 30 Apr 10:00:00, 31 May 10:00:00")
	checkFirings(t, "every month on the 31st at 9am", o, "31 Mar 09:00:00, 31 May 09:00:00")
	o.Now = clocktest.Instant(t, "2028-02-29T10:00:00+01:00")
	checkFirings(t, "every year", o, "28 Feb 10:00:00, 28 Feb 10:00:00, 28 Feb 10:00:00, 29 Feb 10:00:00")
}

// Bounds hold for phrases as for rules, and an explicit start is the phase.
func TestPhraseBounds(t *testing.T) {
	o := Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	o.Start = clocktest.Instant(t, "2026-12-01T08:00:20+01:00")
	checkFirings(t, "every 2 days", o, "1 Dec 08:00:20, 3 Dec 08:00:20")
	checkFirings(t, "every 2 weeks on friday at 17:00", o, "4 Dec 17:00:00, 18 Dec 17:00:00")
	checkFirings(t, "every 5m", o, "1 Dec 08:05:20, 1 Dec 08:10:20")
	o.Count = 2
	s, err := Parse("every day at 9am", o)
	if err != nil || s.Count(o.Now, o.Now.AddDate(1, 0, 0), 10) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	o = Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw"), DefaultTime: 7 * time.Hour}
	checkFirings(t, "every monday", o, "23 Nov 07:00:00, 30 Nov 07:00:00")
}

func TestRecurrencesThroughClockChanges(t *testing.T) {
	spring := Options{Now: clocktest.Instant(t, "2027-03-27T12:00:00+01:00"), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	checkFirings(t, "every day at 2:30", spring, "28 Mar 03:30:00, 29 Mar 02:30:00")
	checkFirings(t, "every 2 days at 2:30", spring, "28 Mar 03:30:00, 30 Mar 02:30:00")
	checkFirings(t, "every day", spring, "28 Mar 12:00:00, 29 Mar 12:00:00")
	checkFirings(t, "every 24h", spring, "28 Mar 13:00:00, 29 Mar 13:00:00")
	autumn := Options{Now: clocktest.Instant(t, "2026-10-24T12:00:00+02:00"), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	checkFirings(t, "every day at 2:30", autumn, "25 Oct 02:30:00, 26 Oct 02:30:00")
	checkFirings(t, "every 24h", autumn, "25 Oct 11:00:00, 26 Oct 11:00:00")
}

// The plain form of a recurrence has the same instants, also when it is read ten days later. An
// interval without a start, and a rule with a COUNT, count from when they are read.
func TestCanonicalIsTheSame(t *testing.T) {
	clocktest.Alone(t)
	seen := 0
	for _, c := range freshCases(t) {
		o := c.options(t)
		s, err := Parse(c.text, o)
		if err != nil || s.Kind == Once || ruleLike(c.text) || s.Kind == Interval && s.Canonical == "every "+shortDuration(s.Every) {
			continue
		}
		for _, days := range []int{0, 10} {
			later := o
			later.Now = o.Now.AddDate(0, 0, days)
			want, more := s.Next(later.Now)
			if !more {
				continue
			}
			seen++
			again, err := Parse(s.Canonical, later)
			if err != nil {
				t.Errorf("%q is %q, which is refused %d days later: %v", c.text, s.Canonical, days, err)
				continue
			}
			at := later.Now
			for range 8 {
				got, ok := again.Next(at)
				if ok != more || ok && !got.Equal(want) {
					t.Errorf("%q is %q: %d days later %v, %v, want %v, %v", c.text, s.Canonical, days, got, ok, want, more)
					break
				}
				if at = got; !ok {
					break
				}
				want, more = s.Next(at)
			}
		}
	}
	if seen < 1000 {
		t.Errorf("only %d", seen)
	}
}
