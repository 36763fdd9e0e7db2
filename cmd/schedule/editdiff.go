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

// tellEdited sees to it that somebody runs the task, and says what it is now.
func tellEdited(ctx context.Context, s *cli.Call, st state.Leases, d tasks.Done) error {
	was, e, id, warnings := d.Was, d.Entry, d.Entry.Task.ID, otherShell(d.Change)
	h := handover.Hands{Runner: handover.RunnerNone}
	if view.Awaited(e) {
		h = handover.HandOver(ctx, s, st)
	}
	whom := handover.AudienceOf(s, e.Task)
	if len(d.Fields) > 0 {
		warnings = append(handover.CannotRun(ctx, s, e.Task), warnings...)
	}
	warnings = append(warnings, handover.RunWarnings(e, d.Now, h)...)
	if len(d.Fields) > 0 {
		warnings = append(warnings, handover.TellWarnings(s, e.Task, whom, h)...)
	}
	warnings = slices.Concat(warnings, view.TooLate(e), s.Remote)
	moved := slices.Contains(d.Fields, "due")
	var told []problem.Text
	notes, others := []string{}, []when.Candidate{}
	if d.Sched != nil && len(d.Fields) > 0 {
		notes, others = append(notes, d.Sched.Notes...), d.Sched.Others
	}
	if len(d.Fields) > 0 && d.Passed != nil {
		told = append(told, problem.T("%s of the old schedule had come and will not be run, the first on %s", cli.Plural(d.Passed.Count, "instant"), view.Stamp(d.Passed.Due.In(rules.TaskZone(was.Task)))))
	}
	if slices.Contains(d.Fields, "type") && e.Task.Type() == state.TypeCommand && e.Task.Text != "" && !s.Opt.Has("task") {
		told = append(told, problem.T("it is a command now, and the message's text is handed to it as OURO_TASK; %s drops it", problem.Set("task", "")))
	}
	for _, note := range append(told, aboutAgents(was.Task, e.Task, d.Fields)...) {
		notes = append(notes, s.Says(note))
	}
	now := d.Now.In(rules.TaskZone(e.Task))
	reading := view.Echo(e.Due.In(rules.TaskZone(e.Task)), now)
	switch {
	case s.InJSON:
		j := editJSON{Changed: d.Fields, confirmation: confirm(s, d, now.Location(), h, whom, warnings)}
		j.Notes, j.Others = notes, cli.AsCandidates(others)
		if moved {
			j.DueBefore = cli.Instant(was.Due, rules.TaskZone(was.Task))
		}
		s.Emit(j)
		return nil
	case s.Opt.Bool("quiet"):
		s.Line("%s", id)
	default:
		what := cli.Quote(plainWords(e.Task))
		due := "It is due " + reading + "."
		if !e.Due.After(now) { // a distance would say nothing
			due = "It is due " + view.Stamp(e.Due.In(rules.TaskZone(e.Task))) + "."
		}
		fields := strings.ReplaceAll(strings.Join(d.Fields, ", "), "_", "-")
		switch {
		case len(d.Fields) == 0:
			s.Line("Nothing changed: %s is like that already. %s (ID: %s)", what, due, id)
		case moved:
			s.Line("%s %s for %s. (ID: %s)", cli.Deed(s, "Scheduled"), what, reading, id)
			s.Line("It was due %s. %s: %s.", view.Stamp(was.Due.In(rules.TaskZone(was.Task))), cli.Deed(s, "Changed"), fields)
		default:
			s.Line("%s %s: %s. %s (ID: %s)", cli.Deed(s, "Changed"), what, fields, due, id)
		}
		switch {
		case e.Held && e.Resume.IsZero():
			s.Line("It is still paused: ouro-timer resume %s", id)
		case e.Held:
			s.Line("It is still paused until %s.", view.Echo(e.Resume.In(now.Location()), now))
		case len(d.Fields) > 0:
			s.Line("%s", h.Who())
		}
		if slices.ContainsFunc(d.Fields, handover.AboutTelling) {
			s.Line("%s", whom.Sentence(e.Task))
		}
		if len(was.Open) > 0 && len(d.Fields) > 0 {
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
	cli.WarnAll(s, warnings)
	return nil
}
