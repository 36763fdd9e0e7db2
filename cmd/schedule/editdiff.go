package schedule

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/handover"

	"github.com/ouro-timer/ouro-timer/cmd/view"

	"github.com/ouro-timer/ouro-timer/cmd/cli"

	"github.com/ouro-timer/ouro-timer/timer/when"

	"github.com/ouro-timer/ouro-timer/timer/problem"

	"github.com/ouro-timer/ouro-timer/state"
)

// differences names what is different in a task, as show --json names it.
func differences(a, b state.Task, dueA, dueB time.Time) []string {
	recurring := a.Recurring() || b.Recurring()
	names := []string{}
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"due", !dueA.Equal(dueB)},
		{"when", a.When.Text != b.When.Text || a.When.Form != b.When.Form || a.When.Wall != b.When.Wall},
		{"kind", a.When.Kind != b.When.Kind},
		{"tz", a.When.Zone != b.When.Zone},
		{"start", recurring && !a.When.Start.Equal(b.When.Start)},
		{"end", !a.When.End.Equal(b.When.End)},
		{"count", a.When.Count != b.When.Count},
		{"jitter", a.When.Jitter != b.When.Jitter || a.When.Delay != b.When.Delay},
		{"origin", a.Origin != b.Origin},
		{"type", a.Type() != b.Type()},
		{"description", a.Description != b.Description},
		{"task", a.Text != b.Text},
		{"command", !slices.Equal(a.Run.Argv, b.Run.Argv)},
		{"agent", !slices.Equal(a.Run.Agent, b.Run.Agent)},
		{"title", a.Reminder.Title != b.Reminder.Title},
		{"project_id", a.Reminder.Project != b.Reminder.Project},
		{"priority", view.PriorityOf(a) != view.PriorityOf(b)},
		{"rpc_request", a.Reminder.Request != b.Reminder.Request},
		{"shell", a.Run.Shell != b.Run.Shell},
		{"script", a.Run.Script != b.Run.Script},
		{"program", a.Run.Prog != b.Run.Prog},
		{"dir", a.Run.Dir != b.Run.Dir},
		{"umask", a.Run.Umask != b.Run.Umask},
		{"env", !maps.Equal(a.Run.Env, b.Run.Env)},
		{"catchup", a.Policy.Catchup != b.Policy.Catchup},
		{"window", a.Policy.Window != b.Policy.Window},
		{"overlap", a.Policy.Overlap != b.Policy.Overlap},
		{"if", a.Policy.If != b.Policy.If},
		{"timeout", a.Policy.Timeout != b.Policy.Timeout},
		{"retries", a.Policy.Retries != b.Policy.Retries},
		{"backoff", a.Policy.Backoff != b.Policy.Backoff},
		{"rerun_interrupted", a.Policy.Rerun != b.Policy.Rerun},
		{"until_ok", a.Policy.UntilOK != b.Policy.UntilOK},
		{"until_output", a.Policy.UntilOutput != b.Policy.UntilOutput},
		{"notify", !slices.Equal(a.Policy.Notify, b.Policy.Notify)},
		{"notify_on", a.Policy.NotifyOn != b.Policy.NotifyOn},
		{"prefix", a.Policy.Prefix != b.Policy.Prefix || a.Policy.NoPrefix != b.Policy.NoPrefix},
	} {
		if f.is {
			names = append(names, f.name)
		}
	}
	return names
}

// editJSON is what edit answers with --json: the confirmation of at, and what is different.
type editJSON struct {
	confirmation
	Changed   []string   `json:"changed"`
	DueBefore *time.Time `json:"due_before" jsonschema:"null when the due instant is the same"`
}

// aboutAgents says what came with it that a task tells an agent from now on, or no longer.
func aboutAgents(was, is state.Task, fields []string) (notes []problem.Text) {
	changed := func(field string) bool { return slices.Contains(fields, field) }
	before, now := was.Type() == state.TypeAgent, is.Type() == state.TypeAgent
	switch {
	case now && !before:
		if changed("timeout") || changed("retries") {
			notes = append(notes, problem.T("an agent has to answer within %s, and is tried %s; %s say otherwise",
				cli.OrElse(is.Policy.Timeout, "any time"), cli.Plural(is.Policy.Retries+1, "time"), problem.Options(" and ", "timeout", "retries")))
		}
	case before && !now:
		title := was.Reminder.Title
		switch {
		case title == "":
		case is.Description == title && changed("description"):
			notes = append(notes, problem.T("the title is the description now; %s changes it", problem.Option("description")))
		case is.Description != title && is.Text != title:
			notes = append(notes, problem.T("the title %s is gone; %s says what a task is", cli.Quote(title), problem.Option("description")))
		}
		for _, had := range []struct {
			what problem.Setting
			gone bool
		}{
			{problem.Set("timeout", was.Policy.Timeout), is.Policy.Timeout == ""},
			{problem.Set("retries", was.Policy.Retries), is.Policy.Retries == 0},
		} {
			if had.gone && changed(string(had.what.Name)) {
				notes = append(notes, problem.T("%s is what agents have, and is taken back; give it to keep it", had.what))
			}
		}
		var lost []string
		for _, f := range []string{"project_id", "priority", "rpc_request"} {
			if changed(f) {
				lost = append(lost, f)
			}
		}
		if len(lost) > 0 {
			notes = append(notes, problem.T("only an agent is told: %s", strings.Join(lost, ", ")))
		}
	}
	return notes
}

