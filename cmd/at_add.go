package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/problem"

	"github.com/ouro-timer/ouro-timer/state"
)

// confirmation is what at answers with --json: the task, and what became of the call.
type confirmation struct {
	Now time.Time `json:"now"`
	ID  *string   `json:"id" jsonschema:"null: it would get one, but for --dry-run"`
	taskJSON
	Created        bool        `json:"created"`
	Reading        string      `json:"reading"`
	Notes          []string    `json:"notes"`
	Others         []candidate `json:"others"`
	JitterSeconds  *float64    `json:"jitter_seconds"`
	Start          *time.Time  `json:"start"`
	End            *time.Time  `json:"end"`
	Count          *int        `json:"count"`
	Tell           []string    `json:"tell" jsonschema:"the channels by which it tells; none: it waits in the inbox"`
	TellOn         string      `json:"tell_on" jsonschema:"when it does"`
	Runner         string      `json:"runner" enum:"alive started none"`
	SurvivesReboot bool        `json:"survives_reboot"`
	Warnings       []string    `json:"warnings"`
	DryRun         bool        `json:"dry_run" jsonschema:"nothing was changed: this is what would have been done"`
}

// atJSON is the confirmation of at: with a key, another task may have been kept or replaced.
type atJSON struct {
	confirmation
	Replaced bool     `json:"replaced"`
	Differs  []string `json:"differs"`
}

// runAt schedules the task, sees to it that somebody runs it, and confirms.
func runAt(ctx context.Context, s *session, o atOptions) error {
	st, err := s.open()
	if err != nil {
		return err
	}
	o.task.Created = o.read.UTC()
	e, err := changes(s, st).Add(ctx, o.task, o.due)
	d, err := settle(ctx, s, st, o, e, err)
	if err != nil {
		return err
	}
	// From here on the task is kept: whatever goes wrong is a warning.
	h := handOver(ctx, s, st)
	d.dry = s.dryRun
	d.see(h, audienceOf(s, d.entry.Task))
	if d.created || d.replaced {
		d.warnings = append(d.warnings, unready(s, d.told, h)...)
	}
	d.warnings = append(d.warnings, s.remote...)
	if s.inJSON {
		s.emit(asAtJSON(s, d, h))
		return nil
	}
	switch {
	case s.opt.Bool("quiet") && d.entry.Task.ID == "": // there is no ID to be told
	case s.opt.Bool("quiet"):
		s.line("%s", d.entry.Task.ID)
	default:
		s.line("%s", d.sentence())
		for _, line := range d.more(h) {
			s.line("%s", line)
		}
		for _, note := range d.notes() {
			s.talk("note: %s", visible(note))
		}
	}
	if err := s.flush(); err != nil && !s.dryRun {
		p := explain(err)
		return p.Saying(problem.T("task %s was scheduled, but %s", d.entry.Task.ID, p.Message))
	}
	warnAll(s, d.warnings)
	return nil
}

// see adds the warnings that follow from how the task stands, who runs it and who is told.
func (d *scheduled) see(h hands, told audience) {
	e := d.entry
	d.told = told
	if !d.created && !d.replaced {
		d.warnings = nil // they are about what was not scheduled
	}
	if !awaited(e) && e.Held {
		d.warnings = append(d.warnings, warning{warnPaused, problem.T("task %s is paused; %s lets it go on", e.Task.ID, problem.To("resume", e.Task.ID))})
		return
	}
	d.warnings = append(d.warnings, runWarnings(e, d.read, h)...)
	if d.created || d.replaced {
		d.warnings = append(d.warnings, told.warnings(e.Task)...)
	}
}

// zone is where the instants of the answer are shown.
func (d *scheduled) zone() *time.Location {
	if d.created {
		return d.due.Location()
	}
	return taskZone(d.entry.Task)
}

// reading is the task's due instant as people read it.
func (d *scheduled) reading() string {
	zone := d.zone()
	return echo(d.entry.Due.In(zone), d.read.In(zone))
}

