package schedule

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ouro-timer/ouro-timer/cmd/view"

	"github.com/ouro-timer/ouro-timer/cmd/cli"

	"github.com/ouro-timer/ouro-timer/timer/problem"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// applyTime gives the task its new time, when the call has one or changes the bounds, the zone or the jitter of the old one.
func (ed *edit) applyTime(e state.Entry, r *edited) error {
	given := ed.text != "" || ed.forced
	if !given && !ed.Opt.Has("start") && !ed.Opt.Has("end") && !ed.Opt.Has("count") && !ed.Opt.Has("jitter") && !ed.Opt.Has("tz") {
		return nil
	}
	o, err := ed.surroundings(e)
	if err != nil {
		return err
	}
	old, err := rules.Schedule(e.Task)
	if err != nil {
		old = nil // its zone is gone, say, and --tz mends that: which instants it had, nobody knows
	}
	if !given && !e.Task.Recurring() {
		return ed.sameOnce(e, o, r)
	}
	var sched *when.Schedule
	if given {
		if sched, err = ed.parse(e, o); err != nil {
			return err
		}
		if sched.Kind == when.Once {
			return ed.newOnce(e, o, sched, r)
		}
		o.Form = ed.form
		same := cli.Timing(sched, o, e.Due, 0, 0)
		if same.Text == e.Task.When.Text && same.Form == e.Task.When.Form && same.Zone == e.Task.When.Zone {
			given, sched = false, nil // in the same words: it keeps its rhythm
		}
	}
	return ed.recurring(e, old, o, given, r)
}

// surroundings is what the times of the call are read against: the present, and the task's zone unless --tz names another.
func (ed *edit) surroundings(e state.Entry) (when.Options, error) {
	o, err := ed.Options()
	if err != nil {
		return o, err
	}
	if !ed.Opt.Has("tz") {
		if o.Zone, err = when.LoadZone(e.Task.When.Zone); err != nil {
			return o, err
		}
	}
	o.Now = ed.now.In(o.Zone)
	return o, nil
}

// delayOf is the share of its jitter that a task was dealt.
func delayOf(t state.Timing) time.Duration {
	d, err := time.ParseDuration(t.Delay)
	if err != nil {
		return 0
	}
	return d
}

// jitters is the task's jitter as it is to be for the schedule: dealt anew when it was given, else as it was.
func (ed *edit) jitters(old state.Timing, sched *when.Schedule) (span, delay time.Duration, err error) {
	if ed.Opt.Has("jitter") {
		if strings.TrimSpace(ed.Opt.Text("jitter")) == "" {
			return 0, 0, nil
		}
		return jitter(ed.Call, sched)
	}
	if span, err = time.ParseDuration(old.Jitter); err != nil {
		return 0, 0, nil
	}
	if sched.Every > 0 && span >= sched.Every {
		return 0, 0, problem.Of(problem.T("the task's jitter of %s is as long as the interval", span),
			problem.T("give less with %s, or none: %s", problem.Option("jitter"), problem.Set("jitter", "")))
	}
	return span, delayOf(old), nil
}

// onceBounds refuses the bounds of a recurrence for what happens once.
func (ed *edit) onceBounds(id string) error {
	for _, name := range []problem.Option{"start", "end", "count"} {
		if ed.Opt.Has(string(name)) {
			return problem.Of(problem.T("%s is for recurrences, and task %s would happen once", name, id), problem.T("leave it out, or give a recurrence such as every day at 10:00"))
		}
	}
	return nil
}

// sameOnce changes the zone or the jitter of a one-shot: what was read off the wall is read off the wall of the new zone, an
// elapsed time stays where it is.
func (ed *edit) sameOnce(e state.Entry, o when.Options, r *edited) error {
	if err := ed.onceBounds(e.Task.ID); err != nil {
		return err
	}
	t := &r.task.When
	due := e.Due.Add(-delayOf(*t))
	if ed.Opt.Has("tz") && o.Zone.String() != t.Zone {
		if wall, err := time.Parse(state.WallForm, t.Wall); err == nil {
			due = when.Place(wall, o.Zone).Add(-delayOf(*t))
			if !due.After(ed.now) {
				return problem.New(problem.Past, problem.T("%s has passed", view.Stamp(due.In(o.Zone))), problem.T("give the time as well"))
			}
			t.Text = onWall(due, o.Zone)
		}
		t.Zone = o.Zone.String()
	}
	span, delay, err := ed.jitters(*t, &when.Schedule{})
	if err != nil {
		return err
	}
	t.Jitter, t.Delay = "", ""
	if span > 0 {
		t.Jitter, t.Delay = span.String(), delay.String()
	}
	r.due = due.Add(delay)
	if t.Wall != "" {
		t.Wall = r.due.In(o.Zone).Format(state.WallForm)
	}
	return nil
}

