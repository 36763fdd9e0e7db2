package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// The forms of --stdin.
const (
	formJSONL = "jsonl" // one object a line
	formLines = "lines" // one line for the shell a line, and one WHEN for all
	formJSON  = "json"  // one object
)

// stdin is a call of at --stdin.
type stdin struct {
	*session
	base   session // as the lines are read against: another goroutine than the one that schedules reads them
	form   string
	fields option.Fields
	timed  bool          // the command line gives a time
	span   time.Duration // of --spread
	st     state.Store
	worst  int // exit code so far
	counts struct{ created, kept, replaced, failed int }
	warned map[warningKind]bool // once for all lines
	asked  map[string]bool      // channels that it was looked at whether they are ready
	quiet  []*likeWarnings      // with --quiet: what the end says of the lines, a kind after the other
	runner keeper
}

// likeWarnings are the warnings of one kind.
type likeWarnings struct {
	warning // of the first line
	line, n int
}

// collect counts a warning of a line among those of its kind.
func (in *stdin) collect(line int, w warning) {
	i := slices.IndexFunc(in.quiet, func(have *likeWarnings) bool { return have.kind == w.kind })
	if i < 0 {
		i = len(in.quiet)
		in.quiet = append(in.quiet, &likeWarnings{warning: w, line: line})
	}
	in.quiet[i].n++
}

// tellCollected says each kind of warning once, with how many lines it is of.
func (in *stdin) tellCollected() {
	for _, w := range in.quiet {
		if w.n == 1 {
			in.warn("warning: line %d: %s", w.line, visible(in.says(w.text)))
		} else {
			in.warn("warning: %d lines, the first of them line %d: %s", w.n, w.line, visible(in.says(w.text)))
		}
	}
}

func runAtStdin(ctx context.Context, s *session) error {
	in := &stdin{session: s, fields: s.cmd.options.Fields(), warned: map[warningKind]bool{}, asked: map[string]bool{}}
	if err := in.readCall(ctx); err != nil {
		return err
	}
	if in.form != formLines {
		s.surface = objects(s.cmd)
	}
	if in.form == formJSON {
		o, err := in.readOne(ctx)
		if err != nil {
			return err
		}
		return runAt(ctx, s, o)
	}
	st, err := s.open()
	if err != nil {
		return err
	}
	in.st = st
	return in.run(ctx)
}

// objects is the surface of objects that stand for calls of at.
func objects(at *command) problem.Surface { return option.Objects{Command: at.name, Rows: at.options} }

