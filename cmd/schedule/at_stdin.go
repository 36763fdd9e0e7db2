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
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// The forms of --stdin.
const (
	FormJSONL = "jsonl" // one object a line
	formLines = "lines" // one line for the shell a line, and one WHEN for all
	formJSON  = "json"  // one object
)

// Lines reads what stands on standard input, each line as a call of at.
type Lines struct {
	*cli.Call
	// as the lines are read against: another goroutine than the one that schedules reads them
	Base   cli.Call
	Form   string
	Fields option.Fields
	timed  bool          // the command line gives a time
	span   time.Duration // of --spread
}

// Stdin is a call of at --stdin.
type Stdin struct {
	Lines
	St     state.Store
	worst  int // exit code so far
	counts struct{ created, kept, replaced, failed int }
	warned map[cli.WarningKind]bool // once for all lines
	Asked  map[string]bool          // channels that it was looked at whether they are ready
	quiet  likeWarnings             // with --quiet: what the end says of the lines
	batch  *batchJSON               // with --quiet and --json: the one answer of all lines
	runner RunnerWatch
}

// likeWarnings counts the warnings of many lines, a kind after the other.
type likeWarnings []*likeWarning

type likeWarning struct {
	cli.Warning // of the first line
	line, n     int
}

// collect counts a warning of a line among those of its kind.
func (list *likeWarnings) collect(line int, w cli.Warning) {
	i := slices.IndexFunc(*list, func(have *likeWarning) bool { return have.Kind == w.Kind })
	if i < 0 {
		i = len(*list)
		*list = append(*list, &likeWarning{Warning: w, line: line})
	}
	(*list)[i].n++
}

// texts say each kind of warning once, with how many lines it is of.
func (list likeWarnings) texts(o *cli.Out) []string {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = fmt.Sprintf("line %d: %s", w.line, o.Says(w.Text))
		if w.n > 1 {
			texts[i] = fmt.Sprintf("%d lines, the first of them line %d: %s", w.n, w.line, o.Says(w.Text))
		}
	}
	return texts
}