// newOnce gives the task a single time.
func (ed *edit) newOnce(e state.Entry, o when.Options, sched *when.Schedule, r *edited) error {
	if e.Task.Recurring() && !ed.forced {
		by := problem.Option("until")
		if sched.Delay > 0 {
			by = "delay"
		}
		return problem.New(problem.Ambiguous, problem.T("task %s recurs (%s), and %s is a single time", e.Task.ID, cli.Visible(e.Task.When.Text), cli.Quote(ed.text)),
			problem.T("give the whole recurrence, such as every day at 10:00; to make it happen once: %s; to leave some out: %s",
				problem.To("edit", e.Task.ID).With(by, ed.text), problem.To("pause", e.Task.ID).With("resume-at", "WHEN")))
	}
	if err := ed.onceBounds(e.Task.ID); err != nil {
		return err
	}
	due, err := cli.FirstDue(sched, o.Now)
	if err != nil {
		return err
	}
	span, delay, err := ed.jitters(e.Task.When, sched)
	if err != nil {
		return err
	}
	due = due.Add(delay)
	o.Form, o.Start, o.End, o.Count = ed.form, time.Time{}, time.Time{}, 0
	t := cli.Timing(sched, o, due, span, delay)
	if !e.Task.Recurring() {
		t.Start = e.Task.When.Start
		old := e.Task.When
		if due.Equal(e.Due) && t.Zone == old.Zone && t.Jitter == old.Jitter && (t.Wall == "") == (old.Wall == "") {
			t = old // another word for the same
		}
	}
	old, err := rules.Schedule(e.Task)
	if err == nil {
		r.passed = passedLine(e, old, ed.now)
	}
	r.task.When, r.due, r.sched = t, due, sched
	return nil
}

// recurring gives the task a recurrence, or the one it has other bounds. Anew is that it starts anew, from now or --start.
func (ed *edit) recurring(e state.Entry, old *when.Schedule, o when.Options, anew bool, r *edited) error {
	t := e.Task.When
	now := o.Now
	kept := e.Task.Recurring() && t.Given && t.Start.After(now) // a start that is still to come
	switch {
	case ed.Opt.Has("start") && ed.Opt.Text("start") == "":
		anew = true
	case ed.Opt.Has("start"):
		if err := ed.bound("start", &o.Start, o); err != nil {
			return err
		}
		anew = true
	case !anew || kept:
		if o.Now = t.Start; t.Given {
			o.Start = t.Start
		}
	}
	if e.Task.Recurring() {
		o.End, o.Count = t.End, t.Count
	}
	if anew && !kept && o.Count > 0 && old != nil {
		// Those that have come count.
		until := e.Due.Add(-1)
		if now.After(until) {
			until = now
		}
		if o.Count -= old.Count(t.Start.Add(-1), until, o.Count); o.Count < 1 {
			return problem.New(problem.Never, problem.T("all instants that its %s allows have come", problem.Option("count")),
				problem.T("give another %s, or %s for no bound", problem.Option("count"), problem.Set("count", 0)))
		}
	}
	if ed.Opt.Has("end") {
		if o.End = (time.Time{}); ed.Opt.Text("end") != "" {
			against := o
			against.Now = now
			if err := ed.bound("end", &o.End, against); err != nil {
				return err
			}
		}
	}
	if ed.Opt.Has("count") {
		if o.Count = ed.Opt.Int("count"); o.Count < 0 {
			return problem.Of(problem.T("%s must be 1 or more", problem.Option("count")), problem.T("write %s for no bound", problem.Set("count", 0)))
		}
	}
	text := ed.text
	if o.Form = ed.form; text == "" {
		text, o.Form = t.Text, when.Form(t.Form)
	}
	sched, err := when.Parse(text, o)
	if err != nil {
		return err
	}
	span, delay, err := ed.jitters(t, sched)
	if err != nil {
		return err
	}
	// The next that is in the future and not taken. An instant that had its turn with another share of the jitter has no second one.
	after := now
	for _, taken := range append([]time.Time{e.Tally.Floor()}, opened(e)...) {
		if taken.After(after) {
			after = taken
		}
	}
	if turn := e.Due.Add(delay - delayOf(t) - 1); !anew && turn.After(after) && t.Zone == o.Zone.String() {
		after = turn
	}
	shifted := sched
	if delay > 0 {
		shifted = sched.Shifted(delay)
	}
	due, err := cli.FirstDue(shifted, after)
	if !anew && t.Zone == o.Zone.String() && delay == delayOf(t) && !e.Due.After(now) {
		due, err, old = e.Due, nil, nil // only its end is another one: what is due stays due
	}
	if err != nil {
		return err
	}
	r.task.When, r.due = cli.Timing(sched, o, due, span, delay), due
	if !r.task.When.Given && anew {
		r.task.When.Start = o.Now
	}
	if anew {
		r.sched = sched
	}
	r.passed = passedLine(e, old, now)
	return nil
}

