package runner

import (
	"context"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// reasonExcept is the reason for the end of a task if all its later instants fall on days that are
// now left out.
const reasonExcept = "except"

// rereadAll reads all files of days again.
func (g *engine) rereadAll(ctx context.Context) {
	n := 0
	_, _ = state.Each(ctx, g.Store, func(e state.Entry) bool { // an error is said by the loop
		g.reread(ctx, e, g.Clock.Now())
		n++
		return n%surveyFew != 0 || g.Clock.For(ctx, surveyRest) == nil
	}, state.Pending, state.Running, state.Paused)
}

// reread reads the files of days of a task again, and moves the task to its next instant by them.
// It returns whether it moved the task, and its new place. If a file cannot be read, or would leave
// no instant, it warns once, and the days that were read before count.
func (g *engine) reread(ctx context.Context, e state.Entry, now time.Time) (after state.Slot, changed bool) {
	if g.DayFile == nil || len(rules.DayFiles(e.Task.When)) == 0 {
		return after, false
	}
	timing, sched, changed, err := rules.Reread(e.Task.When, func(path string) (string, error) { return g.DayFile(ctx, path) })
	if err != nil {
		g.warnOnce("task %s: %v; the days that were read before are left out", e.Task.ID, err)
	}
	if !changed {
		return after, false
	}
	files := strings.Join(rules.DayFiles(timing), " or ")
	from := e.Due.Add(-1) // what is due stays so, unless its day is left out now
	if e.Due.After(now.Add(claimAhead)) {
		from = later(now, e.Tally.Floor()) // what is not may now come earlier
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
	entry, err := g.Store.Update(ctx, task, due, now, nil)
	if err != nil { // somebody else was first, or it is looked at again when it is due
		return after, false
	}
	g.Say("task %s: %s has changed; due %s", e.Task.ID, files, say.Stamp(due.In(sched.Zone)))
	return state.Slot{ID: e.Task.ID, Due: entry.Due, Resume: e.Resume}, true
}