func runAtStdin(ctx context.Context, s *cli.Call) error {
	in := &Stdin{Lines: Lines{Call: s, Fields: s.Cmd.Options.Fields()}, warned: map[cli.WarningKind]bool{},
		Asked: map[string]bool{}}
	if err := in.readCall(ctx); err != nil {
		return err
	}
	if in.Form != formLines {
		s.Surface = Objects(s.Cmd)
	}
	if in.Form == formJSON {
		o, err := in.readOne(ctx)
		if err != nil {
			return err
		}
		return runAt(ctx, s, o)
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	in.St = st
	return in.run(ctx)
}

// Objects is the surface of objects that stand for calls of at.
func Objects(at *cli.Command) problem.Surface {
	return option.Objects{Command: at.Name, Rows: at.Options}
}

// readCall reads the command line, and refuses what has no meaning beside --stdin or is wrong for
// every line.
func (in *Lines) readCall(ctx context.Context) error {
	in.Form = strings.ToLower(strings.TrimSpace(in.Opt.Text("stdin")))
	if _, err := in.Cmd.Options.Named("stdin").Choose(cli.OrElse(in.Form, cli.Quote(""))); err != nil {
		return err
	}
	spec, err := timeOf(in.Call)
	if err != nil {
		return err
	}
	in.timed = spec.When != nil
	run, objects := problem.T("the lines say what to run"), problem.Set("stdin", FormJSONL)
	for _, odd := range []struct {
		is         bool
		what, hint problem.Text
	}{
		{in.Dash, problem.T("a command after %s", problem.Command), run},
		{in.Opt.Has("c"), problem.T("%s", problem.Option("c")), run},
		{in.Opt.Has("file"), problem.T("%s", problem.Option("file")), run},
		{in.Form != formJSON && in.Opt.Has("key"), problem.T("%s", problem.Option("key")),
			problem.T(`a key is one task's: give each line its own "key", with %s`, objects)},
		{in.Form == formLines && in.Opt.Has("replace"), problem.T("%s", problem.Option("replace")),
			problem.T("lines have no keys; give objects with %s", objects)},
		{in.Form != formJSON && in.Opt.Has("expect"), problem.T("%s", problem.Option("expect")),
			problem.T(`it is one task's: give each line its own "expect", with %s`, objects)},
		{in.Form == formJSON && in.Opt.Has("spread"), problem.T("%s", problem.Option("spread")),
			problem.T("it deals out the lines of %s and %s", problem.Set("stdin", formLines), objects)},
		{in.Opt.Has("spread") && in.Opt.Has("jitter"), problem.T("%s", problem.Options(" with ", "jitter", "spread")),
			problem.T("give one of them: %s puts each task off by its share of the span", problem.Option("spread"))},
	} {
		if odd.is {
			return problem.Of(problem.T("%s has no meaning beside %s", odd.what,
				problem.Set("stdin", in.Form)), odd.hint)
		}
	}
	if in.Opt.Has("spread") {
		if in.span, err = tasks.Span("spread", in.Opt.Text("spread"), problem.T("to deal tasks out over"),
			"1h"); err != nil {
			return err
		}
	}
	switch {
	case in.Form == formLines && !in.timed:
		return problem.Of(problem.T("when? %s needs one time for all lines", problem.Set("stdin", formLines)),
			problem.T("%s", problem.To("at", "tomorrow", "10am").With("stdin", formLines)))
	case in.span > 0 && !in.timed:
		return problem.Of(problem.T("%s needs the time at which it begins", problem.Option("spread")),
			problem.T("%s", problem.To("at", "22:00").With("spread", "1h").With("stdin", in.Form)))
	}
	// What the settings say is read here, once: lines are read by a goroutine of their own.
	opts, err := in.Options()
	if err != nil {
		return err
	}
	if _, err := cli.SurroundingsOf(in.Call); err != nil {
		return err
	}
	if in.Form != formLines && in.Surface == nil {
		in.Surface = option.Objects{Command: "at", Rows: in.Cmd.Options, Line: problem.Shell{Program: in.Program()}}
	}
	in.Base = *in.Call
	in.Base.Finder = handover.Programs(in.Call) // one for all lines
	if !in.Opt.Has("tz") {
		in.Base.OwnZone = opts.Zone
	}
	if !in.timed {
		return nil
	}
	opts.Form = spec.Form
	if in.Form != formLines {
		if err := spec.Bounds(&opts); err != nil {
			return err
		}
		_, err := when.Parse(*spec.When, opts)
		return err
	}
	// One line stands for all: what is wrong with it is wrong with the call.
	sample := in.line(option.Object{Values: option.Values{}.With("c", "true")}, shareIf(in.span))
	sample.Sample = true
	_, err = readAt(ctx, sample)
	return err
}

// shareIf is a share of the span, if there is one.
func shareIf(span time.Duration) *tasks.Share {
	if span == 0 {
		return nil
	}
	return tasks.ShareOf(span, 0, 1)
}

// line is the call of at that an object stands for. What the object does not say is as the command
// line says; a time of the object's own takes the place of that of the command line.
func (in *Lines) line(o option.Object, part *tasks.Share) *cli.Call {
	one := in.Base
	one.Opt, one.Tail, one.Dash, one.Share = in.Said(o), o.Command, o.Command != nil, part
	if o.Timed() {
		if one.Args = nil; o.When != nil {
			one.Args = []string{*o.When}
		}
		one.Share = nil
	}
	return &one
}

// Said are the options of a line.
func (in *Lines) Said(o option.Object) option.Values {
	call := in.Base.Opt
	if o.Timed() {
		call = call.Without(option.Forms...)
	}
	return o.Values.Over(call)
}

// Object reads a line that is an object.
func (in *Lines) Object(text string) (option.Object, error) {
	o, err := in.Fields.Read([]byte(text), in.Base.Cmd.Options)
	if err == nil && o.Values.Text("file") == "-" {
		err = problem.Of(problem.T("%s cannot be standard input, which the tasks are read from",
			problem.Option("file")),
			problem.T("name a file, or give the text in %s", problem.Option("c")))
	}
	return o, err
}

// Read reads one line.
func (in *Lines) Read(ctx context.Context, text string, part *tasks.Share) (Draft, error) {
	var object option.Object
	var err error
	if in.Form == formLines {
		object.Values = object.Values.With("c", text)
		err = option.IsText([]byte(text))
	} else {
		object, err = in.Object(text)
		if err == nil && !in.timed && !object.Timed() {
			hint := problem.T("give it a time, %s", problem.Set(problem.When, "in 10m"))
			if in.Form != formJSON {
				hint = problem.T("give it a time, %s, or give one on the command line for all lines that have none", problem.Set(problem.When, "tomorrow at 10:00"))
			}
			err = problem.Of(problem.T("it does not say when"), hint)
		}
	}
	if err != nil && in.Form == formJSON {
		err = cli.Explain(err).About(problem.T("standard input"))
	}
	if err != nil {
		return Draft{}, err
	}
	return readAt(ctx, in.line(object, part))
}

// Blank reports whether a line says nothing: it is empty or, of lines for the shell, a comment.
func (in *Lines) Blank(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || in.Form == formLines && text[0] == '#'
}

// readOne reads all of standard input as one object.
func (in *Lines) readOne(ctx context.Context) (Draft, error) {
	var data []byte
	var err error
	read := make(chan struct{})
	go func() { // standard input may be a pipe that nobody writes to: the caller can still end us
		defer close(read)
		data, err = io.ReadAll(io.LimitReader(in.In, LineMost+1))
	}()
	select {
	case <-read:
	case <-ctx.Done():
		return Draft{}, ctx.Err()
	}
	text := strings.TrimPrefix(string(data), "\xef\xbb\xbf")
	switch {
	case err != nil:
		return Draft{}, Unreadable(err)
	case len(data) > LineMost:
		return Draft{}, tooLarge("standard input")
	case strings.TrimSpace(text) == "":
		return Draft{}, problem.Of(problem.T("standard input is empty"),
			problem.T("write an object such as "+option.Example))
	}
	return in.Read(ctx, text, nil)
}

func Unreadable(err error) error {
	return problem.New(problem.Failed, problem.T("standard input could not be read: "+err.Error()),
		problem.T("what was answered is scheduled; call again with the rest"))
}

// feed reads the lines into the intake, until they or ctx end.
func (in *Lines) feed(ctx context.Context, to *intake) error {
	lines := NewLineReader(in.In, LineMost)
	if in.span > 0 {
		return in.feedSpread(ctx, lines, to)
	}
	for {
		text, err := lines.Next()
		it := Item{Line: lines.Number, Size: len(text) + 1<<10}
		switch {
		case errors.Is(err, ErrLong):
			it.err = TooLong()
		case err == io.EOF:
			return io.EOF
		case err != nil:
			return Unreadable(err)
		case in.Blank(text):
			continue
		default:
			it.o, it.err = in.Read(ctx, text, nil)
		}
		if err := to.Put(ctx, it); err != nil {
			return err
		}
	}
}

// feedSpread deals out those lines that have no time of their own and can be read.
func (in *Lines) feedSpread(ctx context.Context, r *lineReader, to *intake) error {
	lines, err := r.all(in.Blank)
	if err != nil {
		var f *problem.Problem
		if !errors.As(err, &f) {
			err = Unreadable(err)
		}
		return err
	}
	in.Base.Present = in.Clock.Now() // one beginning for all
	dealt := make([]bool, len(lines))
	n := 0
	for i, l := range lines {
		if l.err == nil && in.Form == formLines {
			dealt[i] = option.IsText([]byte(l.text)) == nil
		} else if l.err == nil {
			o, err := in.Object(l.text)
			dealt[i] = err == nil && !o.Timed()
		}
		if dealt[i] {
			n++
		}
	}
	k := 0
	for i, l := range lines {
		it := Item{Line: l.line, Size: len(l.text) + 1<<10}
		var part *tasks.Share
		if dealt[i] {
			part = tasks.ShareOf(in.span, k, n)
			k++
		}
		if it.err = l.err; l.err != nil {
			it.err = TooLong()
		} else {
			it.o, it.err = in.Read(ctx, l.text, part)
		}
		if err := to.Put(ctx, it); err != nil {
			return err
		}
	}
	return io.EOF
}

// garbage is how much may lie while lines are read, in percent of what is in use, which is little:
// with the usual 100 it is collected a hundred times a second, which takes a third of the time.
const garbage = 200

// run schedules what the lines say, and answers each in its turn, or with --quiet and --json all of
// them in one object.
func (in *Stdin) run(ctx context.Context) error {
	if in.Quiet && in.InJSON && in.Form != formJSON {
		in.batch = &batchJSON{IDs: []string{}}
	}
	err := in.all(ctx)
	switch {
	case in.batch != nil:
		err = in.answerBatch(err)
	case err == nil:
		in.sum()
	}
	if err == nil && in.worst != cli.ExitOK {
		return cli.ExitCode(in.worst)
	}
	return err
}

// all schedules what the lines say. What was answered is durable.
func (in *Stdin) all(ctx context.Context) error {
	if cli.IsTerminal(in.In) {
		in.Talk("Reading from the terminal; Ctrl-D ends it.")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	feeding, stop := context.WithCancel(ctx)
	defer stop()
	to := NewIntake()
	go func() { to.End(in.feed(feeding, to)) }()
	defer func() {
		for _, text := range in.quiet.texts(&in.Out) {
			in.Warn("warning: %s", cli.Visible(text))
		}
	}()
	in.runner.Start(in)
	defer in.runner.Stop()
	for {
		batch, err := to.Take(ctx, in.runner.idle)
		if err == nil && batch != nil {
			err = in.schedule(ctx, batch)
		} else if err == nil || err == io.EOF {
			in.runner.Look(ctx, err == io.EOF)
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

// schedule puts a batch into the queue and answers it. Its error ends the call.
func (in *Stdin) schedule(ctx context.Context, batch []Item) error {
	var list []*tasks.Change
	for _, it := range batch {
		if it.err == nil {
			list = append(list, it.o.Change)
		}
	}
	results := tasks.AddAll(ctx, in.St, waking(in.Call, in.St), list)
	var h handover.RunnerState
	if slices.ContainsFunc(results, func(r tasks.Result) bool { return r.Err == nil }) {
		h = in.runner.See(ctx)
	}
	for _, it := range batch {
		var done tasks.Done
		if it.err == nil {
			done, it.err = results[0].Done, results[0].Err
			results = results[1:]
		}
		if ctx.Err() != nil && errors.Is(it.err, ctx.Err()) {
			continue // neither scheduled nor refused: the call ends here
		}
		if it.err != nil {
			in.refuse(it)
		} else {
			in.Answer(it.Line, &Scheduled{Done: done, warnings: it.o.warnings}, h)
		}
	}
	if err := in.Flush(); err != nil {
		p := cli.Explain(err)
		return p.Saying(problem.T("the lines up to %d were taken, but %s", batch[len(batch)-1].Line, p.Message))
	}
	return ctx.Err()
}

// atLineJSON is the answer of at --stdin to a line that was scheduled.
type atLineJSON struct {
	Line int `json:"line"`
	atJSON
}

// Text confirms in a sentence; with --quiet it is the ID.
func (a atLineJSON) Text(o *cli.Out) {
	if o.Quiet {
		a.atJSON.Text(o)
		return
	}
	o.Line("%s", a.of.sentence())
	if text := a.of.different(); text != "" {
		o.Talk("line %d: %s", a.Line, cli.Visible(text))
	}
	for _, note := range a.of.notes() {
		o.Talk("note: line %d: %s", a.Line, cli.Visible(note))
	}
}

// Answer tells what became of a line.
func (in *Stdin) Answer(line int, d *Scheduled, h handover.RunnerState) {
	switch {
	case d.Created:
		in.counts.created++
	case d.Replaced:
		in.counts.replaced++
	default:
		in.counts.kept++
	}
	d.dry = in.DryRun
	d.see(h, handover.RecipientsOf(in.Call, d.Entry.Task))
	d.warnings = append(d.warnings, in.unreadyOnce(d, h)...)
	d.warnings = append(d.warnings, in.Remote...)
	if in.batch == nil {
		in.Call.Answer(atLineJSON{line, *asAtJSON(in.Call, d, h)})
	} else {
		in.batch.add(in.Call, d)
	}
	if in.InJSON && in.batch == nil {
		return
	}
	for _, w := range d.warnings {
		switch alike := w.OfSetup() || w.Kind == cli.WarnRunner; {
		case in.Quiet && w.OfSetup(), alike && in.warned[w.Kind]:
		case alike && in.batch != nil:
			in.warned[w.Kind] = true
			in.batch.Warnings = append(in.batch.Warnings, in.Says(w.Text))
		case alike:
			in.warned[w.Kind] = true
			in.Warn("warning: %s", cli.Visible(in.Says(w.Text)))
		case in.Quiet:
			in.quiet.collect(line, w)
		default:
			in.Warn("warning: line %d: %s", line, cli.Visible(in.Says(w.Text)))
		}
	}
}

// unreadyOnce is what speaks against the channels of a task, of the first task that has them.
func (in *Stdin) unreadyOnce(d *Scheduled, h handover.RunnerState) []cli.Warning {
	names := strings.Join(d.told.All(), "\x00")
	if in.Asked[names] || !d.Created && !d.Replaced {
		return nil
	}
	in.Asked[names] = true
	return handover.Unready(in.Call, d.told, h)
}

// lineFailedJSON is the answer of at --stdin to a line that was refused.
type lineFailedJSON struct {
	Now   time.Time     `json:"now"`
	Line  int           `json:"line"`
	Error cli.ErrorJSON `json:"error"`

	problem *problem.Problem
}

// Text is the complaint.
func (a lineFailedJSON) Text(o *cli.Out) { o.Complain(fmt.Sprintf("line %d: ", a.Line), a.problem) }

// refuse tells why a line was not scheduled.
func (in *Stdin) refuse(it Item) {
	f := cli.Explain(it.err)
	in.counts.failed++
	in.worst = max(in.worst, f.ExitCode())
	if in.batch != nil {
		in.batch.Errors = append(in.batch.Errors, lineErrorJSON{it.Line, in.AsErrorJSON(f)})
		return
	}
	in.Call.Answer(lineFailedJSON{in.Stamp(), it.Line, in.AsErrorJSON(f), f})
}

// sum says in one sentence what came of all lines.
func (in *Stdin) sum() {
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
		in.Talk("There was no line to schedule.")
		return
	}
	front := ""
	if in.DryRun {
		front = "dry run: "
	}
	in.Talk(front+"%s. %s", cli.Plural(in.counts.created+in.counts.kept+in.counts.replaced+in.counts.failed,
		"line")+": "+strings.Join(parts, ", "), in.runner.h.Who())
}

// FromObject is the request that an object stands for, as it does in a line of --stdin, and what it
// is judged by. Its options are those of at. What the object does not say is as the call says.
func FromObject(s *cli.Call, at *cli.Command, data []byte) (tasks.Spec, tasks.World, error) {
	base := *s
	base.Cmd, base.Surface = at, Objects(at)
	in := &Lines{Call: &base, Base: base, Form: FormJSONL, Fields: at.Options.Fields()}
	o, err := in.Object(string(data))
	if err != nil {
		return tasks.Spec{}, tasks.World{}, err
	}
	line := in.line(o, nil)
	spec, err := SpecOf(line)
	return spec, WorldOf(line), err
}
