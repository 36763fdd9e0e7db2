package tasks

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

// Exceptions are the days that a request leaves out of a recurrence.
type Exceptions struct {
	Texts, Lines []string // as a task keeps them
	Days         *recur.Days
}

// ReadExceptions reads the texts of days that are left out, and the files that they name. An empty
// text leaves out none.
func ReadExceptions(ctx context.Context, said []string, files *needs.Finder, o when.Options) (e Exceptions, err error) {
	for _, text := range said {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		days, lines, err := readException(ctx, text, files, o)
		if err != nil {
			return Exceptions{}, about("except", err)
		}
		e.Texts, e.Lines, e.Days = append(e.Texts, text), append(e.Lines, lines...), e.Days.And(days)
	}
	return e, nil
}

// readException reads one text. For a file it returns its lines as well.
func readException(ctx context.Context, text string, files *needs.Finder, o when.Options) (*recur.Days, []string, error) {
	path, ok := rules.DayFile(text)
	if !ok {
		days, err := when.ParseDays(text, o)
		return days, nil, err
	}
	days, lines, err := rules.ReadDayFile(path, func(path string) (string, error) { return files.Text(ctx, path) }, o)
	if file, ok := errors.AsType[*rules.DayFileError](err); ok {
		if _, ok := errors.AsType[*fault.Error](file.Err); !ok {
			return nil, nil, problem.Of(problem.T(file.Error()), problem.T("%s names a file with a day a line, such as 2027-01-06", problem.Set("except", "file:PATH")))
		}
		p := explain(file.Err)
		return nil, nil, p.Saying(problem.T("%s, %s", path, p.Message))
	}
	return days, lines, err
}

// keep stores the exceptions in a task.
func (e Exceptions) keep(t *state.Timing) {
	t.Except, t.ExceptDays = slices.Clone(e.Texts), slices.Clone(e.Lines)
}

// exceptions returns those of the request, or else those of the task, whose files are read again. A
// file that cannot be read leaves its days as they were.
func (c timing) exceptions(ctx context.Context, o when.Options) (Exceptions, error) {
	if c.Except != nil {
		return ReadExceptions(ctx, c.Except, c.Programs, o)
	}
	t := c.was.Task.When
	if e, err := ReadExceptions(ctx, t.Except, c.Programs, o); err == nil {
		return e, nil
	}
	days, err := rules.Excepted(t, o)
	return Exceptions{t.Except, t.ExceptDays, days}, err
}
