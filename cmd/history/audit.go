package history

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
	"github.com/ouro-timer/ouro-timer/timer/audit"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// findingJSON is a finding of log --audit --json. Each is a line before the result.
type findingJSON struct {
	Now     time.Time  `json:"now"`
	Type    string     `json:"type" jsonschema:"finding"`
	TaskID  string     `json:"task_id"`
	ID      *string    `json:"id,omitempty" jsonschema:"the occurrence whose line is odd"`
	Kind    string     `json:"kind" enum:"none twice unscheduled count outcome number lacking unmade removed finished paused edited"`
	Due     time.Time  `json:"due"`
	DueLast *time.Time `json:"due_last,omitempty"`
	Count   int        `json:"count"`

	line string
}

// Text writes the finding as a line.
func (a findingJSON) Text(o *cli.Out) { o.Line("%s", a.line) }

// auditJSON is the result of log --audit.
type auditJSON struct {
	Type     string     `json:"type" jsonschema:"audit"`
	Now      time.Time  `json:"now"`
	Balanced bool       `json:"balanced"`
	Since    *time.Time `json:"since,omitempty" jsonschema:"of which instants on it is; absent: none"`
	Known    *time.Time `json:"known_since,omitempty"`
	Tasks    int        `json:"tasks"`
	Instants int        `json:"instants"`
	Open     int        `json:"open"`
	Running  int        `json:"running" jsonschema:"of them"`
	Resting  int        `json:"resting" jsonschema:"of them: a further attempt comes"`
	Overdue  int        `json:"overdue" jsonschema:"instants that should have started by now"`
	Findings int        `json:"findings"`
	Unknown  []string   `json:"unknown,omitempty"`
	Warnings []string   `json:"warnings,omitempty"`

	Dropped *int       `json:"dropped_lines,omitempty" jsonschema:"lines of the beginning of the ledger that are not kept any more; absent: nobody counted them"`
	Until   *time.Time `json:"dropped_until,omitempty" jsonschema:"when the latest of them was written"`

	unaccounted int    // how many runs have ended and have no outcome yet
	before      string // says what is no longer kept
}

// Text writes the result.
func (a auditJSON) Text(o *cli.Out) {
	switch {
	case a.Known == nil && a.Balanced:
		o.Note("The ledger is empty: there is nothing to audit.")
	case a.Balanced:
		o.Note("All is accounted for: %s of %s, each with exactly one outcome (%d running%s%s).",
			cli.Plural(a.Instants, "instant"), cli.Plural(a.Tasks, "task"), a.Running,
			alsoResting(a.Resting), alsoUnaccounted(a.unaccounted))
	case a.Findings == 0:
		o.Note("Not all of the state can be read, so nobody can say whether all is accounted for. What can be read: %s of %s.",
			cli.Plural(a.Instants, "instant"), cli.Plural(a.Tasks, "task"))
	default:
		o.Note("Not all is accounted for: %s among %s of %s.", cli.Plural(a.Findings, "finding"),
			cli.Plural(a.Instants, "instant"), cli.Plural(a.Tasks, "task"))
	}
	if a.before != "" {
		o.Note("%s", a.before)
	}
	if a.Known != nil {
		o.Note("This is about the instants since %s; the ledger begins at %s.", say.Stamp(*a.Since),
			say.Stamp(*a.Known))
	}
}

// auditLedger answers log --audit for one task or all. It reads the tasks before the ledger, so
// that the ledger has everything that happens in between.
func auditLedger(ctx context.Context, s *cli.Call, st state.Store, since time.Time, o when.Options) error {
	if s.Opt.Has("number") {
		return problem.Of(problem.T("--audit looks at all of the ledger; -n has no meaning with it"),
			problem.T("%s narrows it", problem.To("log").With("audit", true).With("since", "7d")))
	}
	named, err := auditedTask(ctx, s, st)
	if err != nil {
		return err
	}
	task := ""
	if named != nil {
		task = named.Task.ID
	}
	gone, dropped, err := st.Gone(ctx)
	if err != nil {
		return err
	}
	a := audit.New(audit.Options{Since: since, Dropped: dropped, Until: gone.Until})
	var problems []state.Problem
	eachTask := func(yield func(state.Entry)) error {
		if named != nil {
			yield(*named)
			return nil
		}
		more, err := state.Each(ctx, st, func(e state.Entry) bool { yield(e); return true })
		problems = more
		return err
	}
	if dropped {
		if err := eachTask(a.Expect); err != nil {
			return err
		}
	}
	add := func(l state.Line) bool { a.Add(l); return true }
	end, damaged, err := st.After(ctx, task, state.Place{}, add)
	if err != nil {
		return err
	}
	overdue := 0
	if err := eachTask(func(e state.Entry) { a.Stand(e); overdue += countOverdue(e, o.Now) }); err != nil {
		return err
	}
	_, more, err := st.After(ctx, task, end, add) // what has come while the tasks were read
	if err != nil {
		return err
	}
	_, last, err := st.Log(ctx, "", func(state.Line) bool { return false })
	if err != nil {
		return err
	}
	torn := slices.DeleteFunc(last, func(p state.Problem) bool { return !isTorn(p) })
	problems = distinct(slices.Concat(problems, damaged, more, torn))
	_, led, err := runner.Led(ctx, st)
	if err != nil {
		return err
	}
	return answerAudit(s, audited{a.Result(), gone, dropped, overdue, overdueWarning(overdue, led, s.Program()),
		problems, since}, o)
}

