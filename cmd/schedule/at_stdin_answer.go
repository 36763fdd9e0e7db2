package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// stdin is a call of at --stdin.
type stdin struct {
	Lines
	st      state.Store
	worst   int // the highest exit code of a line so far
	counts  struct{ created, kept, replaced, failed int }
	warned  map[cli.WarningKind]bool // kinds that are written once, and were
	checked map[string]bool          // the sets of channels that were checked
	grouped warningGroups            // with --quiet: the warnings that are written at the end
	batch   *batchJSON               // with --quiet and --json: the answer to all lines
	runner  runnerWatch
}

// warningGroups are the warnings of many lines, grouped by kind.
type warningGroups []*warningGroup

type warningGroup struct {
	cli.Warning     // the warning of the first line
	line        int // the first line
	n           int // how many warnings of this kind there are
}

// collect adds a warning of a line to its group.
func (list *warningGroups) collect(line int, w cli.Warning) {
	i := slices.IndexFunc(*list, func(have *warningGroup) bool { return have.Kind == w.Kind })
	if i < 0 {
		i = len(*list)
		*list = append(*list, &warningGroup{Warning: w, line: line})
	}
	(*list)[i].n++
}

// texts returns one warning for each group, with the number of lines that have it.
func (list warningGroups) texts(o *cli.Out) []string {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = fmt.Sprintf("line %d: %s", w.line, o.Render(w.Text))
		if w.n > 1 {
			texts[i] = fmt.Sprintf("%d lines, the first of them line %d: %s", w.n, w.line, o.Render(w.Text))
		}
	}
	return texts
}

