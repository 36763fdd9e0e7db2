package history

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// logEntry writes a line of the ledger. When the call names one task it also writes the output of
// the run.
func logEntry(ctx context.Context, out *cli.Out, st state.Outputs, o *logOptions, l state.Line,
	deliveries *view.Deliveries) {
	logEntryAlone(out, o, l, deliveries)
	if o.namesTask() && l.Number > 0 && l.Type != state.LineDelivery {
		showOutput(ctx, out, st, l, o.outputLimit)
	}
}

// logEntryAlone writes a line of the ledger without the output of its run.
func logEntryAlone(out *cli.Out, o *logOptions, l state.Line, deliveries *view.Deliveries) {
	width, terminal := out.Width()
	paint := out.Paint()
	list := deliveries.List(l, o.zone)
	switch {
	case terminal && len(list) > 0: // each recipient has a line, so that none is cut off
		out.Line("%s", cli.Fit(logLine(paint, l, o.zone, false), width))
		for _, text := range list {
			out.Line("%s", cli.Fit(strings.Repeat(" ", len("2006-01-02 15:04:05  k7m2/333  "))+text, width))
		}
	case terminal:
		out.Line("%s", cli.Fit(logLine(paint, l, o.zone, !o.namesTask()), width))
	case o.namesTask():
		out.Line("%s", strings.Join(append([]string{logLine(paint, l, o.zone, false)}, list...), "; "))
	default:
		out.Line("%s", logFields(l, o.zone))
	}
}

// runningNow says which runs of a task go on; empty for none.
func runningNow(open []state.Record, now time.Time) string {
	if !slices.ContainsFunc(open, tasks.RunAlive) {
		return ""
	}
	var runs []string
	for _, r := range open {
		text := state.OccurrenceID(r.Task.ID, r.Number)
		if r.Node != "" {
			text += " on " + cli.Visible(r.Node)
		}
		if !r.Started.IsZero() {
			text += " for " + say.Distance(r.Started, now)
		}
		runs = append(runs, text)
	}
	return "Running: " + strings.Join(runs, ", ") + "."
}

// logJSON is the answer of log. It has no total, because the ledger is not read to its beginning.
type logJSON struct {
	Now      time.Time       `json:"now"`
	Total    *int            `json:"total,omitempty"`
	More     int             `json:"more"`
	Running  bool            `json:"running,omitempty" jsonschema:"a run of the task asked for is going on"`
	Log      []view.LineJSON `json:"log"`
	Problems []string        `json:"problems,omitempty"`

	past    logPast
	o       logOptions
	running string // says which runs go on
	st      state.Outputs
}

// Text writes what has happened, oldest first, and the output when the call names one task.
func (a logJSON) Text(out *cli.Out) {
	switch one := a.o.namesTask(); {
	case a.past.more && !a.o.hasLimit && !one:
		out.Note("… there are older entries; %s log -n N shows more", out.Program())
	case a.Running:
		out.Note("%s", a.running)
	case len(a.past.lines) == 0 && len(a.o.outcomes) > 0:
		out.Note("Nothing ended so.")
	case len(a.past.lines) == 0 && one:
		out.Note("Task %s has not run yet.", a.o.task)
	case len(a.past.lines) == 0 && !a.o.since.IsZero():
		out.Note("Nothing has happened since then.")
	case len(a.past.lines) == 0:
		out.Note("Nothing has happened yet.")
	}
	for _, l := range a.past.lines {
		logEntry(context.Background(), out, a.st, &a.o, l, a.past.deliveries)
	}
}

// lineOf is a line in JSON, with its output when the call names one task.
func lineOf(ctx context.Context, st state.Outputs, o *logOptions, l state.Line) view.LineJSON {
	if !o.namesTask() {
		return view.AsLineJSON(l, o.now.Location())
	}
	return view.LineWithOutput(ctx, st, l, o.now.Location(), o.outputLimit)
}
