package schedule

import (
	"errors"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// Typed is a request that somebody typed in top as one line, with the words of at or edit.
type Typed struct {
	tasks.Spec
	World tasks.World

	call *cli.Call
}

// ReadTyped reads a line as at reads its words, or with an ID as edit reads the words after the ID.
// It refuses options that are about a whole call. The request has the folder and variables of s.
func ReadTyped(s *cli.Call, id, line string) (t Typed, err error) {
	command := AtCommand()
	if id != "" {
		command = EditCommand()
	}
	words, shell, err := tasks.Words(line)
	switch {
	case errors.Is(err, tasks.ErrQuote):
		return t, problem.Of(problem.T("a quote is not closed"), problem.T(`close it; ' itself is written "'"`))
	case err != nil:
		return t, problem.Of(problem.T("the line ends with a backslash"), problem.T(`leave it out, or write \\`))
	case shell != "":
		return t, problem.Of(problem.T("%s has no meaning without a shell", cli.Quote(shell)),
			problem.T("give a line for the shell as %s", problem.Set("c", "...")))
	}
	command.Options = slices.DeleteFunc(slices.Clone(command.Options),
		func(o option.Option) bool { return o.OfCall || o.Name == "match" })
	read, err := command.Syntax().Words(words)
	if err != nil {
		return t, err
	}
	one := *s
	one.Cmd, one.Opt, one.Args, one.Tail, one.Dash, one.After = &command, read.Values, read.Args, read.Tail,
		read.Dash, read.After
	one.In = strings.NewReader("") // top reads the keyboard itself
	t.call, t.World = &one, WorldOf(&one)
	if id == "" {
		t.Spec, err = specOf(&one)
	} else {
		t.Spec, err = changes(&one, id)
	}
	return t, err
}

// Explained adds to the error of a request a hint at what may have been meant.
func (t Typed) Explained(err error) error {
	if t.call == nil {
		return err
	}
	return hintForUnmarked(t.call, t.Spec, err)
}
