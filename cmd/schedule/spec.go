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

// timeOf is what a call says of a time: its words, or the option that says how it is read, and the
// bounds of a recurrence.
func timeOf(s *cli.Call) (tasks.Spec, error) {
	spec := tasks.Spec{Start: textOf(s, "start"), End: textOf(s, "end"), Count: said(s, "count", s.Opt.Int),
		Except: Excepted(s)}
	text, form, forced, err := cli.Forced(s)
	switch {
	case err != nil:
		return spec, err
	case forced && len(s.Args) > 0:
		return spec, wordsBeside(s, form)
	case forced:
		spec.When, spec.Form = &text, form
	case len(s.Args) > 0:
		text = strings.Join(s.Args, " ")
		spec.When = &text
	}
	return spec, nil
}

// SpecOf returns what a call says about a task.
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
		if err := fleetsAlone(s, "on"); err != nil {
			return spec, err
		}
	}
	spec.Shell, spec.Agent, spec.Program, spec.Env = textOf(s, "c"), textOf(s, "agent"), textOf(s, "shell"),
		listOf(s, "env")
	spec.Title, spec.Project, spec.Priority, spec.Request = textOf(s, "title"), textOf(s, "project"),
		textOf(s, "priority"), said(s, "rpc-request", s.Opt.Bool)
	spec.Catchup, spec.Overlap, spec.Window = textOf(s, "catchup"), textOf(s, "overlap"), textOf(s, "window")
	spec.Timeout, spec.Backoff, spec.Retries, spec.Factor = textOf(s, "timeout"), textOf(s, "backoff"),
		said(s, "retries", s.Opt.Int), said(s, "backoff-factor", s.Opt.Int)
	spec.If, spec.UntilOutput = textOf(s, "if"), textOf(s, "until-output")
	spec.Nice, spec.IONice, spec.Memory, spec.CPU = said(s, "nice", s.Opt.Int), textOf(s, "ionice"),
		textOf(s, "memory"), textOf(s, "cpu")
	spec.Rerun, spec.UntilOK = said(s, "rerun-interrupted", s.Opt.Bool), said(s, "until-ok", s.Opt.Bool)
	spec.Notify, spec.Webhook, spec.NotifyOn, spec.Prefix = listOf(s, "notify"), listOf(s, "webhook"),
		textOf(s, "notify-on"), textOf(s, "prefix")
	spec.Sample = s.Sample
	if s.Dash {
		spec.Command = cli.OrEmpty(s.Tail)
	}
	if s.Opt.Has("file") {
		spec.Script = script(s, s.Opt.Text("file"))
	}
	err = choose(s.Cmd.Options, &spec)
	return spec, err
}

// choose replaces the words of a request that stand for a choice, such as an abbreviation of
// "high", by the choice itself.
func choose(rows option.Rows, spec *tasks.Spec) error {
	for _, word := range []struct {
		name string
		said *string
		none bool // an empty word means no choice, and not the first one
	}{{"priority", spec.Priority, false}, {"catchup", spec.Catchup, false}, {"overlap", spec.Overlap, false},
		{"notify-on", spec.NotifyOn, true}} {
		if word.said == nil {
			continue
		}
		if *word.said = strings.TrimSpace(*word.said); *word.said == "" && word.none {
			continue
		}
		chosen, err := rows.Named(word.name).Choose(*word.said)
		if err != nil {
			return err
		}
		*word.said = chosen
	}
	return nil
}

// Excepted are the days that the call leaves out, its files by their absolute paths; nil when it
// says nothing of them.
func Excepted(s *cli.Call) []string {
	list := slices.Clone(listOf(s, "except"))
	inFolder(s, list)
	return list
}

// inFolder makes the paths of files absolute among the days that are left out.
func inFolder(s *cli.Call, days []string) {
	for i, text := range days {
		if name, ok := rules.DayFile(strings.TrimSpace(text)); ok {
			days[i] = rules.InFile(cli.Absolute(s, name))
		}
	}
}

// said returns the value of an option; nil when it was not given.
func said[T any](s *cli.Call, name string, value func(string) T) *T {
	if !s.Opt.Has(name) {
		return nil
	}
	v := value(name)
	return &v
}

// textOf returns the text of an option; nil when it was not given.
func textOf(s *cli.Call, name string) *string { return said(s, name, s.Opt.Text) }

// listOf returns the values of an option; nil when it was not given.
func listOf(s *cli.Call, name string) []string {
	if !s.Opt.Has(name) {
		return nil
	}
	return cli.OrEmpty(s.Opt.List(name))
}

// WorldOf returns all that decides what a request of this call means.
func WorldOf(s *cli.Call) tasks.World {
	return tasks.World{
		Clock:    s.Clock,
		Times:    s.Options,
		Origin:   func() (string, error) { return cli.Origin(s) },
		Settings: s.Settings,
		File:     func() string { return cli.ConfigPath(s) },
		Around:   func() (*tasks.Surroundings, error) { return cli.SurroundingsOf(s) },
		Here:     s.Node,
		Environ:  s.Environ,
		Terminal: func() string { return cli.OwnTerminal(s.World) },
		Boot:     proc.Boot,
		Piped:    s.Surface == nil && !s.Opt.Has("stdin") && cli.IsPiped(s.In),
		Programs: handover.Programs(s),
		Find:     awaitedBy(s),
	}
}

// awaitedBy returns what finds the tasks that a task of the call waits for.
func awaitedBy(s *cli.Call) tasks.Awaited {
	if s.Awaited != nil {
		return s.Awaited
	}
	return func(ctx context.Context, id string) (state.Entry, error) { return awaited(ctx, s, id) }
}

// awaited finds the task that another one waits for, by its ID, the beginning of its ID, or its
// key.
func awaited(ctx context.Context, s *cli.Call, id string) (state.Entry, error) {
	st, err := s.Open()
	if err != nil {
		return state.Entry{}, err
	}
	e, failed, err := view.PickID(ctx, st.Find, id, func(state.Entry) bool { return true })
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

// scriptMost is the most bytes of a script.
const scriptMost = 1 << 20

// script returns a function that reads a script once. What runs later is the text that was there
// when the task was scheduled.
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
	b, err := cli.ReadInput(ctx, s, name, scriptMost)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	itself := problem.Set(problem.Command, []string{"/path/to/script"})
	switch {
	case err != nil:
		return "", problem.Of(problem.T("the script cannot be read: "+err.Error()),
			problem.T("%s takes a file that can be read", problem.Option("file")))
	case len(b) > scriptMost:
		return "", problem.New(problem.Limit, problem.T("the script is longer than 1 MiB"),
			problem.T("keep it in a file and schedule that: %s", itself))
	case len(strings.TrimSpace(string(b))) == 0:
		return "", problem.Of(problem.T("the script is empty"),
			problem.T("%s takes a file with commands, or - for standard input", problem.Option("file")))
	case !utf8.Valid(b):
		return "", problem.Of(problem.T("the script is not valid UTF-8"),
			problem.T("schedule the file itself: %s", itself))
	}
	return string(b), nil
}
