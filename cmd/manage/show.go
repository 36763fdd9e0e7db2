package manage

import (
	"context"
	"fmt"
	"maps"
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
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// ShowCommand is the command show.
func ShowCommand() cli.Command {
	return cli.Command{
		Name: "show", Args: "<id> | --match <text>", Short: "show one task in full",
		Long:      "What it does and where, when it is due next, and how its runs went. Values of variables are not shown.",
		Examples:  []string{"ouro-timer show k7m2", "ouro-timer show --match backup --json"},
		Ids:       "any",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID}},
		Options: option.Rows{cli.MatchFlag, cli.QuietFlag.WithHelp("print the answer alone"), cli.ZoneFlag,
			cli.JSONFlag, cli.FieldsFlag},
		Answers: []cli.Shape{{Name: "show", Of: showJSON{}, Means: "one task in full"}},
		Brief:   true,
		Run:     runShow,
	}
}

// showJSON is a task in full.
type showJSON struct {
	Now time.Time `json:"now"`
	view.TaskJSON
	Created time.Time `json:"created_at"`
	view.RecurrenceJSON
	Next      []time.Time `json:"next,omitempty"`
	Script    *string     `json:"script,omitempty"`
	Program   *string     `json:"program,omitempty"`
	Dir       *string     `json:"dir,omitempty"`
	Umask     *string     `json:"umask,omitempty"`
	Env       []string    `json:"env,omitempty"`
	Terminal  *string     `json:"terminal,omitempty"`
	Request   *bool       `json:"rpc_request,omitempty" jsonschema:"of type agent: it is told by a request, and not by a notification"`
	Running   []string    `json:"running,omitempty"`
	RunningOn []string    `json:"running_on,omitempty" jsonschema:"in a fleet: the machine of each of these"`
	Attempt   *time.Time  `json:"next_attempt,omitempty" jsonschema:"when a run that has failed tries again"`
	LastEnd   *time.Time  `json:"last_ended,omitempty"`
	LastOn    *string     `json:"last_on,omitempty" jsonschema:"in a fleet: the machine of the last run that the log has"`
	Removed   bool        `json:"removed,omitempty"`
	Overdue   bool        `json:"overdue,omitempty"`
	Revision  int64       `json:"revision"`
	Postponed *string     `json:"put_off,omitempty" jsonschema:"why it cannot be started for now; the runner tries again"`
	Problem   *string     `json:"problem,omitempty" jsonschema:"why its later occurrences are not known, and do not run"`
	view.PolicyJSON

	entry state.Entry
	told  handover.Recipients
}

