package schedule

import (
	"context"
	"errors"
	"slices"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// EditCommand is the command edit.
func EditCommand() cli.Command {
	return cli.Command{
		Name: "edit", Args: "{<id> | --match <text>} [<when>...] [<options of at>...] [-- <command>...]",
		Short: "change a task: its time, its words, what it runs",
		Long: `
Changes what the call gives and nothing else; the answer names what changed. The change is for later occurrences: a
command that is running goes on as it was, and so do its attempts (--retries), unless the time or the command changes. A
one-shot that has begun cannot be changed. A paused task stays paused.

All words after the ID, before the options or --, are the new time, read as at reads it but in the task's zone (or --tz):
  15:00             of a one-shot, a time of day alone keeps the date
  +1h, -10m, +1 day counts from when it is due now; 1h without a sign counts from this moment
  every day at 9am  a recurrence starts anew from now, or from --start
Words that are a single time are refused for a task that recurs; --until or --delay make it happen once.

-c, -f, --agent and -- COMMAND replace what is run, and with it the folder, the umask and the variables by those of this
call; variables that --env named stay. Without them, --env adds variables, and the others stay as they were captured.
An empty value removes an option: --description "", --tag "", --env "", --end "", --count 0; -c "" turns a command with a
--task text into a message. --notify replaces all channels, and --tag all tags; --webhook alone replaces the URLs only.`,
		Examples: []string{
			`ouro-timer edit k7m2 15:00`,
			`ouro-timer edit k7m2 +1h --description "call Bob, he is late"`,
			`ouro-timer edit --match backup every day at 3:30am --jitter 10m`,
			`ouro-timer edit k7m2 -- ./deploy.sh --production`,
		},
		Ids: "live", Tail: true,
		Arguments: []option.Argument{{Name: "id", Kind: option.ID}, {Name: "when", Kind: option.Time, Many: true}},
		Options: slices.Concat(option.Rows{
			cli.MatchFlag,
			option.Option{Name: "task", Kind: option.Text, Help: "a message's TEXT, or the payload for the command"},
			option.Option{Name: "description", Aliases: []string{"d"}, Kind: option.Text,
				Help: "what it is, in a few words (TEXT)"},
			onFlag.WithHelp("run it on node or label NAME of a fleet, or any, instead of where it runs; may be repeated"),
			cli.TagFlag.WithHelp("mark it NAME, instead of the tags it has; may be repeated; empty: none"),
			option.Option{Name: "c", Kind: option.Text, Key: "shell", Help: "run TEXT by the shell"},
			option.Option{Name: "file", Aliases: []string{"f"}, Kind: option.File,
				Help: "run the script in FILE, or from standard input with -"},
			option.Option{Name: "shell", Kind: option.File, Value: "PROGRAM", Key: "program",
				Help: "the shell, PROGRAM, for -c and -f"},
			option.Option{Name: "env", Kind: option.Name, Many: true, Pairs: true, Like: "NAME=VALUE",
				Help: "also pass the variable NAME as it is now, or NAME=VALUE; may be repeated; empty: none"},
		}.In(cli.GroupWhat), taskFlags(), option.Rows{
			option.Option{Name: "jitter", Kind: option.Duration, Group: cli.GroupWhen,
				Help: "be late by a random share of DURATION, chosen again"},
			option.Option{Name: "expect", Kind: option.Timestamp,
				Help: "refuse the change when the next instant would not be TIMESTAMP (RFC 3339)"},
			cli.NoAutostartFlag, cli.DryFlag,
			cli.QuietFlag.WithHelp("print the ID alone"),
			option.Option{Name: "tz", Kind: option.Zone, Env: "OURO_TZ",
				Help: "read its times in ZONE from now on (default: the one it has)"},
			cli.JSONFlag, cli.FieldsFlag,
		}),
		Answers: []cli.Shape{{Name: "edit", Of: editJSON{}, Means: "the task as it is now, and what changed"}},
		Run:     runEdit,
	}
}

// notAboutTask are the options of edit that change nothing of the task.
var notAboutTask = []string{"match", "expect", "no-autostart", "dry-run", "quiet", "json"}

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
	found, failed, err := view.Pick(ctx, s, st, tasks.Live)
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		return notEditable(failed[0])
	}
	e := found[0]
	if e.Task.Type() == state.TypeWait {
		return tasks.NotForWaits(e, "and cannot be changed, because somebody may be waiting for it")
	}
	s.Args = words
	spec, err := changes(s, e.Task.ID)
	if err != nil {
		return err
	}
	d, err := tasks.Edit(ctx, WorldOf(s), spec, st, st, e)
	switch {
	case errors.Is(err, tasks.ErrOver):
		return notEditable(*view.PickFailed(e.Task.ID, problem.Ended,
			problem.T("task %s %s", e.Task.ID, view.PhaseWords(d.Entry, "is still"))))
	case err != nil:
		return secondID(ctx, st, words, err)
	}
	return answerEdit(ctx, s, st, d)
}

// secondID explains words that are not a time because they begin with the ID of another task. For
// other words it returns err.
func secondID(ctx context.Context, st state.Tasks, words []string, err error) error {
	if f := cli.Explain(err); f.ExitCode() != cli.ExitUsage || f.Code == problem.Usage || len(words) == 0 ||
		!state.WholeID(words[0]) {
		return err
	}
	if _, unknown := st.Find(ctx, words[0]); unknown != nil {
		return err
	}
	return problem.Of(problem.T("edit changes one task, and %s is the ID of another", cli.Quote(words[0])),
		problem.T("call edit once for each task"))
}

// notEditable returns the error for a task that cannot be changed.
func notEditable(p view.PickError) error {
	if p.Code == problem.Ended && (p.Other == nil || p.Other.Phase != state.Removed) {
		return p.Advising(problem.T("it is too late to change the task; %s schedules a new one", problem.To("at")))
	}
	return p.Problem
}

// changes returns the request of a call of edit. It refuses a call that changes nothing.
func changes(s *cli.Call, id string) (tasks.Spec, error) {
	spec, err := specOf(s)
	if err != nil {
		return spec, err
	}
	if spec.Form == when.Any && cli.Deref(spec.When) == "" {
		spec.When = nil
	}
	if spec.When == nil && !s.Dash && !slices.ContainsFunc(s.Opt.Names(),
		func(name string) bool { return !slices.Contains(notAboutTask, name) }) {
		return spec, problem.Of(problem.T("nothing to change"),
			problem.T("give a time, as in %s (a recurrence for what recurs), or an option such as %s; %s shows the task",
				problem.To("edit", id, "15:00"), problem.Option("description"), problem.To("show", id)))
	}
	return spec, nil
}