// distinct returns problems without those that say the same as one before.
func distinct(problems []state.Problem) (list []state.Problem) {
	for _, p := range problems {
		if !slices.ContainsFunc(list, func(o state.Problem) bool { return o.Error() == p.Error() }) {
			list = append(list, p)
		}
	}
	return list
}

// auditedTask returns the task that the call names; nil means all.
func auditedTask(ctx context.Context, s *cli.Call, st state.Store) (*state.Entry, error) {
	switch {
	case len(s.Args) == 0 && !s.Opt.Has("match"):
		return nil, nil
	case len(s.Args) == 1 && strings.Contains(s.Args[0], "/"):
		return nil, problem.Of(problem.T("an audit is of a task, not of one occurrence"),
			problem.T("%s", problem.To("log", strings.SplitN(s.Args[0], "/", 2)[0]).With("audit", true)))
	}
	e, err := view.PickOne(ctx, s, st, func(state.Entry) bool { return true })
	if err != nil {
		return nil, err
	}
	return &e, nil
}

// countOverdue is how many instants of a task are due and have not begun.
func countOverdue(e state.Entry, now time.Time) int {
	if !view.IsOverdue(e, now) {
		return 0
	}
	if sched, err := rules.Schedule(e.Task); err == nil && sched != nil {
		return 1 + sched.Count(e.Due, now, instantsMost)
	}
	return 1
}

// overdueWarning is a warning about overdue instants; it is empty when there are none.
func overdueWarning(overdue int, led bool, program string) string {
	switch {
	case overdue == 0:
		return ""
	case led:
		return cli.Plural(overdue, "instant") + " should have started by now; " + program + " doctor says why"
	}
	return cli.Plural(overdue, "instant") + " should have started by now, and no runner is alive: " + program +
		" run --background"
}

// instantsMost is the most overdue instants of a task that are counted.
const instantsMost = 1_000_000

// sortClaims sorts the open claims: those that run, those that wait for another attempt, and those
// that nobody runs, with a warning for each.
func sortClaims(open []state.Record, program string) (running, resting int, warnings []string) {
	for _, r := range open {
		switch {
		case runner.InOtherContainer(r.Runner) || tasks.RunAlive(r) && r.Retry.IsZero():
			running++
		case !r.Retry.IsZero():
			resting++
		default:
			warnings = append(warnings, state.OccurrenceID(r.Task.ID, r.Number)+": its runner has ended; "+program+
				" run --once accounts for it")
		}
	}
	return running, resting, warnings
}

// audited is the result of an audit.
type audited struct {
	audit.Result
	gone           state.Gone
	dropped        bool   // the beginning of the ledger was dropped
	overdue        int    // how many instants
	overdueWarning string // empty for none
	problems       []state.Problem
	since          time.Time
}

