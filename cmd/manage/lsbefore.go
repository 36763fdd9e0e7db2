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
	unread int // how many tasks cannot be read
	form   form
}

// lsSummaryJSON is the answer of ls --before --summary.
type lsSummaryJSON struct {
	Now      time.Time    `json:"now"`
	Until    time.Time    `json:"until"`
	Total    int          `json:"total" jsonschema:"how many tasks are due by then"`
	More     int          `json:"more"`
	Tasks    []summarized `json:"tasks" jsonschema:"those that are due first come first"`
	Once     *onceSummary `json:"once,omitempty" jsonschema:"further tasks that do not recur; without --limit, the first 20 of those are in tasks"`
	Problems []string     `json:"problems,omitempty"`

	unread int // how many tasks cannot be read
	form   form
}

// onceSummary sums up tasks that have one instant each.
type onceSummary struct {
	Count int       `json:"count"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// summarized is a task with the number of its instants, the first and the last.
type summarized struct {
	ID          string     `json:"id"`
	Description *string    `json:"description,omitempty"`
	Summary     string     `json:"summary" jsonschema:"what it does, in a few words"`
	Count       int        `json:"count" jsonschema:"how many instants; 1000000 also stands for more"`
	First       time.Time  `json:"first"`
	Last        *time.Time `json:"last,omitempty" jsonschema:"absent: count is 1"`

	what   string
	recurs bool
}

// Text writes a line for each task.
func (a lsSummaryJSON) Text(o *cli.Out) {
	width, times := lineWidth(o), cli.LocaleOf(o)
	at := func(t time.Time) string { return times.Format(t.In(a.Now.Location()), view.ListedInstant) }
	a.form.head(o, "id\tcount\tfirst\tlast\twhat")
	var rows [][]string
	for _, t := range a.Tasks {
		if a.form.plain() {
			o.Line("%s\t%d\t%s\t%s\t%s", t.ID, t.Count, t.First.Format(time.RFC3339),
				t.last().Format(time.RFC3339), t.what)
			continue
		}
		last := ""
		if t.Count > 1 {
			last = "… " + at(t.last())
		}
		rows = append(rows, []string{t.ID, view.Thousands(t.Count) + " ×", at(t.First), last, t.what})
	}
	for _, line := range cli.InColumns(rows) {
		o.Line("%s", cli.Fit(line, width))
	}
	if a.Once != nil {
		o.Line("%s", cli.Fit(fmt.Sprintf("and %s more that come once  %s … %s", view.Thousands(a.Once.Count),
			at(a.Once.First), at(a.Once.Last)), width))
	}
	switch {
	case len(a.Tasks) == 0:
		noteNothingDue(o, a.Until, a.unread)
	case a.More > 0:
		o.Note("… and %d more", a.More)
	}
}

// noteNothingDue says that nothing is due, as far as tasks can be read.
func noteNothingDue(o *cli.Out, before time.Time, unread int) {
	if unread > 0 {
		o.Note("%s cannot be read; nothing else is due before %s.", cli.Plural(unread, "task"), view.Stamp(before))
	} else {
		o.Note("Nothing is due before %s.", view.Stamp(before))
	}
}

// last returns the last of the instants.
func (t summarized) last() time.Time {
	if t.Last == nil {
		return t.First
	}
	return *t.Last
}

// summaryOf counts the instants of a task up to one instant.
func summaryOf(e state.Entry, until time.Time) summarized {
	t, zone := e.Task, rules.TaskZone(e.Task)
	row := summarized{ID: t.ID, Description: cli.OrNull(t.Description), Summary: t.Summary(), Count: 1,
		First: e.Due.In(zone), what: view.Describe(t), recurs: t.Recurring()}
	if sched, err := rules.Schedule(t); err == nil && sched != nil {
		row.Count += sched.Count(e.Due, until, maxCounted-1)
		if last, ok := sched.Latest(e.Due, until); ok && row.Count > 1 {
			row.Last = cli.Instant(last, zone)
		}
	}
	return row
}

// comesBy reports whether a task is due by an instant.
func comesBy(e state.Entry, until time.Time) bool {
	return tasks.Live(e) && !e.Held && !state.IsUnscheduled(e.Due) && !e.Due.After(until)
}

// listSummary answers with each task that is due up to --before, and the number of its instants
// until then.
func listSummary(ctx context.Context, s *cli.Call, st state.Tasks, only filter, now, until time.Time, limit int,
	as form) error {
	answer := lsSummaryJSON{Now: now, Until: until.In(now.Location()), Tasks: []summarized{}, form: as}
	problems, err := state.DueBy(ctx, st, until, func(e state.Entry) bool {
		if !comesBy(e, until) || !only.fits(&e) {
			return true
		}
		if answer.Total++; limit > 0 && len(answer.Tasks) == limit {
			answer.More++
			return true
		}
		answer.Tasks = append(answer.Tasks, summaryOf(e, until))
		return true
	})
	if err != nil {
		return err
	}
	s.WarnUnreadable(problems)
	slices.SortStableFunc(answer.Tasks, func(a, b summarized) int { return a.First.Compare(b.First) })
	if limit == 0 && !as.plain() {
		var once []summarized
		answer.Tasks, once = view.FoldOnce(answer.Tasks, func(t summarized) bool { return !t.recurs })
		if n := len(once); n > 0 {
			answer.Once = &onceSummary{n, once[0].First, once[n-1].First}
		}
	}
	answer.Problems, answer.unread = view.ProblemTexts(problems), view.CountUnreadable(problems)
	s.Answer(answer)
	return view.Incomplete(problems)
}

// occurrence is a row of ls --before: an instant of a task.
type occurrence struct {
	Due         time.Time `json:"due"`
	ID          string    `json:"id" jsonschema:"of the task"`
	Description *string   `json:"description,omitempty"`
	Summary     string    `json:"summary" jsonschema:"what it does, in a few words"`
	what        string
	// First is when the task is due next. It orders rows of the same instant.
	First time.Time `json:"-"`
}

// occurrences keeps the first maxRows of many rows. It takes a few times the memory of those.
type occurrences struct {
	maxRows int
	rows    []occurrence
	full    bool
	last    time.Time // once full: an instant after it is not among the first
}

// add adds an instant of a task. It returns false when neither this instant nor a later one is
// among the first.
func (o *occurrences) add(e state.Entry, due time.Time) bool {
	if o.full && due.After(o.last) {
		return false
	}
	t := e.Task
	o.rows = append(o.rows, occurrence{due.In(rules.TaskZone(t)), t.ID, cli.OrNull(t.Description), t.Summary(),
		view.Describe(t), e.Due})
	if n := len(o.rows); n >= 1000 && n/2 >= o.maxRows {
		o.rows = slices.Clone(o.list())
		o.full, o.last = true, o.rows[o.maxRows-1].Due
	}
	return true
}

// list returns the first rows, in order.
func (o *occurrences) list() []occurrence {
	slices.SortFunc(o.rows, func(a, b occurrence) int {
		return cmp.Or(a.Due.Compare(b.Due), a.First.Compare(b.First), strings.Compare(a.ID, b.ID))
	})
	return o.rows[:min(o.maxRows, len(o.rows))]
}

const (
	maxOccurrences = 1000      // rows when no limit is given
	maxCounted     = 1_000_000 // instants of one task
	// maxCountedOfAll bounds how long the count of many tasks takes, to a few seconds.
	maxCountedOfAll = 5 * maxCounted
)

// listOccurrences answers with each instant up to --before at which a task is due.
func listOccurrences(ctx context.Context, s *cli.Call, st state.Tasks, only filter, now time.Time, limit int,
	as form) error {
	o, err := s.TimeOptions()
	if err != nil {
		return err
	}
	until, err := tasks.Moment("before", s.Opt.Text("before"), o)
	if err != nil {
		return err
	}
	if s.Opt.Bool("summary") {
		return listSummary(ctx, s, st, only, now, until, limit, as)
	}
	if limit == 0 {
		limit = maxOccurrences
	}
	first := occurrences{maxRows: limit}
	total, left, capped := 0, maxCountedOfAll, false
	problems, err := state.DueBy(ctx, st, until, func(e state.Entry) bool {
		if !comesBy(e, until) || !only.fits(&e) {
			return true
		}
		total++
		first.add(e, e.Due)
		sched, err := rules.Schedule(e.Task)
		if err != nil || sched == nil {
			return true // doctor reports the task
		}
		for t, ok := sched.Next(e.Due); ok && !t.After(until) && first.add(e, t); t, ok = sched.Next(t) {
		}
		most := min(maxCounted, left)
		all := sched.Count(e.Due, until, most)
		capped = capped || all == most
		left, total = left-all, total+all
		return true
	})
	if err != nil {
		return err
	}
	s.WarnUnreadable(problems)
	rows := first.list()
	counted := &total
	if capped {
		counted = nil
	}
	s.Answer(lsBeforeJSON{now, counted, total - len(rows), rows, view.ProblemTexts(problems), until,
		view.CountUnreadable(problems), as})
	return view.Incomplete(problems)
}

// Text writes a line for each instant.
func (a lsBeforeJSON) Text(o *cli.Out) {
	width, times := lineWidth(o), cli.LocaleOf(o)
	a.form.head(o, "due\tid\twhat")
	for _, r := range a.Occurrences {
		if !a.form.plain() {
			o.Line("%s", cli.Fit(times.Format(r.Due.In(a.Now.Location()), view.ListedInstant)+"  "+r.ID+
				"  "+r.what, width))
		} else {
			o.Line("%s\t%s\t%s", r.Due.Format(time.RFC3339), r.ID, r.what)
		}
	}
	switch {
	case len(a.Occurrences) == 0:
		noteNothingDue(o, a.until, a.unread)
	case a.Total == nil:
		o.Note("… and at least %d more", a.More)
	case a.More > 0:
		o.Note("… and %d more", a.More)
	}
}
