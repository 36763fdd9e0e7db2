package tasks

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// time sets the time of the task, when the request has one or changes the bounds, the zone or the
// jitter.
func (c timing) time(ctx context.Context) error {
	if c.After != nil {
		return awaiting(c).after(ctx)
	}
	// without a new time, one of these changes the one that it has
	changed := c.given("start", "end", "count", "except", "jitter", "tz") != ""
	if c.When != nil && IsBoot(*c.When, c.Form) || c.When == nil && c.was.Task.When.OfBoots() && changed {
		return c.boot()
	}
	if c.adds {
		return c.first(ctx)
	}
	given := c.When != nil
	if !given && !changed {
		return nil
	}
	o, err := wording(c).against()
	if err != nil {
		return err
	}
	t := c.was.Task.When
	old, err := rules.Schedule(c.was.Task)
	if err != nil {
		// its zone may be gone, and the new one repairs that; the instants that it had are unknown
		old = nil
	}
	if !given && !c.was.Task.Recurring() {
		return c.sameOnce(o)
	}
	if given {
		sched, err := wording(c).parse(ctx, o)
		if err != nil {
			return err
		}
		if sched.Kind == when.Once {
			return c.newOnce(o, sched)
		}
		o.Form = c.Form
		same := Timing(sched, o, c.was.Due, 0, 0)
		// in the same words it keeps its phase
		given = same.Text != t.Text || same.Form != t.Form || same.Zone != t.Zone
	}
	return c.recurring(ctx, old, o, given)
}

// first sets the time of a new task.
func (c timing) first(ctx context.Context) error {
	o, err := wording(c).against()
	if err != nil {
		return err
	}
	if err := c.Bounds(&o); err != nil {
		return err
	}
	if c.When == nil {
		return problem.Of(problem.T("when? a task needs a time"), problem.T("try %s", problem.To("at", "tomorrow at 10:00").Running("make", "backup")))
	}
	except, err := c.exceptions(ctx, o)
	if err != nil {
		return err
	}
	o.Except = except.Days
	o.Form = c.Form
	if c.Sched, err = when.Parse(*c.When, o); err != nil {
		return err
	}
	due, err := firstDue(c.Sched, o.Now)
	if err != nil {
		return err
	}
	if err := c.expect(due); err != nil {
		return err
	}
	span, delay, err := c.jitter(c.Sched)
	if err != nil {
		return err
	}
	c.Due = due.Add(delay)
	c.Task.When = Timing(c.Sched, o, c.Due, span, delay)
	except.keep(&c.Task.When)
	return nil
}

// instant returns the due instant without the share of the jitter.
func (c timing) instant() time.Time {
	return c.Due.Add(-delayOf(c.Task.When)).In(rules.TaskZone(c.Task))
}

// expect refuses a time that is not the one that the caller expects, to the second.
func (c timing) expect(due time.Time) error {
	if c.Expect == nil {
		return nil
	}
	want, err := time.Parse(time.RFC3339, *c.Expect)
	if err != nil {
		return problem.NoTimestamp("expect", *c.Expect, due)
	}
	if !want.Truncate(time.Second).Equal(due.Truncate(time.Second)) {
		return problem.New(problem.Differs, problem.T("the first instant is %s, not %s", due.Format(time.RFC3339), *c.Expect),
			problem.T("say the time otherwise, or expect %s; %s shows how words are read", due.Format(time.RFC3339), problem.To("when")))
	}
	return nil
}

// jitter returns the share of the jitter of the task, to the millisecond. It is drawn once and kept
// with the task, so that the task keeps its phase and its next instants are known.
func (c timing) jitter(sched *when.Schedule) (span, delay time.Duration, err error) {
	switch t := c.was.Task.When; {
	case c.Share != nil:
		return c.Share.Of(sched)
	case c.Jitter == nil:
		if span, err = time.ParseDuration(t.Jitter); err != nil {
			return 0, 0, nil
		}
		if sched.Every > 0 && span >= sched.Every {
			return 0, 0, problem.Of(problem.T("the task's jitter of %s is as long as the interval", briefly(span)),
				problem.T("give less with %s, or none: %s", problem.Option("jitter"), problem.Set("jitter", "")))
		}
		return span, delayOf(t), nil
	case !c.adds && strings.TrimSpace(*c.Jitter) == "":
		return 0, 0, nil
	}
	if span, err = Span("jitter", *c.Jitter, problem.T("to spread over"), "10m"); err != nil {
		return 0, 0, err
	}
	if sched.Every > 0 && span >= sched.Every {
		return 0, 0, problem.Of(problem.T("a jitter of %s is as long as the interval", briefly(span)), problem.T("give less than %s", briefly(sched.Every)))
	}
	return span, time.Duration(rand.Int64N(span.Milliseconds())) * time.Millisecond, nil
}

