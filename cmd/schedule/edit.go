package schedule

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/view"

	"github.com/ouro-timer/ouro-timer/cmd/cli"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

func EditCommand() cli.Command {
	return cli.Command{
		Name: "edit", Args: "{<id> | --match <text>} [<when>...] [<options of at>...] [-- <command>...]", Short: "change a task: its time, its words, what it runs",
		Long: `
Changes what is given and nothing else; the answer names what became different. It is for later occurrences: a command
that is running goes on as it was, and a one-shot that has begun can no longer be changed. A paused task stays paused.

All words after the ID, before the options or --, are the new time, read as at reads it but in the task's zone (or --tz):
  15:00             of a one-shot, a time of day alone keeps the date
  +1h, -10m, +1 day counts from when it is due now; 1h without a sign counts from this moment
  every day at 9am  a recurrence starts anew from now, or from --start
Words that are a single time are refused for a task that recurs; --until or --delay make it happen once.

-c, -f, --agent and -- COMMAND replace what is run, and with it the folder, the umask and the variables, as they are now;
variables that --env named stay. Without them --env adds to the variables, and the rest stays as it was captured. An
empty value takes an option back: --description "", --end "", --count 0; -c "" makes a message of a command that has a
--task. --notify names anew who is told; --webhook alone takes the place of the URLs there were and leaves the others.`,
		Examples: []string{
			`ouro-timer edit k7m2 15:00`,
			`ouro-timer edit k7m2 +1h --description "call Bob, he is late"`,
			`ouro-timer edit --match backup every day at 3:30am --jitter 10m`,
			`ouro-timer edit k7m2 -- ./deploy.sh --production`,
		},
		Ids: "live", Tail: true,
		Arguments: []option.Argument{{Name: "id", Kind: option.ID}, {Name: "when", Kind: option.Time, Many: true}},
		Options: slices.Concat(option.Rows{
			cli.MatchFlag(),
			option.Option{Name: "task", Kind: option.Text, Help: "a message's TEXT, or the payload for the command"},
			option.Option{Name: "description", Aliases: []string{"d"}, Kind: option.Text, Help: "what it is, in a few words (TEXT)"},
			option.Option{Name: "c", Kind: option.Text, Key: "shell", Help: "run TEXT by the shell"},
			option.Option{Name: "file", Aliases: []string{"f"}, Kind: option.File, Help: "run the script in FILE, or from standard input with -"},
			option.Option{Name: "shell", Kind: option.File, Value: "PROGRAM", Key: "program", Help: "the shell, PROGRAM, for -c and -f"},
			option.Option{Name: "env", Kind: option.Name, Many: true, Pairs: true, Like: "NAME=VALUE", Help: "also pass the variable NAME as it is now, or NAME=VALUE; may be repeated"},
		}, agentFlags(), cli.WhenFlags(), cli.BoundFlags(), policyFlags(), option.Rows{
			option.Option{Name: "jitter", Kind: option.Duration, Help: "be late by up to DURATION, dealt once more"},
			option.Option{Name: "expect", Kind: option.Timestamp, Help: "refuse when the next instant is then not TIMESTAMP (RFC 3339)"},
			cli.NoAutostartFlag(), cli.DryFlag(),
			cli.QuietFlag("print the ID alone"),
			option.Option{Name: "tz", Kind: option.Zone, Env: "OURO_TZ", Help: "ZONE that its times are meant in from now on (default: the one it has)"},
			cli.JsonFlag(),
		}),
		Answers: []cli.Answer{{Name: "edit", Of: editJSON{}, Says: "the task as it is now, and what is different"}},
		Run:     runEdit,
	}
}

// notChanges are the options of edit that change nothing by themselves.
var notChanges = []string{"match", "expect", "no-autostart", "dry-run", "quiet", "json"}

// edit is a call of edit, read as far as it can be without the task.
type edit struct {
	*cli.Call
	now      time.Time
	text     string // the words of the time, or the value of the option that forces how it is read
	form     when.Form
	forced   bool
	spec     tasks.Spec
	warnings []cli.Warning // about the command
	charged  bool          // it was counted among what a run of a task may do in an hour
	offered  bool          // the text is one that is offered in the place of another
}

// edited is a task as a call would have it.
type edited struct {
	task   state.Task
	due    time.Time
	sched  *when.Schedule // when the time was given anew
	passed *state.Line    // the instants of the old schedule that came and were not run, and now never are
	fields []string       // what is different
}

func runEdit(ctx context.Context, s *cli.Call) error {
	var words []string
	if !s.Opt.Has("match") && len(s.Args) > 0 {
		s.Args, words = s.Args[:1], s.Args[1:]
	} else {
		s.Args, words = nil, s.Args
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	found, failed, err := view.Pick(ctx, s, st, view.Live)
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		return notEditable(failed[0])
	}
	e := found[0]
	if e.Task.Type() == state.TypeWait {
		return view.IsWait(e, "and somebody may be waiting for what it says: it cannot be changed")
	}
	ed := edit{Call: s, now: s.Clock.Now()}
	s.Args = words
	if err := ed.read(ctx, e.Task); err != nil {
		return err
	}
	var r edited
	var was state.Entry
	for try := 0; ; try++ {
		if r, err = ed.apply(ctx, e); err != nil {
			return oneID(ctx, st, words, err)
		}
		after, err := ed.write(ctx, e, r)
		if err == nil {
			was, e = e, after
			break
		}
		if !errors.Is(err, state.ErrConflict) && !errors.Is(err, state.ErrTaken) {
			return err
		}
		// Somebody else changed it, or a runner took an occurrence. This call says its own part only: it holds for the new one too.
		if try == view.Attempts {
			return problem.New(problem.Busy, problem.T("task %s is being changed by others all the time", e.Task.ID), problem.T("call again in a moment"))
		}
		if e, err = view.Reread(ctx, st, e); err != nil {
			return err
		}
		if !view.Live(e) {
			return notEditable(*view.PickFailed(e.Task.ID, problem.Ended, problem.T("task %s %s", e.Task.ID, view.Standing(e, "is still"))))
		}
	}
	return ed.confirm(ctx, st, was, e, r)
}

