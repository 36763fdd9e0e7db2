package when

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Remark says something about a recurrence that the list of its next instants does not show by itself.
type Remark struct {
	At   time.Time // the first instant it is about, in the schedule's zone; zero when it is about no one instant
	Text string
}

const (
	// lookAhead is how far beyond now clock changes are looked for, in seconds. It is less than the 364 days after which a
	// change comes again, so that each is told once.
	lookAhead = 360 * 86400
	// maxRemarks is how many remarks there may be about clock changes.
	maxRemarks = 100
	// maxReadings is how many readings of one clock change are looked at: a second of them each for more than an hour.
	maxReadings = 4000
)

// Rhythm is the next n instants strictly after now, and what there is to say about them and the year after now: where a
// clock change moves, drops or repeats one, and which months and years are left out. Every remark is worked out from the
// rule and checked against Next. A Once has its instant and no remarks.
func (s *Schedule) Rhythm(now time.Time, n int) (next []time.Time, remarks []Remark) {
	now = now.Round(0)
	for at, ok := s.Next(now); ok && len(next) < n; at, ok = s.Next(at) {
		next = append(next, at)
	}
	if s.rule == nil || len(next) == 0 {
		return next, nil
	}
	t := teller{s: s, now: now}
	from := now.Unix()
	if s.start.After(now) {
		from = s.start.Unix()
	}
	until := max(from+lookAhead, next[len(next)-1].Unix())
	from = max(from-2*86400, farPast+1) // a change just passed may still move or repeat what is to come
	rule := s.rule
	var left []excluding
	for e, ok := rule.(excluding); ok; e, ok = rule.(excluding) {
		left, rule = append(left, e), e.rule
	}
	without := func(next func(w int64) (int64, bool)) func(w int64) (int64, bool) {
		for _, e := range left {
			next = e.nextWall(next)
		}
		return next
	}
	if e, ok := rule.(ending); ok {
		rule, t.last = e.rule, e.last
	}
	switch r := rule.(type) {
	case interval:
		t.elapsed(r, from, until)
	case *cronRule:
		t.wall(wallRhythm{zone: r.zone, cron: true, wild: r.wild, next: without(r.lockedWall)}, from, until)
		t.cronDates()
	case *placedRule:
		t.wall(wallRhythm{zone: r.zone, next: without(r.nextWall)}, from, until)
		t.ruleDates(r)
	}
	return next, t.remarks
}

// lockedWall is nextWall for callers without the lock.
func (c *cronRule) lockedWall(w int64) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nextWall(max(w, firstCron))
}

// teller gathers the remarks about a schedule.
type teller struct {
	s       *Schedule
	now     time.Time
	last    time.Time // the last instant of the rule itself; zero: none
	remarks []Remark
}

// say adds a remark about an instant, given in Unix seconds.
func (t *teller) say(at int64, format string, a ...any) {
	t.remarks = append(t.remarks, Remark{time.Unix(at, 0).In(t.s.Zone), fmt.Sprintf(format, a...)})
}

// full says that there are enough remarks about clock changes, and that later ones are left out.
func (t *teller) full(c clockChange) bool {
	if len(t.remarks) < maxRemarks {
		return false
	}
	t.say(c.at, "clock changes from %s on are not looked at", dated(c.at+c.before))
	return true
}

// runs says whether the rule has an instant at u, in Unix seconds, whatever the schedule's bounds.
func (t *teller) runs(u int64) bool {
	at, ok := t.s.rule.next(time.Unix(u, 0).Add(-1))
	return ok && at.Equal(time.Unix(u, 0))
}

// ahead says whether u, in Unix seconds, is later than now and within the bounds.
func (t *teller) ahead(u int64) bool {
	at := time.Unix(u, 0)
	return at.After(t.now) && !at.Before(t.s.start) && (t.s.end.IsZero() || !at.After(t.s.end))
}

// clockChange is an instant at which a zone goes from one offset (seconds east) to another.
type clockChange struct{ at, before, after int64 }

// clockChanges are those of a zone after from and not after until, all in Unix seconds; look returns false to end.
func clockChanges(from, until int64, zone *time.Location, look func(clockChange) bool) {
	for s := stretchAt(from, zone); s.end != farFuture && s.end <= until; {
		n := stretchAt(s.end, zone)
		if n.offset != s.offset && !look(clockChange{s.end, s.offset, n.offset}) {
			return
		}
		s = n
	}
}

