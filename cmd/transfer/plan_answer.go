package transfer

import (
	"cmp"
	"context"
	"fmt"
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
)

// planJSON is the answer: what becomes of each task.
type planJSON struct {
	Now     time.Time     `json:"now"`
	Source  string        `json:"source" jsonschema:"what was read"`
	Group   string        `json:"group" jsonschema:"what the keys of all its tasks begin with"`
	Tasks   []plannedJSON `json:"tasks" jsonschema:"in the order of the source; behind them what is removed"`
	Refused []refusedJSON `json:"refused,omitempty" jsonschema:"lines that are no task here"`
	Notes   []string      `json:"notes,omitempty"`
	Create  int           `json:"create" jsonschema:"how many are made"`
	Change  int           `json:"change"`
	Keep    int           `json:"keep"`
	Remove  int           `json:"remove"`
	Runner  string        `json:"runner,omitempty" enum:"alive started stopped none" jsonschema:"absent: nothing was written"`
	Written bool          `json:"written,omitempty" jsonschema:"absent: nothing was changed, this is what would have been done"`

	runner                       handover.RunnerState
	prune, allOrNothing, partial bool
}

// plannedJSON is a task of a source.
type plannedJSON struct {
	Line        int          `json:"line,omitempty"`
	Does        string       `json:"does" enum:"create change keep remove"`
	Key         string       `json:"key"`
	ID          *string      `json:"id,omitempty" jsonschema:"absent: it would get one"`
	When        string       `json:"when"`
	After       []string     `json:"after,omitempty" jsonschema:"the tasks whose ends it waits for: tables of the file by their names, others by their IDs; with :failed or :any"`
	Then        []string     `json:"then,omitempty" jsonschema:"the tables of the file that wait for its end"`
	TZ          string       `json:"tz"`
	Due         *time.Time   `json:"due,omitempty" jsonschema:"absent: it is paused, or comes at no time that is known"`
	Description string       `json:"description" jsonschema:"what it does, in a few words"`
	Shell       string       `json:"shell,omitempty"`
	Command     []string     `json:"command,omitempty"`
	Differs     []string     `json:"differs,omitempty" jsonschema:"what changes"`
	Instants    int          `json:"instants,omitempty" jsonschema:"how many the coming year has, of which each was compared with what the source makes of it"`
	Differences []difference `json:"differences,omitempty"`
	Notes       []string     `json:"notes,omitempty"`

	prefix string
}

// difference is an instant that only the source or only the task has.
type difference struct {
	There *time.Time `json:"there,omitempty" jsonschema:"when the source runs it; absent: not"`
	Here  *time.Time `json:"here,omitempty" jsonschema:"when it runs here; absent: not"`
}

func (d difference) String() string {
	switch {
	case d.There == nil:
		return "runs here at " + view.Stamp(*d.Here) + ", and in the source not at all"
	case d.Here == nil:
		return "runs in the source at " + view.Stamp(*d.There) + ", and here not at all"
	}
	return fmt.Sprintf("runs in the source at %s, and here at %s", view.Stamp(*d.There), view.Stamp(*d.Here))
}

// refusedJSON is a line that cannot become a task.
type refusedJSON struct {
	Line  int           `json:"line,omitempty"`
	Text  string        `json:"text"`
	Error cli.ErrorJSON `json:"error"`

	problem *problem.Problem
	about   string
}

// signs are what the line of a task begins with, by what becomes of it.
var signs = map[string]string{"create": "+", "change": "~", "keep": " ", "remove": "-"}

// differencesShown is how many differences of a task are written for people.
const differencesShown = 4

// notesShown is of how many tasks a note is said by name.
const notesShown = 3

