// Package manage has the commands about existing tasks: ls, show, rm, restore, pause, resume, fire
// and stop.
package manage

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
)

// LsCommand is the command ls.
func LsCommand() cli.Command {
	return cli.Command{
		Name: "ls", Args: "[<word>...]", Short: "list what is pending, next first",
		Long: `
On a terminal the list is a calendar that fits on the screen; paused tasks come last. In a pipe each task is a line of
tab-separated fields: ID, due instant (or -), state, type, time expression as it was typed, what it does; line breaks and
tabs in texts are written \n and \t. --format chooses the form in both cases: ouro-timer ls --format calendar | less.
--before lists each occurrence up to an instant instead: due instant, ID, what it does; with --summary each task once:
ID, how many, the first, the last, what it does.

Words are looked for in the ID, the key, the description, the text, the command and the time. A task is listed when it has
all of them and fits --match, --tag, --state, --due and --origin as well.

"overdue" means that a task should have started by now: ouro-timer doctor says why it did not. When the
file of a task cannot be read, the others are listed and the exit code is 4.`,
		Examples: []string{"ouro-timer ls", `ouro-timer ls --before "tomorrow midnight"`,
			"ouro-timer ls --before 24h --summary", "ouro-timer ls --json --limit 20",
			"ouro-timer ls backup --tag home --due tomorrow"},
		Arguments: []option.Argument{{Name: "word", Kind: option.Text, Many: true}},
		Options: slices.Concat(option.Rows{
			option.Option{Name: "all", Aliases: []string{"a"}, Kind: option.Flag,
				Help: "also what has ended or was removed"},
			option.Option{Name: "match", Kind: option.Text,
				Help: "only tasks whose ID, key, description, text, command or time contains TEXT"},
			cli.TagFlag.WithHelp("only what that has the tag NAME; repeated: all of them"),
			option.Option{Name: "state", Kind: option.List, Choices: states,
				Help: "only tasks in a state of LIST: running,paused"},
			option.Option{Name: "due", Kind: option.Text, Value: "WHEN",
				Help: "only tasks due next by WHEN (2h, tomorrow 9am), on the day WHEN (tomorrow, 24 dec), or in A..B"},
			originFlag.WithHelp("only what came of the runs of task ID"),
		}.In("Which tasks"), option.Rows{
			option.Option{Name: "before", Kind: option.Time, Help: "list the occurrences up to WHEN"},
			option.Option{Name: "summary", Kind: option.Flag,
				Help: "with --before: a row for each task, with how many occurrences it has, the first and the last"},
			option.Option{Name: "limit", Kind: option.Whole,
				Help: "show at most N rows and say how many more there are (default: a screenful, in a pipe all; 1000 with --before)"},
			option.Option{Name: "format", Kind: option.Word, OfCall: true,
				Choices: []string{formatCalendar, formatTable, formatTSV, formatJSON},
				Help:    "write calendar, table, tsv or json (default: on a terminal calendar, in a pipe tsv)"},
			option.Option{Name: "header", Kind: option.Flag, OfCall: true, Help: "with tsv: the names of the fields first"},
		}.In("How they are listed"),
			option.Rows{cli.QuietFlag.WithHelp("print the answer alone"), cli.ZoneFlag, cli.JSONFlag, cli.FieldsFlag}),
		Answers: []cli.Shape{
			{Name: "ls", Of: lsJSON{}, Given: "!before", Means: "tasks, next due first"},
			{Name: "ls-before", Of: lsBeforeJSON{}, Given: "before !summary",
				Means: "--before: occurrences, soonest first"},
			{Name: "ls-summary", Of: lsSummaryJSON{}, Given: "before summary",
				Means: "--before --summary: tasks, with how many occurrences they have"},
		},
		Brief: true,
		Run:   runLs,
	}
}

func runLs(ctx context.Context, s *cli.Call) error {
	format, err := formatOf(s)
	if err != nil {
		return err
	}
	limit := s.Opt.Int("limit")
	if limit < 0 || s.Opt.Has("limit") && limit == 0 {
		return problem.Of(problem.T("%s must be 1 or more", problem.Option("limit")),
			problem.T("leave it out for %s", problem.Usual{Name: "limit", Text: "all"}))
	}
	st, zone, err := cli.OpenInZone(s)
	if err != nil {
		return err
	}
	only, err := filterOf(s)
	if err != nil {
		return err
	}
	now := s.Now(zone)
	if s.Opt.Bool("summary") && !s.Opt.Has("before") {
		return cli.NeedsOption("summary", problem.Set("before", "24h"))
	}
	if s.Opt.Has("before") {
		if only.origin != "" {
			return cli.Excluding("before", "origin").Advising(problem.T("%s shows when each is due next",
				problem.To("ls").With("origin", only.origin)))
		}
		return listOccurrences(ctx, s, st, only, now, limit, form{format, s.Opt.Bool("header")})
	}
	return listTasks(ctx, s, st, only, now, limit, form{format, s.Opt.Bool("header")})
}

