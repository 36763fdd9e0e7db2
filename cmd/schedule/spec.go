package schedule

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// timeOf returns the part of a request that is about time: the words of the time, or the option
// that gives it in one form, and the bounds of a recurrence.
func timeOf(s *cli.Call) (tasks.Spec, error) {
	spec := tasks.Spec{Start: textOf(s, "start"), End: textOf(s, "end"), Count: valueOf(s, "count", s.Opt.Int),
		Except: ExceptedDays(s)}
	text, form, forced, err := cli.TimeOption(s)
	switch {
	case err != nil:
		return spec, err
	case forced && len(s.Args) > 0:
		return spec, extraWords(s, form)
	case forced:
		spec.When, spec.Form = &text, form
	case len(s.Args) > 0:
		text = strings.Join(s.Args, " ")
		spec.When = &text
	}
	return spec, nil
}

// SpecOf returns the request of a call: all that it says about a task.
func SpecOf(s *cli.Call) (tasks.Spec, error) {
	spec, err := timeOf(s)
	if err != nil {
		return spec, err
	}
	spec.Zone, spec.Jitter, spec.Share, spec.Expect = textOf(s, "tz"), textOf(s, "jitter"), s.Share, textOf(s, "expect")
	spec.After = listOf(s, "after")
	spec.Key, spec.Replace = textOf(s, "key"), s.Opt.Bool("replace")
	spec.Description, spec.Text, spec.Tags = textOf(s, "description"), textOf(s, "task"), listOf(s, "tag")
	if spec.On = listOf(s, "on"); spec.On != nil {
		if err := requireFleet(s, "on"); err != nil {
			return spec, err
		}
	}
	spec.Shell, spec.Agent, spec.Program, spec.Env = textOf(s, "c"), textOf(s, "agent"), textOf(s, "shell"),
		listOf(s, "env")
	spec.Title, spec.Project, spec.Priority, spec.Request = textOf(s, "title"), textOf(s, "project"),
		textOf(s, "priority"), valueOf(s, "rpc-request", s.Opt.Bool)
	spec.Catchup, spec.Overlap, spec.Window = textOf(s, "catchup"), textOf(s, "overlap"), textOf(s, "window")
	spec.Timeout, spec.Backoff, spec.Retries, spec.Factor = textOf(s, "timeout"), textOf(s, "backoff"),
		valueOf(s, "retries", s.Opt.Int), valueOf(s, "backoff-factor", s.Opt.Int)
	spec.If, spec.UntilOutput = textOf(s, "if"), textOf(s, "until-output")
	spec.Nice, spec.IONice, spec.Memory, spec.CPU = valueOf(s, "nice", s.Opt.Int), textOf(s, "ionice"),
		textOf(s, "memory"), textOf(s, "cpu")
	spec.Rerun, spec.UntilOK = valueOf(s, "rerun-interrupted", s.Opt.Bool), valueOf(s, "until-ok", s.Opt.Bool)
	spec.Notify, spec.Webhook, spec.NotifyOn, spec.Prefix = listOf(s, "notify"), listOf(s, "webhook"),
		textOf(s, "notify-on"), textOf(s, "prefix")
	spec.Sample = s.Sample
	if s.Dash {
		spec.Command = cli.OrEmpty(s.Tail)
	}
	if s.Opt.Has("file") {
		spec.Script = script(s, s.Opt.Text("file"))
	}
	err = resolveChoices(s.Cmd.Options, &spec)
	return spec, err
}

// resolveChoices replaces the words of a request that stand for a choice, such as an abbreviation
// of "high", by the choice itself.
func resolveChoices(rows option.Rows, spec *tasks.Spec) error {
	for _, word := range []struct {
		name string
		text *string
		none bool // an empty word means no choice; elsewhere it means the first one
	}{{"priority", spec.Priority, false}, {"catchup", spec.Catchup, false}, {"overlap", spec.Overlap, false},
		{"notify-on", spec.NotifyOn, true}} {
		if word.text == nil {
			continue
		}
		if *word.text = strings.TrimSpace(*word.text); *word.text == "" && word.none {
			continue
		}
		chosen, err := rows.Named(word.name).Choose(*word.text)
		if err != nil {
			return err
		}
		*word.text = chosen
	}
	return nil
}

// ExceptedDays returns the days that the call leaves out, with absolute paths of files; nil when
// the call does not leave out days.
func ExceptedDays(s *cli.Call) []string {
	list := slices.Clone(listOf(s, "except"))
	absoluteFiles(s, list)
	return list
}

