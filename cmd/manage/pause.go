package manage

import (
	"context"
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
		Short: "hold tasks: nothing of them starts until they are resumed",
		Long: `
A paused task keeps its ID, its schedule and its place in ls, and needs no runner. A command of it that is running goes
on. With --resume-at the pause ends by itself at that time; else ouro-timer resume ends it. What falls due meanwhile is
skipped and does not run later: log says so. A one-shot whose time passes is over.

Pausing a task again gives the pause its new end: without --resume-at it has none. --all pauses what is not paused yet.`,
		Examples: []string{
			`ouro-timer pause k7m2`,
			`ouro-timer pause --match backup --resume-at "next monday at 9am"`,
			`ouro-timer pause --all --resume-at 2h`,
		},
		Ids:       "live",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		Options: option.Rows{
			cli.MatchFlag(), allFlag("every task that is not paused yet, but for waits"),
			tagFlag("every task that is not paused yet"),
			option.Option{Name: "resume-at", Kind: option.Time,
				Help: "end the pause at WHEN: an instant or a length of time"},
			cli.NoAutostartFlag(), cli.DryFlag(), cli.QuietFlag("print nothing but errors"), cli.ZoneFlag(),
			cli.JsonFlag(), cli.FieldsFlag(),
		},
		Answers: []cli.Shape{{Name: "pause", Of: pauseJSON{}, Says: "what is held"}},
		Run:     runPause,
	}
}

func runPause(ctx context.Context, s *cli.Call) error {
	resume, err := resumeAt(s)
	if err != nil {
		return err
	}
	zone, err := s.Zone()
	if err != nil {
		return err
	}
	st, err := s.Open()
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
	found, failed = noWaits(found, failed)
	now := s.Clock.Now()
	held := tasks.Pause(ctx, st, found, resume, now)
	answer := pauseJSON{ResumeAt: cli.Instant(resume, zone)}
	brief := s.Opt.Bool("all") && s.Lean()
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
		answer.held = append(answer.held, heldTask{h, now.In(zone), resume})
	}
	warnings := view.AllTooLate(paused)
	var h handover.RunnerState
	if len(answer.held) > 0 && !resume.IsZero() {
		h = handover.HandOver(ctx, s, st, paused...)
		warnings = append(warnings, h.Warnings()...)
	}
	answer.Now, answer.Errors, answer.Runner, answer.Warnings = s.Stamp(), view.PickErrors(s, failed),
		cli.OrElse(h.Runner, living(ctx, st)), s.WarningTexts(warnings)
	answer.Problems, answer.DryRun = view.ProblemTexts(s.Unread), s.DryRun
	answer.Count = len(answer.held)
	return view.Answered(ctx, s, answer, failed, warnings)
}

// pauseJSON is the answer of pause.
type pauseJSON struct {
	Now      time.Time            `json:"now"`
	Count    int                  `json:"count" jsonschema:"how many tasks are held"`
	IDs      []string             `json:"ids,omitempty" jsonschema:"of --all: the tasks; paused has them with --json=full"`
	ResumeAt *time.Time           `json:"resume_at,omitempty" jsonschema:"when the pause ends by itself"`
	Paused   []view.TaskJSON      `json:"paused,omitzero"`
	Errors   []view.PickErrorJSON `json:"errors,omitempty"`
	Runner   string               `json:"runner"`
	Warnings []string             `json:"warnings,omitempty"`
	Problems []string             `json:"problems,omitempty" jsonschema:"of --all: what cannot be read"`
	DryRun   bool                 `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`

	held []heldTask
}

// heldTask is a task that is paused, until an instant or without end.
type heldTask struct {
	tasks.Paused
	now, until time.Time
}

// Text says of each task until when it is paused.
func (a pauseJSON) Text(o *cli.Out) {
	for _, h := range a.held {
		e := h.Entry
		what := e.Task.ID + " (" + view.Describe(e.Task) + ")"
		verb := o.Deed("paused") + " " + what
		if h.Already {
			verb = what + " is paused already"
		}
		if h.until.IsZero() && state.IsUnscheduled(e.Due) {
			o.Tell("%s; it comes %s", verb, view.Coming(e, h.now))
		} else if h.until.IsZero() {
			o.Tell("%s; it was due %s", verb, view.Stamp(e.Due.In(rules.TaskZone(e.Task))))
		} else {
			o.Tell("%s until %s", verb, view.Echo(h.until, h.now))
		}
		if tasks.IsRunning(e) {
			o.Talk("note: a command of it that is running goes on")
		}
	}
	if a.Count+len(a.Errors)+len(a.Problems) == 0 {
		o.Talk("No tasks to pause.")
	}
}