// opened are the instants of the task's open claims.
func opened(e state.Entry) []time.Time {
	var list []time.Time
	for _, r := range e.Open {
		if !r.Manual {
			list = append(list, r.Due)
		}
	}
	return list
}

// bound reads --start or --end.
func (ed *edit) bound(flag string, to *time.Time, o when.Options) error {
	t, err := cli.MomentOf(ed.Call, flag, o)
	*to = t
	return err
}

// parse reads the new time. What is offered in its place has the instants that it has as an edit of
// this task.
func (ed *edit) parse(e state.Entry, o when.Options) (*when.Schedule, error) {
	sched, err := ed.reads(e, o)
	switch {
	case ed.offered:
		return sched, err
	case err != nil:
		return nil, ed.reoffer(e, err)
	}
	others, _ := ed.asEdits(e, sched.Others)
	s := *sched
	s.Others = others
	return &s, nil
}

// reoffer is the refusal of a time with the candidates that this task can be edited to. Where there
// were some and none is left, what speaks against the first of them speaks against the time.
func (ed *edit) reoffer(e state.Entry, err error) error {
	p := *cli.Explain(err)
	if len(p.Candidates) == 0 {
		return err
	}
	left, refused := ed.asEdits(e, p.Candidates)
	switch {
	case len(left) == 0 && p.Code == problem.Ambiguous:
		return ed.reoffer(e, refused)
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
func (ed *edit) asEdits(e state.Entry, offered []when.Candidate) (list []when.Candidate, refused error) {
	for _, c := range offered {
		try := *ed
		try.text, try.offered = c.Text, true
		r := edited{task: e.Task, due: e.Due}
		if err := try.applyTime(e, &r); err == nil {
			list = append(list, when.Candidate{Text: c.Text, At: r.due.Add(-delayOf(r.task.When)).In(view.TaskZone(r.task))})
		} else if refused == nil {
			refused = err
		}
	}
	return list, refused
}

// reads is parse of one text. Of a one-shot a time of day alone keeps the date, and what begins
// with a sign counts from its due.
func (ed *edit) reads(e state.Entry, o when.Options) (*when.Schedule, error) {
	text := strings.TrimSpace(ed.text)
	base := e.Due.Add(-delayOf(e.Task.When)).In(o.Zone)
	if sign, length, ok := Signed(text); ok && !ed.forced {
		return ed.offset(e, sign, length, base, o)
	}
	o.Form = ed.form
	if !e.Task.Recurring() && (!ed.forced || ed.form == when.UntilForm) && TimeOfDay(text, o) {
		return ed.keepDate(e, text, base, o)
	}
	if !ed.forced {
		o.Form = when.Any
	}
	sched, err := when.Parse(text, o)
	var refused *when.Error
	if errors.As(err, &refused) && refused.Code == when.CodeNotUnderstood && !ed.forced && !ed.Dash && !ed.Opt.Has("task") && !ed.Opt.Has("description") {
		p := cli.Explain(err)
		anew := problem.T("a new text is given with %s, a new name with %s", problem.Set("task", text), problem.Option("description"))
		return nil, p.Advising(problem.Texts("; ", p.Hint, anew))
	}
	return sched, err
}

// Signed splits off the sign that a text begins with.
func Signed(text string) (sign int, rest string, ok bool) {
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
func (ed *edit) offset(e state.Entry, sign int, length string, base time.Time, o when.Options) (*when.Schedule, error) {
	id := e.Task.ID
	if e.Task.Recurring() {
		return nil, problem.New(problem.Ambiguous, problem.T("task %s recurs (%s), and cannot be moved by a length of time", id, cli.Visible(e.Task.When.Text)),
			problem.T("give the whole recurrence, such as every day at 10:00; to leave some out: %s", problem.To("pause", id).With("resume-at", "WHEN")))
	}
	if strings.IndexFunc(length, func(r rune) bool { return !unicode.IsDigit(r) }) < 0 {
		mark := "+"
		if sign < 0 {
			mark = "-"
		}
		minutes, hours := mark+cli.OrElse(length, "10")+"m", mark+cli.OrElse(length, "10")+"h"
		p := problem.Of(problem.T("by how much? %s has no unit", cli.Quote(ed.text)), problem.T("write %s or %s", minutes, hours))
		p.Candidates = []when.Candidate{{Text: minutes}, {Text: hours}}
		return nil, p
	}
	from := when.Options{Now: base, Zone: o.Zone, Form: when.DelayForm}
	span, err := when.Parse(length, from)
	if err != nil {
		p := *cli.Explain(err)
		p.Message = problem.T("%s begins with a sign, and is no length of time to move the task by", cli.Quote(ed.text))
		p.Hint = problem.T("write +1h, -10m or +1 day to count from when it is due; anything else goes without a sign")
		p.Candidates = slices.Clone(p.Candidates)
		for i := range p.Candidates {
			p.Candidates[i].Text = strings.TrimSuffix(strings.TrimSpace(ed.text), length) + p.Candidates[i].Text
		}
		return nil, &p
	}
	at := span.At
	tooFar := func(when string) error {
		return past(problem.T("%s has passed: %s counts from when it is due, %s", when, cli.Quote(ed.text), view.Stamp(base)),
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
	if !at.After(ed.now) {
		return nil, tooFar(view.Stamp(at.In(o.Zone)))
	}
	s := &when.Schedule{Kind: when.Once, Zone: o.Zone, At: at.In(o.Zone), Fixed: e.Task.When.Wall == ""}
	if s.Text = onWall(at, o.Zone); s.Fixed {
		s.Text = at.In(o.Zone).Format(time.RFC3339)
	}
	return s, nil
}

// keepDate reads a time of day on the date that the task is due.
func (ed *edit) keepDate(e state.Entry, text string, base time.Time, o when.Options) (*when.Schedule, error) {
	y, m, d := base.Date()
	o.Now = when.Place(time.Date(y, m, d, 0, 0, 0, 0, time.UTC), o.Zone).Add(-1)
	sched, err := when.Parse(text, o)
	if err != nil {
		return nil, err
	}
	if !sched.At.After(ed.now) {
		return nil, past(problem.T("%s has passed: a time of day alone keeps the task's date", view.Stamp(sched.At)),
			problem.T("with another date: %s", problem.To("edit", e.Task.ID, "tomorrow "+text)), "tomorrow "+text)
	}
	s := *sched
	if s.Notes = nil; s.Fixed {
		s.Text = s.At.Format(time.RFC3339)
	} else if s.Text = onWall(s.At, s.Zone); s.Zone.String() != o.Zone.String() {
		s.Text += " " + s.Zone.String()
	}
	return &s, nil
}

// TimeOfDay reports whether a text is a time of day and says nothing about the date: whenever it is asked, it means the next
// such time.
func TimeOfDay(text string, o when.Options) bool {
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