// absoluteFiles makes paths absolute where days that are left out are given by a file.
func absoluteFiles(s *cli.Call, days []string) {
	for i, text := range days {
		if name, ok := rules.DayFile(strings.TrimSpace(text)); ok {
			days[i] = rules.InFile(cli.Absolute(s, name))
		}
	}
}

// valueOf returns the value of an option; nil when it was not given.
func valueOf[T any](s *cli.Call, name string, value func(string) T) *T {
	if !s.Opt.Has(name) {
		return nil
	}
	v := value(name)
	return &v
}

// textOf returns the text of an option; nil when it was not given.
func textOf(s *cli.Call, name string) *string { return valueOf(s, name, s.Opt.Text) }

// listOf returns the values of an option; nil when it was not given.
func listOf(s *cli.Call, name string) []string {
	if !s.Opt.Has(name) {
		return nil
	}
	return cli.OrEmpty(s.Opt.List(name))
}

// WorldOf returns all that a request of this call depends on, such as the clock and the settings.
func WorldOf(s *cli.Call) tasks.World {
	return tasks.World{
		Clock:    s.Clock,
		Times:    s.TimeOptions,
		Origin:   func() (string, error) { return cli.Origin(s) },
		Settings: s.Settings,
		File:     func() string { return cli.ConfigPath(s) },
		Around:   func() (*tasks.Surroundings, error) { return cli.SurroundingsOf(s) },
		Here:     s.Node,
		Environ:  s.Environ,
		Terminal: func() string { return cli.TerminalDevice(s.World) },
		Boot:     proc.Boot,
		Piped:    cli.HasInput(s) && !s.Opt.Has("stdin") && cli.IsPiped(s.In),
		Programs: handover.Programs(s),
		Find:     findAwaited(s),
	}
}

// findAwaited returns the function that finds the tasks that a task of the call waits for.
func findAwaited(s *cli.Call) tasks.Awaited {
	if s.Awaited != nil {
		return s.Awaited
	}
	return func(ctx context.Context, id string) (state.Entry, error) { return awaited(ctx, s, id) }
}

// awaited finds a task that another one waits for: by ID, beginning of an ID, or key.
func awaited(ctx context.Context, s *cli.Call, id string) (state.Entry, error) {
	st, err := s.Open()
	if err != nil {
		return state.Entry{}, err
	}
	e, failed, err := view.PickID(ctx, st.Find, id, s.Clock.Now(), func(state.Entry) bool { return true })
	if failed == nil || err != nil {
		return e, err
	}
	if failed.Code == problem.NotFound {
		_, err = state.Each(ctx, st, func(other state.Entry) bool {
			if other.Task.Key == id && tasks.Live(other) {
				e, failed = other, nil
			}
			return failed != nil
		}, state.Pending, state.Running, state.Paused)
	}
	if failed != nil && err == nil {
		err = failed.Problem
	}
	return e, err
}

// maxScript is the most bytes of a script.
const maxScript = 1 << 20

// script returns a function that reads a script once. The task runs the text that the file had when
// it was scheduled.
func script(s *cli.Call, name string) func(context.Context) (string, error) {
	var text string
	var err error
	read := false
	return func(ctx context.Context) (string, error) {
		if !read {
			text, err = readScript(ctx, s, name)
			read = true
		}
		return text, err
	}
}

// readScript reads a script from a file, or from standard input.
func readScript(ctx context.Context, s *cli.Call, name string) (string, error) {
	if name == "-" && !cli.HasInput(s) {
		return "", problem.Of(problem.T("%s is -, and this call has no standard input", problem.Option("file")),
			problem.T("name a file, or give the text in %s", problem.Option("c")))
	}
	b, err := cli.ReadInput(ctx, s, name, maxScript)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	itself := problem.Set(problem.Command, []string{"/path/to/script"})
	switch {
	case err != nil:
		return "", problem.Of(problem.T("the script cannot be read: "+err.Error()),
			problem.T("give %s a file that you may read", problem.Option("file")))
	case len(b) > maxScript:
		return "", problem.New(problem.Limit, problem.T("the script is longer than 1 MiB"),
			problem.T("schedule the file itself: %s", itself))
	case len(strings.TrimSpace(string(b))) == 0:
		hint := problem.T("give %s a file with commands", problem.Option("file"))
		if cli.HasInput(s) {
			hint = problem.T("%s, or - for standard input", hint)
		}
		return "", problem.Of(problem.T("the script is empty"), hint)
	case !utf8.Valid(b):
		return "", problem.Of(problem.T("the script is not valid UTF-8"),
			problem.T("schedule the file itself: %s", itself))
	}
	return string(b), nil
}
