package manage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// lsBeforeJSON is the answer of ls --before.
type lsBeforeJSON struct {
	Now         time.Time    `json:"now"`
	Total       *int         `json:"total,omitempty" jsonschema:"absent: more than were counted"`
	More        int          `json:"more"`
	Occurrences []occurrence `json:"occurrences"`
	Problems    []string     `json:"problems,omitempty"`

	until  time.Time
	unread int // tasks that cannot be read
	form   form
}

// lsSummaryJSON is the answer of ls --before --summary.
type lsSummaryJSON struct {
	Now      time.Time    `json:"now"`
	Until    time.Time    `json:"until"`
	Total    int          `json:"total" jsonschema:"how many tasks are due by then"`
	More     int          `json:"more"`
	Tasks    []summarized `json:"tasks" jsonschema:"those that are due first come first"`
	Once     *together    `json:"once,omitempty" jsonschema:"further tasks that come once, and do not recur: without --limit 20 of them are in tasks"`
	Problems []string     `json:"problems,omitempty"`

	unread int // tasks that cannot be read
	form   form
}

// together are tasks that come once each, in sum.
type together struct {
	Count int       `json:"count"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// summarized is a task and its instants, in sum.
type summarized struct {
	ID          string     `json:"id"`
	Description *string    `json:"description,omitempty"`
	Summary     string     `json:"summary" jsonschema:"what it does, in a few words"`
	Count       int        `json:"count" jsonschema:"of its instants; 1000000 stands for more than were counted"`
	First       time.Time  `json:"first"`
	Last        *time.Time `json:"last,omitempty" jsonschema:"absent: count is 1"`

	what   string
	recurs bool
}

// Text is a line for each task.
func (a lsSummaryJSON) Text(o *cli.Out) {
	width := lineWidth(o)
	a.form.head(o, "id\tcount\tfirst\tlast\twhat")
	for _, t := range a.Tasks {
		if a.form.plain() {
			o.Line("%s\t%d\t%s\t%s\t%s", t.ID, t.Count, t.First.Format(time.RFC3339),
				t.last().Format(time.RFC3339), t.what)
			continue
		}
		span := view.Stamp(t.First)
		if t.Count > 1 {
			span = fmt.Sprintf("%s … %s", span, view.Stamp(t.last()))
		}
		o.Line("%s", cli.Fit(fmt.Sprintf("%s  %6s × %s  %s", t.ID, view.Thousands(t.Count), t.what, span), width))
	}
	if a.Once != nil {
		o.Line("%s", cli.Fit(fmt.Sprintf("and %s more that come once  %s … %s", view.Thousands(a.Once.Count),
			view.Stamp(a.Once.First), view.Stamp(a.Once.Last)), width))
	}
	switch {
	case len(a.Tasks) == 0 && a.unread > 0:
		o.Talk("%s cannot be read; nothing else is due before %s.", cli.Plural(a.unread, "task"), view.Stamp(a.Until))
	case len(a.Tasks) == 0:
		o.Talk("Nothing is due before %s.", view.Stamp(a.Until))
	case a.More > 0:
		o.Talk("… and %d more", a.More)
	}
}

// last is the last of the instants.
func (t summarized) last() time.Time {
	if t.Last == nil {
		return t.First
	}
	return *t.Last
}

// summary sums a task's instants up.
func summary(e state.Entry, until time.Time) summarized {
	t, zone := e.Task, rules.TaskZone(e.Task)
	row := summarized{ID: t.ID, Description: cli.OrNull(t.Description), Summary: t.Summary(), Count: 1,
		First: e.Due.In(zone), what: view.Describe(t), recurs: t.Recurring()}
	if sched, err := rules.Schedule(t); err == nil && sched != nil {
		row.Count += sched.Count(e.Due, until, countMost-1)
		if last, ok := sched.Latest(e.Due, until); ok && row.Count > 1 {
			row.Last = cli.Instant(last, zone)
		}
	}
	return row
}

// onceMost is how many tasks that come once are listed each, when no limit is given; the rest is
// summed up.
const onceMost = 20

// gather sums up tasks that do not recur, but for the first of them, in an answer whose tasks stand
// in their order.
func (a *lsSummaryJSON) gather() {
	listed := 0
	a.Tasks = slices.DeleteFunc(a.Tasks, func(t summarized) bool {
		if t.recurs {
			return false
		}
		if listed++; listed <= onceMost {
			return false
		}
		if a.Once == nil {
			a.Once = &together{First: t.First}
		}
		a.Once.Count, a.Once.Last = a.Once.Count+1, t.First
		return true
	})
}

// listSummary lists each task that is due up to --before, with how many instants it has until then.
func listSummary(ctx context.Context, s *cli.Call, st state.Tasks, only filter, now, until time.Time, limit int,
	in form) error {
	answer := lsSummaryJSON{Now: now, Until: until.In(now.Location()), Tasks: []summarized{}, form: in}
	problems, err := state.DueBy(ctx, st, until, func(e state.Entry) bool {
		if !tasks.Live(e) || e.Held || e.Due.After(until) || !only.fits(&e) {
			return true
		}
		if answer.Total++; limit > 0 && len(answer.Tasks) == limit {
			answer.More++
			return true
		}
		answer.Tasks = append(answer.Tasks, summary(e, until))
		return true
	})
	if err != nil {
		return err
	}
	s.WarnOf(problems)
	slices.SortStableFunc(answer.Tasks, func(a, b summarized) int { return a.First.Compare(b.First) })
	if limit == 0 && !in.plain() {
		answer.gather()
	}
	answer.Problems, answer.unread = view.ProblemTexts(problems), view.UnreadCount(problems)
	s.Answer(answer)
	return view.Incomplete(problems)
}

// occurrence is an instant of a task, of ls --before.
type occurrence struct {
	Due         time.Time `json:"due"`
	ID          string    `json:"id" jsonschema:"of the task"`
	Description *string   `json:"description,omitempty"`
	Summary     string    `json:"summary" jsonschema:"what it does, in a few words"`
	what        string
	// when its task is due next, which says who is first of those of one instant
	First time.Time `json:"-"`
}

// compare is the order of the list.
func (o occurrence) compare(p occurrence) int {
	return cmp.Or(o.Due.Compare(p.Due), o.First.Compare(p.First), strings.Compare(o.ID, p.ID))
}

// occurrences are the first of many, in memory for a few times as many.
type occurrences struct {
	most int
	rows []occurrence
	full bool
	last time.Time // when it is full: what comes later is not among the first
}

// add takes an instant of a task in; false when neither it nor any later one is among the first.
func (o *occurrences) add(e state.Entry, due time.Time) bool {
	if o.full && due.After(o.last) {
		return false
	}
	t := e.Task
	o.rows = append(o.rows, occurrence{due.In(rules.TaskZone(t)), t.ID, cli.OrNull(t.Description), t.Summary(),
		view.Describe(t), e.Due})
	if n := len(o.rows); n >= 1000 && n/2 >= o.most {
		o.rows = slices.Clone(o.list())
		o.full, o.last = true, o.rows[o.most-1].Due
	}
	return true
}

// list are the first, in order.
func (o *occurrences) list() []occurrence {
	slices.SortFunc(o.rows, occurrence.compare)
	return o.rows[:min(o.most, len(o.rows))]
}

// mostOccurrences bounds a list of occurrences when no limit is given, countMost the counting of
// those of one task.
const (
	mostOccurrences = 1000
	countMost       = 1_000_000
)

// listOccurrences lists each instant up to --before at which a task is due.
func listOccurrences(ctx context.Context, s *cli.Call, st state.Tasks, only filter, now time.Time, limit int,
	in form) error {
	o, err := s.Options()
	if err != nil {
		return err
	}
	until, err := tasks.Moment("before", s.Opt.Text("before"), o)
	if err != nil {
		return err
	}
	if s.Opt.Bool("summary") {
		return listSummary(ctx, s, st, only, now, until, limit, in)
	}
	if limit == 0 {
		limit = mostOccurrences
	}
	first := occurrences{most: limit}
	total, capped := 0, false
	problems, err := state.DueBy(ctx, st, until, func(e state.Entry) bool {
		if !tasks.Live(e) || e.Held || e.Due.After(until) || !only.fits(&e) {
			return true
		}
		total++
		first.add(e, e.Due)
		sched, err := rules.Schedule(e.Task)
		if err != nil || sched == nil {
			return true // ls shows what is there; doctor says what is wrong with it
		}
		for t, ok := sched.Next(e.Due); ok && !t.After(until) && first.add(e, t); t, ok = sched.Next(t) {
		}
		all := sched.Count(e.Due, until, countMost)
		capped = capped || all == countMost
		total += all
		return true
	})
	if err != nil {
		return err
	}
	s.WarnOf(problems)
	rows := first.list()
	counted := &total
	if capped {
		counted = nil
	}
	s.Answer(lsBeforeJSON{now, counted, total - len(rows), rows, view.ProblemTexts(problems), until,
		view.UnreadCount(problems), in})
	return view.Incomplete(problems)
}

// Text lists the instants, each on a line.
func (a lsBeforeJSON) Text(o *cli.Out) {
	width, times := lineWidth(o), cli.LocaleOf(o)
	a.form.head(o, "due\tid\twhat")
	for _, r := range a.Occurrences {
		if !a.form.plain() {
			o.Line("%s", cli.Fit(times.Format(r.Due.In(a.Now.Location()), "Mon 2 Jan 2006 15:04:05")+"  "+r.ID+
				"  "+r.what, width))
		} else {
			o.Line("%s\t%s\t%s", r.Due.Format(time.RFC3339), r.ID, r.what)
		}
	}
	switch none := len(a.Occurrences) == 0; {
	case none && a.unread > 0:
		o.Talk("%s cannot be read; nothing else is due before %s.", cli.Plural(a.unread, "task"), view.Stamp(a.until))
	case none:
		o.Talk("Nothing is due before %s.", view.Stamp(a.until))
	case a.More > 0:
		o.Talk("… and %d more", a.More)
	}
}