// wallRhythm is a rule that is read off the clock on the wall.
type wallRhythm struct {
	zone  *time.Location
	where string                      // names the zone when it is not the schedule's
	next  func(w int64) (int64, bool) // the first reading after w
	cron  bool                        // what falls into a gap is caught up at its end, else moved by its length
	wild  bool                        // a cron line that catches nothing up
}

// wall tells of the readings that clock changes skip and repeat.
func (t *teller) wall(r wallRhythm, from, until int64) {
	if r.zone.String() != t.s.Zone.String() {
		r.where = " in " + r.zone.String()
		defer t.apart(r.zone, from, until)
	}
	clockChanges(from, until, r.zone, func(c clockChange) bool {
		low, high := c.at+min(c.before, c.after), c.at+max(c.before, c.after)
		var walls []int64
		w, ok := r.next(low - 1)
		for ; ok && w < high && len(walls) < maxReadings; w, ok = r.next(w) {
			walls = append(walls, w)
		}
		if len(walls) == 0 {
			return true
		}
		if t.full(c) {
			return false
		}
		more := ok && w < high
		if c.before < c.after {
			t.gap(r, c, walls, more)
		} else {
			t.fold(r, c, walls, more)
		}
		return true
	})
}

// gap tells what becomes of readings that a change skips; with more there are others after them.
func (t *teller) gap(r wallRhythm, c clockChange, walls []int64, more bool) {
	if r.cron && (r.wild || c.after-c.before > correction) {
		if t.ahead(c.at) {
			those := listed(walls, more)
			t.say(c.at, "no run at %s %s: %s and %s left out", those.text, r.on(walls[0]), those.missing(), those.verb("is", "are"))
		}
		return
	}
	// Those that become one with another run are told apart from the others.
	var moved, alone [2][]int64
	for _, w := range walls {
		at := w - c.before
		if r.cron {
			at = c.at
		}
		if !t.runs(at) || !t.ahead(at) {
			continue
		}
		own := 0
		if same, ok := r.next(at + c.after - 1); ok && same == at+c.after {
			own = 1
		}
		alone[own] = append(alone[own], w)
		if n := len(moved[own]); n == 0 || moved[own][n-1] != at+c.after {
			moved[own] = append(moved[own], at+c.after)
		}
	}
	for own, skipped := range alone {
		if len(skipped) == 0 {
			continue
		}
		those, to := listed(skipped, more), listed(moved[own], more)
		end := "at " + to.text
		switch day := dated(moved[own][0]); {
		case to.n > few:
			end = later(c.after - c.before)
		case day != dated(skipped[0]):
			end += " on " + day
		}
		what := those.verb("it runs", "they run")
		switch {
		case own == 1:
			what = those.verb("it is", "they are") + " one with the " + to.verb("run", "runs")
		case r.cron && those.n > 1:
			what += " once,"
		}
		t.say(moved[own][0]-c.after, "no run at %s %s: %s, %s %s", those.text, r.on(skipped[0]), those.missing(), what, end)
	}
}

// fold tells which passes of repeated readings run.
func (t *teller) fold(r wallRhythm, c clockChange, walls []int64, more bool) {
	var first, both []int64
	for _, w := range walls {
		one, two := w-c.before, w-c.after
		switch {
		case !t.ahead(two) || !t.runs(one):
		case t.runs(two):
			both = append(both, w)
		default:
			first = append(first, w)
		}
	}
	summer, winter := zoneShort(c.at-1, r.zone), zoneShort(c.at, r.zone)
	if len(both) > 0 {
		those := listed(both, more)
		t.say(both[0]-c.before, "%s %s twice %s: %s both times (%s and %s)", those.text, those.verb("comes", "come"), r.on(both[0]),
			those.verb("it runs", "they run"), summer, winter)
	}
	if len(first) > 0 {
		those := listed(first, more)
		t.say(first[0]-c.before, "%s %s twice %s: %s the first time (%s), not the second (%s)", those.text, those.verb("comes", "come"),
			r.on(first[0]), those.verb("it runs", "they run"), summer, winter)
	}
}

// on is the day of a reading.
func (r wallRhythm) on(w int64) string { return "on " + dated(w) + r.where }

