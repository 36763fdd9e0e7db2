package schedule

import (
	"cmp"
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
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// editJSON is the answer of edit: a confirmation like that of at, and what is different.
type editJSON struct {
	confirmation
	Changed   []string   `json:"changed"`
	DueBefore *time.Time `json:"due_before,omitempty" jsonschema:"absent when the due instant is the same"`

	of         tasks.Done
	h          handover.RunnerState
	recipients handover.Recipients
	now        time.Time
}

// agentNotes returns notes on what else changed when a task became one for an agent, or ceased to
// be one.
func agentNotes(was, is state.Task, fields []string) (notes []problem.Text) {
	changed := func(field string) bool { return slices.Contains(fields, field) }
	before, now := was.Type() == state.TypeAgent, is.Type() == state.TypeAgent
	switch {
	case now && !before:
		if changed("timeout") || changed("retries") {
			notes = append(notes, problem.T("an agent has to answer within %s, and is tried %s; %s change that",
				cmp.Or(view.AsTyped(is.Policy.Timeout), "any time"), cli.Plural(is.Policy.Retries+1, "time"),
				problem.Options(" and ", "timeout", "retries")))
		}
	case before && !now:
		title := was.Reminder.Title
		switch {
		case title == "":
		case is.Description == title && changed("description"):
			notes = append(notes, problem.T("the title became the description; %s changes it",
				problem.Option("description")))
		case is.Description != title && is.Text != title:
			notes = append(notes, problem.T("the title %s is removed; %s gives the task a description",
				cli.Quote(title), problem.Option("description")))
		}
		for _, had := range []struct {
			what problem.Setting
			gone bool
		}{
			{problem.Set("timeout", was.Policy.Timeout), is.Policy.Timeout == ""},
			{problem.Set("retries", was.Policy.Retries), is.Policy.Retries == 0},
		} {
			if had.gone && changed(string(had.what.Name)) {
				notes = append(notes, problem.T("%s was the default for an agent and is removed; give it to keep it",
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
			notes = append(notes, problem.T("removed, because only agents have it: %s", strings.Join(lost, ", ")))
		}
	}
	return notes
}

// aboutTelling reports whether a changed field of a task decides who is told.
func aboutTelling(field string) bool {
	return slices.Contains([]string{"notify", "notify_on", "prefix", "type"}, field)
}

// answerEdit makes sure that a runner lives, and answers what the task is now.
func answerEdit(ctx context.Context, s *cli.Call, st state.Leases, d tasks.Done) error {
	was, e, id, warnings := d.Was, d.Entry, d.Entry.Task.ID, shebangWarning(d.Change)
	h := handover.RunnerState{Runner: handover.RunnerNone}
	if view.NeedsRunner(e) {
		h = handover.HandOver(ctx, s, st, e)
	}
	recipients := handover.RecipientsOf(s, e.Task)
	if len(d.Fields) > 0 {
		warnings = append(handover.CannotRun(ctx, s, e.Task), warnings...)
	}
	warnings = append(warnings, handover.RunWarnings(e, d.Now, h)...)
	if slices.ContainsFunc(d.Fields, aboutTelling) { // otherwise the earlier call warned
		warnings = slices.Concat(warnings, recipients.Warnings(e.Task), handover.Unready(s, recipients, h))
	}
	warnings = slices.Concat(warnings, view.TooLate(e), s.NetworkWarnings)
	dueChanged := slices.Contains(d.Fields, "due")
	var texts []problem.Text
	notes, others := []string{}, []fault.Candidate(nil)
	if d.Sched != nil && len(d.Fields) > 0 {
		notes, others = append(notes, readings(d.Sched, d.Now)...), d.Sched.Others
	}
	if len(d.Fields) > 0 && d.Passed != nil {
		texts = append(texts, problem.T("%s of the old schedule had passed and will not be run, the first on %s",
			cli.Plural(d.Passed.Count, "instant"), view.Stamp(d.Passed.Due.In(rules.TaskZone(was.Task)))))
	}
	if slices.Contains(d.Fields, "type") && e.Task.Type() == state.TypeCommand && e.Task.Text != "" &&
		!s.Opt.Has("task") {
		texts = append(texts,
			problem.T("it is a command now, and gets the text of the message as OURO_TASK; %s removes the text",
				problem.Set("task", "")))
	}
	for _, note := range append(texts, agentNotes(was.Task, e.Task, d.Fields)...) {
		notes = append(notes, s.Render(note))
	}
	now := d.Now.In(rules.TaskZone(e.Task))
	answer := editJSON{Changed: d.Fields, confirmation: confirm(s, &d, now.Location(), h, recipients, warnings), of: d,
		h: h, recipients: recipients, now: now}
	answer.Notes, answer.Others = notes, others
	if dueChanged && !state.IsUnscheduled(was.Due) {
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

// Text writes what changed and when the task is due. With --quiet it writes the ID.
func (a editJSON) Text(o *cli.Out) {
	was, e, id := a.of.Was, a.of.Entry, a.of.Entry.Task.ID
	if o.Quiet {
		o.Line("%s", id)
		return
	}
	what, zone := cli.Quote(taskWords(e.Task)), rules.TaskZone(e.Task)
	due := "It is due " + a.Reading + "."
	if state.IsUnscheduled(e.Due) {
		due = "It comes " + a.Reading + "."
	} else if !e.Due.After(a.now) { // "3 minutes ago" would not help
		due = "It is due " + view.Stamp(e.Due.In(zone)) + "."
	}
	fields := strings.ReplaceAll(strings.Join(a.Changed, ", "), "_", "-")
	switch {
	case len(a.Changed) == 0:
		o.Line("Nothing changed: %s is already like that. %s (ID: %s)", what, due, id)
	case a.DueBefore != nil:
		o.Line("%s %s %s. (ID: %s)", o.Verb("Scheduled"), what, forReading(e, a.Reading), id)
		o.Line("It was due %s. %s: %s.", view.Stamp(*a.DueBefore), o.Verb("Changed"), fields)
	default:
		o.Line("%s %s: %s. %s (ID: %s)", o.Verb("Changed"), what, fields, due, id)
	}
	switch {
	case e.Held && e.Resume.IsZero():
		o.Line("It is still paused: %s resume %s", o.Program(), id)
	case e.Held:
		o.Line("It is still paused until %s.", view.Echo(e.Resume.In(zone), a.now))
	case len(a.Changed) > 0:
		o.Line("%s", whoRuns(e, a.h))
	}
	if slices.ContainsFunc(a.Changed, aboutTelling) {
		o.Line("%s", a.recipients.Sentence(e.Task, o.Program()))
	}
	if len(was.Open) > 0 && len(a.Changed) > 0 {
		o.Note("note: its present run goes on as it was")
	}
	for _, line := range policyWords(e.Task) {
		o.Line("%s", line)
	}
	for _, n := range a.Notes {
		o.Note("note: %s", cli.Visible(n))
	}
	if slices.Contains(a.Changed, "when") {
		for _, r := range a.Remarks {
			o.Note("note: %s", cli.Visible(r.Text))
		}
	}
}
