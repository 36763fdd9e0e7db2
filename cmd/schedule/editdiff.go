package schedule

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// editJSON is the answer of edit: a confirmation like that of at, and what is different.
type editJSON struct {
	confirmation
	Changed   []string   `json:"changed"`
	DueBefore *time.Time `json:"due_before,omitempty" jsonschema:"absent when the due instant is the same"`

	of   tasks.Done
	h    handover.RunnerState
	whom handover.Recipients
	now  time.Time
}

// aboutAgents says what else changed of a task that now tells an agent, or no longer does.
func aboutAgents(was, is state.Task, fields []string) (notes []problem.Text) {
	changed := func(field string) bool { return slices.Contains(fields, field) }
	before, now := was.Type() == state.TypeAgent, is.Type() == state.TypeAgent
	switch {
	case now && !before:
		if changed("timeout") || changed("retries") {
			notes = append(notes, problem.T("an agent has to answer within %s, and is tried %s; %s say otherwise",
				cli.OrElse(is.Policy.Timeout, "any time"), cli.Plural(is.Policy.Retries+1, "time"),
				problem.Options(" and ", "timeout", "retries")))
		}
	case before && !now:
		title := was.Reminder.Title
		switch {
		case title == "":
		case is.Description == title && changed("description"):
			notes = append(notes, problem.T("the title is the description now; %s changes it",
				problem.Option("description")))
		case is.Description != title && is.Text != title:
			notes = append(notes, problem.T("the title %s is gone; %s says what a task is", cli.Quote(title),
				problem.Option("description")))
		}
		for _, had := range []struct {
			what problem.Setting
			gone bool
		}{
			{problem.Set("timeout", was.Policy.Timeout), is.Policy.Timeout == ""},
			{problem.Set("retries", was.Policy.Retries), is.Policy.Retries == 0},
		} {
			if had.gone && changed(string(had.what.Name)) {
				notes = append(notes, problem.T("%s is what agents have, and is taken back; give it to keep it",
					had.what))
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

// tellEdited makes sure that a runner runs the task, and answers what it is now.
func tellEdited(ctx context.Context, s *cli.Call, st state.Leases, d tasks.Done) error {
	was, e, id, warnings := d.Was, d.Entry, d.Entry.Task.ID, otherShell(d.Change)
	h := handover.RunnerState{Runner: handover.RunnerNone}
	if view.Awaited(e) {
		h = handover.HandOver(ctx, s, st, e)
	}
	whom := handover.RecipientsOf(s, e.Task)
	if len(d.Fields) > 0 {
		warnings = append(handover.CannotRun(ctx, s, e.Task), warnings...)
	}
	warnings = append(warnings, handover.RunWarnings(e, d.Now, h)...)
	if slices.ContainsFunc(d.Fields, handover.AboutTelling) { // else the call that set it said so
		warnings = append(warnings, handover.TellWarnings(s, e.Task, whom, h)...)
	}
	warnings = slices.Concat(warnings, view.TooLate(e), s.Remote)
	moved := slices.Contains(d.Fields, "due")
	var told []problem.Text
	notes, others := []string{}, []when.Candidate{}
	if d.Sched != nil && len(d.Fields) > 0 {
		notes, others = append(notes, readings(d.Sched, d.Now)...), d.Sched.Others
	}
	if len(d.Fields) > 0 && d.Passed != nil {
		told = append(told, problem.T("%s of the old schedule had come and will not be run, the first on %s",
			cli.Plural(d.Passed.Count, "instant"), view.Stamp(d.Passed.Due.In(rules.TaskZone(was.Task)))))
	}
	if slices.Contains(d.Fields, "type") && e.Task.Type() == state.TypeCommand && e.Task.Text != "" &&
		!s.Opt.Has("task") {
		told = append(told,
			problem.T("it is a command now, and the message's text is handed to it as OURO_TASK; %s drops it",
				problem.Set("task", "")))
	}
	for _, note := range append(told, aboutAgents(was.Task, e.Task, d.Fields)...) {
		notes = append(notes, s.Says(note))
	}
	now := d.Now.In(rules.TaskZone(e.Task))
	answer := editJSON{Changed: d.Fields, confirmation: confirm(s, &d, now.Location(), h, whom, warnings), of: d,
		h: h, whom: whom, now: now}
	answer.Notes, answer.Others = notes, cli.AsCandidates(others)
	if moved && !state.IsUnscheduled(was.Due) {
		answer.DueBefore = cli.Instant(was.Due, rules.TaskZone(was.Task))
	}
	s.Answer(answer)
	if s.InJSON {
		return nil
	}
	if err := s.Flush(); err != nil {
		p := cli.Explain(err)
		return p.Saying(problem.T("task %s was changed, but %s", id, p.Message))
	}
	s.WarnAll(warnings)
	return nil
}

// Text says what has changed and when the task is due. With --quiet it is the ID.
func (a editJSON) Text(o *cli.Out) {
	was, e, id := a.of.Was, a.of.Entry, a.of.Entry.Task.ID
	if o.Quiet {
		o.Line("%s", id)
		return
	}
	what, zone := cli.Quote(plainWords(e.Task)), rules.TaskZone(e.Task)
	due := "It is due " + a.Reading + "."
	if state.IsUnscheduled(e.Due) {
		due = "It comes " + a.Reading + "."
	} else if !e.Due.After(a.now) { // the distance from now would not help
		due = "It is due " + view.Stamp(e.Due.In(zone)) + "."
	}
	fields := strings.ReplaceAll(strings.Join(a.Changed, ", "), "_", "-")
	switch {
	case len(a.Changed) == 0:
		o.Line("Nothing changed: %s is like that already. %s (ID: %s)", what, due, id)
	case a.DueBefore != nil:
		o.Line("%s %s %s. (ID: %s)", o.Deed("Scheduled"), what, comes(e, a.Reading), id)
		o.Line("It was due %s. %s: %s.", view.Stamp(*a.DueBefore), o.Deed("Changed"), fields)
	default:
		o.Line("%s %s: %s. %s (ID: %s)", o.Deed("Changed"), what, fields, due, id)
	}
	switch {
	case e.Held && e.Resume.IsZero():
		o.Line("It is still paused: %s resume %s", o.Program(), id)
	case e.Held:
		o.Line("It is still paused until %s.", view.Echo(e.Resume.In(zone), a.now))
	case len(a.Changed) > 0:
		o.Line("%s", who(e, a.h))
	}
	if slices.ContainsFunc(a.Changed, handover.AboutTelling) {
		o.Line("%s", a.whom.Sentence(e.Task, o.Program()))
	}
	if len(was.Open) > 0 && len(a.Changed) > 0 {
		o.Talk("note: what is running of it goes on as it was")
	}
	for _, line := range policyWords(e.Task) {
		o.Line("%s", line)
	}
	for _, n := range a.Notes {
		o.Talk("note: %s", cli.Visible(n))
	}
	if slices.Contains(a.Changed, "when") {
		for _, r := range a.Remarks {
			o.Talk("note: %s", cli.Visible(r.Text))
		}
	}
}
