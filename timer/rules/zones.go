package rules

import (
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// fixed reports whether no rules can move the task's due instant: it was elapsed time, or the zone
// has the same offset for ever.
func fixed(t state.Task) bool {
	zone := t.When.Zone
	return t.When.OfBoots() || zone == "UTC" || strings.HasPrefix(zone, "Etc/") || !t.Recurring() && t.When.Wall == ""
}

// DueNow is the due instant that the rules of the task's zone give today, and whether it is another
// one than the task has. The wall-clock reading that was asked for stays; instants that were
// elapsed time or had an offset do not move.
func DueNow(e state.Entry) (time.Time, bool) {
	if fixed(e.Task) {
		return time.Time{}, false
	}
	zone, err := when.LoadZone(e.Task.When.Zone)
	if err != nil {
		return time.Time{}, false
	}
	if !e.Task.Recurring() {
		wall, err := time.Parse(state.WallForm, e.Task.When.Wall)
		if err != nil || e.Due.In(zone).Format(state.WallForm) == e.Task.When.Wall {
			return time.Time{}, false // in a repeated hour it may be the second pass
		}
		to := when.InstantOf(wall, zone)
		return to, !to.Equal(e.Due)
	}
	sched, err := Schedule(e.Task)
	if err != nil {
		return time.Time{}, false
	}
	if t, ok := sched.Next(e.Due.Add(-1)); ok && t.Equal(e.Due) {
		return time.Time{}, false
	}
	// Rules move instants by hours at the most: the occurrence that this one has become is the
	// nearest one, after the last that has ended.
	floor := e.Due.Add(-24 * time.Hour)
	if ended := e.Tally.Floor(); ended.After(floor) {
		floor = ended
	}
	before, hasBefore := sched.Latest(floor, e.Due)
	after, hasAfter := sched.Next(e.Due)
	switch {
	case hasBefore && (!hasAfter || e.Due.Sub(before) <= after.Sub(e.Due)):
		return before, true
	case hasAfter:
		return after, true
	}
	return time.Time{}, false
}

// AsSaid reports whether a task's due instant is one that its words give. Of a one-shot that was
// edited it may not see that.
func AsSaid(e state.Entry, sched *when.Schedule) bool {
	t := e.Task
	if sched != nil {
		next, ok := sched.Next(e.Due.Add(-1))
		return ok && next.Equal(e.Due)
	}
	zone, err := when.LoadZone(t.When.Zone)
	if err != nil {
		return false
	}
	if t.When.Wall != "" {
		return e.Due.In(zone).Format(state.WallForm) == t.When.Wall
	}
	s, err := when.Parse(t.When.Text, when.Options{Now: t.When.Start, Zone: zone, Form: when.Form(t.When.Form)})
	return err == nil && s.At.Add(Span(t.When.Delay)).Equal(e.Due)
}

// TaskZone is the zone a task is pinned to. A zone that can no longer be loaded shows as UTC;
// doctor and the runner say so.
func TaskZone(t state.Task) *time.Location {
	if zone, ok := zones.Load(t.When.Zone); ok {
		return zone.(*time.Location)
	}
	zone, err := when.LoadZone(t.When.Zone)
	if err != nil {
		zone = time.UTC
	}
	zones.Store(t.When.Zone, zone)
	return zone
}

// zones are those that TaskZone has loaded: thousands of tasks are pinned to very few.
var zones sync.Map
