package tasks

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// time gives the task its time, when the request says one or changes the bounds, the zone or the jitter of the one there is.
func (c *Change) time(ctx context.Context) error {
	if c.After != nil {
		return c.after(ctx)
	}
	if c.When != nil && IsBoot(*c.When, c.Form) || c.When == nil && c.was.Task.When.OfBoots() && c.aboutTime() {
		return c.boot()
	}
	if c.adds {
		return c.first(ctx)
	}
	given := c.When != nil
	if !given && !c.aboutTime() {
		return nil
	}
	o, err := c.against()
	if err != nil {
		return err
	}
	t := c.was.Task.When
	old, err := rules.Schedule(c.was.Task)
	if err != nil {
		old = nil // its zone is gone, say, and another one mends that: which instants it had, nobody knows
	}
	if !given && !c.was.Task.Recurring() {
		return c.sameOnce(o)
	}
	if given {
		sched, err := c.parse(ctx, o)
		if err != nil {
			return err
		}
		if sched.Kind == when.Once {
			return c.newOnce(o, sched)
		}
		o.Form = c.Form
		same := Timing(sched, o, c.was.Due, 0, 0)
		given = same.Text != t.Text || same.Form != t.Form || same.Zone != t.Zone // in the same words it keeps its rhythm
	}
	return c.recurring(ctx, old, o, given)
}

// aboutTime reports whether the request says something that is about the task's time, beside the time itself.
func (c *Change) aboutTime() bool {
	return c.Start != nil || c.End != nil || c.Count != nil || c.Except != nil || c.Jitter != nil || c.Zone != nil
}

// against is what the times of the request are read against: the present, and the zone that it names, or else that of the task.
func (c *Change) against() (when.Options, error) {
	o, err := c.Times()
	if err != nil || c.adds {
		c.Now = o.Now
		return o, err
	}
	name := cmp.Or(orEmpty(c.Zone), c.was.Task.When.Zone)
	if o.Zone, err = when.LoadZone(name); err != nil {
		return o, err
	}
	o.Now = c.Now.In(o.Zone)
	return o, nil
}

