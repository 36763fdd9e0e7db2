// Package say writes instants, and how far apart they are, as people check them.
package say

import (
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// Stamp writes an instant as people check it: "Fri 27 Nov 2026 12:00:00 CET (Europe/Warsaw)". A
// fraction is shown only when there is one, and the name of a zone only when it adds to the
// abbreviation.
func Stamp(t time.Time) string {
	short, name := t.Format("MST"), t.Location().String()
	switch {
	case name == "Etc/UTC" || name == "UTC":
		short, name = "UTC", ""
	case name == "Local" || name == short:
		name = ""
	case name == "":
		short = t.Format("-07:00")
	}
	if name != "" {
		short += " (" + name + ")"
	}
	return t.Format("Mon 2 Jan 2006 15:04:05.999999999 ") + short
}

// Echo is Stamp with the distance from now: ", in 5 days 23 hours", ", 2 minutes ago" or ", now".
// When the zone of t has another offset at t than now, it says that a clock change lies between.
func Echo(t, now time.Time) string {
	now = now.In(t.Location())
	text := Stamp(t)
	switch {
	case t.After(now):
		text += ", in " + Distance(now, t)
	case t.Before(now):
		text += ", " + Distance(now, t) + " ago"
	default:
		return text + ", now"
	}
	_, a := now.Zone()
	if _, b := t.Zone(); a != b {
		text += ", a clock change lies between"
		// Within a week, it is worth saying that a day has 23 hours.
		elapsed := t.Sub(now).Abs()
		if said := Hours(elapsed); elapsed < 7*24*time.Hour && strings.Contains(Distance(now, t), "day") {
			text += ": " + said
		}
	}
	return text
}

// Hours writes a length of time in hours and minutes.
func Hours(d time.Duration) string {
	d = d.Round(time.Minute)
	return twoUnits([]piece{{int(d / time.Hour), "hour"}, {int(d % time.Hour / time.Minute), "minute"}})
}

// Distance says how far apart two instants are, whichever is first: "5 days 23 hours", "1 minute 30
// seconds". It has the largest unit and the one below it; the rest is dropped. Below a minute it is
// in seconds, below ten seconds with milliseconds, and below a millisecond it is exact. Days and
// longer units are counted on the calendar of the zone of to, so noon to noon is a day across a
// clock change. What is left is elapsed time.
func Distance(from, to time.Time) string {
	zone := to.Location()
	if to.Before(from) {
		from, to = to, from
	}
	from, to = from.Round(0), to.Round(0)
	elapsed := to.Sub(from)
	switch {
	case elapsed >= time.Millisecond && elapsed < 10*time.Second:
		elapsed = elapsed.Round(time.Millisecond)
	case elapsed >= 10*time.Second:
		elapsed = elapsed.Round(time.Second)
	}
	if elapsed < time.Minute {
		seconds := strconv.FormatFloat(elapsed.Seconds(), 'f', -1, 64)
		if elapsed >= time.Millisecond { // as decimals say it: 1.747, not 1.7469999999999999
			seconds = strconv.FormatFloat(float64(elapsed.Milliseconds())/1000, 'f', -1, 64)
		}
		if seconds == "1" {
			return "1 second"
		}
		return seconds + " seconds"
	}
	// Above a minute, a fraction of a second would only turn "2 hours" into 1 hour 59 minutes.
	if half := to.Sub(from) % time.Second; half >= time.Second/2 {
		to = to.Add(time.Second - half)
	}
	start := civil.Wall(from, zone)
	months := largest(to.Year()-from.Year()+1, 12, to, func(n int) time.Time { return civil.InstantOf(civil.AddMonthsDays(start, int64(n), 0), zone) })
	base := civil.AddMonthsDays(start, int64(months), 0)
	days := largest(int(min(to.Sub(civil.InstantOf(base, zone))/(24*time.Hour), 40))+1, 1, to,
		func(n int) time.Time { return civil.InstantOf(base.AddDate(0, 0, n), zone) })
	left := to.Sub(from)
	if months > 0 || days > 0 {
		left = to.Sub(civil.InstantOf(base.AddDate(0, 0, days), zone))
	}
	return twoUnits([]piece{
		{months / 12, "year"},
		{months % 12, "month"},
		{days, "day"},
		{int(left / time.Hour), "hour"},
		{int(left % time.Hour / time.Minute), "minute"},
		{int(left % time.Minute / time.Second), "second"},
	})
}

type piece struct {
	n    int
	name string
}

// twoUnits writes the first unit that is not zero, and the unit after it when that is not zero
// either.
func twoUnits(units []piece) string {
	var words []string
	for _, u := range units {
		if u.n > 0 {
			words = append(words, plain.Plural(u.n, u.name))
		}
		if len(words) == 2 || len(words) == 1 && u.n == 0 {
			break
		}
	}
	return strings.Join(words, " ")
}

// largest returns the largest n from 0 to top × scale for which at(n) is not after limit.
func largest(top, scale int, limit time.Time, at func(int) time.Time) int {
	low, high := 0, max(top, 0)*scale
	for low < high {
		middle := (low + high + 1) / 2
		if at(middle).After(limit) {
			high = middle - 1
		} else {
			low = middle
		}
	}
	return low
}