func runShow(ctx context.Context, s *cli.Call) error {
	if len(s.Args) > 1 {
		return cli.CallInstead(problem.T("show takes one task"), problem.To("show", s.Args[0]))
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	e, err := view.PickOne(ctx, s, st, func(state.Entry) bool { return true })
	if err != nil {
		return err
	}
	zone := rules.TaskZone(e.Task)
	now := s.Now(zone)
	j := showJSON{Now: now, TaskJSON: view.AsJSON(e, now), Created: e.Task.Created.In(zone),
		Next: upcoming(e), Env: []string{}, Running: []string{},
		Removed: e.Phase == state.Removed, Terminal: cli.OrNull(e.Task.Terminal),
		LastEnd: cli.Instant(e.Tally.LastEnd, zone), Attempt: cli.Instant(tasks.NextAttempt(e), zone),
		Overdue: view.IsOverdue(e, now), Revision: e.Task.Revision, RecurrenceJSON: view.RecurrenceOf(e.Task),
		PolicyJSON: view.PolicyInForce(e.Task)}
	told := handover.RecipientsOf(s, e.Task)
	j.Tell, j.TellOn = cli.ChannelWords(told.All()), cli.OrNull(told.On)
	if leader, led, err := st.Led(ctx); err == nil && led {
		j.Postponed = cli.OrNull(whyPostponed(e, leader))
	}
	if _, err := rules.Schedule(e.Task); err != nil && tasks.Live(e) {
		j.Problem = cli.OrNull("its schedule, " + cli.Quote(j.When) + ", cannot be read: " +
			s.Render(cli.Explain(err).Message) + "; it does not run")
	}
	if t := e.Task.Type(); t == state.TypeAgent {
		j.Request = &e.Task.Reminder.Request
	}
	if t := e.Task.Type(); t == state.TypeCommand || t == state.TypeAgent {
		run := e.Task.Run
		j.Script, j.Program, j.Dir = cli.OrNull(run.Script), cli.OrNull(run.Prog), cli.OrNull(run.Dir)
		if run.Umask >= 0 { // Windows has none
			j.Umask = new(fmt.Sprintf("0%03o", run.Umask))
		}
		j.Env = cli.OrEmpty(slices.Sorted(maps.Keys(run.Env)))
	}
	if err := j.readRuns(ctx, st, e); err != nil {
		return err
	}
	j.entry, j.told = e, told
	s.Answer(j)
	return nil
}

// readRuns adds the runs that go on. In a fleet it adds their machines, and that of the last run
// that the ledger has.
func (j *showJSON) readRuns(ctx context.Context, st state.Store, e state.Entry) error {
	for _, r := range e.Open {
		if !tasks.RunAlive(r) {
			continue
		}
		j.Running = append(j.Running, state.OccurrenceID(e.Task.ID, r.Number))
		if r.Node != "" {
			j.RunningOn = append(j.RunningOn, r.Node)
		}
	}
	if _, shared := state.SharedBy(st); !shared || e.Tally.Fired == 0 {
		return nil
	}
	_, _, err := st.Log(ctx, e.Task.ID, func(l state.Line) bool {
		if l.Type == state.LineOccurrence {
			j.LastOn = cli.OrNull(l.Node)
		}
		return j.LastOn == nil
	})
	return err
}

// upcoming returns at most five of the next instants of a task. Those of a paused task come after
// the end of its pause; there are none when the pause has no end.
func upcoming(e state.Entry) []time.Time {
	next := []time.Time{}
	zone := rules.TaskZone(e.Task)
	first := view.DueOf(e)
	if first.IsZero() {
		return next
	}
	sched, err := rules.Schedule(e.Task)
	next = append(next, first.In(zone))
	if err != nil || sched == nil {
		return next
	}
	for t, ok := sched.Next(first); ok && len(next) < 5; t, ok = sched.Next(t) {
		next = append(next, t)
	}
	return next
}

// Text writes the task for people: each line is a name and a value.
func (j showJSON) Text(o *cli.Out) {
	field := func(name, value string) {
		if value != "" {
			o.Line("%-12s %s", name, value)
		}
	}
	j.what(o, field)
	j.times(o, field)
	j.history(o, field)
}

// what writes what the task does and what runs it.
func (j showJSON) what(o *cli.Out, field func(name, value string)) {
	e, program := j.entry, o.Program()
	field("id", j.ID)
	field("state", j.State)
	if j.Removed {
		field("", "removed; "+program+" restore "+j.ID+" undoes it")
	}
	field("description", cli.Visible(e.Task.Description))
	field("tags", cli.Visible(strings.Join(e.Task.Tags, " ")))
	field("on", strings.Join(e.Task.On, " "))
	field("type", string(j.Type))
	field("text", cli.Visible(e.Task.Text))
	if len(j.Command) > 0 {
		field("command", cli.Visible(cli.ShellLine(j.Command)))
	}
	field("shell", cli.Visible(e.Task.Run.Shell))
	if e.Task.Type() == state.TypeAgent {
		how := ""
		if e.Task.Reminder.Request {
			how = " (by a request)"
		}
		field("agent", cli.Visible(cli.ShellLine(j.Agent))+how)
		field("title", cli.Visible(e.Task.Reminder.Title))
		field("project", cli.Visible(e.Task.Reminder.Project))
		field("priority", view.PriorityOf(e.Task))
	}
	if e.Task.Run.Script != "" {
		for i, line := range strings.Split(strings.TrimRight(e.Task.Run.Script, "\n"), "\n") {
			name := ""
			if i == 0 {
				name = "script"
			}
			o.Line("%-12s %s", name, cli.Visible(line))
		}
	}
	if j.Program != nil {
		field("run by", *j.Program)
	}
}

// times writes when the task is due, and what may prevent that.
func (j showJSON) times(o *cli.Out, field func(name, value string)) {
	e, now, program, paint := j.entry, j.Now, o.Program(), o.Paint()
	field("when", cli.Visible(j.When)+" ("+string(j.Kind)+", "+j.TZ+")")
	if j.Problem != nil {
		field("problem", paint.As(cli.Bad, cli.Visible(*j.Problem)))
		field("", program+" edit "+j.ID+" WHEN replaces it")
	}
	if j.Postponed != nil {
		field("put off", cli.Visible(*j.Postponed)+"; the runner tries again")
	}
	switch {
	case j.ResumeAt != nil && len(j.Next) == 0 && !state.IsUnscheduled(e.Due):
		field("paused", "until "+view.Echo(*j.ResumeAt, now)+"; its time, "+
			view.Stamp(e.Due.In(rules.TaskZone(e.Task)))+", comes before that and will be skipped")
	case j.ResumeAt != nil:
		field("paused", "until "+view.Echo(*j.ResumeAt, now))
	case view.HeldWait(e):
		field("paused", "it is due "+view.Coming(e, now)+": ouro-timer wait --resume "+j.ID)
	case j.Paused && state.IsUnscheduled(e.Due):
		field("paused", "until "+program+" resume "+j.ID)
	case j.Paused:
		field("paused", "until "+program+" resume "+j.ID+"; it was due "+view.Stamp(e.Due.In(rules.TaskZone(e.Task))))
	}
	for i, t := range j.Next {
		if i == 0 && j.Overdue && j.Postponed == nil {
			field("due", view.Echo(t, now)+"; "+paint.As(cli.Late, "overdue")+": "+program+" doctor says why")
		} else if i == 0 {
			field("due", view.Echo(t, now))
		} else {
			field("", view.Stamp(t))
		}
	}
	switch {
	case j.Awaited == nil:
	case *j.Awaited:
		field("attended", "somebody waits for it")
	default:
		field("attended", "nobody waits: at its time it goes to the inbox; "+program+" wait --resume "+j.ID+
			" goes on with it")
	}
	if j.Start != nil {
		field("start", view.Stamp(*j.Start))
	}
	if j.End != nil {
		field("end", view.Stamp(*j.End))
	}
	if e.Task.When.Delay != "" {
		field("jitter", "delayed by "+view.AsTyped(e.Task.When.Delay)+" of at most "+view.AsTyped(e.Task.When.Jitter))
	}
	if j.Count != nil {
		field("count", strconv.Itoa(*j.Count))
	}
	for i, days := range j.Except {
		if i == 0 {
			field("except", cli.Visible(days))
		} else {
			field("", cli.Visible(days))
		}
	}
}

// history writes the policy of the task, where it came from, and how it went so far.
func (j showJSON) history(o *cli.Out, field func(name, value string)) {
	e, told, program, paint := j.entry, j.told, o.Program(), o.Paint()
	for _, p := range view.PolicyFields(e.Task) {
		field(p.Name, cli.Visible(p.Value))
	}
	field("tells", told.Short(e.Task))
	field("key", cli.Visible(e.Task.Key))
	if e.Task.Origin != "" {
		field("origin", "a run of task "+e.Task.Origin+"; "+program+" ls --origin "+e.Task.Origin+
			" shows all that its runs scheduled")
	}
	field("created", view.Stamp(j.Created))
	if j.Dir != nil {
		field("folder", cli.Visible(*j.Dir))
		if j.Umask != nil {
			field("umask", *j.Umask)
		}
		field("variables", strings.Join(j.Env, " "))
	}
	if j.Terminal != nil {
		field("terminal", *j.Terminal)
	}
	if len(j.Running) > 0 {
		running := strings.Join(j.Running, " ")
		if len(j.RunningOn) == len(j.Running) {
			running += ", on " + cli.Visible(strings.Join(j.RunningOn, " "))
		}
		if j.Attempt != nil {
			running += "; it has failed, and tries again " + view.Echo(*j.Attempt, j.Now)
		}
		field("running", running)
	}
	if e.Tally.Number > 0 {
		text := cli.Plural(e.Tally.Fired, "time")
		if e.Tally.Last != "" {
			text += ", last " + paint.As(view.OutcomeMeans(state.Outcome(e.Tally.Last)), e.Tally.Last)
		}
		if j.LastEnd != nil {
			text += " on " + view.Stamp(*j.LastEnd)
		}
		if j.LastOn != nil {
			text += "; the last run was on " + cli.Visible(*j.LastOn)
		}
		field("fired", text)
	}
}