func runAtStdin(ctx context.Context, s *cli.Call) error {
	in := &stdin{Lines: Lines{Call: s, Fields: s.Cmd.Options.Fields()}, warned: map[cli.WarningKind]bool{},
		checked: map[string]bool{}}
	if err := in.readCall(ctx); err != nil {
		return err
	}
	if in.Form == formJSON {
		o, err := in.readOne(ctx)
		if err != nil {
			return err
		}
		return addOne(ctx, s, o)
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	in.st = st
	return in.run(ctx)
}

// gcPercent is the target of the garbage collector while lines are read. The heap is small then:
// with the usual 100 it would be collected a hundred times a second, which takes a third of the
// time.
const gcPercent = 200

// run schedules the lines. It answers each line in turn, or with --quiet and --json all lines in
// one object.
func (in *stdin) run(ctx context.Context) error {
	if in.Quiet && in.InJSON && in.Form != formJSON {
		in.batch = &batchJSON{IDs: []string{}}
	}
	err := in.scheduleAll(ctx)
	switch {
	case in.batch != nil:
		err = in.answerBatch(err)
	case err == nil:
		in.summarize()
	}
	if err == nil && in.worst != cli.ExitOK {
		return cli.ExitCode(in.worst)
	}
	return err
}

// scheduleAll schedules the lines. A line that was answered is durable.
func (in *stdin) scheduleAll(ctx context.Context) error {
	if cli.IsTerminal(in.In) {
		in.Note("Reading from the terminal; Ctrl-D ends it.")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	feeding, stop := context.WithCancel(ctx)
	defer stop()
	to := newItemQueue()
	go func() { to.End(in.feed(feeding, to)) }()
	defer func() {
		for _, text := range in.grouped.texts(&in.Out) {
			in.Warn("warning: %s", cli.Visible(text))
		}
	}()
	in.runner.start(in)
	defer in.runner.stop()
	for {
		batch, err := to.Take(ctx, in.runner.idle.C)
		if err == nil && batch != nil {
			err = in.schedule(ctx, batch)
		} else if err == nil || err == io.EOF {
			in.runner.recheck(ctx, err == io.EOF)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// schedule adds the tasks of a batch to the store, and answers each line. An error ends the call.
func (in *stdin) schedule(ctx context.Context, batch []item) error {
	var list []*tasks.Change
	for _, it := range batch {
		if it.err == nil {
			list = append(list, it.draft.Change)
		}
	}
	results := tasks.AddAll(ctx, in.st, runnerStarter(in.Call, in.st), list)
	var h handover.RunnerState
	if slices.ContainsFunc(results, func(r tasks.Result) bool { return r.Err == nil }) {
		h = in.runner.ensure(ctx)
	}
	for _, it := range batch {
		var done tasks.Done
		if it.err == nil {
			done, it.err = results[0].Done, results[0].Err
			results = results[1:]
		}
		if ctx.Err() != nil && errors.Is(it.err, ctx.Err()) {
			continue // it is neither scheduled nor refused, because the call ends here
		}
		if it.err != nil {
			in.refuse(it)
		} else {
			in.answer(it.Line, &scheduled{Done: done, warnings: it.draft.warnings}, h)
		}
	}
	if err := in.Flush(); err != nil {
		p := cli.Explain(err)
		return p.Saying(problem.T("the lines up to %d were scheduled, but %s", batch[len(batch)-1].Line, p.Message))
	}
	return ctx.Err()
}

// atLineJSON is the answer of at --stdin to a line that was scheduled.
type atLineJSON struct {
	Line int `json:"line"`
	atJSON
}

// Text writes a sentence. With --quiet it writes the ID.
func (a atLineJSON) Text(o *cli.Out) {
	if o.Quiet {
		a.atJSON.Text(o)
		return
	}
	o.Line("%s", a.of.sentence())
	if text := a.of.differences(); text != "" {
		o.Note("line %d: %s", a.Line, cli.Visible(text))
	}
	for _, note := range a.of.notes() {
		o.Note("note: line %d: %s", a.Line, cli.Visible(note))
	}
}

// answer counts and answers a line that was scheduled, kept or replaced.
func (in *stdin) answer(line int, d *scheduled, h handover.RunnerState) {
	switch {
	case d.Created:
		in.counts.created++
	case d.Replaced:
		in.counts.replaced++
	default:
		in.counts.kept++
	}
	d.dry = in.DryRun
	d.addWarnings(in.Call, h, in.checked)
	if in.batch == nil {
		in.Answer(atLineJSON{line, *asAtJSON(in.Call, d, h)})
	} else {
		in.batch.add(in.Call, d)
	}
	if in.InJSON && in.batch == nil {
		return
	}
	// Warnings about the setup or the runner are the same for all lines, and are written once.
	for _, w := range d.warnings {
		switch once := w.OfSetup() || w.Kind == cli.WarnRunner; {
		case in.Quiet && w.OfSetup(), once && in.warned[w.Kind]:
		case once && in.batch != nil:
			in.warned[w.Kind] = true
			in.batch.Warnings = append(in.batch.Warnings, in.Render(w.Text))
		case once:
			in.warned[w.Kind] = true
			in.Warn("warning: %s", cli.Visible(in.Render(w.Text)))
		case in.Quiet:
			in.grouped.collect(line, w)
		default:
			in.Warn("warning: line %d: %s", line, cli.Visible(in.Render(w.Text)))
		}
	}
}

// lineFailedJSON is the answer of at --stdin to a line that was refused.
type lineFailedJSON struct {
	Now   time.Time     `json:"now"`
	Line  int           `json:"line"`
	Error cli.ErrorJSON `json:"error"`

	problem *problem.Problem
}

// Text writes the error with the number of its line.
func (a lineFailedJSON) Text(o *cli.Out) { o.ShowProblem(fmt.Sprintf("line %d: ", a.Line), a.problem) }

// refuse counts and answers a line that was refused.
func (in *stdin) refuse(it item) {
	f := cli.Explain(it.err)
	in.counts.failed++
	in.worst = max(in.worst, f.ExitCode())
	if in.batch != nil {
		in.batch.Errors = append(in.batch.Errors, lineErrorJSON{it.Line, in.AsErrorJSON(f)})
		return
	}
	in.Answer(lineFailedJSON{in.Stamp(), it.Line, in.AsErrorJSON(f), f})
}

// summarize writes how many lines were scheduled, kept, replaced and refused.
func (in *stdin) summarize() {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{in.counts.created, "scheduled"}, {in.counts.kept, "kept"}, {in.counts.replaced, "replaced"},
		{in.counts.failed, "refused"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		in.Note("There are no lines to schedule.")
		return
	}
	front := ""
	if in.DryRun {
		front = "dry run: "
	}
	who, there := "", in.counts.created+in.counts.kept+in.counts.replaced
	if there > 0 {
		who = " " + in.runner.h.Who()
	}
	in.Note(front+"%s: %s.%s", cli.Plural(there+in.counts.failed, "line"), strings.Join(parts, ", "), who)
}