// atJSON is the answer in JSON.
func asAtJSON(s *session, d scheduled, h hands) atJSON {
	e := d.entry
	j := atJSON{Replaced: d.replaced, Differs: d.differs, confirmation: confirmation{
		Now: d.read.In(d.zone()), ID: orNull(e.Task.ID), taskJSON: asJSON(e, d.read), Created: d.created, Reading: d.reading(), Notes: []string{}, Others: []candidate{},
		JitterSeconds: dealt(e.Task), Tell: channelWords(d.told.channels), TellOn: d.told.on, Runner: h.runner, SurvivesReboot: h.survives, Warnings: warningTexts(s, d.warnings), DryRun: d.dry,
	}}
	if d.created || d.replaced {
		j.Notes, j.Others = orEmpty(d.sched.Notes), asCandidates(d.sched.Others)
	}
	j.Start, j.End, j.Count = bounded(e.Task)
	return j
}

// sentence is the answer in one line.
func (d *scheduled) sentence() string {
	e := d.entry
	what, id := quote(plainWords(e.Task)), e.Task.ID
	if d.created {
		if id == "" {
			return fmt.Sprintf("%s %s for %s.", deedOf("Scheduled", d.dry), what, d.reading())
		}
		return fmt.Sprintf("%s %s for %s. (ID: %s)", deedOf("Scheduled", d.dry), what, d.reading(), id)
	}
	stands := "due " + d.reading()
	switch {
	case e.Held:
		stands = "paused"
	case !live(e):
		stands = "running now"
	}
	if d.replaced {
		return fmt.Sprintf("%s the task with the key %s by %s, %s. (ID: %s)", deedOf("Replaced", d.dry), quote(e.Task.Key), what, stands, id)
	}
	return fmt.Sprintf("%s the task that has the key %s already: %s, %s. (ID: %s)", deedOf("Kept", d.dry), quote(e.Task.Key), what, stands, id)
}

// different says in what the call differs from the task that had the key; empty for nothing.
func (d *scheduled) different() string {
	names := strings.Join(d.differs, ", ")
	switch {
	case names == "":
		return ""
	case d.replaced:
		return "It was different in: " + names + "."
	}
	return "This call is different in: " + names + ". --replace changes the task to what it says."
}

// more is what follows the sentence in the answer for people.
func (d *scheduled) more(h hands) []string {
	e := d.entry
	var lines []string
	if text := d.different(); text != "" {
		lines = append(lines, text)
	}
	switch {
	case !d.created && !d.replaced, e.Held, e.Task.ID == "":
	case e.Task.Type() == state.TypeMessage:
		lines = append(lines, d.told.sentence(e.Task)+" "+h.who())
	case e.Task.Type() == state.TypeAgent:
		lines = append(lines, fmt.Sprintf("%s The agent %s will be told; ouro-timer log %s shows what comes of it.", h.who(), quote(visible(state.ShellLine(e.Task.Run.Agent))), e.Task.ID),
			d.told.sentence(e.Task))
	default:
		lines = append(lines, fmt.Sprintf("%s Its output is kept: ouro-timer log %s", h.who(), e.Task.ID), d.told.sentence(e.Task))
	}
	return lines
}

// notes are what there is to know about how the time was read.
func (d *scheduled) notes() []string {
	if !d.created && !d.replaced {
		return nil
	}
	var notes []string
	if t := d.entry.Task.When; t.Delay != "" && !d.spread {
		notes = append(notes, "later by "+t.Delay+", its share of the jitter of "+t.Jitter)
	}
	return slices.Concat(notes, d.sched.Notes)
}

// plainWords is what a confirmation calls the task.
func plainWords(t state.Task) string {
	text := describe(t)
	if t.Type() == state.TypeCommand && t.Description == "" && t.Text != "" && len(t.Run.Argv) > 0 {
		return fmt.Sprintf("%s (%s)", text, visible(t.Text))
	}
	return text
}
