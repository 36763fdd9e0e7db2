package schedule

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

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

// maxReminders is how many reminders one list has.
const maxReminders = 200

// agentRequests answers the requests of agent processes. A request counts as a call by the task
// that the agent was last told of: it has the folder, variables, umask and zone of that task, which
// is its origin, and the settings of now. Many goroutines use one agentRequests.
type agentRequests struct {
	world cli.World
	at    *cli.Command
	start bool // a new reminder starts a runner when none lives
}

// NewAgentRequests returns what answers agents. A caller that does not stay as the runner sets
// start, so that a new reminder finds one.
func NewAgentRequests(s *cli.Call, start bool) *agentRequests {
	at := AtCommand()
	a := &agentRequests{world: s.World, at: &at, start: start}
	a.world.In, a.world.Out, a.world.Err = strings.NewReader(""), io.Discard, io.Discard
	return a
}

// method is what an agent may ask for, with the params that it has.
type method struct {
	do      func(*agentRequests, context.Context, state.Record, requestParams) (any, error)
	params  []string
	example string
}

// createParams are the params of reminders.create.
var createParams = []string{"title", "when", "rrule", "except", "webhook_url", "process_name", "description",
	"project_id", "priority"}

// methods returns all methods by name.
func methods() map[string]method {
	return map[string]method{
		"reminders.create": {(*agentRequests).create, createParams,
			`"params": {"title": "Self-review", "when": "2h"}`},
		"reminders.list":   {(*agentRequests).list, []string{"project_id"}, `"params": {}`},
		"reminders.cancel": {(*agentRequests).cancel, []string{"id"}, `"params": {"id": "rem_k7m2"}`},
	}
}

// Answer answers one request.
func (a *agentRequests) Answer(ctx context.Context, r state.Record, name string, params json.RawMessage) (any, error) {
	m, known := methods()[name]
	if !known {
		return nil, agentError(agent.CodeMethod, problem.Of(problem.T("there is no method %s", cli.Quote(name)),
			problem.T("the methods are reminders.create, reminders.list and reminders.cancel")))
	}
	texts, err := readParams(name, m, params)
	if err != nil {
		return nil, agentError(agent.CodeParams, cli.Explain(err))
	}
	answer, err := m.do(a, ctx, r, texts)
	if err == nil {
		return answer, nil
	}
	p := cli.Explain(err)
	if p.Code == problem.Usage {
		return nil, agentError(agent.CodeParams, p)
	}
	return nil, agentError(agent.CodeRefused, p)
}

// refusedData is the data of an error in an answer to an agent.
type refusedData struct {
	Code problem.Code `json:"code"` // one of the error codes of every answer
	Hint *string      `json:"hint"`
}

// agentError returns a problem in the form in which an agent gets it.
func agentError(code int, p *problem.Problem) error {
	return &agent.Error{Code: code, Message: p.Message.In(reminders{}),
		Data: refusedData{p.Code, cli.OrNull(p.Hint.In(reminders{}))}}
}

// requestParams are the params of a request that have a value, by name.
type requestParams map[string]string

// readParams reads the params of a method, as leniently as the arguments of MCP's tools are read: a
// param that is null, "" or "None" counts as absent.
func readParams(name string, m method, params json.RawMessage) (requestParams, error) {
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
	texts := requestParams{}
	for _, param := range v.Names() {
		texts[param] = v.Text(param)
	}
	return texts, nil
}

// call returns the call that a request stands for. The agent was last told of record r.
func (a *agentRequests) call(r state.Record) *cli.Call {
	t := r.Task
	s := cli.NewCall(a.world)
	s.Cmd, s.Surface, s.InJSON = a.at, reminders{}, true
	s.ChildOrigin, s.DefaultZone, s.Surroundings = t.ChildOrigin(), rules.TaskZone(t),
		&tasks.Surroundings{Dir: t.Run.Dir, Umask: t.Run.Umask, Env: t.Run.Env}
	return s
}

// createdReminder is the answer to reminders.create.
type createdReminder struct {
	ID       string   `json:"id"`
	Due      *string  `json:"due_date"` // as the agent is told of it; null: at the next boot
	Warnings []string `json:"warnings,omitempty"`
}

