package manage

import (
	"cmp"
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// ResumeCommand is the command resume.
func ResumeCommand() cli.Command {
	return cli.Command{
		Name: "resume", Args: "<id>... | --match <text> | --tag <name> | --all", Short: "end the pause of tasks",
		Long: `
A recurring task goes on with its next instant. What fell due during the pause is skipped, in one line of the log; it
counts for --count and does not run later. A one-shot whose time has passed is skipped, and is over: the answer says how
to run it now. A runner is started when none lives.`,
		Examples:  []string{"ouro-timer resume k7m2", "ouro-timer resume --all"},
		Ids:       "paused",
		Arguments: []option.Argument{{Name: "id", Kind: option.ID, Many: true}},
		Options: option.Rows{
			cli.MatchFlag, allFlag.WithHelp("every task that is paused"), cli.TagFlag.WithHelp("every paused task that has the tag NAME; repeated: all of them"),
			cli.NoAutostartFlag, cli.DryFlag, cli.QuietFlag.WithHelp("print nothing but errors"), cli.ZoneFlag,
			cli.JSONFlag, cli.FieldsFlag,
		},
		Answers: []cli.Shape{{Name: "resume", Of: resumeJSON{}, Means: "the tasks that go on"}},
		Run:     runResume,
	}
}

// resumed is what became of one task.
type resumed struct {
	view.TaskJSON
	Skipped int        `json:"skipped,omitempty" jsonschema:"instants that passed during the pause"`
	First   *time.Time `json:"skipped_due,omitempty" jsonschema:"the first of them"`
	Last    *time.Time `json:"skipped_last,omitempty" jsonschema:"the last of them"`
	Hint    *string    `json:"hint,omitempty" jsonschema:"of a task that is over: how to run it now"`

	entry  state.Entry
	paused bool // before the call
}

// resumeJSON is the answer of resume.
type resumeJSON struct {
	Now      time.Time            `json:"now"`
	Count    int                  `json:"count" jsonschema:"how many tasks go on"`
	IDs      []string             `json:"ids,omitempty" jsonschema:"of --all and --tag: the tasks that go on; resumed has them with --json=full"`
	Resumed  []resumed            `json:"resumed,omitzero"`
	Skipped  []resumed            `json:"skipped,omitempty"`
	Errors   []view.PickErrorJSON `json:"errors,omitempty"`
	Runner   string               `json:"runner"`
	Warnings []string             `json:"warnings,omitempty"`
	Problems []string             `json:"problems,omitempty" jsonschema:"of --all: what cannot be read"`
	DryRun   bool                 `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`

	now time.Time
	all []resumed // in the order of the call
}

// Text says of each task whether it goes on, was skipped or was not paused.
func (a resumeJSON) Text(o *cli.Out) {
	for _, r := range a.all {
		r.tell(o, a.now)
	}
	if len(a.all)+len(a.Errors)+len(a.Problems) == 0 {
		o.Note("No tasks are paused.")
	}
}

func runResume(ctx context.Context, s *cli.Call) error {
	st, zone, err := cli.OpenInZone(s)
	if err != nil {
		return err
	}
	// A task named by its ID may be one that is not paused. Otherwise only paused tasks are meant.
	onlyPaused := s.Opt.Bool("all") || s.Opt.Has("match") || s.Opt.Has("tag")
	found, failed, err := view.PickTagged(ctx, s, st, func(e state.Entry) bool {
		if view.HeldWait(e) && (s.Opt.Bool("all") || s.Opt.Has("tag")) {
			return false
		}
		return e.Held || !onlyPaused && tasks.Live(e)
	})
	if err == nil && s.Opt.Has("match") && failed != nil &&
		(failed[0].Other == nil || tasks.Live(*failed[0].Other)) && failed[0].Code != problem.IDAmbiguous {
		found, failed, err = view.Pick(ctx, s, st, tasks.Live)
	}
	if err != nil {
		return err
	}
	found, failed = refuseWaits(found, failed, view.HeldWait, "and can only go on where somebody waits for it")
	now := s.Clock.Now()
	answer := resumeJSON{now: now.In(zone)}
	brief := view.IDsAlone(s)
	if !brief {
		answer.Resumed = []resumed{}
	}
	var live []state.Entry
	for i, released := range tasks.Resume(ctx, st, st, found, now) {
		if released.Err != nil {
			failed = append(failed, view.FailedBy(found[i].Task.ID, released.Err))
			continue
		}
		r := asResumed(released, now)
		r.paused = found[i].Held
		if !tasks.Live(r.entry) {
			r.Hint = cli.OrNull(s.Render(problem.T("%s runs it now", problem.To("fire", r.ID))))
		} else {
			live = append(live, r.entry)
		}
		answer.add(r, brief)
	}
	var h handover.RunnerState
	if answer.Count > 0 {
		h = handover.HandOver(ctx, s, st, live...)
	}
	warnings := h.Warnings()
	answer.Now, answer.Errors, answer.Runner, answer.Warnings = s.Stamp(), view.PickErrors(s, failed),
		cmp.Or(h.Runner, runnerNow(ctx, st)), s.WarningTexts(warnings)
	answer.Problems, answer.DryRun = view.ProblemTexts(s.Unreadable), s.DryRun
	return view.AnswerChanges(ctx, s, answer, failed, warnings)
}

// add adds what became of one task. With brief a task that goes on is counted and has its ID alone.
func (a *resumeJSON) add(r resumed, brief bool) {
	a.all = append(a.all, r)
	switch {
	case !tasks.Live(r.entry):
		a.Skipped = append(a.Skipped, r)
		return
	case brief:
		a.IDs = append(a.IDs, r.ID)
	default:
		a.Resumed = append(a.Resumed, r)
	}
	a.Count++
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
		o.LineUnlessQuiet("%s %s: its time, %s, passed before it was resumed", o.Verb("skipped"), what,
			view.Stamp(*r.Last))
		o.Hint("%s", cli.Visible(*r.Hint))
		return
	case !tasks.Live(r.entry):
		o.LineUnlessQuiet("%s has ended", what)
		return
	case !r.paused:
		o.LineUnlessQuiet("%s is not paused, due %s", what, view.Coming(r.entry, now))
		if r.Type == state.TypeWait {
			o.Hint("to go on waiting: %s wait --resume %s", o.Program(), r.ID)
		}
		return
	}
	o.LineUnlessQuiet("%s %s, due %s", o.Verb("resumed"), what, view.Coming(r.entry, now))
	switch {
	case r.Skipped == 1:
		o.Note("note: %s passed before it was resumed and is skipped", view.Stamp(*r.First))
	case r.Skipped > 1:
		o.Note("note: %s passed before it was resumed and are skipped, from %s to %s",
			cli.Plural(r.Skipped, "instant"), view.Stamp(*r.First), view.Stamp(*r.Last))
	}
}