// delayOf returns the share of its jitter that a task has.
func delayOf(t state.Timing) time.Duration {
	d, err := time.ParseDuration(t.Delay)
	if err != nil {
		return 0
	}
	return d
}

// onceBounds refuses the bounds of a recurrence for a one-shot.
func (c timing) onceBounds() error {
	if name := c.given("start", "end", "count", "except"); name != "" {
		return problem.Of(problem.T("%s is for recurrences, and task %s would happen once", name, c.was.Task.ID), problem.T("leave it out, or give a recurrence such as every day at 10:00"))
	}
	return nil
}

// sameOnce changes the zone or the jitter of a one-shot. A wall time becomes the same wall time in
// the new zone; an elapsed time keeps its instant.
func (c timing) sameOnce(o when.Options) error {
	if err := c.onceBounds(); err != nil {
		return err
	}
	if state.IsUnscheduled(c.was.Due) {
		return c.noTime()
	}
	t := &c.Task.When
	due := c.was.Due.Add(-delayOf(*t))
	if c.Zone != nil && o.Zone.String() != t.Zone {
		if wall, err := time.Parse(state.WallForm, t.Wall); err == nil {
			due = civil.InstantOf(wall, o.Zone).Add(-delayOf(*t))
			if !due.After(c.Now) {
				return problem.New(problem.Past, problem.T("%s has passed", stamp(due.In(o.Zone))), problem.T("give the time as well"))
			}
			t.Text = onWall(due, o.Zone)
		}
		t.Zone = o.Zone.String()
	}
	span, delay, err := c.jitter(&when.Schedule{})
	if err != nil {
		return err
	}
	t.Jitter, t.Delay = "", ""
	if span > 0 {
		t.Jitter, t.Delay = span.String(), delay.String()
	}
	c.Due = due.Add(delay)
	if t.Wall != "" {
		t.Wall = c.Due.In(o.Zone).Format(state.WallForm)
	}
	return nil
}

// noTime refuses a change of the time when the task has none yet.
func (c timing) noTime() error {
	return problem.Of(problem.T("task %s has no time yet: it is due %s", c.was.Task.ID, plain.Line(c.was.Task.When.Text)),
		problem.T("give it one: %s", problem.To("edit", c.was.Task.ID, "tomorrow at 10:00")))
}

// newOnce sets a single instant.
func (c timing) newOnce(o when.Options, sched *when.Schedule) error {
	if c.was.Task.Recurring() && !wording(c).forced() {
		by := problem.Option("until")
		if sched.Delay > 0 {
			by = "delay"
		}
		return problem.New(problem.Ambiguous, problem.T("task %s recurs (%s), and %s is a single time", c.was.Task.ID, plain.Line(c.was.Task.When.Text), plain.Quote(*c.When)),
			problem.T("give the whole recurrence, such as every day at 10:00; to make it happen once: %s; to leave some out: %s",
				problem.To("edit", c.was.Task.ID).With(by, *c.When), problem.To("pause", c.was.Task.ID).With("resume-at", "WHEN")))
	}
	if err := c.onceBounds(); err != nil {
		return err
	}
	due, err := firstDue(sched, o.Now)
	if err != nil {
		return err
	}
	span, delay, err := c.jitter(sched)
	if err != nil {
		return err
	}
	due = due.Add(delay)
	o.Form, o.Start, o.End, o.Count = c.Form, time.Time{}, time.Time{}, 0
	t := Timing(sched, o, due, span, delay)
	if !c.was.Task.Recurring() {
		t.Start = c.was.Task.When.Start
		old := c.was.Task.When
		if due.Equal(c.was.Due) && t.Zone == old.Zone && t.Jitter == old.Jitter && (t.Wall == "") == (old.Wall == "") {
			t = old // other words for the same instant
		}
	}
	old, err := rules.Schedule(c.was.Task)
	if err == nil {
		c.Passed = passedLine(c.was, old, c.Now)
	}
	c.Task.When, c.Due, c.Sched = t, due, sched
	return nil
}