// listTasks answers with the tasks that fit the filter.
func listTasks(ctx context.Context, s *cli.Call, st state.Store, only filter, now time.Time, limit int,
	as form) error {
	maxRows := limit
	height, terminal := s.Height()
	cut := terminal && as.format == formatCalendar && !s.Opt.Has("limit")
	if cut {
		maxRows = height
	}
	leader, led, err := runner.Led(ctx, st)
	if err != nil {
		return err
	}
	rows := &taskRows{Call: s, now: now, leader: leader, maxRows: maxRows, only: only,
		phases: only.phases(s.Opt.Bool("all")), keep: as.format == formatCalendar || as.format == formatTable}
	problems, err := rows.read(ctx, st)
	if err != nil {
		return err
	}
	s.WarnUnreadable(problems)
	warnings := rows.warnings(ctx, st, led)
	unread, err := unreadTexts(ctx, st, problems)
	if err != nil {
		return err
	}
	answer := lsJSON{
		Now: now, Total: rows.total, More: rows.total - len(rows.rows), Tasks: rows.wholeRows(),
		Runner:   handover.RunnerAlive,
		Warnings: s.WarningTexts(warnings), Problems: unread,
		rows: rows, cut: cut, form: as,
		none: emptyText(s.Opt.Bool("all"), only.active(), problems),
	}
	if terminal || s.InJSON {
		answer.Unread = view.UnreadItems(ctx, s, st)
	}
	if !led {
		answer.Runner = handover.RunnerNone
	}
	s.Answer(answer)
	s.WarnAll(warnings)
	return view.Incomplete(problems)
}

// warnings returns the warnings that follow from the tasks of the list. led says that a runner
// lives; in a fleet the runners of all machines count.
func (r *taskRows) warnings(ctx context.Context, st state.Store, led bool) []cli.Warning {
	warnings := handover.UnrunnableWarnings(ctx, st)
	switch _, shared := state.SharedBy(st); {
	case shared || led:
	case r.awaited:
		warnings = handover.RunnerState{Runner: handover.RunnerNone}.Warnings()
	case r.lost > 0:
		warnings = []cli.Warning{{Kind: cli.WarnRunner,
			Text: problem.T("a runner ended while %s ran or waited for another attempt; the next runner takes over: %s",
				cli.Plural(r.lost, "task"), problem.To("run").With("background", true))}}
	}
	var late, delayed problem.Text
	if r.overdue > 0 {
		late = problem.T("%s should have started by now; %s says why", cli.Plural(r.overdue, "task"),
			problem.To("doctor"))
	}
	if r.delayed > 0 {
		are := "is"
		if r.delayed > 1 {
			are = "are"
		}
		delayed = problem.T("%s cannot be started for now, and %s tried again: %s",
			cli.Plural(r.delayed, "task"), are, r.why)
	}
	if late = problem.Texts("; ", late, delayed); !late.Empty() {
		warnings = append(warnings, cli.Warning{Kind: cli.WarnLate, Text: late})
	}
	return warnings
}

// listed is a row of ls in JSON.
type listed struct {
	view.TaskJSON
	Postponed       *string `json:"put_off,omitempty" jsonschema:"why it cannot be started for now; the runner tries again"`
	Overdue         bool    `json:"overdue,omitempty"`
	Removed         bool    `json:"removed,omitempty"`
	view.PolicyJSON         // only with --json=full and --fields; show has it always
}

// lsJSON is the answer of ls.
type lsJSON struct {
	Now      time.Time `json:"now"`
	Total    int       `json:"total"`
	More     int       `json:"more"`
	Tasks    []listed  `json:"tasks"`
	Runner   string    `json:"runner" enum:"alive none"`
	Unread   int       `json:"unread,omitempty" jsonschema:"items of the inbox that nobody has acknowledged"`
	Warnings []string  `json:"warnings,omitempty"`
	Problems []string  `json:"problems,omitempty"`

	rows *taskRows
	cut  bool // the list is cut to what fits on the screen
	form form
	none string // the text of an empty list
}

// Text lists the tasks in the form that the call asks for.
func (a lsJSON) Text(o *cli.Out) {
	width, terminal := o.Width()
	switch {
	case len(a.rows.rows) == 0 && terminal:
		o.Line("%s", a.none)
	case len(a.rows.rows) == 0:
		o.Note("%s", a.none)
	case a.form.format == formatTable:
		listTable(o, a.rows.entries(), a.Now, a.More)
	case a.form.plain():
		a.form.head(o, fieldNames)
		a.rows.print(o)
	case a.cut:
		height, _ := o.Height()
		others := 1 // lines of the screen that are not for tasks, first the prompt
		if a.Unread > 0 {
			others++
		}
		for _, text := range a.Warnings {
			others += (cli.Columns("ouro-timer: warning: "+text) + width - 1) / width
		}
		listDays(o, a.rows.entries(), a.Now, a.Total, height-max(2, others))
	default:
		listDays(o, a.rows.entries(), a.Now, a.Total, 0)
	}
	view.ShowUnread(o, a.Unread)
}

// WriteJSON writes the rows as they were made.
func (a lsJSON) WriteJSON(o *cli.Out) { a.rows.emit(o, a) }

// unreadTexts names the files that cannot be read, and those in the quarantine.
func unreadTexts(ctx context.Context, st state.Upkeep, problems []state.Problem) ([]string, error) {
	unread := view.ProblemTexts(problems)
	aside, err := st.Quarantined(ctx)
	for _, path := range aside {
		unread = append(unread, path+": could not be read and was moved aside")
	}
	return unread, err
}

// taskFields returns the fields of a task for programs, separated by tabs.
func taskFields(e state.Entry) string {
	due := "-"
	if at := view.DueOf(e); !at.IsZero() {
		due = at.In(rules.TaskZone(e.Task)).Format(time.RFC3339)
	}
	phase := view.StateName(e)
	if e.Phase == state.Removed {
		phase = string(state.Removed)
	}
	return strings.Join([]string{e.Task.ID, due, phase, e.Task.Type(), cli.Visible(e.Task.When.Text),
		view.Describe(e.Task)}, "\t")
}

// emptyText returns the text of an empty list.
func emptyText(all, filtered bool, problems []state.Problem) string {
	if n := view.CountUnreadable(problems); n > 0 {
		return cli.Plural(n, "task") + " cannot be read, and there are no others."
	}
	if filtered {
		return "No task fits."
	}
	if all {
		return "No tasks."
	}
	return "No tasks pending."
}
