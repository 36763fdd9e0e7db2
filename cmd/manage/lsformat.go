package manage

import (
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// These are the forms of a list.
const (
	formatCalendar = "calendar" // tasks by day, as on a terminal
	formatTable    = "table"    // a line for each task, in columns with names above
	formatTSV      = "tsv"      // a line for each task, fields separated by tabs, as in a pipe
	formatJSON     = "json"     // the same as --json
)

// formatOf returns the form that the call asks for, or else the one for a terminal or a pipe.
func formatOf(s *cli.Call) (format string, err error) {
	_, terminal := s.Width()
	switch {
	case s.Opt.Has("format"):
		if format, err = s.Cmd.Options.Named("format").Choose(s.Opt.Text("format")); err != nil {
			return "", err
		}
		if s.InJSON && format != formatJSON {
			return "", cli.Excluding("format", "json")
		}
		s.InJSON = format == formatJSON
	case s.InJSON:
		format = formatJSON
	case terminal:
		format = formatCalendar
	default:
		format = formatTSV
	}
	if s.Opt.Bool("header") && format != formatTSV {
		return "", problem.Of(problem.T("%s is for the format tsv, and this is %s",
			problem.Option("header"), format),
			problem.T("%s", problem.To("ls").With("format", formatTSV).With("header", true)))
	}
	return format, nil
}

// form says how a list is written.
type form struct {
	format string
	header bool // the names of the fields come first
}

// plain reports whether the list is for programs: fields separated by tabs.
func (f form) plain() bool { return f.format == formatTSV }

// head writes the names of the fields when the call asks for them.
func (f form) head(o *cli.Out, names string) {
	if f.header {
		o.Line("%s", names)
	}
}

// lineWidth returns the width of the terminal. Without a terminal, lines may have any width.
func lineWidth(o *cli.Out) int {
	if width, terminal := o.Width(); terminal {
		return width
	}
	return 1 << 16
}

// fieldNames are the names of the fields of taskFields, separated by tabs.
const fieldNames = "id\tdue\tstate\ttype\tas_typed\twhat"

// listTable writes the tasks in columns, for people.
func listTable(o *cli.Out, entries []state.Entry, now time.Time, more int) {
	paint := o.Paint()
	rows := [][]string{{"ID", "DUE", "STATE", "TYPE", "AS TYPED", "WHAT"}}
	for _, e := range entries {
		due := "-"
		if at := view.DueOf(e); !at.IsZero() {
			due = at.In(now.Location()).Format(time.DateTime)
		}
		phase := stateOf(e)
		if view.IsOverdue(e, now) {
			phase = "overdue"
		}
		rows = append(rows, []string{e.Task.ID, due, paint.As(meaningOf(e, now), phase), e.Task.Type(),
			cli.Visible(e.Task.When.Text), view.Describe(e.Task)})
	}
	width := lineWidth(o)
	for _, line := range cli.InColumns(rows) {
		o.Line("%s", cli.Fit(line, width))
	}
	if more > 0 {
		o.Line("… and %s more", view.Thousands(more))
	}
}