// answerAudit answers with the result.
func answerAudit(s *cli.Call, r audited, o when.Options) error {
	from := r.Known
	if r.since.After(from) {
		from = r.since
	}
	warnings := []string{}
	for _, p := range r.problems {
		warnings = append(warnings, p.Error())
		s.Warn("warning: %s", cli.Visible(p.Error()))
	}
	running, resting, more := sortClaims(r.Claims, s.Program())
	unaccounted := len(more)
	if r.overdueWarning != "" {
		more = append(more, r.overdueWarning)
	}
	for _, w := range more {
		warnings = append(warnings, w)
		s.Warn("warning: %s", w)
	}
	if n := len(r.Unknown); n > 0 {
		const most = 10
		list := strings.Join(r.Unknown[:min(n, most)], ", ")
		if n > most {
			list += fmt.Sprintf(" and %d more", n-most)
		}
		s.Warn("warning: the ledger no longer has the schedule of %s, so nothing can be said about them before "+
			"its beginning", list)
	}
	if r.More > 0 {
		text := fmt.Sprintf("only the first %d findings are shown; --since and an ID narrow them", len(r.Findings))
		warnings = append(warnings, text)
		s.Warn("warning: %s", text)
	}
	// A damaged line may have said anything. A torn line was never confirmed.
	damaged := view.Incomplete(slices.DeleteFunc(slices.Clone(r.problems), isTorn))
	balanced := len(r.Findings) == 0 && damaged == nil
	for _, f := range r.Findings {
		j := findingJSON{Now: o.Now, Type: "finding", TaskID: f.TaskID, Kind: f.Kind, Due: f.First.In(o.Zone),
			Count: f.Count, line: findingLine(f, o.Zone)}
		if f.Last.After(f.First) {
			j.DueLast = cli.Instant(f.Last, o.Zone)
		}
		if f.Number > 0 {
			j.ID = cli.OrNull(state.OccurrenceID(f.TaskID, f.Number))
		}
		s.Answer(j)
	}
	lines := &r.gone.Lines
	if r.dropped && r.gone.Lines == 0 {
		lines = nil // it is not known how many
	}
	s.Answer(auditJSON{"audit", o.Now, balanced, cli.Instant(from, o.Zone), cli.Instant(r.Known, o.Zone), r.Tasks,
		r.Instants, r.Open, running, resting, r.overdue, len(r.Findings) + r.More,
		cli.OrEmpty(r.Unknown), warnings, lines, cli.Instant(r.gone.Until, o.Zone), unaccounted, r.before(o.Zone)})
	if len(r.Findings) > 0 {
		return cli.ExitCode(cli.ExitFailed)
	}
	return damaged
}

// before says what is no longer kept; empty when everything is.
func (r audited) before(zone *time.Location) string {
	switch {
	case !r.dropped:
		return ""
	case r.gone.Lines == 0:
		return "The beginning of the ledger was dropped ([keep] in config.toml), and nobody counted its lines."
	}
	return fmt.Sprintf("%s dropped ([keep] in config.toml), the latest of %s. Nothing can be said about what only "+
		"they told.", cmp.Or(map[bool]string{true: "1 line was"}[r.gone.Lines == 1],
		cli.Plural(r.gone.Lines, "line")+" were"), say.Stamp(r.gone.Until.In(zone)))
}

// alsoResting says how many claims wait between two attempts; empty for none.
func alsoResting(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", 1 waits for a further attempt"
	}
	return fmt.Sprintf(", %d wait for a further attempt", n)
}

// alsoUnaccounted says how many runs have no outcome yet; empty for none.
func alsoUnaccounted(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d still to be accounted for", n)
}

// findingWords are the words for each kind of finding.
func findingWords() map[string]string {
	return map[string]string{
		audit.None:        "no outcome",
		audit.Twice:       "more than one outcome",
		audit.Unscheduled: "an outcome, but no such instant",
		audit.Count:       "a line with another count",
		audit.Outcome:     "a word that is not an outcome",
		audit.Number:      "the number of another occurrence",
		audit.Lacking:     "the ledger lacks it",
		audit.Unmade:      "the ledger lacks its creation",
		audit.Removed:     "it began after its task was removed",
		audit.Finished:    "it began after its task had met its stop condition",
		audit.Paused:      "it began while its task was paused",
		audit.Edited:      "it was planned before an edit, and began after it",
	}
}

// findingLine is a finding as a line: the task or the occurrence, what is wrong, and the instants.
func findingLine(f audit.Finding, zone *time.Location) string {
	name, text, what := f.TaskID, "", "instant"
	if f.Number > 0 {
		name = state.OccurrenceID(f.TaskID, f.Number)
	}
	switch text = findingWords()[f.Kind]; f.Kind {
	case audit.Lacking:
		what = "number"
	case audit.Unmade:
		what = "task"
	}
	span := f.First.In(zone).Format(time.RFC3339)
	if f.Last.After(f.First) {
		span += "\t" + f.Last.In(zone).Format(time.RFC3339)
	} else {
		span += "\t-"
	}
	return strings.Join([]string{name, text, cli.Plural(f.Count, what), span}, "\t")
}