// noWaits moves waits from found to failed: only who waits at a terminal can hold a wait.
func noWaits(found []state.Entry, failed []view.PickError) ([]state.Entry, []view.PickError) {
	var others []state.Entry
	for _, e := range found {
		if e.Task.Type() != state.TypeWait {
			others = append(others, e)
			continue
		}
		failed = append(failed, view.PickError{ID: e.Task.ID,
			Problem: tasks.IsWait(e,
				"and cannot be paused from here: who waits for it at a terminal presses space")})
	}
	return others, failed
}

// noHeldWaits moves paused waits from found to failed: only who waits can let them go on.
func noHeldWaits(found []state.Entry, failed []view.PickError) ([]state.Entry, []view.PickError) {
	var others []state.Entry
	for _, e := range found {
		if view.HeldWait(e) {
			failed = append(failed, view.PickError{ID: e.Task.ID,
				Problem: tasks.IsWait(e, "and goes on where somebody waits for it")})
		} else {
			others = append(others, e)
		}
	}
	return others, failed
}

// living returns whether a runner lives, for a call that needs no runner and so starts none.
func living(ctx context.Context, st state.Leases) string {
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
	o, err := s.Options()
	if err != nil {
		return time.Time{}, err
	}
	t, err := tasks.Moment("resume-at", s.Opt.Text("resume-at"), o)
	if err == nil && !t.After(o.Now) {
		err = problem.New(problem.Past, problem.T("%s %s is not in the future", problem.Option("resume-at"),
			cli.Quote(s.Opt.Text("resume-at"))),
			problem.T("give a later time, or leave it out and resume by hand"))
	}
	return t, err
}

// ResumeCommand is the command resume.
func ResumeCommand() cli.Command {
	return cli.Command{
		Name: "resume", Args: "<id>... | --match <text> | --all", Short: "end the pause of tasks",
		Long: `
A recurring task goes on with its next instant. What fell due during the pause is skipped, in one line of the log; it
counts for --count and does not run later. A one-shot whose time has passed is skipped and over: the answer says how to
run it now. A runner is started when none lives.`,
		Examples:  []string{"ouro-timer resume k7m2", "ouro-timer resume --all"},
		Ids:       "paused",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		Options: option.Rows{
			cli.MatchFlag(), allFlag("every task that is paused"), tagFlag("every task that is paused"),
			cli.NoAutostartFlag(), cli.DryFlag(), cli.QuietFlag("print nothing but errors"), cli.ZoneFlag(),
			cli.JsonFlag(), cli.FieldsFlag(),
		},
		Answers: []cli.Shape{{Name: "resume", Of: resumeJSON{}, Says: "what goes on"}},
		Run:     runResume,
	}
}

// resumed is a task that resume was asked to let go on.
type resumed struct {
	view.TaskJSON
	Skipped int        `json:"skipped,omitempty" jsonschema:"instants that passed during the pause"`
	First   *time.Time `json:"skipped_due,omitempty" jsonschema:"the first of them"`
	Last    *time.Time `json:"skipped_last,omitempty" jsonschema:"the last of them"`
	Hint    *string    `json:"hint,omitempty" jsonschema:"of one that is over: what runs it after all"`

	entry state.Entry
	was   bool // the task was paused
}

// resumeJSON is the answer of resume.
type resumeJSON struct {
	Now      time.Time            `json:"now"`
	Count    int                  `json:"count" jsonschema:"how many tasks go on"`
	IDs      []string             `json:"ids,omitempty" jsonschema:"of --all: the tasks that go on; resumed has them with --json=full"`
	Resumed  []resumed            `json:"resumed,omitzero"`
	Skipped  []resumed            `json:"skipped,omitempty"`
	Errors   []view.PickErrorJSON `json:"errors,omitempty"`
	Runner   string               `json:"runner"`
	Warnings []string             `json:"warnings,omitempty"`
	Problems []string             `json:"problems,omitempty" jsonschema:"of --all: what cannot be read"`
	DryRun   bool                 `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`

	now  time.Time
	told []resumed // all of them, in the order of the call
}

// Text says of each task whether it goes on, was skipped or was not paused.
func (a resumeJSON) Text(o *cli.Out) {
	for _, r := range a.told {
		r.tell(o, a.now)
	}
	if len(a.told)+len(a.Errors)+len(a.Problems) == 0 {
		o.Talk("No tasks are paused.")
	}
}