// first gives a task that is made its time.
func (c *Change) first(ctx context.Context) error {
	o, err := c.against()
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
	except.Into(&o)
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

// instant is when the task is due without its share of the jitter.
func (c *Change) instant() time.Time {
	return c.Due.Add(-delayOf(c.Task.When)).In(rules.TaskZone(c.Task))
}

// expect refuses when the reading differs from what the caller thinks it is. The comparison is to the second.
func (c *Change) expect(due time.Time) error {
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

// jitter deals the task its share of the jitter, to the millisecond. It is dealt once and kept with the task, so that the task
// keeps its rhythm and what comes next can be told.
func (c *Change) jitter(sched *when.Schedule) (span, delay time.Duration, err error) {
	switch t := c.was.Task.When; {
	case c.Share != nil:
		return c.Share.Of(sched)
	case c.Jitter == nil:
		if span, err = time.ParseDuration(t.Jitter); err != nil {
			return 0, 0, nil
		}
		if sched.Every > 0 && span >= sched.Every {
			return 0, 0, problem.Of(problem.T("the task's jitter of %s is as long as the interval", span),
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
		return 0, 0, problem.Of(problem.T("a jitter of %s is as long as the interval", span), problem.T("give less than %s", sched.Every))
	}
	return span, time.Duration(rand.Int64N(span.Milliseconds())) * time.Millisecond, nil
}

// delayOf is the share of its jitter that a task was dealt.
func delayOf(t state.Timing) time.Duration {
	d, err := time.ParseDuration(t.Delay)
	if err != nil {
		return 0
	}
	return d
}

// onceBounds refuses the bounds of a recurrence for what happens once.
func (c *Change) onceBounds() error {
	id := c.was.Task.ID
	for _, bound := range []struct {
		name problem.Option
		said bool
	}{{"start", c.Start != nil}, {"end", c.End != nil}, {"count", c.Count != nil}, {"except", c.Except != nil}} {
		if bound.said {
			return problem.Of(problem.T("%s is for recurrences, and task %s would happen once", bound.name, id), problem.T("leave it out, or give a recurrence such as every day at 10:00"))
		}
	}
	return nil
}

// sameOnce changes the zone or the jitter of a one-shot: what was read off the wall is read off the wall of the new zone, an
// elapsed time stays where it is.
func (c *Change) sameOnce(o when.Options) error {
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
			due = when.Place(wall, o.Zone).Add(-delayOf(*t))
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

// noTime refuses what changes the time of a task that has none yet.
func (c *Change) noTime() error {
	return problem.Of(problem.T("task %s has no time yet: it is due %s", c.was.Task.ID, plain.Line(c.was.Task.When.Text)),
		problem.T("give it one: %s", problem.To("edit", c.was.Task.ID, "tomorrow at 10:00")))
}

// newOnce gives the task a single time.
func (c *Change) newOnce(o when.Options, sched *when.Schedule) error {
	if c.was.Task.Recurring() && !c.forced() {
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
			t = old // another word for the same
		}
	}
	old, err := rules.Schedule(c.was.Task)
	if err == nil {
		c.Passed = passedLine(c.was, old, c.Now)
	}
	c.Task.When, c.Due, c.Sched = t, due, sched
	return nil
}

// recurring gives the task a recurrence, or the one it has other bounds. Anew is that it starts anew, from now or --start.
func (c *Change) recurring(ctx context.Context, old *when.Schedule, o when.Options, anew bool) error {
	t := c.was.Task.When
	now := o.Now
	kept := c.was.Task.Recurring() && t.Given && t.Start.After(now) // a start that is still to come
	switch {
	case c.Start != nil && *c.Start == "":
		anew = true
	case c.Start != nil:
		start, err := Moment("start", *c.Start, o)
		if err != nil {
			return err
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
		// Those that have come count.
		until := c.was.Due.Add(-1)
		if now.After(until) {
			until = now
		}
		if o.Count -= old.Count(t.Start.Add(-1), until, o.Count); o.Count < 1 {
			return problem.New(problem.Never, problem.T("all instants that its %s allows have come", problem.Option("count")),
				problem.T("give another %s, or %s for no bound", problem.Option("count"), problem.Set("count", 0)))
		}
	}
	if c.End != nil {
		if o.End = (time.Time{}); *c.End != "" {
			against := o
			against.Now = now
			end, err := Moment("end", *c.End, against)
			if err != nil {
				return err
			}
			o.End = end
		}
	}
	if c.Count != nil {
		if o.Count = *c.Count; o.Count < 0 {
			return problem.Of(problem.T("%s must be 1 or more", problem.Option("count")), problem.T("write %s for no bound", problem.Set("count", 0)))
		}
	}
	except, err := c.exceptions(ctx, o)
	if err != nil {
		return err
	}
	except.Into(&o)
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
	// The next that is in the future and not taken. An instant that had its turn with another share of the jitter has no second one.
	after := lastTaken(c.was)
	if now.After(after) {
		after = now
	}
	if turn := c.was.Due.Add(delay - delayOf(t) - 1); !anew && c.Except == nil && turn.After(after) && t.Zone == o.Zone.String() {
		after = turn
	}
	shifted := sched
	if delay > 0 {
		shifted = sched.Shifted(delay)
	}
	due, err := firstDue(shifted, after)
	if !anew && t.Zone == o.Zone.String() && delay == delayOf(t) && !c.was.Due.After(now) {
		due, err, old = c.was.Due, nil, nil // only its end is another one: what is due stays due
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

// parse reads the new time. What is offered in its place has the instants that it has as an edit of
// this task.
func (c *Change) parse(ctx context.Context, o when.Options) (*when.Schedule, error) {
	sched, err := c.reads(o)
	switch {
	case c.offered:
		return sched, err
	case err != nil:
		return nil, c.reoffer(ctx, err)
	}
	others, _ := c.asEdits(ctx, sched.Others)
	s := *sched
	s.Others = others
	return &s, nil
}

// reoffer is the refusal of a time with the candidates that this task can be edited to. Where there
// were some and none is left, what speaks against the first of them speaks against the time.
func (c *Change) reoffer(ctx context.Context, err error) error {
	p := *explain(err)
	if len(p.Candidates) == 0 {
		return err
	}
	left, refused := c.asEdits(ctx, p.Candidates)
	switch {
	case len(left) == 0 && p.Code == problem.Ambiguous:
		return c.reoffer(ctx, refused)
	case len(left) > 0 && len(left) < len(p.Candidates):
		texts := make([]string, len(left))
		for i, c := range left {
			texts[i] = strconv.Quote(c.Text)
		}
		p.Hint = problem.T("say %s", strings.Join(texts, " or "))
	}
	p.Candidates = left
	return &p
}

// asEdits are those of some texts that the task can be edited to, with the instants that it is then
// due at, and why the first of the others cannot be.
func (c *Change) asEdits(ctx context.Context, offered []when.Candidate) (list []when.Candidate, refused error) {
	for _, o := range offered {
		try := editing(c.World, c.Spec, c.was, c.Now)
		try.When, try.offered = &o.Text, true
		if err := try.time(ctx); err == nil {
			list = append(list, when.Candidate{Text: o.Text, At: try.instant()})
		} else if refused == nil {
			refused = err
		}
	}
	return list, refused
}

// reads is parse of one text. Of a one-shot a time of day alone keeps the date, and what begins
// with a sign counts from its due.
func (c *Change) reads(o when.Options) (*when.Schedule, error) {
	text := strings.TrimSpace(*c.When)
	base := c.was.Due.Add(-delayOf(c.was.Task.When)).In(o.Zone)
	unscheduled := state.IsUnscheduled(c.was.Due)
	if sign, length, ok := signed(text); ok && !c.forced() {
		if unscheduled {
			return nil, c.noTime()
		}
		return c.offset(sign, length, base, o)
	}
	o.Form = c.Form
	if !c.was.Task.Recurring() && !unscheduled && (!c.forced() || c.Form == when.UntilForm) && timeOfDay(text, o) {
		return c.keepDate(text, base, o)
	}
	if !c.forced() {
		o.Form = when.Any
	}
	sched, err := when.Parse(text, o)
	var refused *when.Error
	if errors.As(err, &refused) && refused.Code == when.CodeNotUnderstood && !c.forced() && c.Command == nil && c.Text == nil && c.Description == nil {
		p := explain(err)
		anew := problem.T("a new text is given with %s, a new name with %s", problem.Set("task", text), problem.Option("description"))
		return nil, p.Advising(problem.Texts("; ", p.Hint, anew))
	}
	return sched, err
}

// signed splits off the sign that a text begins with.
func signed(text string) (sign int, rest string, ok bool) {
	for _, s := range []struct {
		mark string
		sign int
	}{{"+", 1}, {"-", -1}, {"−", -1}} {
		if rest, ok := strings.CutPrefix(text, s.mark); ok {
			return s.sign, strings.TrimSpace(rest), true
		}
	}
	return 0, text, false
}

// offset moves the task by a length of time: hours and less are elapsed time, days and more keep the time on the wall.
func (c *Change) offset(sign int, length string, base time.Time, o when.Options) (*when.Schedule, error) {
	id := c.was.Task.ID
	if c.was.Task.Recurring() {
		return nil, problem.New(problem.Ambiguous, problem.T("task %s recurs (%s), and cannot be moved by a length of time", id, plain.Line(c.was.Task.When.Text)),
			problem.T("give the whole recurrence, such as every day at 10:00; to leave some out: %s", problem.To("pause", id).With("resume-at", "WHEN")))
	}
	if strings.IndexFunc(length, func(r rune) bool { return !unicode.IsDigit(r) }) < 0 {
		mark := "+"
		if sign < 0 {
			mark = "-"
		}
		minutes, hours := mark+cmp.Or(length, "10")+"m", mark+cmp.Or(length, "10")+"h"
		p := problem.Of(problem.T("by how much? %s has no unit", plain.Quote(*c.When)), problem.T("write %s or %s", minutes, hours))
		p.Candidates = []when.Candidate{{Text: minutes}, {Text: hours}}
		return nil, p
	}
	from := when.Options{Now: base, Zone: o.Zone, Form: when.DelayForm}
	span, err := when.Parse(length, from)
	if err != nil {
		p := *explain(err)
		p.Message = problem.T("%s begins with a sign, and is no length of time to move the task by", plain.Quote(*c.When))
		p.Hint = problem.T("write +1h, -10m or +1 day to count from when it is due; anything else goes without a sign")
		p.Candidates = slices.Clone(p.Candidates)
		for i := range p.Candidates {
			p.Candidates[i].Text = strings.TrimSuffix(strings.TrimSpace(*c.When), length) + p.Candidates[i].Text
		}
		return nil, &p
	}
	at := span.At
	tooFar := func(when string) error {
		return past(problem.T("%s has passed: %s counts from when it is due, %s", when, plain.Quote(*c.When), stamp(base)),
			problem.T("to count from now, leave the sign out: %s", problem.To("edit", id, length)), length)
	}
	switch {
	case sign < 0 && span.Delay > 0:
		at = base.Add(-span.Delay)
	case sign < 0:
		// Months have lengths of their own: the calendar counts back. The time it counts from may be in the past.
		from.Now, from.Form = base.AddDate(-100, 0, 0), when.Any
		var refused *when.Error
		span, err = when.Parse(base.Format("2006-01-02 15:04:05.999999999")+" - "+length, from)
		switch {
		case errors.As(err, &refused) && refused.Code == when.CodePast:
			return nil, tooFar("that")
		case err != nil:
			return nil, err
		}
		at = span.At
	}
	if !at.After(c.Now) {
		return nil, tooFar(stamp(at.In(o.Zone)))
	}
	s := &when.Schedule{Kind: when.Once, Zone: o.Zone, At: at.In(o.Zone), Fixed: c.was.Task.When.Wall == ""}
	if s.Text = onWall(at, o.Zone); s.Fixed {
		s.Text = at.In(o.Zone).Format(time.RFC3339)
	}
	return s, nil
}

// keepDate reads a time of day on the date that the task is due.
func (c *Change) keepDate(text string, base time.Time, o when.Options) (*when.Schedule, error) {
	y, m, d := base.Date()
	o.Now = when.Place(time.Date(y, m, d, 0, 0, 0, 0, time.UTC), o.Zone).Add(-1)
	sched, err := when.Parse(text, o)
	if err != nil {
		return nil, err
	}
	if !sched.At.After(c.Now) {
		return nil, past(problem.T("%s has passed: a time of day alone keeps the task's date", stamp(sched.At)),
			problem.T("with another date: %s", problem.To("edit", c.was.Task.ID, "tomorrow "+text)), "tomorrow "+text)
	}
	s := *sched
	if s.Notes = nil; s.Fixed {
		s.Text = s.At.Format(time.RFC3339)
	} else if s.Text = onWall(s.At, s.Zone); s.Zone.String() != o.Zone.String() {
		s.Text += " " + s.Zone.String()
	}
	return &s, nil
}

// timeOfDay reports whether a text is a time of day and says nothing about the date: whenever it is asked, it means the next
// such time.
func timeOfDay(text string, o when.Options) bool {
	first := time.Date(2026, 2, 10, 0, 0, 0, 0, o.Zone) // far from changes of the clock
	at := func(now time.Time) (time.Time, bool) {
		o.Now = now
		s, err := when.Parse(text, o)
		if err != nil || s.Kind != when.Once || s.Delay != 0 {
			return time.Time{}, false
		}
		return s.At, true
	}
	t, ok := at(first.Add(-1))
	if !ok || t.Before(first) || !t.Before(first.AddDate(0, 0, 1)) {
		return false
	}
	for _, days := range []int{0, 1, 2, 3, 4, 5, 6} {
		day := first.AddDate(0, 0, days)
		want := day.Add(t.Sub(first))
		if before, ok := at(want.Add(-time.Second)); !ok || !before.Equal(want) {
			return false
		}
		if after, ok := at(want.Add(time.Second)); !ok || !after.Equal(want.AddDate(0, 0, 1)) {
			return false
		}
	}
	return true
}

// onWall writes an instant as the clocks of the zone show it, in a form that is read as a time.
func onWall(t time.Time, zone *time.Location) string {
	t = t.In(zone)
	if t.Second() == 0 && t.Nanosecond() == 0 {
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("2006-01-02 15:04:05")
}

// past is the problem of a time that has passed, with what the hint says to type instead. reoffer
// finds the instant of that.
func past(message, hint problem.Text, instead string) error {
	p := problem.New(problem.Past, message, hint)
	p.Candidates = []when.Candidate{{Text: instead}}
	return p
}

// forced reports whether the request says in which form its time is to be read.
func (c *Change) forced() bool { return c.Form != when.Any }

// stamp is an instant as people read it, to the second.
func stamp(t time.Time) string { return when.Stamp(t.Truncate(time.Second)) }

// passedLine is the line of the instants of a recurring task that had come by now without a run and are not made up for,
// because its schedule is another one from now on; nil when there is none.
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
