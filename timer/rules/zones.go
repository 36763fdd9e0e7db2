package rules

import (
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// fixed reports whether no rules can move the due instant of the task: it is elapsed time, or the
// zone has the same offset for ever.
func fixed(t state.Task) bool {
	zone := t.When.Zone
	return t.When.OfBoots() || zone == "UTC" || strings.HasPrefix(zone, "Etc/") || !t.Recurring() && t.When.Wall == ""
}

// DueNow returns the due instant by the present rules of the zone of the task, and whether it
// differs from that of the task. The wall time that was asked for stays. Instants of elapsed time
// or with an offset do not move.
func DueNow(e state.Entry) (time.Time, bool) {
	if fixed(e.Task) {
		return time.Time{}, false
	}
	zone, err := civil.LoadZone(e.Task.When.Zone)
	if err != nil {
		return time.Time{}, false
	}
	if !e.Task.Recurring() {
		wall, err := time.Parse(state.WallForm, e.Task.When.Wall)
		if err != nil || e.Due.In(zone).Format(state.WallForm) == e.Task.When.Wall {
			return time.Time{}, false // in a repeated hour it may be the second one
		}
		to := civil.InstantOf(wall, zone)
		return to, !to.Equal(e.Due)
	}
	sched, err := Schedule(e.Task)
	if err != nil {
		return time.Time{}, false
	}
	if t, ok := sched.Next(e.Due.Add(-1)); ok && t.Equal(e.Due) {
		return time.Time{}, false
	}
	// Rules move instants by hours at most. So this occurrence has become the nearest one, after
	// the last that has ended.
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

// AsSaid reports whether the due instant of a task follows from its words. For a one-shot that was
// edited it may report false wrongly.
func AsSaid(e state.Entry, sched *when.Schedule) bool {
	t := e.Task
	if sched != nil {
		next, ok := sched.Next(e.Due.Add(-1))
		return ok && next.Equal(e.Due)
	}
	zone, err := civil.LoadZone(t.When.Zone)
	if err != nil {
		return false
	}
	if t.When.Wall != "" {
		return e.Due.In(zone).Format(state.WallForm) == t.When.Wall
	}
	s, err := when.Parse(t.When.Text, when.Options{Now: t.When.Start, Zone: zone, Form: when.Form(t.When.Form)})
	return err == nil && s.At.Add(Span(t.When.Delay)).Equal(e.Due)
}

// TaskZone returns the zone of a task. A zone that can no longer be loaded shows as UTC; doctor and
// the runner report it.
func TaskZone(t state.Task) *time.Location {
	zone, err := civil.LoadZone(t.When.Zone)
	if err != nil {
		return time.UTC
	}
	return zone
}
