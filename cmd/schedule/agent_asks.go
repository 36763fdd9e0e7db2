package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/agent"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// remindersMost is how many reminders one list has.
const remindersMost = 200

// agentAsks answers what agent processes ask, as if each request were a call of ouro-timer by a run
// of the task that the agent was last told of: with its folder, variables, umask and zone, its
// origin, and the settings as they are now. It is used by many goroutines.
type agentAsks struct {
	world cli.World
	at    *cli.Command
	start bool // a runner is started when none lives, as at does
}

// NewAgentAsks answers for the runner that this call is, or with start for one that ends with its
// run.
func NewAgentAsks(s *cli.Call, start bool) *agentAsks {
	at := AtCommand()
	a := &agentAsks{world: s.World, at: &at, start: start}
	a.world.In, a.world.Out, a.world.Err = strings.NewReader(""), io.Discard, io.Discard
	return a
}

// method is what an agent may ask for, with the params that it has.
type method struct {
	do      func(*agentAsks, context.Context, state.Record, asked) (any, error)
	params  []string
	example string
}

// ofCreate are the params of reminders.create.
var ofCreate = []string{"title", "when", "rrule", "except", "webhook_url", "process_name", "description",
	"project_id", "priority"}

// methods are all of them by name.
func methods() map[string]method {
	return map[string]method{
		"reminders.create": {(*agentAsks).create, ofCreate,
			`"params": {"title": "Self-review", "when": "2h"}`},
		"reminders.list":   {(*agentAsks).list, []string{"project_id"}, `"params": {}`},
		"reminders.cancel": {(*agentAsks).cancel, []string{"id"}, `"params": {"id": "rem_k7m2"}`},
	}
}

// Answer answers one request.
func (a *agentAsks) Answer(ctx context.Context, r state.Record, name string, params json.RawMessage) (any, error) {
	m, known := methods()[name]
	if !known {
		return nil, refusedBy(agent.CodeMethod, problem.Of(problem.T("there is no method %s", cli.Quote(name)),
			problem.T("there are reminders.create, reminders.list and reminders.cancel")))
	}
	texts, err := readAsked(name, m, params)
	if err != nil {
		return nil, refusedBy(agent.CodeParams, cli.Explain(err))
	}
	answer, err := m.do(a, ctx, r, texts)
	if err == nil {
		return answer, nil
	}
	p := cli.Explain(err)
	if p.Code == problem.Usage {
		return nil, refusedBy(agent.CodeParams, p)
	}
	return nil, refusedBy(agent.CodeRefused, p)
}

// RefusedData is the data of an error that an agent is answered with.
type RefusedData struct {
	Code problem.Code `json:"code"` // one of the error codes of every answer
	Hint *string      `json:"hint"`
}

func refusedBy(code int, p *problem.Problem) error {
	return &agent.Error{Code: code, Message: p.Message.In(Reminders{}),
		Data: RefusedData{p.Code, cli.OrNull(p.Hint.In(Reminders{}))}}
}

// asked are the params of a request that say something: all are texts.
type asked map[string]string

