package schedule

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// These are the forms of standard input that --stdin names.
const (
	FormJSONL = "jsonl" // each line is an object
	formLines = "lines" // each line is for the shell, and WHEN is for all lines
	formJSON  = "json"  // all of it is one object
)

// Lines makes a call of at of each line of standard input.
type Lines struct {
	*cli.Call
	// Base is the call that each line starts from. It is a copy, because the goroutine that reads
	// lines is not the one that schedules.
	Base   cli.Call
	Form   string
	Fields option.Fields
	timed  bool          // the command line gives a time
	span   time.Duration // the value of --spread
}

// Objects is the surface of calls of at that are written as objects, of which the call s reads one.
func Objects(s *cli.Call, at *cli.Command) problem.Surface {
	return option.Objects{Command: at.Name, Rows: at.Options, Line: problem.Shell{Program: s.Program()}}
}

// readCall reads the command line. It refuses options that cannot be used with --stdin, and all
// that would be wrong with every line.
func (in *Lines) readCall(ctx context.Context) error {
	in.Form = strings.ToLower(strings.TrimSpace(in.Opt.Text("stdin")))
	if _, err := in.Cmd.Options.Named("stdin").Choose(cmp.Or(in.Form, cli.Quote(""))); err != nil {
		return err
	}
	spec, err := specOf(in.Call)
	if err != nil {
		return err
	}
	in.timed = spec.When != nil
	if err := in.refuseOptions(); err != nil {
		return err
	}
	if in.Opt.Has("spread") {
		if in.span, err = tasks.Span("spread", in.Opt.Text("spread"), problem.T("to spread tasks over"),
			"1h"); err != nil {
			return err
		}
	}
	if err := in.needTime(); err != nil {
		return err
	}
	// Settings and surroundings are read before the goroutine that reads lines starts. It has its
	// own copy of the call.
	opts, err := in.TimeOptions()
	if err != nil {
		return err
	}
	if _, err := surroundingsOf(in.Call); err != nil {
		return err
	}
	if in.Form != formLines && in.Surface == nil {
		in.Surface = Objects(in.Call, in.Cmd)
	}
	in.Base = *in.Call
	in.Base.Finder = handover.Programs(in.Call) // all lines share its cache
	if !in.Opt.Has("tz") {
		in.Base.DefaultZone = opts.Zone
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
	// What is wrong with a sample line would be wrong with every line.
	var share *tasks.Share
	if in.span > 0 {
		share = tasks.ShareOf(in.span, 0, 1)
	}
	sample := in.callOf(option.Object{Values: option.Values{}.With("c", "true")}, share)
	sample.Sample = true
	_, err = readAt(ctx, sample)
	return err
}

// needTime refuses a call without a time that needs one.
func (in *Lines) needTime() error {
	switch {
	case in.timed:
	case in.Form == formLines:
		return problem.Of(problem.T("%s needs a time for all lines", problem.Set("stdin", formLines)),
			problem.T("%s", problem.To("at", "tomorrow", "10am").With("stdin", formLines)))
	case in.span > 0:
		return problem.Of(problem.T("%s needs the time of its first task", problem.Option("spread")),
			problem.T("%s", problem.To("at", "22:00").With("spread", "1h").With("stdin", in.Form)))
	}
	return nil
}

// refuseOptions refuses options that cannot be used with --stdin.
func (in *Lines) refuseOptions() error {
	run, objects := problem.T("the lines say what to run"), problem.Set("stdin", FormJSONL)
	for _, refused := range []struct {
		given      bool
		what, hint problem.Text
	}{
		{in.Dash, problem.T("a command after %s", problem.Command), run},
		{in.Opt.Has("c"), problem.T("%s", problem.Option("c")), run},
		{in.Opt.Has("file"), problem.T("%s", problem.Option("file")), run},
		{in.Form != formJSON && in.Opt.Has("key"), problem.T("%s", problem.Option("key")),
			problem.T(`a key is for one task: give each line its own "key", with %s`, objects)},
		{in.Form == formLines && in.Opt.Has("replace"), problem.T("%s", problem.Option("replace")),
			problem.T("such lines have no keys; give objects, with %s", objects)},
		{in.Form != formJSON && in.Opt.Has("expect"), problem.T("%s", problem.Option("expect")),
			problem.T(`it is for one task: give each line its own "expect", with %s`, objects)},
		{in.Form == formJSON && in.Opt.Has("spread"), problem.T("%s", problem.Option("spread")),
			problem.T("it spreads out the lines of %s and %s", problem.Set("stdin", formLines), objects)},
	} {
		if refused.given {
			return problem.Of(problem.T("%s cannot be used with %s", refused.what,
				problem.Set("stdin", in.Form)), refused.hint)
		}
	}
	if in.Opt.Has("spread") && in.Opt.Has("jitter") {
		return cli.Excluding("jitter", "spread")
	}
	return nil
}

// callOf returns the call of at that an object stands for. The command line gives what the object
// leaves out. A time in the object replaces the time of the command line.
func (in *Lines) callOf(o option.Object, share *tasks.Share) *cli.Call {
	one := in.Base
	one.Opt, one.Tail, one.Dash, one.Share = in.optionsOf(o), o.Command, o.Command != nil, share
	if o.Timed() {
		if one.Args = nil; o.When != nil {
			one.Args = []string{*o.When}
		}
		one.Share = nil
	}
	return &one
}

// optionsOf returns the options of an object, and of the command line those that the object does
// not have.
func (in *Lines) optionsOf(o option.Object) option.Values {
	call := in.Base.Opt
	if o.Timed() {
		call = call.Without(option.Forms...)
	}
	return o.Values.Over(call)
}

// readObject reads a line as an object.
func (in *Lines) readObject(text string) (option.Object, error) {
	o, err := in.Fields.Read([]byte(text), option.Source{Of: in.Base.Cmd.Options, Call: in.Call.Cmd.Options,
		Lines: in.Form == FormJSONL})
	if err == nil && o.Values.Text("file") == "-" {
		err = problem.Of(problem.T("%s cannot be standard input, because the tasks are read from it",
			problem.Option("file")),
			problem.T("name a file, or give the text in %s", problem.Option("c")))
	}
	return o, err
}

// ReadLine makes a draft of one line. With a share the task is delayed by its share of the span.
func (in *Lines) ReadLine(ctx context.Context, text string, share *tasks.Share) (Draft, error) {
	var object option.Object
	var err error
	if in.Form == formLines {
		object.Values = object.Values.With("c", text)
		err = option.IsText([]byte(text))
	} else {
		object, err = in.readObject(text)
		if err == nil && !in.timed && !object.Timed() {
			hint := problem.T("give it a time, %s", problem.Set(problem.When, "in 10m"))
			if in.Form != formJSON {
				hint = problem.T("give it a time, %s, or give one on the command line for all lines that have none",
					problem.Set(problem.When, "tomorrow at 10:00"))
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
	return readAt(ctx, in.callOf(object, share))
}

// blank reports whether a line is empty, or a comment among lines for the shell.
func (in *Lines) blank(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || in.Form == formLines && text[0] == '#'
}

// readOne reads all of standard input as one object.
func (in *Lines) readOne(ctx context.Context) (Draft, error) {
	data, err := cli.ReadInput(ctx, in.Call, "-", maxLine)
	if ctx.Err() != nil {
		return Draft{}, ctx.Err()
	}
	text := strings.TrimPrefix(string(data), "\xef\xbb\xbf")
	switch {
	case err != nil:
		return Draft{}, unreadable(err)
	case len(data) > maxLine:
		return Draft{}, tooLarge("standard input")
	case strings.TrimSpace(text) == "":
		return Draft{}, problem.Of(problem.T("standard input is empty"),
			problem.T("write an object such as "+option.Example))
	}
	return in.ReadLine(ctx, text, nil)
}

// unreadable returns the error for standard input that fails while it is read.
func unreadable(err error) error {
	return problem.New(problem.Failed, problem.T("standard input could not be read: "+err.Error()),
		problem.T("the answered lines are scheduled; call again with the others"))
}

// Each yields the lines of a stream that are not blank. An error of the stream ends them.
func (in *Lines) Each(from io.Reader) iter.Seq2[Numbered, error] {
	return func(yield func(Numbered, error) bool) {
		for lines := newLineReader(from, maxLine); ; {
			text, err := lines.Next()
			switch {
			case err == io.EOF:
				return
			case errors.Is(err, errLong):
				err = tooLarge("the line")
			case err != nil:
				yield(Numbered{}, err)
				return
			case in.blank(text):
				continue
			}
			if !yield(Numbered{text, lines.Number, err}, nil) {
				return
			}
		}
	}
}

// feed reads lines into the queue until the lines or ctx end.
func (in *Lines) feed(ctx context.Context, to *itemQueue) error {
	if in.span > 0 {
		return in.feedSpread(ctx, to)
	}
	for l, err := range in.Each(in.In) {
		if err != nil {
			return unreadable(err)
		}
		if err := in.put(ctx, to, l, nil); err != nil {
			return err
		}
	}
	return io.EOF
}

// put puts a line into the queue, with a draft of its task.
func (in *Lines) put(ctx context.Context, to *itemQueue, l Numbered, share *tasks.Share) error {
	it := item{Line: l.Line, err: l.Err, Size: len(l.Text) + 1<<10}
	if l.Err == nil {
		it.draft, it.err = in.ReadLine(ctx, l.Text, share)
	}
	if it.err != nil && cli.Explain(it.err).Code == problem.NotFound {
		// A line before it may make the task that it waits for.
		if err := to.Settled(ctx); err != nil {
			return err
		}
		it.draft, it.err = in.ReadLine(ctx, l.Text, share)
	}
	return to.Put(ctx, it)
}

// feedSpread reads all lines, and gives each its share of the span. Lines that have a time of their
// own or cannot be read get no share.
func (in *Lines) feedSpread(ctx context.Context, to *itemQueue) error {
	var lines []Numbered
	size := 0
	for l, err := range in.Each(in.In) {
		if err != nil {
			return unreadable(err)
		}
		if size += len(l.Text) + lineOverhead; size > maxSpreadBytes {
			return problem.New(problem.Limit,
				problem.T("there are too many lines: %s has to keep them all before it schedules the first",
					problem.Option("spread")),
				problem.T("make several calls, or leave %s out and give each line its own time",
					problem.Option("spread")))
		}
		lines = append(lines, l)
	}
	in.Base.Present = in.Clock.Now() // the span begins at the same instant for all lines
	spread := make([]bool, len(lines))
	n := 0
	for i, l := range lines {
		if l.Err == nil && in.Form == formLines {
			spread[i] = option.IsText([]byte(l.Text)) == nil
		} else if l.Err == nil {
			o, err := in.readObject(l.Text)
			spread[i] = err == nil && !o.Timed()
		}
		if spread[i] {
			n++
		}
	}
	k := 0
	for i, l := range lines {
		var share *tasks.Share
		if spread[i] {
			share = tasks.ShareOf(in.span, k, n)
			k++
		}
		if err := in.put(ctx, to, l, share); err != nil {
			return err
		}
	}
	return io.EOF
}

// FromObject reads an object as a line of --stdin is read. It returns the request, and the world
// that it is judged in. The call s gives what the object leaves out.
func FromObject(s *cli.Call, at *cli.Command, data []byte) (tasks.Spec, tasks.World, error) {
	base := *s
	base.Cmd, base.Surface = at, Objects(s, at)
	in := &Lines{Call: s, Base: base, Form: FormJSONL, Fields: at.Options.Fields()}
	o, err := in.readObject(string(data))
	if err != nil {
		return tasks.Spec{}, tasks.World{}, err
	}
	line := in.callOf(o, nil)
	spec, err := specOf(line)
	return spec, WorldOf(line), err
}
