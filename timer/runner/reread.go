package runner

import (
	"context"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// reasonExcept is of the end of a task all of whose later instants fall on days that are left out by now.
const reasonExcept = "except"

// rereadAll takes in what all files of days say by now.
func (g *engine) rereadAll(ctx context.Context) {
	n := 0
	_, _ = state.Each(ctx, g.Store, func(e state.Entry) bool { // an error is said by the loop
		g.reread(ctx, e, g.Clock.Now())
		n++
		return n%surveyFew != 0 || g.Clock.For(ctx, surveyRest) == nil
	}, state.Pending, state.Running, state.Paused)
}

// reread takes in what the files of days of a task say by now, and moves the task to its next instant by them: changed, and where it is
// then. What cannot be read, or would leave nothing, is warned of once, and the days that were read before count.
func (g *engine) reread(ctx context.Context, e state.Entry, now time.Time) (after state.Slot, changed bool) {
	if g.DayFile == nil || len(rules.DayFiles(e.Task.When)) == 0 {
		return after, false
	}
	timing, sched, changed, err := rules.Reread(e.Task.When, func(path string) (string, error) { return g.DayFile(ctx, path) })
	if err != nil {
		g.warnOnce("task " + e.Task.ID + ": " + err.Error() + "; the days that were read before are left out")
	}
	if !changed {
		return after, false
	}
	files := strings.Join(rules.DayFiles(timing), " or ")
	from := e.Due.Add(-1)
	if e.Due.After(now.Add(lead)) { // what is due may come before that now
		from = later(now, e.Tally.Floor())
	}
	due, left := time.Time{}, false
	if sched != nil {
		due, left = sched.Next(from)
	}
	if !left {
		if err := g.Store.Finish(ctx, e.Task.ID, reasonExcept, now); err != nil {
			return after, false
		}
		g.Say("task %s ends: %s leaves nothing more of it", e.Task.ID, files)
		return state.Slot{ID: e.Task.ID, Gone: true}, true
	}
	task := e.Task.Clone()
	task.When = timing
	entry, err := g.Store.Replace(ctx, task, due, now, nil)
	if err != nil { // somebody else came first, or it is looked at again when it is due
		return after, false
	}
	g.Say("task %s: %s has changed; due %s", e.Task.ID, files, when.Stamp(due.In(sched.Zone)))
	return state.Slot{ID: e.Task.ID, Due: entry.Due, Resume: e.Resume}, true
}
