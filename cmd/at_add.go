package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// confirmation is what at answers with --json: the task, and what became of the call.
type confirmation struct {
	Now time.Time `json:"now"`
	taskJSON
	Created        bool        `json:"created"`
	Reading        string      `json:"reading"`
	Notes          []string    `json:"notes"`
	Others         []candidate `json:"others"`
	JitterSeconds  *float64    `json:"jitter_seconds"`
	Start          *time.Time  `json:"start"`
	End            *time.Time  `json:"end"`
	Count          *int        `json:"count"`
	Tell           []string    `json:"tell"`
	Runner         string      `json:"runner"`
	SurvivesReboot bool        `json:"survives_reboot"`
	Warnings       []string    `json:"warnings"`
}

// runAt schedules the task, sees to it that somebody runs it, and confirms.
func runAt(ctx context.Context, s *session, o atOptions) error {
	st, err := s.open()
	if err != nil {
		return err
	}
	o.task.Created = o.read.UTC()
	e, err := st.Add(ctx, o.task, o.due)
	if err != nil {
		return err
	}
	// From here on the task is kept: whatever goes wrong is a warning.
	h, err := s.handOver(ctx, st)
	if err != nil {
		h = hands{runner: runnerNone, problem: err.Error()}
	}
	now := o.read.In(o.due.Location())
	reading := echo(o.due, now)
	tell := []string{"log"}
	if o.task.Terminal != "" {
		tell = []string{"terminal", "log"}
	}
	if o.sched.Kind != when.Once && h.runner != runnerNone {
		o.warnings = append(o.warnings, "after a reboot nothing runs until ouro-timer is called again (any at, or run --background)")
	}
	switch {
	case s.json:
		if h.runner == runnerNone {
			o.warnings = append(o.warnings, h.sentence())
		}
		c := confirmation{Now: now, taskJSON: asJSON(e), Created: true, Reading: reading, Notes: orEmpty(o.sched.Notes), Others: asCandidates(o.sched.Others), JitterSeconds: dealt(e.Task),
			Tell: tell, Runner: h.runner, Warnings: orEmpty(o.warnings)}
		c.Start, c.End, c.Count = bounded(e.Task)
		s.emit(c)
		return nil
	case s.cli.Bool("quiet"):
		s.line("%s", e.Task.ID)
	default:
		s.line("Scheduled %s for %s. (ID: %s)", quote(plainWords(e.Task)), reading, e.Task.ID)
		if e.Task.Type() == state.TypeMessage {
			if o.task.Terminal != "" {
				s.line("It will be told on this terminal (%s) and kept in the log. %s", o.task.Terminal, h.who())
			} else {
				s.line("It will be kept in the log (ouro-timer log %s); there is no terminal to tell it on. %s", e.Task.ID, h.who())
			}
		} else {
			s.line("%s Its output is kept: ouro-timer log %s", h.who(), e.Task.ID)
		}
		if d := o.task.When.Delay; d != "" {
			s.talk("note: later by %s, its share of the jitter of %s", d, o.task.When.Jitter)
		}
		for _, note := range o.sched.Notes {
			s.talk("note: %s", visible(note))
		}
	}
	if err := s.flush(); err != nil {
		f := *explain(err)
		f.message = "task " + e.Task.ID + " was scheduled, but " + f.message
		return &f
	}
	for _, w := range o.warnings {
		s.warn("warning: %s", visible(w))
	}
	if h.runner == runnerNone {
		s.warn("warning: %s", h.sentence())
	}
	return nil
}

// plainWords is what a confirmation calls the task.
func plainWords(t state.Task) string {
	text := describe(t)
	if t.Type() == state.TypeCommand && t.Description == "" && t.Text != "" && len(t.Run.Argv) > 0 {
		return fmt.Sprintf("%s (%s)", text, visible(t.Text))
	}
	return text
}