// readAsked reads the params of a method, as forgivingly as the arguments of MCP's tools are read:
// what says nothing, such as null, "" or "None", is not there.
func readAsked(name string, m method, params json.RawMessage) (asked, error) {
	if err := option.WholeCharacters(params); err != nil {
		return nil, err
	}
	l := option.Lenient{Name: name, Example: m.example, Shown: m.params}
	for _, param := range m.params {
		row := option.Option{Name: param, Kind: option.Text}
		if problem.Option(param) == problem.When {
			row.Kind = option.Time
		}
		l.Rows = append(l.Rows, row)
	}
	v, err := l.Read(params)
	if err != nil {
		return nil, err
	}
	texts := asked{}
	for _, param := range v.Names() {
		texts[param] = v.Text(param)
		if err := option.NoNUL(param, texts[param]); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// call is the session of a request about a record.
func (a *agentAsks) call(r state.Record) *cli.Call {
	t := r.Task
	s := cli.NewCall(a.world)
	s.Cmd, s.Surface, s.InJSON = a.at, Reminders{}, true
	s.CameOf, s.OwnZone, s.Around = t.ChildOrigin(), rules.TaskZone(t),
		&tasks.Surroundings{Dir: t.Run.Dir, Umask: t.Run.Umask, Env: t.Run.Env}
	return s
}

// CreatedReminder is the answer to reminders.create.
type CreatedReminder struct {
	ID       string    `json:"id"`
	Due      time.Time `json:"due_date"`
	Warnings []string  `json:"warnings,omitempty"`
}

// said is a param; nil when it was not given.
func (p asked) said(name string) *string {
	if text, ok := p[name]; ok {
		return &text
	}
	return nil
}

// list is a param in the place of several values; nil when it was not given.
func (p asked) list(name string) []string {
	if text, ok := p[name]; ok {
		return []string{text}
	}
	return nil
}

// request is what reminders.create asks for. With a rule the time is where it begins.
func (p asked) request(r state.Record) (tasks.Spec, error) {
	program := cli.OrElse(p["process_name"], state.ShellLine(r.Task.Run.Agent))
	spec := tasks.Spec{Agent: &program, Title: p.said("title"), Description: p.said("description"),
		Project: p.said("project_id"), Priority: p.said("priority"),
		Webhook: p.list("webhook_url"), Except: p.list("except")}
	time, rule := p.said("when"), p.said("rrule")
	switch {
	case p["title"] == "":
		return spec, problem.Of(problem.T("%s is missing", problem.Option("title")),
			problem.T("say what it is, %s", problem.Set("title", "Self-review")))
	case time == nil && rule == nil:
		return spec, problem.Of(problem.T("%s is missing", problem.When),
			problem.T(`give an instant, %s, or a time such as "2h" or "every day at 9am"`,
				problem.Set(problem.When, "2026-11-23T09:00:00+01:00")))
	case rule != nil:
		spec.When, spec.Form, spec.Start = rule, when.RRuleForm, time
	default:
		spec.When = time
	}
	return spec, nil
}

// create schedules a reminder, as at does.
func (a *agentAsks) create(ctx context.Context, r state.Record, p asked) (any, error) {
	spec, err := p.request(r)
	if err != nil {
		return nil, err
	}
	s := a.call(r)
	inFolder(s, spec.Except)
	if err := choose(a.at.Options, &spec); err != nil {
		return nil, err
	}
	if text, given := p["when"]; given {
		if err := notPast(s, text); err != nil {
			return nil, err
		}
	}
	o, err := drafted(ctx, s, spec)
	if err != nil {
		return nil, err
	}
	if !o.Due.After(o.Now) {
		return nil, hasCome(p["when"])
	}
	st, err := s.Open()
	if err != nil {
		return nil, err
	}
	done, err := o.Add(ctx, st, waking(s, st))
	if err != nil {
		return nil, err
	}
	e := done.Entry
	if a.start && handover.HandOver(ctx, s, st).Runner == handover.RunnerNone {
		o.warnings = append(o.warnings, cli.Warning{Kind: cli.WarnRunner,
			Text: problem.T("no runner is alive that would tell it")})
	}
	return CreatedReminder{runner.ReminderID(e.Task.ID), e.Due.In(rules.TaskZone(e.Task)),
		s.WarningTexts(o.warnings)}, nil
}

// notPast refuses an instant that has come. An agent that schedules what follows for when it was
// told would be told without end; and the beginning of a recurrence that is past would make another
// one each time.
func notPast(s *cli.Call, text string) error {
	o, err := s.Options()
	if err != nil {
		return err
	}
	// what is not an instant is judged as a time
	if at, err := when.Instant(text, o); err == nil && !at.After(o.Now) {
		return hasCome(text)
	}
	return nil
}

func hasCome(text string) error {
	return problem.New(problem.Past, problem.T("%s has come already", cli.Quote(text)),
		problem.T("give a later time, such as %s", problem.Set(problem.When, "1h")))
}

// Reminders is the surface of what agents ask: options are params, and calls the methods that stand
// for them.
type Reminders struct{}

// params are the params that have another name than the option they stand for.
func params() map[string]string {
	return map[string]string{"agent": "process_name", "webhook": "webhook_url", "project": "project_id",
		"start": "when"}
}

// Option is the param that stands for an option. One that has none is an option of a call of at.
func (Reminders) Option(name string) string {
	if slices.Contains(ofCreate, cli.OrElse(params()[name], name)) {
		return option.JSON(cli.OrElse(params()[name], name))
	}
	return "ouro-timer at " + problem.Shell{}.Option(name)
}

// Setting is a param with its value.
func (r Reminders) Setting(name string, value any) string {
	if slices.Contains(ofCreate, cli.OrElse(params()[name], name)) {
		return r.Option(name) + ": " + option.JSON(value)
	}
	return "ouro-timer at " + problem.Shell{}.Setting(name, value)
}

// Call is a method, or a call that can be typed.
func (Reminders) Call(c problem.Call) string {
	switch c.Command {
	case "at":
		return "reminders.create " + option.JSON(map[string]string{"title": "Self-review",
			"when": cli.OrElse(strings.Join(c.Args, " "), "2h")})
	case "ls":
		return "reminders.list"
	case "rm":
		return "reminders.cancel"
	}
	return problem.Shell{}.Call(c)
}

// reminderRow is a reminder in the answer to reminders.list.
type reminderRow struct {
	ID          string    `json:"id"`
	Title       string    `json:"title"`
	Description *string   `json:"description"`
	When        string    `json:"when"` // as it was said
	Due         time.Time `json:"due_date"`
	Project     *string   `json:"project_id"`
	Priority    string    `json:"priority"`
	Program     string    `json:"process_name"`
	Paused      bool      `json:"paused"`
}

// reminderList is the answer to reminders.list.
type reminderList struct {
	Reminders []reminderRow `json:"reminders"`
	More      int           `json:"more"` // how many there are beside them
}

// ofProgram reports whether a task is a reminder of a program.
func ofProgram(t state.Task, p agent.Program) bool {
	return t.Type() == state.TypeAgent && runner.ProgramOf(t).Equal(p)
}

// list lists the reminders to come of the program that asks, the next due first.
func (a *agentAsks) list(ctx context.Context, r state.Record, p asked) (any, error) {
	s := a.call(r)
	st, err := s.Open()
	if err != nil {
		return nil, err
	}
	program := runner.ProgramOf(r.Task)
	var found []state.Entry
	_, err = state.Each(ctx, st, func(e state.Entry) bool {
		t := e.Task
		if ofProgram(t, program) && tasks.Live(e) && (p["project_id"] == "" || p["project_id"] == t.Reminder.Project) {
			found = append(found, e)
		}
		return true
	}, state.Pending, state.Running, state.Paused)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, state.Compare)
	answer := reminderList{Reminders: []reminderRow{}, More: max(len(found)-remindersMost, 0)}
	for _, e := range found[:len(found)-answer.More] {
		t := e.Task
		answer.Reminders = append(answer.Reminders, reminderRow{runner.ReminderID(t.ID), t.Summary(),
			cli.OrNull(t.Description), t.When.Text, e.Due.In(rules.TaskZone(t)),
			cli.OrNull(t.Reminder.Project), view.PriorityOf(t), state.ShellLine(t.Run.Agent), e.Held})
	}
	return answer, nil
}

// cancelledReminder is the answer to reminders.cancel.
type cancelledReminder struct {
	ID        string `json:"id"`
	Cancelled bool   `json:"cancelled"`
}

// cancel removes a reminder, as rm does. What is not a reminder of the program that asks, which
// reminders.list would name, is not found.
func (a *agentAsks) cancel(ctx context.Context, r state.Record, p asked) (any, error) {
	none := problem.New(problem.NotFound, problem.T("there is no reminder %s", cli.Quote(p["id"])),
		problem.T("reminders.list names those there are"))
	id := strings.ToLower(strings.TrimSpace(runner.TaskOf(p["id"])))
	switch {
	case p["id"] == "":
		return nil, problem.Of(problem.T(`"id" is missing`), problem.T(`name the reminder, "id": "rem_k7m2"`))
	case !state.WholeID(id):
		return nil, none
	}
	s := a.call(r)
	st, err := s.Open()
	if err != nil {
		return nil, err
	}
	found, err := st.Find(ctx, id)
	switch {
	case errors.Is(err, state.ErrNotFound):
		return nil, none
	case err != nil:
		return nil, err
	case len(found) != 1 || !ofProgram(found[0].Task, runner.ProgramOf(r.Task)):
		return nil, none
	}
	if _, err := st.Remove(ctx, id, s.Clock.Now()); err != nil {
		return nil, err
	}
	return cancelledReminder{runner.ReminderID(id), true}, nil
}