// Text writes what becomes of the tasks, what is refused, and a summary.
func (a planJSON) Text(o *cli.Out) {
	for _, t := range a.Tasks {
		line := fmt.Sprintf("%s %s  %s  %s", signs[t.Does], t.Key, cli.Visible(t.When), cli.Visible(t.Description))
		if len(t.Differs) > 0 {
			line += "  (" + strings.Join(t.Differs, ", ") + ")"
		}
		if len(t.Then) > 0 {
			line += "  then " + cli.Visible(strings.Join(t.Then, ", "))
		}
		o.LineUnlessQuiet("%s", line)
	}
	about := map[string][]string{} // what a note is about: what is said of many tasks is said once
	var notes []string
	for _, t := range a.Tasks {
		for _, note := range t.Notes {
			if about[note] == nil {
				notes = append(notes, note)
			}
			about[note] = append(about[note], cmp.Or(t.prefix, t.Key))
		}
	}
	for _, t := range a.Tasks {
		about := cmp.Or(t.prefix, t.Key)
		for i, d := range t.Differences {
			if i == differencesShown {
				o.Note("note: %s: and %d more; --json has them all", about, len(t.Differences)-i)
				break
			}
			o.Note("note: %s %s", about, d)
		}
	}
	for _, note := range notes {
		whose := about[note]
		if more := len(whose) - notesShown; more > 0 {
			whose = append(whose[:notesShown], fmt.Sprintf("and %d more", more))
		}
		o.Note("note: %s: %s", strings.Join(whose, ", "), cli.Visible(note))
	}
	for _, note := range a.Notes {
		o.Note("note: %s", cli.Visible(note))
	}
	for _, r := range a.Refused {
		o.ShowProblem(r.about+": ", r.problem)
	}
	o.Note("%s", a.summary())
}

// summary says how many tasks were made, changed, kept, removed and refused.
func (a planJSON) summary() string {
	parts := []string{fmt.Sprintf("%d to create, %d to change, %d as they are, %d to remove", a.Create, a.Change,
		a.Keep, a.Remove)}
	if a.Written {
		parts[0] = fmt.Sprintf("%d created, %d changed, %d as they were, %d removed", a.Create, a.Change,
			a.Keep, a.Remove)
	}
	if a.allOrNothing && len(a.Refused) > 0 {
		return fmt.Sprintf("%d refused. Nothing was written: all tasks have to be right.", len(a.Refused))
	}
	instants, different, compared := 0, 0, 0
	for _, t := range a.Tasks {
		if instants += t.Instants; t.Instants > 0 {
			compared++
		}
		if len(t.Differences) > 0 {
			different++
		}
	}
	text := fmt.Sprintf("%s, %d refused.", parts[0], len(a.Refused))
	switch {
	case different > 0:
		text += fmt.Sprintf(" Some instants of %s in the coming year differ from the source.",
			cli.Plural(different, "task"))
	case compared > 0:
		text += fmt.Sprintf(" All %s instants of the coming year are those of the source.", view.Thousands(instants))
	}
	switch {
	case a.Written && a.Create+a.Change+a.Keep == 0:
		return text
	case a.Written:
		return text + " " + a.runner.Who()
	}
	return text + " Nothing was written: --write does it."
}

// addCompared adds a task of the source, with what comparing its instants has found. The instants
// count from when the task was read.
func (a *planJSON) addCompared(row plannedJSON, w sourceTask, c *tasks.Change, warnings []string) {
	row.prefix, row.Line, row.Notes = w.prefix(), w.line, slices.Concat(w.notes, warnings)
	if w.compare != nil {
		found := w.compare(c.Sched, c.Now)
		row.Instants, row.Differences = found.instants, found.differences
		if len(found.differences) > 0 && !slices.Contains(a.Notes, found.reason) {
			a.Notes = append(a.Notes, found.reason)
		}
	}
	a.add(row)
}

// conclude wakes a runner for what was written, and answers. Its error is the highest exit code of
// what was refused.
func (a *planJSON) conclude(ctx context.Context, s *cli.Call, st state.Store) error {
	if a.Written {
		a.runner = handover.HandOver(ctx, s, st)
		a.Runner = a.runner.Runner
	}
	s.Answer(*a)
	code := 0
	for _, r := range a.Refused {
		code = max(code, r.problem.ExitCode())
	}
	if code == 0 {
		return nil
	}
	return cli.ExitCode(code)
}

// add adds a task to the answer, and counts it.
func (a *planJSON) add(row plannedJSON) {
	a.Tasks = append(a.Tasks, row)
	*map[string]*int{"create": &a.Create, "change": &a.Change, "keep": &a.Keep, "remove": &a.Remove}[row.Does]++
}

// plannedTask is a task in the answer.
func plannedTask(e state.Entry, does string) plannedJSON {
	t := e.Task
	return plannedJSON{Does: does, Key: t.Key, ID: cli.OrNull(t.ID), When: t.When.Text, TZ: t.When.Zone,
		Due: cli.Instant(view.DueOf(e), rules.TaskZone(t)), Description: t.Summary(), Shell: t.Run.Shell,
		Command: t.Run.Argv}
}
