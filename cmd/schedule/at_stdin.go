package schedule

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// These are the forms of --stdin.
const (
	FormJSONL = "jsonl" // each line is an object
	formLines = "lines" // each line is for the shell, and one WHEN is for all
	formJSON  = "json"  // the whole is one object
)

// Lines reads standard input: each line becomes a call of at.
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

// Objects is the surface of calls of at that are written as objects.
func Objects(at *cli.Command) problem.Surface {
	return option.Objects{Command: at.Name, Rows: at.Options}
}

// readCall reads the command line. It refuses options that have no meaning beside --stdin, and what
// would be wrong for every line.
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
	if err := in.refuseOptions(); err != nil {
		return err
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
	// Settings are read here, before the goroutine starts that reads the lines.
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
	in.Base.Finder = handover.Programs(in.Call) // all lines share what it finds
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
	// A sample line shows what is wrong with the call, because it would be wrong with every line.
	sample := in.line(option.Object{Values: option.Values{}.With("c", "true")}, shareIf(in.span))
	sample.Sample = true
	_, err = readAt(ctx, sample)
	return err
}

// refuseOptions refuses options that have no meaning beside --stdin.
func (in *Lines) refuseOptions() error {
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
	return nil
}

// shareIf returns a share of the span; nil when there is no span.
func shareIf(span time.Duration) *tasks.Share {
	if span == 0 {
		return nil
	}
	return tasks.ShareOf(span, 0, 1)
}

// line returns the call of at that an object stands for. What the object leaves out is taken from
// the command line. A time in the object replaces the time of the command line.
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

// Said returns the options of a line: those of its object over those of the command line.
func (in *Lines) Said(o option.Object) option.Values {
	call := in.Base.Opt
	if o.Timed() {
		call = call.Without(option.Forms...)
	}
	return o.Values.Over(call)
}

// Object reads a line as an object.
func (in *Lines) Object(text string) (option.Object, error) {
	o, err := in.Fields.Read([]byte(text), in.Base.Cmd.Options)
	if err == nil && o.Values.Text("file") == "-" {
		err = problem.Of(problem.T("%s cannot be standard input, which the tasks are read from",
			problem.Option("file")),
			problem.T("name a file, or give the text in %s", problem.Option("c")))
	}
	return o, err
}

// Read makes a task of one line. With a share the task is delayed by its part of the span.
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

// Blank reports whether a line is empty, or a comment among lines for the shell.
func (in *Lines) Blank(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || in.Form == formLines && text[0] == '#'
}

// readOne reads all of standard input as one object.
func (in *Lines) readOne(ctx context.Context) (Draft, error) {
	data, err := cli.ReadInput(ctx, in.Call, "-", LineMost)
	if ctx.Err() != nil {
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

// Unreadable is the problem of standard input that fails while it is read.
func Unreadable(err error) error {
	return problem.New(problem.Failed, problem.T("standard input could not be read: "+err.Error()),
		problem.T("what was answered is scheduled; call again with the rest"))
}

// feed reads lines into the intake until they end, or ctx does.
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

// feedSpread reads all lines, and gives each its share of the span, except those that have a time
// of their own or cannot be read.
func (in *Lines) feedSpread(ctx context.Context, r *lineReader, to *intake) error {
	lines, err := r.all(in.Blank)
	if err != nil {
		var f *problem.Problem
		if !errors.As(err, &f) {
			err = Unreadable(err)
		}
		return err
	}
	in.Base.Present = in.Clock.Now() // the span begins at the same instant for all lines
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

// FromObject reads an object as a line of --stdin is read, and returns its request and the world
// that judges it. What the object leaves out is taken from the call s.
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