// oneID is the error of words that are no time because they begin with another task's ID; err when they do not.
func oneID(ctx context.Context, st state.Tasks, words []string, err error) error {
	if f := cli.Explain(err); f.ExitCode() != cli.ExitUsage || f.Code == problem.Usage || len(words) == 0 || !state.WholeID(words[0]) {
		return err
	}
	if _, unknown := st.Find(ctx, words[0]); unknown != nil {
		return err
	}
	return problem.Of(problem.T("edit takes one ID, and %s is another task", cli.Quote(words[0])), problem.T("change one after the other"))
}

// notEditable is the refusal of a task that cannot be changed.
func notEditable(p view.PickError) error {
	if p.Code == problem.Ended && (p.Other == nil || p.Other.Phase != state.Removed) {
		return p.Advising(problem.T("it is too late to change it; %s schedules a new one", problem.To("at")))
	}
	return p.Problem
}

// read reads what does not depend on how the task stands, of which job is what it had to do when the call began.
func (ed *edit) read(ctx context.Context, t state.Task) error {
	var err error
	if ed.text, ed.form, ed.forced, err = cli.Forced(ed.Call); err != nil {
		return err
	}
	switch {
	case ed.forced && len(ed.Args) > 0:
		return wordsBeside(ed.Call, ed.form)
	case !ed.forced:
		ed.text = strings.Join(ed.Args, " ")
	}
	changes := ed.text != "" || ed.forced || ed.Dash
	for _, name := range ed.Opt.Names() {
		changes = changes || !slices.Contains(notChanges, name)
	}
	if !changes {
		return problem.Of(problem.T("nothing to change"), problem.T("give a time, as in %s, or an option such as %s; %s shows what it has",
			problem.To("edit", t.ID, "15:00"), problem.Option("description"), problem.To("show", t.ID)))
	}
	ed.spec, err = specOf(ed.Call)
	return err
}

// aboutRunning reports whether a field is about what is executed.
func aboutRunning(field string) bool {
	return slices.Contains([]string{"command", "agent", "shell", "script", "program", "dir", "env", "if"}, field)
}

// apply is the task with the changes.
func (ed *edit) apply(ctx context.Context, e state.Entry) (edited, error) {
	r := edited{task: e.Task, due: e.Due}
	c := tasks.Editing(worldOf(ed.Call), ed.spec, e.Task)
	c.Texts()
	if err := c.Job(ctx); err != nil {
		return r, err
	}
	if err := c.Reminder(); err != nil {
		return r, err
	}
	t := &c.Task
	if t.Type() == state.TypeMessage && strings.TrimSpace(t.Text) == "" {
		return r, problem.Of(problem.T("nothing would be left to do at that time"), problem.T("give a text with %s, or a command; %s cancels the task", problem.Option("task"), problem.To("rm", t.ID)))
	}
	if err := ed.applyTime(e, &r); err != nil {
		return r, err
	}
	t.When = r.task.When
	if err := c.Rules(); err != nil {
		return r, err
	}
	r.task, ed.warnings = *t, otherShell(c)
	due := r.due.Add(-delayOf(t.When))
	if err := expect(ed.Call, due.In(view.TaskZone(*t))); err != nil {
		return r, err
	}
	r.fields = differences(e.Task, r.task, e.Due, r.due)
	if cli.Rescheduled(r.fields) {
		if err := cli.CheckTime(ed.Call, r.task, r.sched, r.due, ed.now); err != nil {
			return r, err
		}
	}
	if slices.ContainsFunc(r.fields, aboutRunning) {
		if err := cli.CheckAllowed(ctx, ed.Call, r.task); err != nil {
			return r, err
		}
	}
	if !slices.Contains(r.fields, "due") && !slices.Contains(r.fields, "when") {
		r.passed = nil
	}
	return r, nil
}

// write makes the change, if there is any.
func (ed *edit) write(ctx context.Context, e state.Entry, r edited) (state.Entry, error) {
	if len(r.fields) == 0 {
		return e, nil
	}
	due := r.due
	if due.Equal(e.Due) {
		due = time.Time{}
	}
	if cli.Rescheduled(r.fields) && !ed.charged {
		if err := cli.Charge(ctx, ed.Call, ed.Store); err != nil {
			return e, err
		}
		ed.charged = true
	}
	// The instants that have come get their outcome in the same change.
	if ed.DryRun && e.Task.ID == "" { // of a line before this one: it is nowhere to be looked for
		e.Task, e.Due = r.task, r.due
		return e, nil
	}
	after, err := cli.Changes(ed.Call, ed.Store).Replace(ctx, r.task, due, ed.now, r.passed)
	if errors.Is(err, state.ErrEnded) || errors.Is(err, state.ErrNotFound) {
		return e, state.ErrTaken // by a runner or an rm: the next look tells
	}
	return after, err
}

// passedLine is the line of the instants of a recurring task that had come by now without a run and are not made up for,
// because its schedule is another one from now on; nil when there is none.
func passedLine(e state.Entry, old *when.Schedule, now time.Time) *state.Line {
	if old == nil || e.Due.After(now) {
		return nil
	}
	line, _, _ := rules.Resume(e, old, now)
	if !e.Held {
		line.Outcome, line.Reason = state.Missed, "edited"
	}
	line.At = now
	return line
}
