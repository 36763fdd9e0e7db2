package tasks

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// afterKinds are the ends that a task can wait for. The first is the default.
var afterKinds = []string{state.AfterOK, state.AfterFailed, state.AfterAny}

// after makes the task wait for the ends of other tasks, instead of a time.
func (c awaiting) after(ctx context.Context) error {
	if err := c.afterAlone(); err != nil {
		return err
	}
	o, err := wording(c).against()
	if err != nil {
		return err
	}
	ends := map[string]string{}
	for _, text := range c.After {
		a, err := c.awaits(ctx, strings.TrimSpace(text))
		if err != nil {
			return err
		}
		if ends[a.ID] != "" {
			return problem.Of(problem.T("%s names task %s twice", problem.Option("after"), a.ID), problem.T("name it once; %s is any end", a.ID+":"+state.AfterAny))
		}
		ends[a.ID] = a.On
	}
	if len(ends) == 0 {
		return problem.Of(problem.T("%s names no task", problem.Option("after")), problem.T("give a task's ID; to give it a time instead: %s", problem.To("edit", "ID", "tomorrow at 10:00")))
	}
	t := state.Timing{Kind: string(when.Once), Zone: o.Zone.String(), Start: o.Now.UTC(), After: ends}
	t.Text = t.AfterText()
	if old := c.was.Task.When; maps.Equal(old.After, ends) {
		t = old // the same as before
	}
	c.Task.When, c.Due, c.Sched = t, state.Unscheduled, nil
	return nil
}

// afterAlone refuses a time beside the ends that are waited for.
func (c awaiting) afterAlone() error {
	if name := c.aboutTimes(); name != "" {
		return problem.Of(problem.T("%s has no time that %s could be about", problem.Option("after"), name), problem.T("leave one of the two out"))
	}
	if c.When != nil {
		return problem.Of(problem.T("%s is in the place of a time, and %s is one", problem.Option("after"), plain.Quote(*c.When)),
			problem.T("leave one of the two out; to wait a while after the run, have the command begin with it: %s", problem.Set("c", "sleep 300; make")))
	}
	return nil
}

// awaits reads ID, ID:ok, ID:failed or ID:any, with a key or an ID. It refuses an end that cannot
// come any more.
func (c awaiting) awaits(ctx context.Context, text string) (a state.After, err error) {
	name, on := text, ""
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		name, on = text[:i], strings.ToLower(strings.TrimSpace(text[i+1:]))
	}
	if strings.TrimSpace(name) == "" { // a variable that is not set
		return a, problem.Of(problem.T("%s names no task", problem.Set("after", text)), problem.T("give an ID, %s", problem.Set("after", "k7m2")))
	}
	known := slices.Contains(afterKinds, on)
	var e state.Entry
	switch {
	case known:
		if e, err = c.Find(ctx, name); isUnknown(err) { // a key may end like that
			if whole, wrong := c.Find(ctx, text); wrong == nil {
				e, on, err = whole, state.AfterOK, nil
			}
		}
	default:
		// it is not a key with a colon
		if e, err = c.Find(ctx, text); isUnknown(err) && name != text {
			if on != "" {
				err = problem.Of(problem.T("%s is not an end that a run can be waited for with", plain.Quote(on)), problem.T("write %s (it ended well), %s or %s", name, name+":"+state.AfterFailed, name+":"+state.AfterAny))
			} else {
				e, err = c.Find(ctx, name)
			}
		}
		on = state.AfterOK
	}
	if err != nil {
		return a, err
	}
	a = state.After{ID: e.Task.ID, On: on}
	if err := c.refuseCycle(ctx, e, []string{c.was.Task.ID}); err != nil {
		return a, err
	}
	w := rules.Awaited{Phase: e.Phase, Open: len(e.Open) > 0}
	if last := state.Outcome(e.Tally.Last); last != "" && !e.Task.Recurring() {
		w.Ends = []state.Line{{Outcome: last}}
	}
	if became, _ := rules.Follow(a, w); became == rules.NeverComes {
		how := problem.T("has ended: %s", e.Tally.Last)
		switch {
		case e.Phase == state.Removed:
			how = problem.T("was removed")
		case e.Tally.Last == "" || e.Task.Recurring():
			how = problem.T("has ended, and has no run any more")
		}
		hint := problem.T("schedule it for now, or wait for another task")
		if e.Phase != state.Removed && e.Tally.Last != "" && !e.Task.Recurring() {
			hint = problem.T("%s is whatever end", problem.Set("after", a.ID+":"+state.AfterAny))
		}
		return a, problem.New(problem.Ended, problem.T("task %s %s; what %s asks for does not come", a.ID, how, problem.Set("after", text)), hint)
	}
	return a, nil
}

// isUnknown reports whether nothing has the name.
func isUnknown(err error) bool {
	p, ok := errors.AsType[*problem.Problem](err)
	return ok && p.Code == problem.NotFound
}

// refuseCycles refuses to wait for a task that itself waits for this one.
func (c awaiting) refuseCycles(ctx context.Context) error {
	for _, a := range c.Task.When.Awaits() {
		e, err := c.Find(ctx, a.ID)
		if err != nil {
			continue // it is gone and waits for nothing
		}
		if err := c.refuseCycle(ctx, e, []string{c.was.Task.ID}); err != nil {
			return err
		}
	}
	return nil
}

// refuseCycle refuses to wait for a task that waits for this one. path has the tasks from this one
// to e, without e.
func (c awaiting) refuseCycle(ctx context.Context, e state.Entry, path []string) error {
	if id := c.was.Task.ID; id != "" && e.Task.ID == id {
		circle := append(slices.Clone(path), id)
		return problem.Of(problem.T("%s would wait for itself: %s", id, strings.Join(circle, " after ")), problem.T("name another task"))
	}
	if !state.IsUnscheduled(e.Due) || c.was.Task.ID == "" {
		return nil
	}
	for _, a := range e.Task.When.Awaits() {
		next, err := c.Find(ctx, a.ID)
		if err != nil {
			continue // it is gone and waits for nothing
		}
		if err := c.refuseCycle(ctx, next, append(slices.Clone(path), e.Task.ID)); err != nil {
			return err
		}
	}
	return nil
}
