package manage

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// PauseCommand is the command pause.
func PauseCommand() cli.Command {
	return cli.Command{
		Name: "pause", Args: "<id>... | --match <text> | --tag <name> | --all",
		Short: "hold tasks: they do not start until they are resumed",
		Long: `
A paused task keeps its ID, its schedule and its place in ls, and needs no runner. Its command goes on if it is running;
no further attempt (--retries) follows. With --resume-at the pause ends by itself at that time; else ouro-timer resume
ends it. What is due by then and has not run is skipped, as log says, and does not run later. A one-shot whose time
passes is over.

Pausing a paused task replaces the end of the pause: without --resume-at there is none. --all pauses all other tasks.`,
		Examples: []string{
			`ouro-timer pause k7m2`,
			`ouro-timer pause --match backup --resume-at "next monday at 9am"`,
			`ouro-timer pause --all --resume-at 2h`,
		},
		Ids:       "live",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		Options: option.Rows{
			cli.MatchFlag, allFlag.WithHelp("every task that is not paused yet, but for waits"),
			cli.TagFlag.WithHelp("every task that has the tag NAME and is not paused yet; repeated: all of them"),
			option.Option{Name: "resume-at", Kind: option.Time,
				Help: "end the pause at WHEN: an instant, or how long from now"},
			cli.NoAutostartFlag, cli.DryFlag, cli.QuietFlag.WithHelp("print nothing but errors"), cli.ZoneFlag,
			cli.JSONFlag, cli.FieldsFlag,
		},
		Answers: []cli.Shape{{Name: "pause", Of: pauseJSON{}, Means: "the paused tasks"}},
		Run:     runPause,
	}
}

func runPause(ctx context.Context, s *cli.Call) error {
	resume, err := resumeAt(s)
	if err != nil {
		return err
	}
	st, zone, err := cli.OpenInZone(s)
	if err != nil {
		return err
	}
	found, failed, err := view.PickTagged(ctx, s, st, func(e state.Entry) bool {
		return tasks.Live(e) && !((s.Opt.Bool("all") || s.Opt.Has("tag")) &&
			(e.Held || e.Task.Type() == state.TypeWait))
	})
	if err != nil {
		return err
	}
	// only somebody who waits at a terminal can pause a wait
	found, failed = refuseWaits(found, failed, func(e state.Entry) bool { return e.Task.Type() == state.TypeWait },
		"and cannot be paused from here: press space where it is shown")
	now := s.Clock.Now()
	held := tasks.Pause(ctx, st, found, resume, now)
	answer := pauseJSON{ResumeAt: cli.Instant(resume, zone), now: now.In(zone), until: resume}
	brief := view.IDsAlone(s)
	if !brief {
		answer.Paused = []view.TaskJSON{}
	}
	var paused []state.Entry
	for _, h := range held {
		if h.Err != nil {
			failed = append(failed, view.FailedBy(h.Entry.Task.ID, h.Err))
			continue
		}
		paused = append(paused, h.Entry)
		if brief {
			answer.IDs = append(answer.IDs, h.Entry.Task.ID)
		} else {
			answer.Paused = append(answer.Paused, view.AsJSON(h.Entry, now))
		}
		answer.held = append(answer.held, h)
	}
	warnings := view.AllTooLate(paused)
	var h handover.RunnerState
	if len(answer.held) > 0 && !resume.IsZero() {
		h = handover.HandOver(ctx, s, st, paused...)
		warnings = append(warnings, h.Warnings()...)
	}
	answer.Now, answer.Errors, answer.Runner, answer.Warnings = s.Stamp(), view.PickErrors(s, failed),
		cmp.Or(h.Runner, runnerNow(ctx, st)), s.WarningTexts(warnings)
	answer.Problems, answer.DryRun = view.ProblemTexts(s.Unreadable), s.DryRun
	answer.Count = len(answer.held)
	return view.AnswerChanges(ctx, s, answer, failed, warnings)
}

// pauseJSON is the answer of pause.
type pauseJSON struct {
	Now      time.Time            `json:"now"`
	Count    int                  `json:"count" jsonschema:"how many tasks are paused"`
	IDs      []string             `json:"ids,omitempty" jsonschema:"of --all and --tag: the tasks; paused has them with --json=full"`
	ResumeAt *time.Time           `json:"resume_at,omitempty" jsonschema:"when the pause ends by itself"`
	Paused   []view.TaskJSON      `json:"paused,omitzero"`
	Errors   []view.PickErrorJSON `json:"errors,omitempty"`
	Runner   string               `json:"runner"`
	Warnings []string             `json:"warnings,omitempty"`
	Problems []string             `json:"problems,omitempty" jsonschema:"of --all: what cannot be read"`
	DryRun   bool                 `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`

	held       []tasks.Paused
	now, until time.Time // a zero until means that the pause has no end
}

// Text says of each task until when it is paused.
func (a pauseJSON) Text(o *cli.Out) {
	for _, h := range a.held {
		e := h.Entry
		what := e.Task.ID + " (" + view.Describe(e.Task) + ")"
		verb := o.Verb("paused") + " " + what
		if h.Already {
			verb = what + " is already paused"
		}
		if a.until.IsZero() && state.IsUnscheduled(e.Due) {
			o.LineUnlessQuiet("%s; it comes %s", verb, view.Coming(e, a.now))
		} else if a.until.IsZero() {
			o.LineUnlessQuiet("%s; it was due %s", verb, view.Stamp(e.Due.In(rules.TaskZone(e.Task))))
		} else {
			o.LineUnlessQuiet("%s until %s", verb, view.Echo(a.until, a.now))
		}
		if tasks.IsRunning(e) {
			o.Note("note: its running command goes on")
		}
	}
	if a.Count+len(a.Errors)+len(a.Problems) == 0 {
		o.Note("No tasks to pause.")
	}
}

// refuseWaits moves the waits that a command cannot take from found to failed. why says it of them.
func refuseWaits(found []state.Entry, failed []view.PickError, refused func(state.Entry) bool, why string) ([]state.Entry, []view.PickError) {
	found = slices.DeleteFunc(found, func(e state.Entry) bool {
		no := refused(e)
		if no {
			failed = append(failed, view.PickError{ID: e.Task.ID, Problem: tasks.NotForWaits(e, why)})
		}
		return no
	})
	return found, failed
}

// runnerNow returns the state of the runner for a call that needs none, and so starts none.
func runnerNow(ctx context.Context, st state.Leases) string {
	switch leader, led, err := runner.Led(ctx, st); {
	case err != nil || !led:
		return handover.RunnerNone
	case runner.Suspended(leader.Ident):
		return handover.RunnerStopped
	}
	return handover.RunnerAlive
}

// resumeAt reads --resume-at. It is the zero instant when the option is not given.
func resumeAt(s *cli.Call) (time.Time, error) {
	if !s.Opt.Has("resume-at") {
		return time.Time{}, nil
	}
	o, err := s.TimeOptions()
	if err != nil {
		return time.Time{}, err
	}
	t, err := tasks.Moment("resume-at", s.Opt.Text("resume-at"), o)
	if err == nil && !t.After(o.Now) {
		err = problem.New(problem.Past, problem.T("%s %s is not in the future", problem.Option("resume-at"),
			cli.Quote(s.Opt.Text("resume-at"))),
			problem.T("give a later time, or leave it out and call %s later", problem.To("resume")))
	}
	return t, err
}