// recurring sets a recurrence, or new bounds of the one that the task has. With anew it starts
// again, from now or from --start.
func (c timing) recurring(ctx context.Context, old *when.Schedule, o when.Options, anew bool) error {
	t := c.was.Task.When
	now := o.Now
	o, anew, err := c.bounds(old, o, anew)
	if err != nil {
		return err
	}
	except, err := c.exceptions(ctx, o)
	if err != nil {
		return err
	}
	o.Except = except.Days
	text := orEmpty(c.When)
	if o.Form = c.Form; text == "" {
		text, o.Form = t.Text, when.Form(t.Form)
	}
	sched, err := when.Parse(text, o)
	if err != nil {
		return err
	}
	span, delay, err := c.jitter(sched)
	if err != nil {
		return err
	}
	sameZone := t.Zone == o.Zone.String()
	due, err := firstDue(sched.Shifted(delay), c.after(now, delay, !anew && sameZone))
	if !anew && sameZone && delay == delayOf(t) && !c.was.Due.After(now) {
		due, err, old = c.was.Due, nil, nil // only its end changes: what is due stays due
	}
	if err != nil {
		return err
	}
	c.Task.When, c.Due = Timing(sched, o, due, span, delay), due
	except.keep(&c.Task.When)
	if !c.Task.When.Given && anew {
		c.Task.When.Start = o.Now
	}
	if anew || c.Except != nil {
		c.Sched = sched
	}
	c.Passed = passedLine(c.was, old, now)
	return nil
}

// bounds returns the options with which a recurrence is read: its start, its end and its count, as
// they are given or as the task has them. anew says that the recurrence starts again. The instants
// that have come count.
func (c timing) bounds(old *when.Schedule, o when.Options, anew bool) (when.Options, bool, error) {
	t := c.was.Task.When
	now := o.Now
	kept := c.was.Task.Recurring() && t.Given && t.Start.After(now) // a start that is still to come
	switch {
	case c.Start != nil && *c.Start == "":
		anew = true
	case c.Start != nil:
		start, err := Moment("start", *c.Start, o)
		if err != nil {
			return o, anew, err
		}
		o.Start = start
		anew = true
	case !anew || kept:
		if o.Now = t.Start; t.Given {
			o.Start = t.Start
		}
	}
	if c.was.Task.Recurring() {
		o.End, o.Count = t.End, t.Count
	}
	if anew && !kept && o.Count > 0 && old != nil {
		until := c.was.Due.Add(-1)
		if now.After(until) {
			until = now
		}
		if o.Count -= old.Count(t.Start.Add(-1), until, o.Count); o.Count < 1 {
			return o, anew, problem.New(problem.Never, problem.T("all instants that its %s allows have come", problem.Option("count")),
				problem.T("give another %s, or %s for no bound", problem.Option("count"), problem.Set("count", 0)))
		}
	}
	if c.End != nil {
		if o.End = (time.Time{}); *c.End != "" {
			against := o
			against.Now = now
			end, err := Moment("end", *c.End, against)
			if err != nil {
				return o, anew, err
			}
			o.End = end
		}
	}
	if c.Count != nil {
		if o.Count = *c.Count; o.Count < 0 {
			return o, anew, problem.Of(problem.T("%s must be 1 or more", problem.Option("count")), problem.T("write %s for no bound", problem.Set("count", 0)))
		}
	}
	return o, anew, nil
}

// after returns the instant after which the next one is looked for: it lies ahead and is not taken.
// An instant that has run with another share of the jitter does not run again. keeps says that the
// recurrence goes on from what is due.
func (c timing) after(now time.Time, delay time.Duration, keeps bool) time.Time {
	after := lastTaken(c.was)
	if now.After(after) {
		after = now
	}
	turn := c.was.Due.Add(delay - delayOf(c.was.Task.When) - 1)
	if keeps && c.Except == nil && turn.After(after) {
		after = turn
	}
	return after
}

// past returns the problem of a time that has passed. The hint says what to type instead, and
// reoffer finds its instant.
func past(message, hint problem.Text, instead string) error {
	p := problem.New(problem.Past, message, hint)
	p.Candidates = []fault.Candidate{{Text: instead}}
	return p
}

// stamp writes an instant for people, to the second.
func stamp(t time.Time) string { return say.Stamp(t.Truncate(time.Second)) }

// passedLine returns the line of the instants of a recurring task that have come without a run and
// are not made up for, because its schedule changes. It is nil when there are none.
func passedLine(e state.Entry, old *when.Schedule, now time.Time) *state.Line {
	if old == nil || e.Due.After(now) {
		return nil
	}
	line, _, _ := rules.Resume(e, old, now)
	if !e.Held {
		line.Outcome, line.Reason = state.Missed, "edited"
	}
	line.At = now
	return line
}