// readCall reads the command line, and refuses what has no meaning beside --stdin or is wrong for every line.
func (in *stdin) readCall(ctx context.Context) error {
	in.form = strings.ToLower(strings.TrimSpace(in.opt.Text("stdin")))
	if _, err := in.cmd.options.Named("stdin").Choose(orElse(in.form, quote(""))); err != nil {
		return err
	}
	text, form, forced, err := forced(in.session)
	if err != nil {
		return err
	}
	if forced && len(in.args) > 0 {
		return wordsBeside(in.session, form)
	}
	if !forced {
		text = strings.Join(in.args, " ")
	}
	in.timed = forced || len(in.args) > 0
	run, objects := problem.T("the lines say what to run"), problem.Set("stdin", formJSONL)
	for _, odd := range []struct {
		is         bool
		what, hint problem.Text
	}{
		{in.dash, problem.T("a command after %s", problem.Command), run},
		{in.opt.Has("c"), problem.T("%s", problem.Option("c")), run},
		{in.opt.Has("file"), problem.T("%s", problem.Option("file")), run},
		{in.form != formJSON && in.opt.Has("key"), problem.T("%s", problem.Option("key")), problem.T(`a key is one task's: give each line its own "key", with %s`, objects)},
		{in.form == formLines && in.opt.Has("replace"), problem.T("%s", problem.Option("replace")), problem.T("lines have no keys; give objects with %s", objects)},
		{in.form != formJSON && in.opt.Has("expect"), problem.T("%s", problem.Option("expect")), problem.T(`it is one task's: give each line its own "expect", with %s`, objects)},
		{in.form == formJSON && in.opt.Has("spread"), problem.T("%s", problem.Option("spread")), problem.T("it deals out the lines of %s and %s", problem.Set("stdin", formLines), objects)},
		{in.opt.Has("spread") && in.opt.Has("jitter"), problem.T("%s", problem.Options(" with ", "jitter", "spread")),
			problem.T("give one of them: %s puts each task off by its share of the span", problem.Option("spread"))},
	} {
		if odd.is {
			return problem.Of(problem.T("%s has no meaning beside %s", odd.what, problem.Set("stdin", in.form)), odd.hint)
		}
	}
	if in.span, err = spread(in.session); err != nil {
		return err
	}
	switch {
	case in.form == formLines && !in.timed:
		return problem.Of(problem.T("when? %s needs one time for all lines", problem.Set("stdin", formLines)), problem.T("%s", problem.To("at", "tomorrow", "10am").With("stdin", formLines)))
	case in.span > 0 && !in.timed:
		return problem.Of(problem.T("%s needs the time at which it begins", problem.Option("spread")), problem.T("%s", problem.To("at", "22:00").With("spread", "1h").With("stdin", in.form)))
	}
	// What the settings say is read here, once: lines are read by a goroutine of their own.
	opts, err := in.options()
	if err != nil {
		return err
	}
	if _, err := surroundingsOf(in.session); err != nil {
		return err
	}
	if in.form != formLines && in.surface == nil {
		in.surface = option.Objects{Command: "at", Rows: in.cmd.options}
	}
	in.base = *in.session
	in.base.finder = programs(in.session) // one for all lines
	if !in.opt.Has("tz") {
		in.base.ownZone = opts.Zone
	}
	if !in.timed {
		return nil
	}
	opts.Form = form
	if in.form != formLines {
		if err := bounds(in.session, &opts); err != nil {
			return err
		}
		_, err := when.Parse(text, opts)
		return err
	}
	// One line stands for all: what is wrong with it is wrong with the call.
	sample := in.line(option.Object{Values: option.Values{}.With("c", "true")}, shareIf(in.span))
	sample.sample = true
	_, err = readAt(ctx, sample)
	return err
}

// shareIf is a share of the span, if there is one.
func shareIf(span time.Duration) *share {
	if span == 0 {
		return nil
	}
	return shareOf(span, 0, 1)
}

// line is the call of at that an object stands for. What the object does not say is as the command line says; a time of the object's own
// takes the place of that of the command line.
func (in *stdin) line(o option.Object, part *share) *session {
	one := in.base
	one.opt, one.tail, one.dash, one.share = in.said(o), o.Command, o.Command != nil, part
	if o.Timed() {
		if one.args = nil; o.When != nil {
			one.args = []string{*o.When}
		}
		one.share = nil
	}
	return &one
}

// said are the options of a line.
func (in *stdin) said(o option.Object) option.Values {
	call := in.base.opt
	if o.Timed() {
		call = call.Without(option.Forms...)
	}
	return o.Values.Over(call)
}

// object reads a line that is an object.
func (in *stdin) object(text string) (option.Object, error) {
	o, err := in.fields.Read([]byte(text), in.base.cmd.options)
	if err == nil && o.Values.Text("file") == "-" {
		err = problem.Of(problem.T("%s cannot be standard input, which the tasks are read from", problem.Option("file")),
			problem.T("name a file, or give the text in %s", problem.Option("c")))
	}
	return o, err
}

// read reads one line.
func (in *stdin) read(ctx context.Context, text string, part *share) (atOptions, error) {
	var object option.Object
	var err error
	if in.form == formLines {
		object.Values = object.Values.With("c", text)
		err = option.IsText([]byte(text))
	} else {
		object, err = in.object(text)
		if err == nil && !in.timed && !object.Timed() {
			hint := problem.T("give it a time, %s", problem.Set(problem.When, "in 10m"))
			if in.form != formJSON {
				hint = problem.T("give it a time, %s, or give one on the command line for all lines that have none", problem.Set(problem.When, "tomorrow at 10:00"))
			}
			err = problem.Of(problem.T("it does not say when"), hint)
		}
	}
	if err != nil && in.form == formJSON {
		err = explain(err).About(problem.T("standard input"))
	}
	if err != nil {
		return atOptions{}, err
	}
	o, err := readAt(ctx, in.line(object, part))
	o.task.Created = o.read.UTC()
	return o, err
}

// blank reports whether a line says nothing: it is empty or, of lines for the shell, a comment.
func (in *stdin) blank(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || in.form == formLines && text[0] == '#'
}