func runResume(ctx context.Context, s *cli.Call) error {
	zone, err := s.Zone()
	if err != nil {
		return err
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	// A task that is not paused is no error when it is named by its ID. Otherwise only paused tasks
	// are meant.
	held := s.Opt.Bool("all") || s.Opt.Has("match") || s.Opt.Has("tag")
	found, failed, err := view.PickTagged(ctx, s, st, func(e state.Entry) bool {
		if view.HeldWait(e) && (s.Opt.Bool("all") || s.Opt.Has("tag")) {
			return false
		}
		return e.Held || !held && tasks.Live(e)
	})
	if err == nil && s.Opt.Has("match") && failed != nil &&
		(failed[0].Other == nil || tasks.Live(*failed[0].Other)) && failed[0].Code != problem.IDAmbiguous {
		found, failed, err = view.Pick(ctx, s, st, tasks.Live)
	}
	if err != nil {
		return err
	}
	found, failed = noHeldWaits(found, failed)
	now := s.Clock.Now()
	answer := resumeJSON{now: now.In(zone)}
	brief := s.Opt.Bool("all") && s.Lean()
	if !brief {
		answer.Resumed = []resumed{}
	}
	var goOn []state.Entry
	for i, released := range tasks.Resume(ctx, st, st, found, now) {
		if released.Err != nil {
			failed = append(failed, view.FailedBy(found[i].Task.ID, released.Err))
			continue
		}
		r := asResumed(released, now)
		r.was = found[i].Held
		if tasks.Live(r.entry) {
			goOn = append(goOn, r.entry)
			if answer.Count++; brief {
				answer.IDs = append(answer.IDs, r.ID)
			} else {
				answer.Resumed = append(answer.Resumed, r)
			}
		} else {
			r.Hint = cli.OrNull(s.Says(again(r.entry.Task)))
			answer.Skipped = append(answer.Skipped, r)
		}
		answer.told = append(answer.told, r)
	}
	var h handover.RunnerState
	if answer.Count > 0 {
		h = handover.HandOver(ctx, s, st, goOn...)
	}
	warnings := h.Warnings()
	answer.Now, answer.Errors, answer.Runner, answer.Warnings = s.Stamp(), view.PickErrors(s, failed),
		cli.OrElse(h.Runner, living(ctx, st)), s.WarningTexts(warnings)
	answer.Problems, answer.DryRun = view.ProblemTexts(s.Unread), s.DryRun
	return view.Answered(ctx, s, answer, failed, warnings)
}

// asResumed makes the row of a task that goes on or is over.
func asResumed(released tasks.Resumed, now time.Time) resumed {
	e := released.Entry
	r := resumed{TaskJSON: view.AsJSON(e, now), entry: e}
	if line := released.Skipped; line != nil {
		tz := rules.TaskZone(e.Task)
		r.Skipped, r.First, r.Last = line.Count, cli.Instant(*line.Due, tz), cli.Instant(*line.Due, tz)
		if line.DueLast != nil {
			r.Last = cli.Instant(*line.DueLast, tz)
		}
	}
	return r
}

// tell writes what became of one task.
func (r resumed) tell(o *cli.Out, now time.Time) {
	what := r.ID + " (" + view.Describe(r.entry.Task) + ")"
	switch {
	case !tasks.Live(r.entry) && r.First != nil:
		o.Tell("%s %s: its time, %s, passed while it was paused", o.Deed("skipped"), what, view.Stamp(*r.Last))
		o.Hint("%s", cli.Visible(*r.Hint))
		return
	case !tasks.Live(r.entry):
		o.Tell("%s has ended", what)
		return
	case !r.was:
		o.Tell("%s is not paused, due %s", what, view.Coming(r.entry, now))
		if r.Type == state.TypeWait {
			o.Hint("to go on waiting: %s wait --resume %s", o.Program(), r.ID)
		}
		return
	}
	o.Tell("%s %s, due %s", o.Deed("resumed"), what, view.Coming(r.entry, now))
	switch {
	case r.Skipped == 1:
		o.Talk("note: %s passed while it was paused and is skipped", view.Stamp(*r.First))
	case r.Skipped > 1:
		o.Talk("note: %s passed while it was paused and are skipped, from %s to %s",
			cli.Plural(r.Skipped, "instant"), view.Stamp(*r.First), view.Stamp(*r.Last))
	}
}

// again is the hint about a one-shot that is over: the call that runs it now.
func again(t state.Task) problem.Text {
	return problem.T("%s runs it now", problem.To("fire", t.ID))
}

// originFlag is the option that names all tasks that the runs of one task scheduled.
func originFlag(usage string) option.Option {
	return option.Option{Name: "origin", Kind: option.ID, Help: usage}
}

// tagFlag is the option that names all tasks with a tag. Its help begins with which.
func tagFlag(which string) option.Option {
	return option.Option{Name: "tag", Key: "tags", Kind: option.Name, Many: true, Lone: true, Like: "home",
		Help: which + " that has the tag NAME; repeated: all of them"}
}

// allFlag is the option that names every task.
func allFlag(usage string) option.Option {
	return option.Option{Name: "all", Kind: option.Flag, Help: usage}
}