// confirm sees to it that somebody runs the task, and says what it is now.
func (ed *edit) confirm(ctx context.Context, st state.Leases, was, e state.Entry, r edited) error {
	s, id := ed.Call, e.Task.ID
	h := handover.Hands{Runner: handover.RunnerNone}
	if view.Awaited(e) {
		h = handover.HandOver(ctx, s, st)
	}
	whom := handover.AudienceOf(s, e.Task)
	if len(r.fields) > 0 {
		ed.warnings = append(handover.CannotRun(ctx, s, e.Task), ed.warnings...)
	}
	ed.warnings = append(ed.warnings, handover.RunWarnings(e, ed.now, h)...)
	if len(r.fields) > 0 {
		ed.warnings = append(ed.warnings, handover.TellWarnings(s, e.Task, whom, h)...)
	}
	ed.warnings = slices.Concat(ed.warnings, view.TooLate(e), s.Remote)
	moved := slices.Contains(r.fields, "due")
	var told []problem.Text
	notes, others := []string{}, []when.Candidate{}
	if r.sched != nil && len(r.fields) > 0 {
		notes, others = append(notes, r.sched.Notes...), r.sched.Others
	}
	if len(r.fields) > 0 && r.passed != nil {
		told = append(told, problem.T("%s of the old schedule had come and will not be run, the first on %s", cli.Plural(r.passed.Count, "instant"), view.Stamp(r.passed.Due.In(view.TaskZone(was.Task)))))
	}
	if slices.Contains(r.fields, "type") && e.Task.Type() == state.TypeCommand && e.Task.Text != "" && !ed.Opt.Has("task") {
		told = append(told, problem.T("it is a command now, and the message's text is handed to it as OURO_TASK; %s drops it", problem.Set("task", "")))
	}
	for _, note := range append(told, aboutAgents(was.Task, e.Task, r.fields)...) {
		notes = append(notes, s.Says(note))
	}
	now := ed.now.In(view.TaskZone(e.Task))
	reading := view.Echo(e.Due.In(view.TaskZone(e.Task)), now)
	switch {
	case s.InJSON:
		j := editJSON{Changed: r.fields, confirmation: confirmation{Now: now, ID: &id, TaskJSON: view.AsJSON(e, ed.now), Reading: reading, Notes: notes, Others: cli.AsCandidates(others),
			JitterSeconds: view.Dealt(e.Task), Tell: cli.ChannelWords(whom.Channels), TellOn: whom.On, Runner: h.Runner, SurvivesReboot: h.Survives, Warnings: cli.WarningTexts(s, ed.warnings), DryRun: s.DryRun}}
		j.Start, j.End, j.Count = view.Bounded(e.Task)
		if moved {
			j.DueBefore = cli.Instant(was.Due, view.TaskZone(was.Task))
		}
		s.Emit(j)
		return nil
	case s.Opt.Bool("quiet"):
		s.Line("%s", id)
	default:
		what := cli.Quote(plainWords(e.Task))
		due := "It is due " + reading + "."
		if !e.Due.After(now) { // a distance would say nothing
			due = "It is due " + view.Stamp(e.Due.In(view.TaskZone(e.Task))) + "."
		}
		fields := strings.ReplaceAll(strings.Join(r.fields, ", "), "_", "-")
		switch {
		case len(r.fields) == 0:
			s.Line("Nothing changed: %s is like that already. %s (ID: %s)", what, due, id)
		case moved:
			s.Line("%s %s for %s. (ID: %s)", cli.Deed(s, "Scheduled"), what, reading, id)
			s.Line("It was due %s. %s: %s.", view.Stamp(was.Due.In(view.TaskZone(was.Task))), cli.Deed(s, "Changed"), fields)
		default:
			s.Line("%s %s: %s. %s (ID: %s)", cli.Deed(s, "Changed"), what, fields, due, id)
		}
		switch {
		case e.Held && e.Resume.IsZero():
			s.Line("It is still paused: ouro-timer resume %s", id)
		case e.Held:
			s.Line("It is still paused until %s.", view.Echo(e.Resume.In(now.Location()), now))
		case len(r.fields) > 0:
			s.Line("%s", h.Who())
		}
		if slices.ContainsFunc(r.fields, handover.AboutTelling) {
			s.Line("%s", whom.Sentence(e.Task))
		}
		if len(was.Open) > 0 && len(r.fields) > 0 {
			s.Talk("note: what is running of it goes on as it was")
		}
		for _, n := range notes {
			s.Talk("note: %s", cli.Visible(n))
		}
	}
	if err := s.Flush(); err != nil {
		p := cli.Explain(err)
		return p.Saying(problem.T("task %s was changed, but %s", id, p.Message))
	}
	cli.WarnAll(s, ed.warnings)
	return nil
}