// readOne reads all of standard input as one object.
func (in *stdin) readOne(ctx context.Context) (atOptions, error) {
	var data []byte
	var err error
	read := make(chan struct{})
	go func() { // standard input may be a pipe that nobody writes to: the caller can still end us
		defer close(read)
		data, err = io.ReadAll(io.LimitReader(in.In, lineMost+1))
	}()
	select {
	case <-read:
	case <-ctx.Done():
		return atOptions{}, ctx.Err()
	}
	text := strings.TrimPrefix(string(data), "\xef\xbb\xbf")
	switch {
	case err != nil:
		return atOptions{}, unreadable(err)
	case len(data) > lineMost:
		return atOptions{}, tooLarge("standard input")
	case strings.TrimSpace(text) == "":
		return atOptions{}, problem.Of(problem.T("standard input is empty"), problem.T("write an object such as "+option.Example))
	}
	return in.read(ctx, text, nil)
}

func unreadable(err error) error {
	return problem.New(problem.Failed, problem.T("standard input could not be read: "+err.Error()), problem.T("what was answered is scheduled; call again with the rest"))
}

// feed reads the lines into the intake, until they or ctx end.
func (in *stdin) feed(ctx context.Context, to *intake) error {
	lines := newLineReader(in.In, lineMost)
	if in.span > 0 {
		return in.feedSpread(ctx, lines, to)
	}
	for {
		text, err := lines.next()
		it := item{line: lines.number, size: len(text) + 1<<10}
		switch {
		case errors.Is(err, errLong):
			it.err = tooLong()
		case err == io.EOF:
			return io.EOF
		case err != nil:
			return unreadable(err)
		case in.blank(text):
			continue
		default:
			it.o, it.err = in.read(ctx, text, nil)
		}
		if err := to.put(ctx, it); err != nil {
			return err
		}
	}
}

// feedSpread deals out those lines that have no time of their own and can be read.
func (in *stdin) feedSpread(ctx context.Context, r *lineReader, to *intake) error {
	lines, err := r.all(in.blank)
	if err != nil {
		var f *problem.Problem
		if !errors.As(err, &f) {
			err = unreadable(err)
		}
		return err
	}
	in.base.present = in.Clock.Now() // one beginning for all
	dealt := make([]bool, len(lines))
	n := 0
	for i, l := range lines {
		if l.err == nil && in.form == formLines {
			dealt[i] = option.IsText([]byte(l.text)) == nil
		} else if l.err == nil {
			o, err := in.object(l.text)
			dealt[i] = err == nil && !o.Timed()
		}
		if dealt[i] {
			n++
		}
	}
	k := 0
	for i, l := range lines {
		it := item{line: l.line, size: len(l.text) + 1<<10}
		var part *share
		if dealt[i] {
			part = shareOf(in.span, k, n)
			k++
		}
		if it.err = l.err; l.err != nil {
			it.err = tooLong()
		} else {
			it.o, it.err = in.read(ctx, l.text, part)
		}
		if err := to.put(ctx, it); err != nil {
			return err
		}
	}
	return io.EOF
}

// garbage is how much may lie while lines are read, in percent of what is in use, which is little: with the usual 100 it is collected a hundred
// times a second, which takes a third of the time.
const garbage = 200

