// Package manage has the commands about existing tasks: ls, show, rm, restore, pause, resume, fire
// and stop.
package manage

import (
	"context"
	"fmt"
	"slices"
	"strconv"
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
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// LsCommand is the command ls.
func LsCommand() cli.Command {
	return cli.Command{
		Name: "ls", Args: "[<word>...]", Short: "list what is pending, next first",
		Long: `
On a terminal it reads like a calendar, and as much is shown as fits on the screen; paused tasks come last. In a pipe each
task is a line of tab-separated fields: ID, due instant (or -), state, type, time expression, what it does; line breaks
and tabs in texts are written \n and \t; the time expression is as it was typed. --format chooses the form wherever it
goes: ouro-timer ls --format calendar | less. --before lists each occurrence up to an instant instead: due instant, ID,
what it does; with --summary each task once: ID, how many, the first, the last, what it does.

Words are looked for in the ID, the key, the description, the text, the command and the time. A task is listed when it has
all of them and fits --match, --tag, --state, --due and --origin as well.

"overdue" is what should have started by now: ouro-timer doctor says why it has not. When the file of a task cannot be
read, the others are listed and the exit code is 4.`,
		Examples: []string{"ouro-timer ls", `ouro-timer ls --before "tomorrow midnight"`,
			"ouro-timer ls --before 24h --summary", "ouro-timer ls --json --limit 20",
			"ouro-timer ls backup --tag home --due tomorrow"},
		Arguments: []option.Argument{{Name: "word", Kind: option.Text, Many: true}},
		Options: slices.Concat(option.Rows{
			option.Option{Name: "all", Aliases: []string{"a"}, Kind: option.Flag,
				Help: "also what has ended or was removed"},
		}.In("Which tasks"), filterFlags().In("Which tasks"), option.Rows{
			option.Option{Name: "before", Kind: option.Time, Help: "list the occurrences up to WHEN"},
			option.Option{Name: "summary", Kind: option.Flag,
				Help: "with --before: a row for each task, with how many occurrences it has, the first and the last"},
			option.Option{Name: "limit", Kind: option.Whole,
				Help: "show at most N rows and say how many more there are (default: a screenful, in a pipe all; 1000 with --before)"},
		}.In("How they are listed"), formatFlags().In("How they are listed"),
			option.Rows{cli.QuietFlag("print the answer alone"), cli.ZoneFlag(), cli.JsonFlag(), cli.FieldsFlag()}),
		Answers: []cli.Shape{
			{Name: "ls", Of: lsJSON{}, Given: "!before", Says: "tasks, next due first"},
			{Name: "ls-before", Of: lsBeforeJSON{}, Given: "before !summary",
				Says: "--before: occurrences, soonest first"},
			{Name: "ls-summary", Of: lsSummaryJSON{}, Given: "before summary",
				Says: "--before --summary: tasks, with how many occurrences they have"},
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
	zone, err := s.Zone()
	if err != nil {
		return err
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	only, err := filterOf(s)
	if err != nil {
		return err
	}
	now := s.Now(zone)
	if s.Opt.Bool("summary") && !s.Opt.Has("before") {
		return cli.GoesWith("summary", "before", problem.To("ls").With("before", "24h").With("summary", true))
	}
	if s.Opt.Has("before") {
		if only.origin != "" {
			return cli.Excluding("before", "origin").Advising(problem.T("%s shows when each is due next",
				problem.To("ls").With("origin", only.origin)))
		}
		return listOccurrences(ctx, s, st, only, now, limit, form{format, s.Opt.Bool("header")})
	}
	most := limit
	height, terminal := s.Height()
	cut := terminal && format == formatCalendar && !s.Opt.Has("limit")
	if cut {
		most = height
	}
	leader, led, err := runner.Led(ctx, st)
	if err != nil {
		return err
	}
	rows := &taskRows{Call: s, now: now, leader: leader, most: most, only: only,
		phases: only.phases(s.Opt.Bool("all")), keep: format == formatCalendar || format == formatTable}
	problems, err := rows.read(ctx, st)
	if err != nil {
		return err
	}
	s.WarnOf(problems)
	warnings := handover.Homeless(ctx, st)
	if _, shared := state.SharedBy(st); shared {

	} else if !led && rows.awaited {
		warnings = handover.RunnerState{Runner: handover.RunnerNone}.Warnings()
	} else if !led && rows.lost > 0 {
		warnings = []cli.Warning{{Kind: cli.WarnRunner,
			Text: problem.T("a runner ended while %s ran or waited for another attempt; the next one sees to it: %s",
				cli.Plural(rows.lost, "task"), problem.To("run").With("background", true))}}
	}
	var late, delayed problem.Text
	if rows.overdue > 0 {
		late = problem.T("%s should have started by now; %s says why", cli.Plural(rows.overdue, "task"),
			problem.To("doctor"))
	}
	if rows.delayed > 0 {
		are := "is"
		if rows.delayed > 1 {
			are = "are"
		}
		delayed = problem.T("%s cannot be started for now, and %s tried again: %s",
			cli.Plural(rows.delayed, "task"), are, rows.why)
	}
	if late = problem.Texts("; ", late, delayed); !late.Empty() {
		warnings = append(warnings, cli.Warning{Kind: cli.WarnLate, Text: late})
	}
	unread, err := unreadTexts(ctx, st, problems)
	if err != nil {
		return err
	}
	answer := lsJSON{
		Now: now, Total: rows.total, More: rows.total - len(rows.rows), Tasks: rows.listed(),
		Runner:   handover.RunnerAlive,
		Warnings: s.WarningTexts(warnings), Problems: unread,
		rows: rows, cut: cut, form: form{format, s.Opt.Bool("header")},
		none: nothing(s.Opt.Bool("all"), only.any(), problems),
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
	none string // the text when there is nothing to list
}

// Text lists the tasks in the form that the call asks for.
func (a lsJSON) Text(o *cli.Out) {
	width, terminal := o.Width()
	switch {
	case len(a.rows.rows) == 0 && terminal:
		o.Line("%s", a.none)
	case len(a.rows.rows) == 0:
		o.Talk("%s", a.none)
	case a.form.format == formatTable:
		listTable(o, a.rows.entries(), a.Now, a.More)
	case a.form.plain():
		a.form.head(o, fieldNames)
		a.rows.print(o)
	case a.cut:
		height, _ := o.Height()
		said := 1 // a line for the prompt
		if a.Unread > 0 {
			said++
		}
		for _, text := range a.Warnings {
			said += (cli.Columns("ouro-timer: warning: "+text) + width - 1) / width
		}
		listDays(o, a.rows.entries(), a.Now, a.Total, height-max(2, said))
	default:
		listDays(o, a.rows.entries(), a.Now, a.Total, 0)
	}
	view.TellUnread(o, a.Unread)
}

// WriteJSON writes the rows as they were made.
func (a lsJSON) WriteJSON(o *cli.Out) { a.rows.emit(o, a) }

// unreadTexts names the files that cannot be read, and those that were moved to the quarantine.
func unreadTexts(ctx context.Context, st state.Upkeep, problems []state.Problem) ([]string, error) {
	unread := view.ProblemTexts(problems)
	aside, err := st.Quarantined(ctx)
	for _, path := range aside {
		unread = append(unread, path+": could not be read and was moved aside")
	}
	return unread, err
}

// taskFields are the fields of a task for programs, with tabs between.
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

// listDays writes the tasks as a calendar for people, in at most so many lines; 0 means all.
func listDays(o *cli.Out, entries []state.Entry, now time.Time, total, most int) {
	width, paint, times := lineWidth(o), o.Paint(), cli.LocaleOf(o)
	slices.SortStableFunc(entries, func(a, b state.Entry) int { return order(a.Held) - order(b.Held) })
	widest := 0
	for _, e := range entries {
		widest = max(widest, len(e.Task.ID))
	}
	var rows []string
	// These count the tasks that have rows, and those that fit when a last line says how many more
	// there are.
	shown, fits, below := 0, 0, 0
	day := ""
	for _, e := range entries {
		if head := dayHead(times, e, now); head != day {
			if day != "" {
				rows = append(rows, "")
			}
			day = head
			rows = append(rows, head)
		}
		rows = append(rows, dayRow(times, paint, e, now, width, widest))
		shown++
		if len(rows) < most {
			fits, below = shown, len(rows)
		}
	}
	if most > 0 && (len(rows) > most || shown < total) {
		shown, rows = fits, rows[:below]
	}
	for _, r := range rows {
		o.Line("%s", cli.Fit(r, width))
	}
	switch more := total - shown; {
	case more > 0 && most > 0:
		o.Line("%s", cli.Fit("… and "+view.Thousands(more)+" more; "+o.Program()+" ls --limit N, or ls | less", width))
	case more > 0:
		o.Line("… and %s more", view.Thousands(more))
	}
}

// dayHead is the heading above a task.
func dayHead(times cli.Locale, e state.Entry, now time.Time) string {
	switch {
	case e.Held:
		return "Paused"
	case tasks.Live(e) && e.AtBoot():
		return "At the next boot"
	case tasks.Live(e) && state.IsUnscheduled(e.Due):
		return "After others"
	case tasks.Live(e):
		return view.DayName(times, e.Due.In(now.Location()), now)
	case e.Phase == state.Removed:
		return "Removed"
	case tasks.IsRunning(e):
		return "Running"
	}
	return "Ended"
}

// dayRow is the line of a task below its heading.
func dayRow(times cli.Locale, p cli.Paint, e state.Entry, now time.Time, width, widest int) string {
	due := e.Due.In(now.Location())
	left, clock, column := "in "+when.Distance(now, due), "15:04:05", 24
	if width < 80 {
		left, clock, column = shortly(due.Sub(now)), "15:04", 7
	}
	at := times.Clock(due, clock)
	if state.IsUnscheduled(e.Due) && !e.Held {
		at = cli.Pad("", times.ClockWidth(clock))
	}
	if e.Held { // the task does not start at that time
		if at = cli.Pad("", times.ClockWidth(clock)); column > 7 {
			at = cli.Pad("paused", times.ClockWidth(clock))
		}
	}
	switch {
	case tasks.IsRunning(e):
		left = "running"
	case e.Held && column == 7:
		left = "paused"
	case view.HeldWait(e):
		rest, _ := e.Task.Wait.Rest()
		left = when.Distance(now, now.Add(rest)) + " left"
	case e.Held && e.Resume.IsZero():
		left = "until resumed"
	case e.Held:
		left = "until " + times.Format(e.Resume.In(now.Location()), "2 Jan 2006 15:04")
	case !tasks.Live(e):
		left = e.Tally.Last
		if column > 7 {
			left = strings.TrimSuffix(times.Format(due, "2 Jan 2006")+", "+left, ", ")
		}
	case view.IsOverdue(e, now):
		left = "overdue"
	case !due.After(now):
		left = "now"
	case e.AtBoot():
		left = ""
	case state.IsUnscheduled(e.Due):
		left = cli.Visible(e.Task.When.Text)
	}
	what := view.Describe(e.Task)
	if e.Task.Recurring() {
		what += " (" + cli.Visible(e.Task.When.Text) + ")"
	}
	switch {
	case view.HeldWait(e):
		what += " (wait --resume " + e.Task.ID + " goes on)"
	case e.Task.Type() != state.TypeWait || e.Phase != state.Pending:
	case e.Awaited:
		what += " (somebody waits)"
	default:
		what += " (nobody waits: wait --resume " + e.Task.ID + ")"
	}
	return "  " + at + "  " + cli.Pad(e.Task.ID, widest) + "  " +
		cli.Pad(p.As(means(e, now), left), column) + "  " + what
}

// means returns how the state of a task is painted.
func means(e state.Entry, now time.Time) cli.Meaning {
	switch {
	case tasks.IsRunning(e):
		return cli.Ordinary
	case e.Held:
		return cli.Dim
	case !tasks.Live(e):
		return view.OutcomeMeans(state.Outcome(e.Tally.Last))
	case view.IsOverdue(e, now):
		return cli.Late
	}
	return cli.Ordinary
}

// order sorts paused tasks behind the rest.
func order(paused bool) int {
	if paused {
		return 1
	}
	return 0
}

// shortly writes a distance in at most seven columns: 45s, 59m, 23h52m, 5d23h, 412d.
func shortly(d time.Duration) string {
	d = max(d, 0)
	h, m := int(d/time.Hour), int(d%time.Hour/time.Minute)
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(m) + "m"
	case h < 24:
		return fmt.Sprintf("%dh%02dm", h, m)
	case h < 100*24:
		return fmt.Sprintf("%dd%02dh", h/24, h%24)
	}
	return strconv.Itoa(h/24) + "d"
}

// nothing is the text when there is nothing to list.
func nothing(all, filtered bool, problems []state.Problem) string {
	if n := view.UnreadCount(problems); n > 0 {
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