// request returns what reminders.create asks for. Beside a rule, "when" is the time at which the
// recurrence begins.
func (p requestParams) request(r state.Record) (tasks.Spec, error) {
	program := cmp.Or(p["process_name"], state.ShellLine(r.Task.Run.Agent))
	spec := tasks.Spec{Agent: &program}
	var time, rule *string
	for param, text := range p {
		switch param {
		case "when":
			time = &text
		case "rrule":
			rule = &text
		case "except":
			spec.Except = []string{text}
		case "webhook_url":
			spec.Webhook = []string{text}
		case "project_id":
			spec.Project = &text
		default:
			spec.Set(param, text)
		}
	}
	switch {
	case p["title"] == "":
		return spec, problem.Of(problem.T("%s is missing", problem.Option("title")),
			problem.T("say what the reminder is about, %s", problem.Set("title", "Self-review")))
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
func (a *agentRequests) create(ctx context.Context, r state.Record, p requestParams) (any, error) {
	spec, err := p.request(r)
	if err != nil {
		return nil, err
	}
	s := a.call(r)
	spec.Except = AbsoluteDays(s, spec.Except)
	if err := resolveChoices(a.at.Options, &spec); err != nil {
		return nil, err
	}
	if text, given := p["when"]; given {
		if err := refusePast(s, text); err != nil {
			return nil, err
		}
	}
	draft, err := drafted(ctx, s, spec)
	if err != nil {
		return nil, err
	}
	if !draft.Due.After(draft.Now) {
		return nil, errPast(p["when"])
	}
	st, err := s.Open()
	if err != nil {
		return nil, err
	}
	done, err := draft.Add(ctx, st, runnerStarter(s, st))
	if err != nil {
		return nil, err
	}
	e := done.Entry
	if a.start && handover.HandOver(ctx, s, st).Runner == handover.RunnerNone {
		draft.warnings = append(draft.warnings, cli.Warning{Kind: cli.WarnRunner,
			Text: problem.T("no runner is alive to tell the agent")})
	}
	return createdReminder{runner.ReminderID(e.Task.ID), dueDate(e), s.WarningTexts(draft.warnings)}, nil
}

// dueDate is when a reminder is due, as its agent is told of it; nil when nobody knows yet.
func dueDate(e state.Entry) *string {
	if state.IsUnscheduled(e.Due) {
		return nil
	}
	return new(agent.Due(e.Due.In(rules.TaskZone(e.Task))))
}

// refusePast refuses an instant that is not in the future. Otherwise an agent that repeats the time
// of the reminder it was told of, as a due time or as the beginning of a recurrence, would schedule
// another reminder each time it is told, without end.
func refusePast(s *cli.Call, text string) error {
	o, err := s.TimeOptions()
	if err != nil {
		return err
	}
	// drafted judges a time that is not an instant.
	if at, err := when.Instant(text, o); err == nil && !at.After(o.Now) {
		return errPast(text)
	}
	return nil
}

func errPast(text string) error {
	return problem.New(problem.Past, problem.T("%s is not in the future", cli.Quote(text)),
		problem.T("give a later time, such as %s", problem.Set(problem.When, "1h")))
}

// reminders is the surface of the requests of agents: it writes options as params, and calls as
// methods.
type reminders struct{}

// paramNames returns, by option, the params whose names are not those of their options.
func paramNames() map[string]string {
	return map[string]string{"agent": "process_name", "webhook": "webhook_url", "project": "project_id",
		"start": "when"}
}

// Option returns the param that stands for an option. An option without a param is written as an
// option of at.
func (reminders) Option(name string) string {
	if slices.Contains(createParams, cmp.Or(paramNames()[name], name)) {
		return option.JSON(cmp.Or(paramNames()[name], name))
	}
	return "ouro-timer at " + problem.Shell{}.Option(name)
}

// Setting returns a param with its value.
func (r reminders) Setting(name string, value any) string {
	if slices.Contains(createParams, cmp.Or(paramNames()[name], name)) {
		return r.Option(name) + ": " + option.JSON(value)
	}
	return "ouro-timer at " + problem.Shell{}.Setting(name, value)
}

// Call returns the method that stands for a call. A call without a method is written as words.
func (reminders) Call(c problem.Call) string {
	switch c.Command {
	case "at":
		return "reminders.create " + option.JSON(map[string]string{"title": "Self-review",
			"when": cmp.Or(strings.Join(c.Args, " "), "2h")})
	case "ls":
		return "reminders.list"
	case "rm":
		return "reminders.cancel"
	}
	return problem.Shell{}.Call(c)
}

// reminderRow is a reminder in the answer to reminders.list.
type reminderRow struct {
	ID          string  `json:"id"`
	Title       string  `json:"title"`
	Description *string `json:"description"`
	When        string  `json:"when"` // as it was given
	Due         *string `json:"due_date"`
	Project     *string `json:"project_id"`
	Priority    string  `json:"priority"`
	Program     string  `json:"process_name"`
	Paused      bool    `json:"paused"`
}

// reminderList is the answer to reminders.list.
type reminderList struct {
	Reminders []reminderRow `json:"reminders"`
	More      int           `json:"more"` // how many reminders are left out
}

// isReminderOf reports whether a task is a reminder for a program.
func isReminderOf(t state.Task, p agent.Program) bool {
	return t.Type() == state.TypeAgent && runner.ProgramOf(t).Equal(p)
}

// list lists the reminders to come for the program that asks, the next due first.
func (a *agentRequests) list(ctx context.Context, r state.Record, p requestParams) (any, error) {
	s := a.call(r)
	st, err := s.Open()
	if err != nil {
		return nil, err
	}
	program := runner.ProgramOf(r.Task)
	var found []state.Entry
	_, err = state.Each(ctx, st, func(e state.Entry) bool {
		t := e.Task
		if isReminderOf(t, program) && tasks.Live(e) &&
			(p["project_id"] == "" || p["project_id"] == t.Reminder.Project) {
			found = append(found, e)
		}
		return true
	}, state.Pending, state.Running, state.Paused)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, state.Compare)
	answer := reminderList{Reminders: []reminderRow{}, More: max(len(found)-maxReminders, 0)}
	for _, e := range found[:len(found)-answer.More] {
		t := e.Task
		answer.Reminders = append(answer.Reminders, reminderRow{runner.ReminderID(t.ID), t.Summary(),
			cli.OrNull(t.Description), t.When.Text, dueDate(e),
			cli.OrNull(t.Reminder.Project), view.PriorityOf(t), state.ShellLine(t.Run.Agent), e.Held})
	}
	return answer, nil
}

// cancelledReminder is the answer to reminders.cancel.
type cancelledReminder struct {
	ID        string `json:"id"`
	Cancelled bool   `json:"cancelled"`
}

// cancel removes a reminder, as rm does. It finds no task but the reminders for the program that
// asks, as reminders.list does.
func (a *agentRequests) cancel(ctx context.Context, r state.Record, p requestParams) (any, error) {
	notFound := problem.New(problem.NotFound, problem.T("there is no reminder %s", cli.Quote(p["id"])),
		problem.T("reminders.list lists the reminders"))
	id := strings.ToLower(strings.TrimSpace(runner.TaskOf(p["id"])))
	switch {
	case p["id"] == "":
		return nil, problem.Of(problem.T(`"id" is missing`), problem.T(`name the reminder, "id": "rem_k7m2"`))
	case !state.WholeID(id):
		return nil, notFound
	}
	s := a.call(r)
	st, err := s.Open()
	if err != nil {
		return nil, err
	}
	found, err := st.Find(ctx, id)
	switch {
	case errors.Is(err, state.ErrNotFound):
		return nil, notFound
	case err != nil:
		return nil, err
	case len(found) != 1 || !isReminderOf(found[0].Task, runner.ProgramOf(r.Task)):
		return nil, notFound
	}
	switch _, err := st.Remove(ctx, id, s.Clock.Now()); {
	case errors.Is(err, state.ErrEnded):
		return nil, problem.New(problem.Ended, problem.T("the reminder %s has ended, or was cancelled", cli.Quote(p["id"])),
			problem.T("reminders.list lists those to come"))
	case err != nil:
		return nil, err
	}
	return cancelledReminder{runner.ReminderID(id), true}, nil
}