// run schedules what the lines say, and answers each in its turn. What was answered is durable.
func (in *stdin) run(ctx context.Context) error {
	if f, ok := in.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		in.talk("Reading from the terminal; Ctrl-D ends it.")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	feeding, stop := context.WithCancel(ctx)
	defer stop()
	to := newIntake()
	go func() { to.end(in.feed(feeding, to)) }()
	defer in.tellCollected()
	in.runner.start(in)
	defer in.runner.stop()
	for {
		batch, err := to.take(ctx, in.runner.idle)
		if err == nil && batch != nil {
			err = in.schedule(ctx, batch)
		} else if err == nil || err == io.EOF {
			in.runner.look(ctx, err == io.EOF)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	in.sum()
	if in.worst != exitOK {
		return exitCode(in.worst)
	}
	return nil
}

// schedule puts a batch into the queue and answers it. Its error ends the call.
func (in *stdin) schedule(ctx context.Context, batch []item) error {
	drafts := make([]state.Draft, 0, len(batch))
	for _, it := range batch {
		if it.err == nil {
			drafts = append(drafts, state.Draft{Task: it.o.task, Due: it.o.due})
		}
	}
	added := changes(in.session, in.store).AddAll(ctx, drafts)
	done := make([]scheduled, len(batch))
	some := false
	for i := range batch {
		if it := &batch[i]; it.err == nil {
			done[i], it.err = settle(ctx, in.session, in.st, it.o, added[0].Entry, added[0].Err)
			added = added[1:]
			some = some || it.err == nil
		}
	}
	var h hands
	if some {
		h = in.runner.see(ctx)
	}
	for i, it := range batch {
		if ctx.Err() != nil && errors.Is(it.err, ctx.Err()) {
			continue // neither scheduled nor refused: the call ends here
		}
		if it.err != nil {
			in.refuse(it)
		} else {
			in.answer(it.line, done[i], h)
		}
	}
	if err := in.flush(); err != nil {
		p := explain(err)
		return p.Saying(problem.T("the lines up to %d were taken, but %s", batch[len(batch)-1].line, p.Message))
	}
	return ctx.Err()
}

// atLineJSON is the answer of at --stdin to a line that was scheduled.
type atLineJSON struct {
	Line int `json:"line"`
	atJSON
}

// answer tells what became of a line.
func (in *stdin) answer(line int, d scheduled, h hands) {
	switch {
	case d.created:
		in.counts.created++
	case d.replaced:
		in.counts.replaced++
	default:
		in.counts.kept++
	}
	d.dry = in.dryRun
	d.see(h, audienceOf(in.session, d.entry.Task))
	d.warnings = append(d.warnings, in.unreadyOnce(d, h)...)
	d.warnings = append(d.warnings, in.remote...)
	if in.inJSON {
		in.emit(atLineJSON{line, asAtJSON(in.session, d, h)})
		return
	}
	switch {
	case in.opt.Bool("quiet") && d.entry.Task.ID == "":
	case in.opt.Bool("quiet"):
		in.session.line("%s", d.entry.Task.ID)
	default:
		in.session.line("%s", d.sentence())
		if text := d.different(); text != "" {
			in.talk("line %d: %s", line, visible(text))
		}
		for _, note := range d.notes() {
			in.talk("note: line %d: %s", line, visible(note))
		}
	}
	for _, w := range d.warnings {
		switch alike := w.standing() || w.kind == warnRunner; {
		case in.opt.Bool("quiet") && w.standing(), alike && in.warned[w.kind]:
		case alike:
			in.warned[w.kind] = true
			in.warn("warning: %s", visible(in.says(w.text)))
		case in.opt.Bool("quiet"):
			in.collect(line, w)
		default:
			in.warn("warning: line %d: %s", line, visible(in.says(w.text)))
		}
	}
}

// unreadyOnce is what speaks against the channels of a task, of the first task that has them.
func (in *stdin) unreadyOnce(d scheduled, h hands) []warning {
	names := strings.Join(d.told.channels, "\x00")
	if in.asked[names] || !d.created && !d.replaced {
		return nil
	}
	in.asked[names] = true
	return unready(in.session, d.told, h)
}

// lineFailedJSON is the answer of at --stdin to a line that was refused.
type lineFailedJSON struct {
	Now   time.Time `json:"now"`
	Line  int       `json:"line"`
	Error errorJSON `json:"error"`
}

// refuse tells why a line was not scheduled.
func (in *stdin) refuse(it item) {
	f := explain(it.err)
	in.counts.failed++
	in.worst = max(in.worst, f.ExitCode())
	if in.inJSON {
		in.emit(lineFailedJSON{in.stamp(), it.line, asErrorJSON(in.session, f)})
		return
	}
	in.complain(fmt.Sprintf("line %d: ", it.line), f)
}

// sum says in one sentence what came of all lines.
func (in *stdin) sum() {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{in.counts.created, "scheduled"}, {in.counts.kept, "kept"}, {in.counts.replaced, "replaced"}, {in.counts.failed, "refused"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		in.talk("There was no line to schedule.")
		return
	}
	front := ""
	if in.dryRun {
		front = "dry run: "
	}
	in.talk(front+"%s. %s", plural(in.counts.created+in.counts.kept+in.counts.replaced+in.counts.failed, "line")+": "+strings.Join(parts, ", "), in.runner.h.who())
}
