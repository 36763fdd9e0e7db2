package schedule

import (
	"context"
	"errors"
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

// specOf returns the request of a call: all that it says about a task. The time is the words of the
// call, or an option that gives it in one form.
func specOf(s *cli.Call) (tasks.Spec, error) {
	spec := tasks.Spec{Share: s.Share, Sample: s.Sample}
	for _, name := range s.Opt.Names() {
		spec.Set(name, s.Opt.Value(name))
	}
	spec.Except = AbsoluteDays(s, spec.Except)
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
	if spec.On != nil {
		if err := requireFleet(s, "on"); err != nil {
			return spec, err
		}
	}
	if s.Dash {
		spec.Command = cli.OrEmpty(s.Tail)
	}
	if s.Opt.Has("file") {
		spec.Script = script(s, s.Opt.Text("file"))
	}
	return spec, resolveChoices(s.Cmd.Options, &spec)
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

// AbsoluteDays returns days that are left out, with absolute paths where a file gives them.
func AbsoluteDays(s *cli.Call, days []string) []string {
	days = slices.Clone(days)
	for i, text := range days {
		if name, ok := rules.DayFile(strings.TrimSpace(text)); ok {
			days[i] = rules.InFile(cli.Absolute(s, name))
		}
	}
	return days
}

// WorldOf returns all that a request of this call depends on, such as the clock and the settings.
func WorldOf(s *cli.Call) tasks.World {
	return tasks.World{
		Clock:    s.Clock,
		Times:    s.TimeOptions,
		Origin:   func() (string, error) { return cli.Origin(s) },
		Settings: s.Settings,
		File:     func() string { return cli.ConfigPath(s) },
		Around:   func() (*tasks.Surroundings, error) { return surroundingsOf(s) },
		Here:     s.Node,
		Environ:  s.Environ,
		Terminal: func() string { return cli.TerminalDevice(s.World) },
		Boot:     proc.Boot,
		Piped:    func() bool { return cli.HasInput(s) && !s.Opt.Has("stdin") && cli.IsPiped(s.In) },
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
		if e, err = st.Holder(ctx, id); !errors.Is(err, state.ErrNotFound) {
			return e, err
		}
	}
	return e, failed.Problem
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