// elapsed tells where the times of day of an interval shift. They do when the change is no whole number of the steps in
// which those times lie apart: every 5m keeps its minutes, every 24h its hour only until the change.
func (t *teller) elapsed(r interval, from, until int64) {
	begin := r.anchor
	if t.s.Kind == RRule {
		begin = begin.Add(r.every) // DTSTART, itself an instant
	}
	step := gcd(int64(r.every), int64(24*time.Hour))
	clockChanges(from, until, t.s.Zone, func(c clockChange) bool {
		shift, change := c.after-c.before, time.Unix(c.at, 0)
		at, ok := t.s.Next(change.Add(-1))
		if int64(time.Duration(shift)*time.Second)%step == 0 || !ok || !change.After(t.now) || !change.After(begin) {
			return true
		}
		if t.full(c) {
			return false
		}
		text := fmt.Sprintf("from %s on it runs %s by the clock", at.Format("Mon 2 Jan 2006"), later(shift))
		if r.every%(24*time.Hour) == 0 {
			wall := reading(at, t.s.Zone)
			text += fmt.Sprintf(", at %s instead of %s", clockText(wall.Unix()), clockText(wall.Unix()-shift))
		}
		t.say(at.Unix(), "%s: elapsed time does not follow the clock change", text)
		return true
	})
}

// apart tells where a rule that runs on the clocks of another zone shifts by those of the schedule's.
func (t *teller) apart(zone *time.Location, from, until int64) {
	var changes []int64
	for _, z := range []*time.Location{zone, t.s.Zone} {
		clockChanges(max(from, t.now.Unix()), until, z, func(c clockChange) bool {
			changes = append(changes, c.at)
			return len(changes) < 2*maxRemarks
		})
	}
	slices.Sort(changes)
	for _, u := range slices.Compact(changes) {
		lead := func(u int64) int64 { return stretchAt(u, t.s.Zone).offset - stretchAt(u, zone).offset }
		at, ok := t.s.Next(time.Unix(u, 0).Add(-1))
		before, _ := t.s.Next(t.now)
		shift := lead(u) - lead(u-1)
		if !ok || shift == 0 || !before.Before(time.Unix(u, 0)) || len(t.remarks) > maxRemarks {
			continue
		}
		t.say(at.Unix(), "from %s on it runs %s by the clocks of %s: it follows those of %s", at.Format("Mon 2 Jan 2006"),
			later(shift), t.s.Zone, zone)
	}
	slices.SortStableFunc(t.remarks, func(a, b Remark) int { return a.At.Compare(b.At) })
}

// later is "1 hour later" or "30 minutes earlier".
func later(seconds int64) string {
	if seconds < 0 {
		return hours(time.Duration(-seconds)*time.Second) + " earlier"
	}
	return hours(time.Duration(seconds)*time.Second) + " later"
}

// times is a list of readings in words, for a sentence about them.
type times struct {
	text string
	n    int
}

// few is how many readings are listed one by one.
const few = 3

// listed writes readings as "02:30", "02:10 and 02:40" or "the 12 times from 02:00 to 02:55"; with more there are others.
func listed(walls []int64, more bool) times {
	first, last := clockText(walls[0]), clockText(walls[len(walls)-1])
	switch n := len(walls); {
	case more:
		return times{fmt.Sprintf("%d or more times beginning at %s", n, first), n + few}
	case n > few:
		return times{fmt.Sprintf("the %d times from %s to %s", n, first, last), n}
	}
	words := make([]string, len(walls))
	for i, w := range walls {
		words[i] = clockText(w)
	}
	return times{enumerate(words), len(walls)}
}

// verb is one form for a single reading and the other for several.
func (t times) verb(one, several string) string {
	if t.n == 1 {
		return one
	}
	return several
}

func (t times) missing() string {
	return t.verb("that time does not exist", "those times do not exist")
}

// enumerate is "a", "a and b", "a, b and c".
func enumerate(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// dated is the day of a reading, clockText its time of day.
func dated(wall int64) string { return time.Unix(wall, 0).UTC().Format("Mon 2 Jan 2006") }

func clockText(wall int64) string {
	if wall%60 != 0 {
		return time.Unix(wall, 0).UTC().Format("15:04:05")
	}
	return time.Unix(wall, 0).UTC().Format("15:04")
}

// zoneShort is what a zone calls its time at u, such as CEST, or the offset where it has no name for it.
func zoneShort(u int64, zone *time.Location) string {
	t := time.Unix(u, 0).In(zone)
	if short := t.Format("MST"); short[0] != '+' && short[0] != '-' {
		return short
	}
	return "UTC" + t.Format("-07:00")
}
