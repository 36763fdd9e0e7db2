package runner

import (
	"context"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// settle is how long a file that cannot be read must have been left alone before it is moved aside: somebody may be
// writing it.
const settle = 2 * time.Second

// The survey begins shortly after the runner does, and rests after every few tasks: what is due comes first, and the machine
// has other things to do.
const (
	surveyAfter = 100 * time.Millisecond
	surveyFew   = 64
	surveyRest  = 2 * time.Millisecond
)

// survey reads the whole queue once, beside the loop, which itself reads only names and what is due: it moves aside what
// cannot be read, and moves tasks whose zone's rules have changed since their due instant was computed. It holds few tasks
// at a time, however many there are.
func (l *engine) survey(ctx context.Context) {
	if l.Clock.For(ctx, surveyAfter) != nil {
		return
	}
	for round := 1; ; round++ {
		n := 0
		problems, err := state.Each(ctx, l.Store, func(e state.Entry) bool {
			if round == 1 { // rules do not change while a runner lives; names do, by hand
				l.follow(ctx, e)
			}
			n++
			return n%surveyFew != 0 || l.Clock.For(ctx, surveyRest) == nil
		}, state.Pending, state.Running)
		if err != nil || len(problems) == 0 || ctx.Err() != nil {
			return // an error is said by the loop
		}
		moved, err := l.Store.SetAside(ctx, settle)
		if err == nil {
			l.problems(moved)
		}
		if len(moved) == len(problems) || l.Clock.For(ctx, settle+time.Second) != nil {
			return
		}
	}
}

// follow moves a task to where its zone's rules have its instant today.
func (l *engine) follow(ctx context.Context, e state.Entry) {
	to, changed := dueNow(e)
	if !changed {
		return
	}
	if err := l.Store.Move(ctx, e.Task.ID, e.Due, to, l.Clock.Now()); err == nil {
		l.Say("task %s: the rules of %s have changed; due %s instead of %s", e.Task.ID, e.Task.When.Zone,
			when.Stamp(to), when.Stamp(e.Due.In(to.Location())))
	}
}

// fixed reports whether no rules can move the task's due instant: it was elapsed time, or the zone has the same offset for ever.
func fixed(t state.Task) bool {
	zone := t.When.Zone
	return zone == "UTC" || strings.HasPrefix(zone, "Etc/") || !t.Recurring() && t.When.Wall == ""
}

// dueNow is the due instant that the rules of the task's zone give today, and whether it is another one than the task
// has. The wall-clock reading that was asked for stays; instants that were elapsed time or had an offset do not move.
func dueNow(e state.Entry) (time.Time, bool) {
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
		to := when.Place(wall, zone)
		return to, !to.Equal(e.Due)
	}
	sched, err := Schedule(e.Task)
	if err != nil {
		return time.Time{}, false
	}
	if t, ok := sched.Next(e.Due.Add(-1)); ok && t.Equal(e.Due) {
		return time.Time{}, false
	}
	// Rules move instants by hours at the most: the occurrence that this one has become is the nearest one, after the last
	// that has ended.
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
