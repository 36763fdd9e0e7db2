package tasks

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// against returns the context in which times are read: the present, and the zone of the request, or
// else that of the task.
func (c wording) against() (when.Options, error) {
	o, err := c.Times()
	if err != nil || c.adds {
		c.Now = o.Now
		return o, err
	}
	name := cmp.Or(orEmpty(c.Zone), c.was.Task.When.Zone)
	if o.Zone, err = civil.LoadZone(name); err != nil {
		return o, err
	}
	o.Now = c.Now.In(o.Zone)
	return o, nil
}

// parse reads the new time. The candidates of a refusal have the instants that they have as an edit
// of this task.
func (c wording) parse(ctx context.Context, o when.Options) (*when.Schedule, error) {
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

// reoffer returns the refusal of a time with the candidates to which this task can be edited. When
// none of them is left, the reason against the first one is that against the time.
func (c wording) reoffer(ctx context.Context, err error) error {
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

// asEdits returns the texts to which the task can be edited, with the instants at which it is then
// due, and why the first of the others cannot be used.
func (c wording) asEdits(ctx context.Context, offered []fault.Candidate) (list []fault.Candidate, refused error) {
	for _, o := range offered {
		try := editing(c.World, c.Spec, c.was, c.Now)
		try.When, try.offered = &o.Text, true
		if err := (timing{try}).time(ctx); err == nil {
			list = append(list, fault.Candidate{Text: o.Text, At: timing{try}.instant()})
		} else if refused == nil {
			refused = err
		}
	}
	return list, refused
}

// reads is parse for one text. For a one-shot, a time of day alone keeps the date, and a text that
// begins with a sign counts from its due instant.
func (c wording) reads(o when.Options) (*when.Schedule, error) {
	text := strings.TrimSpace(*c.When)
	base := c.was.Due.Add(-delayOf(c.was.Task.When)).In(o.Zone)
	unscheduled := state.IsUnscheduled(c.was.Due)
	if sign, length, ok := signed(text); ok && !c.forced() {
		if unscheduled {
			return nil, timing(c).noTime()
		}
		return c.offset(sign, length, base, o)
	}
	o.Form = c.Form
	sched, err := when.Parse(text, o)
	refused, _ := errors.AsType[*fault.Error](err)
	if refused != nil && refused.Code == fault.CodePast && !c.was.Task.Recurring() && !unscheduled {
		// An hour before midnight may have passed today, and be ahead on another date.
		morning := o
		morning.Now = beginOfDay(c.Now, o.Zone)
		if early, err := when.Parse(text, morning); err == nil && early.TimeOnly {
			sched = early
		}
	}
	if sched != nil && sched.TimeOnly && !c.was.Task.Recurring() && !unscheduled {
		return c.keepDate(text, base, o)
	}
	if refused != nil && refused.Code == fault.CodeNotUnderstood && !c.forced() && c.Command == nil && c.Text == nil && c.Description == nil {
		p := explain(err)
		anew := problem.T("a new text is given with %s, a new name with %s", problem.Set("task", text), problem.Option("description"))
		return nil, p.Advising(problem.Texts("; ", p.Hint, anew))
	}
	return sched, err
}

// offset moves the task by a length of time. Hours and less are elapsed time; days and more keep
// the time of day.
func (c wording) offset(sign int, length string, base time.Time, o when.Options) (*when.Schedule, error) {
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
		p.Candidates = []fault.Candidate{{Text: minutes}, {Text: hours}}
		return nil, p
	}
	from := when.Options{Now: base, Zone: o.Zone, Form: when.DelayForm}
	span, err := when.Parse(length, from)
	if err != nil {
		p := *explain(err)
		p.Message = problem.T("%s begins with a sign, and is not a length of time to move the task by", plain.Quote(*c.When))
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
		// Months differ in length, so the calendar counts back. The time that it counts from may be
		// in the past.
		from.Now, from.Form = base.AddDate(-100, 0, 0), when.Any
		var refused *fault.Error
		span, err = when.Parse(base.Format("2006-01-02 15:04:05.999999999")+" - "+length, from)
		switch {
		case errors.As(err, &refused) && refused.Code == fault.CodePast:
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

// keepDate reads a time of day on the date on which the task is due.
func (c wording) keepDate(text string, base time.Time, o when.Options) (*when.Schedule, error) {
	begin := beginOfDay(base, o.Zone)
	o.Now = begin.Add(-1)
	sched, err := when.Parse(text, o)
	if err != nil { // an hour before midnight: the midnight that ends the day
		o.Now = begin
		sched, err = when.Parse(text, o)
	}
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

// beginOfDay returns the first instant of the day of t in a zone.
func beginOfDay(t time.Time, zone *time.Location) time.Time {
	y, m, d := t.In(zone).Date()
	return civil.InstantOf(time.Date(y, m, d, 0, 0, 0, 0, time.UTC), zone)
}

// forced reports whether the request says in which form its time is read.
func (c wording) forced() bool { return c.Form != when.Any }

// signed splits off the sign with which a text begins.
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

// onWall writes an instant as the clocks of the zone show it, in a form that is read as a time.
func onWall(t time.Time, zone *time.Location) string {
	t = t.In(zone)
	if t.Second() == 0 && t.Nanosecond() == 0 {
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("2006-01-02 15:04:05")
}
