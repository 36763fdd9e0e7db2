// Package rhythm shows what a list of its next instants does not show of a recurrence: the effects
// of clock changes, the months and years that it leaves out, and its rhythm as a drawing.
package rhythm

import (
	"fmt"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// Remark is a sentence about a recurrence that the list of its next instants does not show.
type Remark struct {
	Kind recur.NoteKind
	// At is the first instant that it is about, in the zone of the schedule. It is zero when the
	// remark is not about an instant.
	At   time.Time
	Text string
}

const (
	// lookAhead is how many seconds after now clock changes are searched. It is less than the 364
	// days after which a change comes again, so that each gets one remark.
	lookAhead = 360 * 86400
	// maxRemarks is the most remarks about clock changes.
	maxRemarks = 100
	// maxReadings is how many wall times of one clock change are examined: every second of more
	// than an hour.
	maxReadings = 4000
)

// Of returns the next n instants after now, and remarks about them and about the year after now:
// where a clock change moves, drops or repeats one, and which months and years are left out. Every
// remark follows from the rule, and is checked against Next. A single instant has no remarks.
func Of(s *when.Schedule, now time.Time, n int) (next []time.Time, remarks []Remark) {
	now = now.Round(0)
	for at, ok := s.Next(now); ok && len(next) < n; at, ok = s.Next(at) {
		next = append(next, at)
	}
	p := s.Pattern()
	if p == nil || len(next) == 0 {
		return next, nil
	}
	t := remarker{s: s, p: p, now: now}
	from := now.Unix()
	if p.Start.After(now) {
		from = p.Start.Unix()
	}
	until := max(from+lookAhead, next[len(next)-1].Unix())
	from -= 2 * 86400 // a change of the last days may still move or repeat instants to come
	if p.Every > 0 {
		t.elapsed(from, until)
	} else {
		t.wall(from, until)
	}
	if p.Days != nil {
		omissions{&t}.dates(p.Days)
	}
	return next, t.remarks
}

// remarker collects the remarks about a schedule.
type remarker struct {
	s       *when.Schedule
	p       *recur.Pattern
	now     time.Time
	where   string // the zone of the wall times in words, if it is not that of the schedule
	remarks []Remark
}

// say adds a remark about an instant, which is in Unix seconds.
func (t *remarker) say(at int64, format string, a ...any) {
	t.remarks = append(t.remarks, Remark{recur.NoteClocks, time.Unix(at, 0).In(t.s.Zone), fmt.Sprintf(format, a...)})
}

// full reports whether there are enough remarks about clock changes. It then adds one that says
// that later changes are left out.
func (t *remarker) full(c civil.ClockChange) bool {
	if len(t.remarks) < maxRemarks {
		return false
	}
	t.say(c.At, "clock changes from %s on are not examined", dated(c.At+c.Before))
	return true
}

// runs reports whether the rule has an instant at u, in Unix seconds, whatever the bounds of the
// schedule.
func (t *remarker) runs(u int64) bool { return t.p.Runs(time.Unix(u, 0)) }

// ahead reports whether u, in Unix seconds, is after now and within the bounds of the schedule.
func (t *remarker) ahead(u int64) bool {
	at := time.Unix(u, 0)
	return at.After(t.now) && !at.Before(t.p.Start) && (t.p.End.IsZero() || !at.After(t.p.End))
}

// wall adds remarks about wall times that clock changes skip or repeat.
func (t *remarker) wall(from, until int64) {
	if zone := t.p.Zone; zone.String() != t.s.Zone.String() {
		t.where = " in " + zone.String()
		defer t.otherZone(zone, from, until)
	}
	civil.ClockChanges(from, until, t.p.Zone, func(c civil.ClockChange) bool {
		low, high := c.At+min(c.Before, c.After), c.At+max(c.Before, c.After)
		var walls []int64
		w, ok := t.p.NextWall(low - 1)
		for ; ok && w < high && len(walls) < maxReadings; w, ok = t.p.NextWall(w) {
			walls = append(walls, w)
		}
		if len(walls) == 0 {
			return true
		}
		if t.full(c) {
			return false
		}
		more := ok && w < high
		if c.Before < c.After {
			t.gap(c, walls, more)
		} else {
			t.fold(c, walls, more)
		}
		return true
	})
}

// gap adds remarks about the wall times that a change skips. more means that there are others after
// them. Those that coincide with another run get a remark of their own.
func (t *remarker) gap(c civil.ClockChange, walls []int64, more bool) {
	if !t.p.CatchesUp(c) {
		if t.ahead(c.At) {
			those := listed(walls, more)
			t.say(c.At, "no run at %s %s: %s and %s left out", those.text, t.on(walls[0]), those.missing(),
				those.verb("is", "are"))
		}
		return
	}
	// Index 1 has those that coincide with another run, and index 0 the others: the skipped wall
	// times, and those to which their runs move.
	var moved, skippedBy [2][]int64
	for _, w := range walls {
		at := w - c.Before
		if t.p.Cron {
			at = c.At
		}
		if !t.runs(at) || !t.ahead(at) {
			continue
		}
		kind := 0
		if same, ok := t.p.NextWall(at + c.After - 1); ok && same == at+c.After {
			kind = 1
		}
		skippedBy[kind] = append(skippedBy[kind], w)
		if n := len(moved[kind]); n == 0 || moved[kind][n-1] != at+c.After {
			moved[kind] = append(moved[kind], at+c.After)
		}
	}
	for kind, skipped := range skippedBy {
		if len(skipped) == 0 {
			continue
		}
		those, to := listed(skipped, more), listed(moved[kind], more)
		end := "at " + to.text
		switch day := dated(moved[kind][0]); {
		case to.n > few:
			end = later(c.After - c.Before)
		case day != dated(skipped[0]):
			end += " on " + day
		}
		what := those.verb("it runs", "they run")
		switch {
		case kind == 1:
			what = those.verb("it is", "they are") + " one with the " + to.verb("run", "runs")
		case t.p.Cron && those.n > 1:
			what += " once,"
		}
		t.say(moved[kind][0]-c.After, "no run at %s %s: %s, %s %s", those.text, t.on(skipped[0]),
			those.missing(), what, end)
	}
}

// fold adds remarks about the wall times that a change repeats: whether they run once or twice.
func (t *remarker) fold(c civil.ClockChange, walls []int64, more bool) {
	var first, both []int64
	for _, w := range walls {
		one, two := w-c.Before, w-c.After
		switch {
		case !t.ahead(two) || !t.runs(one):
		case t.runs(two):
			both = append(both, w)
		default:
			first = append(first, w)
		}
	}
	summer, winter := zoneShort(c.At-1, t.p.Zone), zoneShort(c.At, t.p.Zone)
	if len(both) > 0 {
		those := listed(both, more)
		t.say(both[0]-c.Before, "%s %s twice %s: %s both times (%s and %s)", those.text,
			those.verb("comes", "come"), t.on(both[0]),
			those.verb("it runs", "they run"), summer, winter)
	}
	if len(first) > 0 {
		those := listed(first, more)
		t.say(first[0]-c.Before, "%s %s twice %s: %s the first time (%s), not the second (%s)", those.text,
			those.verb("comes", "come"),
			t.on(first[0]), those.verb("it runs", "they run"), summer, winter)
	}
}

// on is the day of a wall time, as "on Sun 25 Oct 2026".
func (t *remarker) on(w int64) string { return "on " + dated(w) + t.where }

// elapsed adds remarks about where the times of day of an interval shift. They do unless the change
// is a multiple of the step between those times: every 5m keeps its minutes, but every 24h keeps
// its hour only until the change.
func (t *remarker) elapsed(from, until int64) {
	step := gcd(int64(t.p.Every), int64(24*time.Hour))
	civil.ClockChanges(from, until, t.s.Zone, func(c civil.ClockChange) bool {
		shift, change := c.After-c.Before, time.Unix(c.At, 0)
		at, ok := t.s.Next(change.Add(-1))
		if int64(time.Duration(shift)*time.Second)%step == 0 || !ok || !change.After(t.now) ||
			!change.After(t.p.Anchor) {
			return true
		}
		if t.full(c) {
			return false
		}
		text := fmt.Sprintf("from %s on it runs %s by the clock", at.Format("Mon 2 Jan 2006"), later(shift))
		if t.p.Every%(24*time.Hour) == 0 {
			_, offset := at.Zone()
			wall := at.Unix() + int64(offset)
			text += fmt.Sprintf(", at %s instead of %s", clockText(wall), clockText(wall-shift))
		}
		t.say(at.Unix(), "%s: elapsed time does not follow the clock change", text)
		return true
	})
}

// otherZone adds remarks about where a rule in another zone shifts by the clocks of the schedule's
// zone.
func (t *remarker) otherZone(zone *time.Location, from, until int64) {
	var changes []int64
	for _, z := range []*time.Location{zone, t.s.Zone} {
		civil.ClockChanges(max(from, t.now.Unix()), until, z, func(c civil.ClockChange) bool {
			changes = append(changes, c.At)
			return len(changes) < 2*maxRemarks
		})
	}
	slices.Sort(changes)
	for _, u := range slices.Compact(changes) {
		lead := func(u int64) int64 { return offset(u, t.s.Zone) - offset(u, zone) }
		at, ok := t.s.Next(time.Unix(u, 0).Add(-1))
		before, _ := t.s.Next(t.now)
		shift := lead(u) - lead(u-1)
		if !ok || shift == 0 || !before.Before(time.Unix(u, 0)) || len(t.remarks) > maxRemarks {
			continue
		}
		t.say(at.Unix(), "from %s on it runs %s by the clocks of %s: it follows those of %s",
			at.Format("Mon 2 Jan 2006"),
			later(shift), t.s.Zone, zone)
	}
	slices.SortStableFunc(t.remarks, func(a, b Remark) int { return a.At.Compare(b.At) })
}

// offset is how many seconds east of UTC the clocks of a zone are at u.
func offset(u int64, zone *time.Location) int64 {
	_, offset := time.Unix(u, 0).In(zone).Zone()
	return int64(offset)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// later is "1 hour later" or "30 minutes earlier".
func later(seconds int64) string {
	if seconds < 0 {
		return say.Hours(time.Duration(-seconds)*time.Second) + " earlier"
	}
	return say.Hours(time.Duration(seconds)*time.Second) + " later"
}

// wallTimes is a list of wall times in words, for a sentence about them.
type wallTimes struct {
	text string
	n    int
}

// few is how many wall times are listed one by one.
const few = 3

// listed writes wall times as "02:30", "02:10 and 02:40" or "the 12 times from 02:00 to 02:55".
// more means that there are others.
func listed(walls []int64, more bool) wallTimes {
	first, last := clockText(walls[0]), clockText(walls[len(walls)-1])
	switch n := len(walls); {
	case more:
		return wallTimes{fmt.Sprintf("%d or more times beginning at %s", n, first), n + few}
	case n > few:
		return wallTimes{fmt.Sprintf("the %d times from %s to %s", n, first, last), n}
	}
	words := make([]string, len(walls))
	for i, w := range walls {
		words[i] = clockText(w)
	}
	return wallTimes{plain.List(words, "and"), len(walls)}
}

// verb returns one for a single wall time, and several for more.
func (t wallTimes) verb(one, several string) string {
	if t.n == 1 {
		return one
	}
	return several
}

func (t wallTimes) missing() string {
	return t.verb("that time does not exist", "those times do not exist")
}

// dated is the day of a wall time, and clockText its time of day.
func dated(wall int64) string { return time.Unix(wall, 0).UTC().Format("Mon 2 Jan 2006") }

func clockText(wall int64) string {
	if wall%60 != 0 {
		return time.Unix(wall, 0).UTC().Format("15:04:05")
	}
	return time.Unix(wall, 0).UTC().Format("15:04")
}

// zoneShort is the abbreviation of a zone at u, such as CEST, or its offset when it has none.
func zoneShort(u int64, zone *time.Location) string {
	t := time.Unix(u, 0).In(zone)
	if short := t.Format("MST"); short[0] != '+' && short[0] != '-' {
		return short
	}
	return "UTC" + t.Format("-07:00")
}
