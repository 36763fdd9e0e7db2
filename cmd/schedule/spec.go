package schedule

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// specOf is what the options of a call say of a task.
func specOf(s *cli.Call) (tasks.Spec, error) {
	v := s.Opt
	text := func(name string) *string { return said(v, name, v.Text) }
	whole := func(name string) *int { return said(v, name, v.Int) }
	yes := func(name string) *bool { return said(v, name, v.Bool) }
	list := func(name string) []string {
		if !v.Has(name) {
			return nil
		}
		return cli.OrEmpty(v.List(name))
	}
	spec := tasks.Spec{
		Description: text("description"), Text: text("task"),
		Shell: text("c"), Agent: text("agent"), Program: text("shell"), Env: list("env"),
		Title: text("title"), Project: text("project"), Priority: text("priority"), Request: yes("rpc-request"),
		Catchup: text("catchup"), Overlap: text("overlap"), Window: text("window"), Timeout: text("timeout"), Backoff: text("backoff"), Retries: whole("retries"),
		If: text("if"), UntilOutput: text("until-output"), Rerun: yes("rerun-interrupted"), UntilOK: yes("until-ok"),
		Notify: list("notify"), Webhook: list("webhook"), NotifyOn: text("notify-on"), Prefix: text("prefix"),
		Sample: s.Sample,
	}
	if s.Dash {
		spec.Command = cli.OrEmpty(s.Tail)
	}
	if v.Has("file") {
		spec.Script = script(s, v.Text("file"))
	}
	for _, word := range []struct {
		name string
		said *string
		none bool // nothing stands for nothing, and not for the first choice
	}{{"priority", spec.Priority, false}, {"catchup", spec.Catchup, false}, {"overlap", spec.Overlap, false}, {"notify-on", spec.NotifyOn, true}} {
		if word.said == nil {
			continue
		}
		if *word.said = strings.TrimSpace(*word.said); *word.said == "" && word.none {
			continue
		}
		chosen, err := s.Cmd.Options.Named(word.name).Choose(*word.said)
		if err != nil {
			return spec, err
		}
		*word.said = chosen
	}
	return spec, nil
}

// said is the value of an option; nil when it was not given.
func said[T any](v option.Values, name string, value func(string) T) *T {
	if !v.Has(name) {
		return nil
	}
	t := value(name)
	return &t
}

// worldOf is what a call is judged by.
func worldOf(s *cli.Call) tasks.World {
	return tasks.World{
		Settings: s.Settings,
		File:     func() string { return cli.ConfigPath(s) },
		Around:   func() (*tasks.Surroundings, error) { return cli.SurroundingsOf(s) },
		Environ:  s.Environ,
		Terminal: func() string { return cli.OwnTerminal(s.World) },
		Programs: handover.Programs(s),
	}
}

// scriptMost bounds a script, as every text of a task is bounded.
const scriptMost = 1 << 20

// script reads a script whole, once: what runs later is what was there when it was scheduled.
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
	var b []byte
	var err error
	read := make(chan struct{})
	go func() { // what it is read from may be a pipe that nobody writes to: the caller can still end us
		defer close(read)
		if name == "-" {
			b, err = io.ReadAll(io.LimitReader(s.In, scriptMost+1))
			return
		}
		var f *os.File
		if f, err = os.Open(path(s, name)); err == nil {
			defer f.Close()
			b, err = io.ReadAll(io.LimitReader(f, scriptMost+1))
		}
	}()
	select {
	case <-read:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	itself := problem.Set(problem.Command, []string{"/path/to/script"})
	switch {
	case err != nil:
		return "", problem.Of(problem.T("the script cannot be read: "+err.Error()), problem.T("%s takes a file that can be read", problem.Option("file")))
	case len(b) > scriptMost:
		return "", problem.New(problem.Limit, problem.T("the script is longer than 1 MiB"), problem.T("keep it in a file and schedule that: %s", itself))
	case len(strings.TrimSpace(string(b))) == 0:
		return "", problem.Of(problem.T("the script is empty"), problem.T("%s takes a file with commands, or - for standard input", problem.Option("file")))
	case !utf8.Valid(b):
		return "", problem.Of(problem.T("the script is not valid UTF-8"), problem.T("schedule the file itself: %s", itself))
	}
	return string(b), nil
}

// path is a file name of the user's, made absolute.
func path(s *cli.Call, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if dir, err := s.Getwd(); err == nil {
		return filepath.Join(dir, name)
	}
	return name
}
